"""nbgrader's Validate, as run by a student's button: it shows check results and always ends."""

import os
import sys
import threading
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder import workspace
from autograder.release.derive import COURSE
from course.checks import load_study
from course.lab import validate_server
from course.lab.validate import CELL_SECONDS, MAX_CELL_SECONDS, CellLimits, Watch, seconds_of
from course.lab.validate_server import MARK, clean_environment, clean_kernel_starts, validate

STUDY = load_study("study1")
CHECK = STUDY.checks["minimax"]
MISTAKE = "root_not_counted"
LOOP = "while True:\n    pass"
STUBBORN = """\
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass"""
TEST = "PYTEST_CURRENT_TEST"  # set by pytest and inherited by processes
DIES = "import os\nos._exit(1)"
LEAVES = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\nNone"


def a_notebook(folder: Path, *sources: str) -> Path:
    """A notebook with these code cells."""
    folder.mkdir(exist_ok=True)
    path = folder / "notebook.ipynb"
    nbformat.write(new_notebook(cells=list(map(new_code_cell, sources))), path)
    return path


def validated(path: Path) -> dict:
    """The button's response; all processes that it started have ended."""
    answer = validate(path, Config(), threading.Event())
    assert marked() == []
    return answer


def marked() -> list[psutil.Process]:
    """The processes that a Validate of this test has left; other tests may run their own."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            if (
                MARK in environment
                and process.status() != psutil.STATUS_ZOMBIE
                and environment.get(TEST) == os.environ[TEST]
            ):
                found.append(process)
        except psutil.Error:
            pass
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "said"),
    [("stub", "not written yet"), (MISTAKE, "not all correct"), ("reference", None)],
)
def test_validate_says_why_a_check_is_not_right(tmp_path, module, said):
    """nbgrader alone would report "Partial credit", or that there was no response."""
    source = COURSE / STUDY.assignment / "01_minimax.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if f'check("{CHECK.id}")' in cell.source or "from course.check" in cell.source
    ]
    (tmp_path / STUDY.module).write_text(workspace.module_texts(STUDY)[module], "utf-8")
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    found = validated(tmp_path / "notebook.ipynb")
    assert found["success"]
    if said is None:
        assert found["value"] == {}
    else:
        (cell,) = found["value"]["failed"]
        assert CHECK.id in cell["error"]
        assert said in cell["error"]


def test_validate_reports_questions_without_an_answer(tmp_path):
    """In the kit's notebooks, an answered question is not listed, but a changed protected cell is."""
    notebook = nbformat.read(COURSE / STUDY.assignment / "01_minimax.ipynb", as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "nbgrader" in cell.metadata and cell.cell_type == "markdown"
    ]
    notebook.cells[0].source = "Because it does."
    path = tmp_path / "notebook.ipynb"
    nbformat.write(notebook, path)
    failed = validated(path)["value"]["failed"]
    assert len(failed) == len(notebook.cells) - 1 > 0
    assert {cell["error"] for cell in failed} == {"You did not provide a response."}

    notebook = nbformat.read(COURSE / STUDY.assignment / "01_minimax.ipynb", as_version=4)
    notebook.cells = [next(c for c in notebook.cells if c.source.startswith("check("))]
    notebook.cells[0].source = "1"
    nbformat.write(notebook, path)
    assert validated(path)["value"]["changed"] == [{"source": "1"}]


@pytest.mark.slow
@pytest.mark.parametrize("source", [LOOP, STUBBORN])
def test_an_endless_loop_is_stopped(tmp_path, source):
    """The cell is named with the limit in seconds, whatever it catches or starts; cells above it
    count, and those below it do not run.
    """
    failed = validated(a_notebook(tmp_path, "1", source, "open('below', 'w')"))["value"]["failed"]
    assert [cell["source"] for cell in failed] == [source]
    assert f"after {CELL_SECONDS} seconds of computing time" in failed[0]["error"]
    assert "The cells below were not run." in failed[0]["error"]
    assert not (tmp_path / "below").exists()


@pytest.mark.slow
def test_a_kernel_that_dies_is_reported(tmp_path):
    """The message names the cell."""
    (cell,) = validated(a_notebook(tmp_path, DIES, "1"))["value"]["failed"]
    assert cell["source"] == DIES
    assert "The kernel died while it ran this cell." in cell["error"]


@pytest.mark.slow
def test_what_a_cell_leaves_running_is_ended(tmp_path):
    """`validated` checks for such processes; the notebook itself is correct."""
    assert validated(a_notebook(tmp_path, LEAVES)) == {"success": True, "value": {}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no notebook notebook.ipynb"),
        ("{", "notebook.ipynb could not be validated (NotJSONError)"),
        (
            '{"cells": [], "metadata": {"kernelspec": {"name": "cobol"}}, "nbformat": 4,'
            ' "nbformat_minor": 5}',
            "needs the kernel 'cobol', which is not installed",
        ),
    ],
)
def test_a_notebook_that_cannot_be_validated_is_one_sentence(tmp_path, text, said):
    """There is no traceback."""
    path = tmp_path / "notebook.ipynb"
    if text is not None:
        path.write_text(text, "utf-8")
    answer = validated(path)
    assert not answer["success"]
    assert said in answer["value"]
    assert "\n" not in answer["value"]


