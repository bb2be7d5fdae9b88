"""Studies 1 to 3 are solved in JupyterLab, function by function, without restarting a kernel."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from autograder.benchmarks.support.browser.harness import lab_path, serve, students_course
from autograder.benchmarks.support.browser.live import Live
from autograder.workspace import answer_path
from autograder.workspace.strip import stub, written_functions
from course.checks import Study, load_study
from tictactoe import Board

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("browser")]
END, MIDDLE = Board("xoxoxo___"), Board("x_o_x_o__")
# A notebook per study, the objects made before anything is written, and a cell that needs all.
BROKEN = {  # other files that are saved, and the output of the cell
    "import nothing_like_it\n": "line 1: No module named 'nothing_like_it'",
    "from tictactoe import Bord\n": "line 1: cannot import name 'Bord' from 'tictactoe'",
    "\nX = undefined\n": "line 2: name 'undefined' is not defined",
    "X = 1 / 0\n": "line 1: ZeroDivisionError: division by zero",
    "import sys\nsys.exit()\n": "line 2: the module exits when it is imported",
}
USES = {
    "study1": (
        "01_minimax",
        "agents = [Minimax(), Tabular(), MixedTabular(seed=1)]",
        "agents[0].search(end), type(agents[1])().search(end), agents[2].choose(end)",
    ),
    "study2": ("02_alpha_beta", "agent = AlphaBeta()", "agent.search(end)"),
    "study3": (
        "05_move_ordering",
        "import heuristic\nagents = [TypeA(1), TypeAPlus(1)]\ncount = lane_counts",
        "count(middle, 'x'), heuristic.heuristic(middle, 'x'), "
        "heuristic.is_quiescent(middle), priority(middle, 1, 'o'), "
        "[agent.search(middle) for agent in agents]",
    ),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The kit's course in JupyterLab."""
    root = tmp_path_factory.mktemp("edits")
    with serve(students_course(root), root) as server:
        yield server


def text_of(outputs: list[dict]) -> str:
    """The outputs as text, including standard error."""
    assert [one for one in outputs if one["output_type"] == "error"] == []
    return "".join(
        "".join(one.get("text", "") or one["data"].get("text/plain", "")) for one in outputs
    ).strip()


def on_one_line(text: str) -> str:
    """The text without the line breaks that IPython puts into long values."""
    return re.sub(r"\s+", " ", text)


def type_and_save(browser, path: str, text: str, file: Path) -> None:
    """Type a module into Lab's editor and save it, with the keyboard."""
    browser.command("docmanager:open", path=path)
    browser.page.wait_for_function(
        "path => jupyterapp.shell.currentWidget?.context?.path === path", arg=path
    )
    browser.page.locator(".jp-FileEditor:visible .cm-content").click()
    browser.page.keyboard.press("Control+A")
    browser.page.keyboard.insert_text(text)
    browser.page.keyboard.press("Control+S")
    browser.wait_until(lambda: file.read_text("utf-8") == text, "the module was not saved")


def expected(study: Study, module: str, begin: str, use: str) -> str:
    """The cell's output in a fresh kernel: its value, or the function that must be written first."""
    made = ModuleType(study.module.removesuffix(".py"))
    exec(module, vars(made))
    names = vars(made) | {"end": END, "middle": MIDDLE}
    exec(begin.replace(f"import {made.__name__}\n", ""), names)
    try:
        return repr(eval(use.replace(f"{made.__name__}.", ""), names))
    except NotImplementedError as error:
        return f"Not written yet: {str(error).partition(':')[0]}, in {study.module}, line"


@pytest.mark.parametrize("name", USES)
def test_a_study_is_solved_in_one_kernel(browser, lab, name):
    """After each save the same cell shows the output it would have in a new kernel. A module that
    cannot be loaded adds one line, and finally all checks give full points.
    """
    study = load_study(name)
    notebook, begin, use = USES[name]
    path, module = (f"{study.assignment}/{file}" for file in (f"{notebook}.ipynb", study.module))
    file, live = lab.root / module, Live(browser)
    answer = answer_path(study).read_text("utf-8")
    functions = sorted(
        written_functions(answer),
        key=lambda one: answer.index(
            f"def {one.rpartition('.')[2]}(", answer.find(f"class {one.partition('.')[0]}") + 1
        ),
    )

    browser.open(lab, lab_path(path))
    browser.wait_for_lab()
    browser.wait_for_notebook(lab, path)
    browser.run_cell(1)
    text_of(
        live.run(
            f"from {study.module.removesuffix('.py')} import *\n"
            "from tictactoe import Board\n"
            f"end, middle = {END!r}, {MIDDLE!r}\n{begin}"
        )
    )
    assert text_of(live.run(use)).startswith(expected(study, file.read_text("utf-8"), begin, use))
    for number, _ in enumerate(functions, 1):
        text = stub(answer, study.module, keep=functions[:number])
        if number == 1:  # half-written first
            broken = text.replace("):\n", ")\n", 1)
            type_and_save(browser, module, broken, file)
            live.open(path)
            line = 1 + broken[: broken.index(")\n", broken.index("def "))].count("\n")
            assert text_of(live.run(use)) == f"{study.module}, line {line}: expected ':'"
            for wrong, said in BROKEN.items():
                live.write(module, wrong)
                live.open(path)
                assert text_of(live.run(use)) == f"{study.module}, {said}"
                assert text_of(live.run("print(end.winner)"))  # other cells run
            type_and_save(browser, module, text, file)
        else:
            live.write(module, text)
        live.open(path)
        assert on_one_line(text_of(live.run(use))).startswith(expected(study, text, begin, use)), (
            number
        )
    cells = browser.cells()
    checks = [n for n, cell in enumerate(cells) if "".join(cell["source"]).startswith("check(")]
    for check in checks:
        browser.run_cell(check)
        assert "all correct" in str(browser.cells()[check]["outputs"])
    browser.screenshot(f"edits-{name}")
    assert browser.elsewhere == []
