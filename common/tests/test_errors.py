"""Errors are described with the last line of the user's own code, wherever they were raised."""

import importlib.util
import sys

import pytest

from common.errors import describe

SIDE = "def fail(x):\n    return 1 / x\n"
CASES = {
    "given code": ("from tictactoe import Board\ndef f():\n    b = Board()\n    b.after(17)\n",
                   "line 4 of own.py"),
    "random": ("import random\ndef f():\n    return random.choice([])\n", "line 3 of own.py"),
    "a lambda": ("f = lambda: sorted([1, 'a'],\n    key=lambda x: x + 1)\n", "line 2 of own.py"),
    "a generator": ("def g():\n    yield 1\n    raise KeyError(3)\ndef f():\n    list(g())\n",
                    "line 3 of own.py"),
    "a file beside": ("import side_file\ndef f():\n    side_file.fail(0)\n",
                      "line 2 of side_file.py"),
    "a chain": ("def f():\n    try:\n        {}[1]\n    except KeyError as e:\n"
                "        raise ValueError('no') from e\n", "ValueError: no (line 5 of own.py)"),
    "a group": ("def a():\n    1 / 0\ndef f():\n    try:\n        a()\n"
                "    except ZeroDivisionError as e:\n"
                "        raise ExceptionGroup('two', [e, ValueError('x')])\n",
                "the first is ZeroDivisionError: division by zero (line 2 of own.py)"),
    "a file that cannot be read": ("x = 1\ndef f(:\n", "SyntaxError: invalid syntax (line 2 of "),
    "another that cannot": ("import broken_file\n", "was never closed (line 1 of broken_file.py)"),
    "endless recursion": ("def f(n=0):\n    return f(n + 1)\n", "line 2 of own.py"),
    "eval": ("def f():\n    eval('1 / 0')\n", "line 2 of own.py"),
}  # fmt: skip


def error_of(text, folder, monkeypatch):
    """The error that a module with this text raises when it is loaded or when its `f` is called."""
    for name, content in (("own", text), ("side_file", SIDE), ("broken_file", "x = (\n")):
        (folder / f"{name}.py").write_text(content, "utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(folder)
    spec = importlib.util.spec_from_file_location("own", folder / "own.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.raises(BaseException) as caught:
        spec.loader.exec_module(module)
        module.f()
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_the_line_is_the_persons_own(case, tmp_path, monkeypatch):
    """An error raised in other code is reported with the line of the user's code that called it."""
    text, told = CASES[case]
    error = error_of(text, tmp_path, monkeypatch)
    error.__traceback__ = error.__traceback__.tb_next  # this file is not the user's code
    assert told in describe(error)


def test_given_code_that_says_why_names_the_line_that_was_why(tmp_path, monkeypatch):
    """If other code raises an error from one in the user's code, the line of the latter is
    reported.
    """
    cause = error_of("def f():\n    {}[1]\n", tmp_path, monkeypatch)
    cause.__traceback__ = cause.__traceback__.tb_next
    outer = RuntimeError("an agent failed")
    outer.__cause__ = cause
    assert describe(outer) == "RuntimeError: an agent failed (line 2 of own.py)"


@pytest.mark.parametrize("name", ["<ipython-input-3-0a1b>", "/tmp/ipykernel_77/1234.py"])
def test_a_cell_is_called_so(name):
    """Cells are called "a cell", because IPython's names for them mean nothing to users."""
    cell = {}
    exec(compile("def f():\n    return 1 / 0\n", name, "exec"), cell)
    with pytest.raises(ZeroDivisionError) as caught:
        cell["f"]()
    assert describe(caught.value) == "ZeroDivisionError: division by zero (line 2 of a cell)"


def test_causes_that_cause_each_other_end():
    """Two errors that are each other's cause can still be described."""
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert describe(one) == "ValueError: one"
