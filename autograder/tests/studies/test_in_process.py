"""Checks without other processes, as in a browser: the same replies, and no side effects."""

import random
import subprocess
import sys
import textwrap
import traceback

import pytest

from autograder.studies.mutants import load_mutants
from autograder.workspace import answer_path
from course.checks import load_study, studies
from course.checks.running import in_process, process
from tictactoe import solver

STUDY = load_study("study3")
ANSWER = answer_path(STUDY).read_text("utf-8")
WITHOUT = ("matplotlib", "numpy", "psutil", "resource", "scipy", "choix")
IMPORTS = """
    course.check course.lab.prerendered course.submission course.plots course.lab.start_page
    course.notebook
    tictactoe tictactoe.solver tictactoe.explorables.explorer tictactoe.boards.play_board
    tictactoe.explorables.tree tictactoe.explorables.counts tictactoe.explorables.select
    tictactoe.explorables.growth tictactoe.explorables.weights tictactoe.boards.watch_board
    common.progress
    sequence sequence.examples sequence.league sequence.widget
    sequence.widget.hidden_hand sequence.widget.rays sequence.widget.replies
    sequence.widget.scores"""

newer = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="needs sys.monitoring; the test in the browser does the same"
)


@pytest.mark.parametrize("module", ["reference", "stub", "broken", "diagonals_missed"])
def test_replies_are_the_same_as_from_a_process(module, tmp_path):
    """The answer, the stub, a module that cannot be loaded and a mistake have the same replies in
    every check.
    """
    mistakes = {mutant.name: mutant for mutant in load_mutants(STUDY.name)}
    path = tmp_path / STUDY.module
    path.write_text(
        ANSWER
        if module == "reference"
        else "import nothing.at.all"
        if module == "broken"
        else mistakes[module].apply(ANSWER)
        if module in mistakes
        else (STUDY.folder / STUDY.module).read_text("utf-8"),
        "utf-8",
    )
    for check in STUDY.checks.values():
        assert in_process.query_module(path, check) == process.query_module(path, check)


def test_nothing_is_left_over(tmp_path, capsys):
    """A module may print, change the path, draw and import; the process is restored."""
    path = tmp_path / STUDY.module
    path.write_text(
        "import random, sys\nprint('hello')\nsys.path.insert(0, '/nowhere')\n"
        "random.seed(1)\nsys.setrecursionlimit(50_000)\n" + ANSWER,
        "utf-8",
    )
    before = (list(sys.path), sys.getrecursionlimit(), set(sys.modules))
    replies = in_process.query_module(path, STUDY.checks["lane_counts"])
    assert replies.broken is None
    assert (list(sys.path), sys.getrecursionlimit(), set(sys.modules)) == before
    assert sys.modules["tictactoe.solver"] is solver
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", sorted({*studies()} - {"study10"}))
def test_no_check_depends_on_luck(name, tmp_path, monkeypatch):
    """Each agent that a check creates has a seed, even if the correct agent draws no numbers:
    otherwise, marks of wrong agents, which do draw some, would differ from run to run.
    """
    unseeded = []

    class Noted(random.Random):
        def __init__(self, seed=None):
            callers = [
                frame
                for frame in traceback.extract_stack()[:-1]
                if frame.name not in ("__init__", "reset")
            ]
            if seed is None and callers[-1].filename.endswith("_check/questions.py"):
                unseeded.append(callers[-1])
            super().__init__(seed)

    monkeypatch.setattr(random, "Random", Noted)
    study = load_study(name)
    path = tmp_path / study.module
    path.write_text(answer_path(study).read_text("utf-8"), "utf-8")
    for check in study.checks.values():
        assert in_process.query_module(path, check).broken is None
    assert not unseeded


def test_progress_in_questions_is_reported(tmp_path, monkeypatch):
    """The message includes the time left for the rest; here it follows all cases, as no time is
    short enough.
    """
    monkeypatch.setattr(in_process, "REPORT_SECONDS", 0)
    path, told = tmp_path / STUDY.module, []
    path.write_text(ANSWER, "utf-8")
    check = STUDY.checks["lane_counts"]
    in_process.query_module(path, check, report_progress=told.append)
    count = len(check.cases)
    some = [f"{number} of {count} questions answered, about 1 s left" for number in range(1, count)]
    assert told == [*some, f"{count} of {count} questions answered"]


def test_games_are_refused_in_words():
    """Games need processes, and the message names a place that has them."""
    study = load_study("study10")
    (check,) = study.checks.values()
    with pytest.raises(in_process.NeedsProcesses, match="run it in JupyterLab on your computer"):
        in_process.query_module(study.folder / study.module, check)


@newer
@pytest.mark.parametrize(
    "body", ["while True: pass", "lane_counts(board, player)", "[0 for _ in iter(int, 1)]"]
)
def test_what_never_ends_is_stopped(body, tmp_path):
    """Loops, infinite recursion and comprehensions end, even if all exceptions are caught."""
    path = tmp_path / STUDY.module
    path.write_text(
        textwrap.dedent(f"""
        def lane_counts(board, player):
            while True:
                try:
                    {body}
                except BaseException:
                    pass
        """),
        "utf-8",
    )
    replies = in_process.query_module(path, STUDY.checks["lane_counts"], 0.3)
    assert "0.3 s of computing time" in replies.stopped
    assert sys.monitoring.get_events(in_process.TOOL_ID) == 0


def test_a_browser_needs_no_compiled_package():
    """Everything that notebooks import from the kit works without numpy and other compiled
    packages.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            textwrap.dedent(f"""
        import importlib, sys
        import anywidget, IPython  # they may import what they like
        sys.platform = "emscripten"
        for name in {WITHOUT}:
            sys.modules[name] = None
        for name in {IMPORTS.split()}:
            importlib.import_module(name)
        from course.plots import figure, picture
        assert "words" in picture(figure(), "in words")._repr_html_()
        assert importlib.import_module("course.check").query_module.__module__.endswith("in_process")
        """),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
