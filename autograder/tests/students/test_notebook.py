"""Run All with an unwritten module: one line instead of each traceback, in a real kernel."""

import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager

from autograder.tests.support.pages.kernels import kernel_in
from course.checks import load_study, studies
from course.lab.progress import STUB_PREFIX
from course.notebook import STUB_MESSAGE

START = 60  # seconds that a kernel may need under load


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The first study's folder, with its stub."""
    study = load_study("study1")
    return Path(shutil.copytree(study.folder, tmp_path_factory.mktemp("class") / study.assignment))


def run_all(folder: Path, *cells: str, **environment: str) -> list[tuple[str, str]]:
    """The status and output of each cell, all sent immediately, as *Run All* does."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(
        cwd=folder, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **environment}
    )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=START)
        numbers = [client.execute(cell) for cell in cells]
        ends: dict[str, str] = {}
        while len(ends) < len(cells):
            reply = client.get_shell_msg(timeout=START)
            if reply["parent_header"]["msg_id"] in numbers:
                ends[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
        said = dict.fromkeys(numbers, "")
        idle = 0
        while idle < len(cells):
            message = client.get_iopub_msg(timeout=START)
            content, number = message["content"], message["parent_header"].get("msg_id")
            if message["msg_type"] == "stream":
                said[number] += content["text"]
            elif message["msg_type"] == "error":
                said[number] += "".join(content["traceback"])
            elif message["msg_type"] == "status" and number in said:
                idle += content["execution_state"] == "idle"
        return [(ends[number], said[number]) for number in numbers]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


SET_UP = "%load_ext course.notebook\nfrom minimax import Minimax\nfrom tictactoe import Board"
USE = "Minimax().search(Board())"


def test_run_all_goes_on_below_a_stub(folder):
    """One line names the function to write and its file; other errors stop the cells below as
    usual.
    """
    _, stub, below, other, stopped = run_all(
        folder,
        SET_UP,
        USE,
        "print('below')",
        "raise NotImplementedError('of my own')",
        "print('never')",
    )
    line = 1 + (folder / "minimax.py").read_text("utf-8").splitlines().index(
        f'        {STUB_PREFIX}"Minimax.search: write this method")'
    )
    assert stub == (
        "ok",
        f"Not written yet: Minimax.search, in minimax.py, line {line}. Write it, "
        "save the module, and run this cell again.\n",
    )
    assert below == ("ok", "below\n")
    assert other[0] == "error" and "Traceback" in other[1]
    assert stopped == ("aborted", "")


def test_where_nbgrader_runs_it_an_error_stays_one(folder):
    """Otherwise a test cell that could not run would count as passed."""
    _, (end, said) = run_all(folder, SET_UP, USE, NBGRADER_EXECUTION="validate")
    assert (end, "NotImplementedError" in said) == ("error", True), said


@pytest.mark.parametrize("name", studies())
def test_every_stub_says_so_in_these_words(name):
    """Unwritten functions are recognised by this message."""
    study = load_study(name)
    lines = (study.folder / study.module).read_text("utf-8").splitlines()
    stubs = [line.strip() for line in lines if line.strip().startswith(STUB_PREFIX)]
    assert stubs
    assert not [stub for stub in stubs if STUB_MESSAGE not in stub]


def test_an_endless_loop_at_import_can_be_interrupted(folder):
    """The message names the loop's line, and the cells below run; the corrected module is used."""
    module = folder / "minimax.py"
    stub = module.read_text("utf-8")
    try:
        with kernel_in(folder) as kernel:
            assert kernel.run(SET_UP) == ("ok", "")
            module.write_text("print('begins', flush=True)\nwhile True:\n    pass\n", "utf-8")
            end, shown = kernel.run("Minimax()", interrupt_at="begins")
            assert end == "ok"
            assert re.fullmatch(
                r"begins\nminimax\.py, line [123]: interrupted while the module was "
                r"imported\n",
                shown,
            )
            assert kernel.run("Minimax()") == ("ok", shown.partition("\n")[2])
            assert kernel.run("print(1)") == ("ok", "1\n")
            module.write_text("class Minimax:\n    x = 7\n", "utf-8")
            assert kernel.run("print(Minimax().x)") == ("ok", "7\n")
    finally:
        module.write_text(stub, "utf-8")


@pytest.mark.parametrize("way", ["autograde", "validate"])
def test_where_nbgrader_runs_a_broken_module_the_check_still_runs(folder, way):
    """The first cell fails, and the check, which was imported before, gives 0 points."""
    cell = next(
        cell.source
        for cell in nbformat.read(folder / "01_minimax.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    )
    module = folder / "minimax.py"
    stub = module.read_text("utf-8")
    try:
        module.write_text("def f()\n", "utf-8")
        with kernel_in(folder, NBGRADER_EXECUTION=way) as kernel:
            end, shown = kernel.run(cell)
            assert end == "error" and "SyntaxError" in shown
            end, shown = kernel.run('check("study1.minimax")')
            assert (end == "ok" and shown.splitlines()[-1].startswith("0")) or "0 of" in shown
    finally:
        module.write_text(stub, "utf-8")
