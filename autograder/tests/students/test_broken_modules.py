"""A module that cannot be loaded causes one line; other cells run, and no restart is needed."""

import pytest

from autograder.tests.support.pages.shells import LOAD

RIGHT = "X = 5\n\n\nclass A:\n    def f(self):\n        return X\n\n\ndef g():\n    return X\n"
IMPORT = "from mine import A, X, g"
# A problem in a module, and the line that reports it.
BROKEN = {
    "a colon is missing": ("X = 1\ndef g()\n    pass\n", "mine.py, line 2: expected ':'"),
    "indentation": (
        "def g():\nreturn 1\n",
        "mine.py, line 2: expected an indented block after function definition on line 1",
    ),
    "tabs": (
        "def g():\n        x = 1\n\treturn x\n",
        "mine.py, line 3: inconsistent use of tabs and spaces in indentation",
    ),
    "outside a function": ("X = 1\nreturn X\n", "mine.py, line 2: 'return' outside function"),
    "no such module": (
        "import nothing_like_it\n",
        "mine.py, line 1: No module named 'nothing_like_it'",
    ),
    "no such name of a module": (
        "X = 1\nfrom tictactoe import Bord\n",
        "mine.py, line 2: cannot import name 'Bord' from 'tictactoe'",
    ),
    "no such name": ("X = 1\n\nY = Z\n", "mine.py, line 3: name 'Z' is not defined"),
    "an error": ("X = 1 / 0\n", "mine.py, line 1: ZeroDivisionError: division by zero"),
    "an error without words": ("raise ValueError\n", "mine.py, line 1: ValueError"),
    "an error of several lines": (
        "raise ValueError('a\\n\\nb')\n",
        "mine.py, line 1: ValueError: a b",
    ),
    "its own error without text": (
        "class E(Exception):\n    def __str__(self): 1 / 0\nraise E\n",
        "mine.py, line 3: E: (its message cannot be shown)",
    ),
    "recursion": (
        "def f():\n    f()\nf()\n",
        "mine.py, line 2: RecursionError: maximum recursion depth exceeded",
    ),
    "it exits": (
        "import sys\nsys.exit()\n",
        "mine.py, line 2: the module exits when it is imported",
    ),
    "it exits otherwise": (
        "raise SystemExit(3)\n",
        "mine.py, line 1: the module exits when it is imported",
    ),
    "an interrupt": (
        "X = 1\nraise KeyboardInterrupt\n",
        "mine.py, line 2: interrupted while the module was imported",
    ),
    "a decorator": (
        "def d(f):\n    raise TypeError('no')\n\n@d\ndef g(): pass\n",
        "mine.py, line 2: TypeError: no",
    ),
    "a stub that is called": (
        "def g():\n    raise NotImplementedError('g: write this function')\ng()\n",
        "mine.py, line 2: NotImplementedError: g: write this function",
    ),
    "itself": (
        "from mine import g\n",
        "mine.py, line 1: cannot import name 'g' from partially initialized module 'mine'",
    ),
    "another encoding": ("X = 'é'\n".encode("latin-1"), "mine.py: the file is not saved in UTF-8"),
    "null bytes": ("X = 1\0\n", "mine.py: source code string cannot contain null bytes"),
    "nothing": ("", "mine.py does not define A"),
    "a name less": ("X = 5\ndef g(): pass\n", "mine.py does not define A"),
    "no file": (None, "mine.py is missing"),
}


def save(notebook, text):
    """Save the module, or delete it."""
    if text is None:
        (notebook.folder / "mine.py").unlink(missing_ok=True)
    else:
        notebook.save(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_one_line_and_no_restart(notebook, kind):
    """Cells that need the module report the problem on every run; other cells run."""
    text, line = BROKEN[kind]
    notebook.save(RIGHT)
    assert notebook.run(f"{LOAD}\n{IMPORT}\na, f, b = A(), A().f, A") == ""
    for _ in range(2):
        save(notebook, text)
        assert notebook.run("print(1 + 1)") == "2"
        for cell in ("A()", "A()", IMPORT, "print(A)"):
            assert notebook.run(cell) == line
            assert notebook.result.success
        if "does not define" not in line:
            for cell in ("g()", "X", "a.f()", "f()", "b().f()", "import mine; mine.g()"):
                assert notebook.run(cell) == line, cell
        notebook.save(RIGHT)
        assert notebook.run("print(A().f(), a.f(), f(), b().f(), g(), X, isinstance(a, A))") == (
            "5 5 5 5 5 5 True"
        )


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("itself", "nothing") else pytest.mark.slow)
        for kind in BROKEN
        if kind != "no file"
    ],
)
def test_broken_before_the_first_cell(notebook, kind):
    """Names that the first cell could not import are defined as soon as the module is correct."""
    text, line = BROKEN[kind]
    notebook.save(text)
    assert notebook.run(f"{LOAD}\nfrom math import pi\n{IMPORT}") == line
    assert notebook.result.success
    assert notebook.run("print(round(pi))") == "3"
    assert notebook.run("A()") == line
    notebook.save(RIGHT)
    assert notebook.run("print(A().f(), g(), X)") == "5 5 5"


def test_the_module_of_a_study_that_is_missing_from_the_start(notebook):
    """The study's module is recognised by name; any other missing module is a normal error."""
    cell = f"{LOAD}\nfrom minimax import Minimax as M"
    assert notebook.run(cell) == notebook.run("M") == "minimax.py is missing"
    notebook.save("Minimax = 7\n", "minimax.py")
    assert notebook.run("print(M)") == "7"
    assert "ModuleNotFoundError" in notebook.run("import nothing_like_it")
    assert not notebook.result.success


