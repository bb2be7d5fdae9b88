"""Where numpy is missing: imports go through, and cells show what they showed before."""

import builtins
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course import drawn_before, without_numpy
from course.drawn_before import key
from course.probes import in_process

CELLS = {  # a cell of a notebook, and what it showed
    "total = np.ones(3).sum()": ["<pre>3.0</pre>"],
    "half = total / 2": ["<pre>1.5</pre>"],
}


@pytest.fixture
def shell(monkeypatch):
    """A notebook's Python, as in a browser."""
    for name in without_numpy.STAND_INS:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(without_numpy, "find_spec", sys.modules.get)
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)  # put back afterwards
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(
        drawn_before, "_table", lambda name: {key(cell): pages for cell, pages in CELLS.items()}
    )
    shell = InteractiveShell()
    monkeypatch.setattr(drawn_before, "running", lambda: shell.history_manager.input_hist_raw[-1])
    yield shell
    shell.history_manager.end_session()


def shown(shell, cell, capsys, monkeypatch):
    """What the cell shows: HTML, and what is printed."""
    pages = []
    monkeypatch.setattr("IPython.display.display", lambda page: pages.append(page.data))
    shell.run_cell(cell, store_history=True)
    return pages, capsys.readouterr().out


def test_a_module_is_told_the_truth(shell, capsys, monkeypatch, tmp_path):
    """Only cells get stand-ins: a module that tries to import numpy finds that it is missing."""
    (tmp_path / "tries_numpy.py").write_text(
        "try:\n    import numpy\nexcept ImportError:\n    numpy = 'missing'\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert shown(
        shell,
        "%load_ext course.notebook\nimport numpy, tries_numpy\nprint(tries_numpy.numpy)",
        capsys,
        monkeypatch,
    ) == ([], "missing\n")


def test_a_notebook_goes_on_without_numpy(shell, capsys, monkeypatch):
    """Other imports are done; a cell that uses numpy, and one that needs it, show what they did."""

    def run(cell):
        return shown(shell, cell, capsys, monkeypatch)

    assert run(
        "%load_ext course.notebook\nimport math, numpy as np\nfrom math import pi\n"
        "from matplotlib.patches import Rectangle\nimport matplotlib.pyplot as plt\n"
        "print(math.floor(pi))"
    ) == ([], "3\n")
    assert run("print(Rectangle(1, 2) is plt.figure().axes)") == ([], "True\n")
    for cell, pages in CELLS.items():
        said = f"<p><em>{without_numpy.SAID.format('numpy')}</em></p>"
        assert run(cell) == ([said, *pages], "")
    pages, printed = run("nobody_set_this")
    assert (pages, "NameError" in printed) == ([], True)
    pages, printed = run("import nothing_of_this_name")
    assert (pages, "ModuleNotFoundError" in printed) == ([], True)


def test_what_shows_nothing_leaves_no_output(shell):
    """The browser's kernel puts out results without data, too: an empty line below the cell."""
    put_out, hook = [], shell.displayhook
    hook.finish_displayhook = lambda: put_out.append(hook.data)
    shell.run_cell("%load_ext course.notebook")
    for hook.data in ({}, {"text/plain": "1"}):
        hook.finish_displayhook()
    assert put_out == [{"text/plain": "1"}]


def test_names_that_a_cell_would_have_imported(shell, capsys, monkeypatch, tmp_path):
    """Where a module needs numpy, what else its cell imports is missed for the same reason."""
    (tmp_path / "needs_numpy.py").write_text("import numpy\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    said = [f"<p><em>{without_numpy.SAID.format('numpy')}</em></p>"]
    for cell in (
        "%load_ext course.notebook",
        "import needs_numpy\nfrom math import tau as turn",
        "turn",
    ):
        told = shown(shell, cell, capsys, monkeypatch)
    assert told == (said, "")


def test_games_that_need_processes_are_told_in_a_line(shell, capsys, monkeypatch):
    """Instead of a traceback."""
    assert shown(
        shell,
        "%load_ext course.notebook\n"
        "from course.probes.in_process import GAMES, NeedsProcesses\n"
        "raise NeedsProcesses(GAMES)",
        capsys,
        monkeypatch,
    ) == ([], f"Not here: {in_process.GAMES}.\n")