@pytest.mark.slow
def test_nothing_goes_on_when_the_tab_is_closed(tmp_path):
    """The loop ends long before its time limit."""
    path = a_notebook(tmp_path, "open('begun', 'w').close()\n" + LOOP)
    gone = threading.Event()

    def close() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        gone.set()

    closing = threading.Thread(target=close)
    closing.start()
    answer = validate(path, Config(), gone)
    closing.join()
    assert not answer["success"]
    assert marked() == []


def test_a_process_that_cannot_start_is_reported(tmp_path, monkeypatch):
    """The message includes Python's error."""
    monkeypatch.setattr(validate_server, "MODULE", "course.no_such_module")
    answer = validated(a_notebook(tmp_path, "1"))
    assert not answer["success"]
    assert "no_such_module" in answer["value"]


def test_a_cell_that_waits_is_stopped():
    """Sleeping or waiting for a lock uses no CPU time."""
    with psutil.Popen(["sleep", "1000"]) as process:
        with Watch(process.pid, CellLimits(cell=1000, notebook=1000, waiting=0.5)) as watch:
            process.wait()
        assert "had waited for 0.5 seconds" in watch.problem


def test_the_whole_notebook_has_a_limit():
    """The current cell is not blamed when the limit is reached."""
    with psutil.Popen(["sh", "-c", "while :; do :; done"]) as process:
        with Watch(process.pid, CellLimits(cell=1000, notebook=0.2, waiting=1000)) as watch:
            process.wait()
        assert "the notebook had used" in watch.problem


def test_a_cell_has_the_time_of_its_checks():
    """A check stops and reports the module before Validate stops the cell."""
    assert seconds_of("1 + 1") == seconds_of('check("no.such")') == CELL_SECONDS
    assert seconds_of('check("study1.minimax")') > CELL_SECONDS
    assert seconds_of('check("study10.ladder")') <= MAX_CELL_SECONDS


def test_kernels_start_without_nbgraders_variables(monkeypatch):
    """They are removed from the server's or the session's environment, and the rest stays."""
    started = []

    class Kernels:
        def start_kernel(self, *, path=None, env=None):
            started.append((path, env))

    kernels = Kernels()
    clean_kernel_starts(kernels)
    for name in validate_server.EXECUTING:
        monkeypatch.setenv(name, "validate")
    kernels.start_kernel(path="a")
    kernels.start_kernel(path="b", env={"NBGRADER_EXECUTION": "autograde", "LANG": "C"})
    (first, all_of_it), second = started
    assert first == "a"
    assert not {*validate_server.EXECUTING} & {*all_of_it}
    assert all_of_it["PATH"]
    assert second == ("b", {"LANG": "C"})
    assert clean_environment({"NBGRADER_VALIDATING": "1"}) == {}


@pytest.mark.slow
def test_markdown_alone_is_right(tmp_path):
    """There is nothing to run and no message."""
    path = tmp_path / "notebook.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("Text")]), path)
    assert validated(path) == {"success": True, "value": {}}


@pytest.mark.slow
def test_two_notebooks_at_once_do_not_hinder_each_other(tmp_path):
    """Neither does the same notebook twice: each response is about its own run."""
    paths = [
        a_notebook(tmp_path / name, source)
        for name, source in (("right", "1"), ("loop", LOOP), ("right", "1"))
    ]
    answers: dict[int, dict] = {}

    def work(number: int) -> None:
        answers[number] = validate(paths[number], Config(), threading.Event())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0] == answers[2] == {"success": True, "value": {}}
    assert [cell["source"] for cell in answers[1]["value"]["failed"]] == [LOOP]
    assert marked() == []


SERVER = """
import sys, threading
from pathlib import Path
from traitlets.config import Config
from course.lab.validate_server import validate

validate(Path(sys.argv[1]), Config(), threading.Event())
"""


@pytest.mark.slow
def test_nothing_goes_on_when_the_server_is_killed(tmp_path):
    """The validating process, the kernel and the processes started by it all end."""
    path = a_notebook(tmp_path, "open('begun', 'w').close()\n" + STUBBORN)
    with psutil.Popen([sys.executable, "-c", SERVER, str(path)]) as server:
        end = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert marked()
        server.kill()
    end = time.monotonic() + 10
    while left := marked():
        assert time.monotonic() < end, left
        time.sleep(0.1)