def test_a_check_of_a_module_that_is_broken_or_missing(notebook):
    """The check itself reports the problem in one line, with no other output."""
    cell = 'check("study1.minimax")'
    notebook.save("def g()\n", "minimax.py")
    first = f"{LOAD}\nfrom course.check import check\nfrom minimax import Minimax"
    assert notebook.run(first) == "minimax.py, line 1: expected ':'"
    shown = notebook.run(cell)
    assert "SyntaxError: expected ':' (line 1 of minimax.py)" in shown
    assert "Traceback" not in shown
    (notebook.folder / "minimax.py").unlink()
    assert notebook.run(cell) == (
        f"minimax.py is not in {notebook.folder}: open the notebook in the folder that contains it"
    )


def test_errors_of_written_code_are_shown_in_full(notebook):
    """They have the line of the module; errors in a cell are shown in full as well."""
    notebook.save(RIGHT.replace("return X", "return Y"))
    notebook.run(f"{LOAD}\n{IMPORT}")
    shown = notebook.run("g()")
    assert "NameError" in shown and "return Y" in shown and "Traceback" in shown
    assert not notebook.result.success
    for text in ("def g(): return A()\n", "def g():\n    from helper import missing\n"):
        notebook.save(text)
        notebook.save("", "helper.py")
        shown = notebook.run("g()")  # of a name that the notebook lacks as well
        assert "Traceback" in shown and "mine.py" in shown, shown
        assert notebook.run("A()") == "mine.py does not define A"
    notebook.save("X = \n")
    assert "nobody" in notebook.run("nobody") and not notebook.result.success


def test_a_stub_that_has_been_written_is_never_called_unwritten(notebook):
    """This holds even if the saved version cannot be loaded or was saved while the cell was
    running.
    """
    stub = (
        "class A:\n    def f(self):\n        raise NotImplementedError('A.f: write this method')\n"
    )
    notebook.save(stub)
    notebook.run(f"{LOAD}\nfrom mine import A\na = A()")
    assert notebook.run("a.f()").startswith("Not written yet: A.f, in mine.py, line 3.")
    notebook.save(stub.replace("raise NotImplementedError('A.f: write this method')", "return ("))
    assert notebook.run("a.f()") == "mine.py, line 3: '(' was never closed"
    notebook.save(stub)
    cell = "from pathlib import Path\nPath('mine.py').write_text('class A:\\n    f = 1\\n')\na.f()"
    assert notebook.run(cell) == "A module was saved while this cell ran. Run the cell again."
    assert notebook.run("print(a.f)") == "1"


def test_a_helper_of_the_module(notebook):
    """An edit to a file that the module imports takes effect, and errors name that file."""
    notebook.save("from helper import double\ndef g(): return double(2)\n")
    notebook.run(LOAD)
    assert notebook.run("from mine import g") == "mine.py, line 1: No module named 'helper'"
    notebook.save("def double(n): return 2 * n\n", "helper.py")
    assert notebook.run("print(g())") == "4"
    notebook.save("def double(n): return 3 * n\n", "helper.py")
    assert notebook.run("print(g())") == "6"
    notebook.save("def double(n) return\n", "helper.py")
    assert notebook.run("g()") == "helper.py, line 1: expected ':'"
    notebook.save("def double(n): return 5 * n\n", "helper.py")
    assert notebook.run("print(g())") == "10"


@pytest.mark.filterwarnings("default::SyntaxWarning")
def test_what_a_module_prints_and_warns_of_is_shown_once(notebook, recwarn):
    """Output appears when the module is loaded and after each edit; a byte order mark is no
    mistake.
    """
    notebook.save("\ufeffX = 1 is 1\nprint('hello')\n")
    for number in range(2):
        shown = notebook.run(LOAD if number else f"{LOAD}\nfrom mine import X")
        assert shown == "hello"
        warned = [w for w in recwarn if w.category is SyntaxWarning]
        assert [(w.filename, w.lineno) for w in warned] == [
            (str(notebook.folder / "mine.py"), 1)
        ] * (number + 1)
        assert notebook.run("print(X)") == "True"
        notebook.save("X = 1 is 1\nprint('hello')\n")


def test_an_endless_loop_is_run_once_for_each_version(notebook):
    """After an interruption it is not run again until the file or the import changes."""
    notebook.save("print('begins')\nwhile True:\n    raise KeyboardInterrupt\n")
    line = "mine.py, line 3: interrupted while the module was imported"
    assert notebook.run(f"{LOAD}\nfrom mine import X") == f"begins\n{line}"
    assert notebook.run("X") == line
    assert notebook.run("from mine import X") == f"begins\n{line}"


def test_the_packages_of_the_course_are_not_reloaded(notebook):
    """Installed packages are not reloaded either."""
    notebook.save("X = 1\n")
    notebook.run(f"{LOAD}\nimport course.check, tictactoe, json\nfrom mine import X")
    before = notebook.shell.user_ns["tictactoe"]
    notebook.save("X = 2\n")
    assert notebook.run("print(X)") == "2"
    assert notebook.run("import tictactoe\nprint(tictactoe.Board())")
    assert notebook.shell.user_ns["tictactoe"] is before
    assert type(before.__loader__).__name__ != "LiveModules"


def test_the_first_cell_can_be_run_again(notebook):
    """There is no output, even for the form in notebooks released earlier."""
    notebook.save("X = 1\n")
    for first in (
        f"{LOAD}\nfrom mine import X",
        "%load_ext autoreload\n%autoreload 2\n%load_ext course.stub_errors\nfrom mine import X",
    ):
        assert notebook.run(first) == ""
    assert notebook.run(LOAD) == ""
    notebook.save("X =\n")
    assert notebook.run("X") == "mine.py, line 1: invalid syntax"
    notebook.save("X = 2\n")
    assert notebook.run("print(X)") == "2"
