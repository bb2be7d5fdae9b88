"""Without numpy, imports succeed and cells show their stored output."""

import builtins
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course.checks.running import in_process
from course.lab import numpy_fallback, prerendered
from course.lab.prerendered import key

CELLS = {  # a cell of a notebook, and its stored output
    "total = np.ones(3).sum()": ["<pre>3.0</pre>"],
    "half = total / 2": ["<pre>1.5</pre>"],
}


@pytest.fixture
def shell(monkeypatch):
    """A notebook's Python, as in a browser."""
    for name in numpy_fallback.FALLBACKS:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(numpy_fallback, "find_spec", sys.modules.get)
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)  # put back afterwards
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(
        prerendered, "_table", lambda name: {key(cell): pages for cell, pages in CELLS.items()}
    )
    shell = InteractiveShell()
    monkeypatch.setattr(
        prerendered, "running_cell", lambda: shell.history_manager.input_hist_raw[-1]
    )
    yield shell
    shell.history_manager.end_session()


def shown(shell, cell, capsys, monkeypatch):
    """The cell's output: HTML and printed text."""
    pages = []
    monkeypatch.setattr("IPython.display.display", lambda page: pages.append(page.data))
    shell.run_cell(cell, store_history=True)
    return pages, capsys.readouterr().out


def test_a_module_gets_the_real_import_error(shell, capsys, monkeypatch, tmp_path):
    """Only cells get replacements: a module's import of numpy raises an error."""
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
    """Other imports work; cells that use numpy, directly or not, show their stored output."""

    def run(cell):
        return shown(shell, cell, capsys, monkeypatch)

    assert run(
        "%load_ext course.notebook\nimport math, numpy as np\nfrom math import pi\n"
        "from matplotlib.patches import Rectangle\nimport matplotlib.pyplot as plt\n"
        "print(math.floor(pi))"
    ) == ([], "3\n")
    assert run("print(Rectangle(1, 2) is plt.figure().axes)") == ([], "True\n")
    for cell, pages in CELLS.items():
        said = f"<p><em>{numpy_fallback.UNAVAILABLE_MESSAGE.format('numpy')}</em></p>"
        assert run(cell) == ([said, *pages], "")
    pages, printed = run("nobody_set_this")
    assert (pages, "NameError" in printed) == ([], True)
    pages, printed = run("import nothing_of_this_name")
    assert (pages, "ModuleNotFoundError" in printed) == ([], True)


def test_what_shows_nothing_leaves_no_output(shell):
    """The browser's kernel also displays results without data, as an empty line below the cell."""
    release_to_exchange, hook = [], shell.displayhook
    hook.finish_displayhook = lambda: release_to_exchange.append(hook.data)
    shell.run_cell("%load_ext course.notebook")
    for hook.data in ({}, {"text/plain": "1"}):
        hook.finish_displayhook()
    assert release_to_exchange == [{"text/plain": "1"}]


def test_names_that_a_cell_would_have_imported(shell, capsys, monkeypatch, tmp_path):
    """If a module needs numpy, the other names imported by the cell are missing for that reason."""
    (tmp_path / "needs_numpy.py").write_text("import numpy\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    said = [f"<p><em>{numpy_fallback.UNAVAILABLE_MESSAGE.format('numpy')}</em></p>"]
    for cell in (
        "%load_ext course.notebook",
        "import needs_numpy\nfrom math import tau as turn",
        "turn",
    ):
        told = shown(shell, cell, capsys, monkeypatch)
    assert told == (said, "")


def test_games_that_need_processes_print_one_line(shell, capsys, monkeypatch):
    """The message replaces the traceback."""
    assert shown(
        shell,
        "%load_ext course.notebook\n"
        "from course.checks.running.in_process import NEEDS_PROCESSES, NeedsProcesses\n"
        "raise NeedsProcesses(NEEDS_PROCESSES)",
        capsys,
        monkeypatch,
    ) == ([], f"This check cannot run here: {in_process.NEEDS_PROCESSES}.\n")
