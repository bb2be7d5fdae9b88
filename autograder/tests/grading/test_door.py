"""The door to a warm parent that is started in advance: who comes has one of their own."""

import contextlib
import os
import shutil
import sys
import threading
from pathlib import Path

import psutil
import pytest

from autograder.benchmarks._browser.harness import wait_until
from autograder.course_folder import CourseFolder
from autograder.grading import batch
from autograder.grading.batch import GradingError
from autograder.grading.ledger import Graded
from autograder.grading.workers import Failed
from autograder.sandbox import launch
from autograder.sandbox.client import Sandbox, SandboxFault
from autograder.sandbox.limits import Limits
from autograder.tests.support.needs import need_isolation
from course.probes import load_study

LIMITS = Limits(processes=20)
# As many processes as there may be, all at once; they end with the notebook.
CROWD = """
import os, time
children = 0
try:
    while children < 40:
        if os.fork() == 0:
            time.sleep(999)
        children += 1
except OSError:
    pass
print(children)
"""
WARM = 3  # processes below bubblewrap: its own second one, the warm parent, and who forks twins
OWN = 2  # of each who comes to the door: a warm parent, and its light twin
WAIT = "import time\ntime.sleep(999)"


def processes(sandbox: psutil.Process) -> int:
    """How many processes there are below bubblewrap."""
    return len(sandbox.children(recursive=True))


@pytest.fixture(params=["root", "user"])
def opened(request, monkeypatch):
    """A door, the folder of its path, and the process behind it: as root, and as a user."""
    need_isolation()
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root grades with a user of its own for each warm parent")
    if request.param == "user":
        monkeypatch.setattr(launch, "AS_ROOT", launch.AS_USER)
    before = {*psutil.Process().children()}
    with launch.door() as path:
        (behind,) = {*psutil.Process().children()} - before
        yield path, behind
    assert not behind.is_running()
    assert not path.parent.exists()


def crowd(sandbox: Sandbox) -> int:
    """How many processes a notebook can start."""
    ran = sandbox.run_cells({}, [CROWD], 10, 1, 20)
    return int(ran.outputs[0][0].text)


def two_crowds(path: Path) -> list[int]:
    """How many processes each of two notebooks can start that run at the same time."""
    with Sandbox(LIMITS, door=path) as first, Sandbox(LIMITS, door=path) as second:
        request = {"cells": [CROWD, WAIT], "characters": 1000}
        with first.job("cells", {}, request, 1 << 20) as job:
            while job.receive(job.clock(60)).get("end") != 0:
                pass
            return [crowd(second), crowd(second)]


@pytest.fixture
def counted(opened):
    """The same, where the kernel counts processes: a user's who is no root in a namespace only."""
    if os.geteuid() == 0 and launch.AS_ROOT == launch.AS_USER:
        pytest.skip("root's own processes are not counted; the test of a user is for users")
    return opened


@pytest.mark.slow
def test_one_students_processes_do_not_count_for_another(counted):
    """Who is graded at the same time may start as many as if alone; both leave nobody behind."""
    path, behind = counted
    with Sandbox(LIMITS, door=path) as alone:
        most = crowd(alone)
    assert 0 < most < LIMITS.processes
    assert two_crowds(path) == [most, most]
    wait_until(lambda: processes(behind) == WARM, "somebody is left behind")


def test_without_a_namespace_of_users_each_counts_for_all(monkeypatch, tmp_path):
    """An ordinary user's students would take the processes of one another."""
    need_isolation()
    if os.geteuid() == 0:
        pytest.skip("root's own processes are not counted")
    shutil.copytree(launch.HERE / "inside", tmp_path / "inside")
    file = tmp_path / "inside" / "isolate.py"
    weaker = (
        file.read_text("utf-8")
        .replace("(0 if root else NEWUSER)", "0")
        .replace("        if not root:  #", "        if False:  #")
    )
    file.write_text(weaker, "utf-8")
    monkeypatch.setattr(launch, "HERE", tmp_path)
    with launch.door() as path:
        assert 0 in two_crowds(path)


@pytest.mark.parametrize(
    ("kind", "files", "request_"),
    [
        ("cells", {}, {"cells": [WAIT], "characters": 9}),
        (
            "questions",
            {"module.py": WAIT.encode()},
            {"module": "module.py", "ask": "minimax", "cases": [{}]},
        ),
        (
            "questions",
            {"module.py": b"import numpy\n" + WAIT.encode()},
            {"module": "module.py", "ask": "minimax", "cases": [{}]},
        ),
    ],
    ids=["notebook", "light", "heavy"],
)
def test_a_grader_who_is_gone_leaves_nothing_running(opened, kind, files, request_):
    """A worker that is killed takes what it runs with it, and the door stays open for others."""
    path, behind = opened
    stack = contextlib.ExitStack()
    sandbox = Sandbox(LIMITS, door=path)
    stack.enter_context(sandbox.job(kind, files, request_, 999))
    assert processes(behind) == WARM + OWN + 1
    sandbox._control.close()
    wait_until(lambda: processes(behind) == WARM, "what it ran is still running")
    with pytest.raises(OSError, match="Bad file descriptor"):
        stack.close()
    with Sandbox(LIMITS, door=path) as other:
        assert other.run_cells({}, ["print(1)"], 10, 1, 20).outputs[0][0].text == "1\n"


@pytest.mark.slow
def test_a_sandbox_that_ends_takes_no_marks(opened):
    """If all that is behind the door is killed, what was running there has not failed."""
    path, behind = opened
    with Sandbox(LIMITS, door=path) as sandbox:
        threading.Timer(0.5, behind.kill).start()
        with pytest.raises(SandboxFault):
            sandbox.run_cells({}, [WAIT], 60, 1, 60)


def test_ctrl_c_does_not_reach_what_runs(opened):
    """It is for the command, which lets its workers finish."""
    _, behind = opened
    assert os.getsid(behind.pid) != os.getsid(0)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no sandbox elsewhere")
def test_where_nobody_opens_a_sandbox_is_ones_own(tmp_path):
    """No door, or the end of what was behind it, costs time only."""
    need_isolation()
    with Sandbox(LIMITS, door=tmp_path / "none") as sandbox:
        assert sandbox.run_cells({}, ["print(1)"], 10, 1, 20).outputs[0][0].text == "1\n"


def test_a_path_too_long_for_a_door_is_no_door(tmp_path, monkeypatch):
    """The address of a socket is at most a hundred characters or so; then there is none."""
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with launch.door() as path:
        assert path is None
    assert not [*deep.iterdir()]


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """What `grade` has workers do for two students, none of it done, and a way to have it do so."""
    found = []
    monkeypatch.setattr(batch, "prepare", lambda modules: None)
    monkeypatch.setattr(batch, "warm_parents", lambda hidden: contextlib.nullcontext("door"))
    monkeypatch.setattr(batch, "_submitted", lambda *arguments: ["ann", "bob"])

    def grade(proof):
        def run_patiently(folder, work, arguments, tasks, jobs):
            return run_tasks(work, arguments, tasks, jobs)

        def run_tasks(work, arguments, tasks, jobs):
            found.append((work, jobs, arguments[-1]))
            for task in tasks:
                yield task, proof if work is batch._prover else Graded(task, "graded")

        monkeypatch.setattr(batch, "run_tasks", run_tasks)
        monkeypatch.setattr(batch, "run_patiently", run_patiently)
        return batch.grade(
            CourseFolder.create(tmp_path / "course"),
            load_study("study2"),
            ["ann", "bob"],
            force=True,
            jobs=2,
        )

    return found, grade


def test_one_worker_proves_before_all_others_grade(begun):
    """What it finds out about an instructor's own tests is handed to them."""
    found, grade = begun
    assert [graded.student for graded in grade({"arrays": {}})] == ["ann", "bob"]
    assert found == [(batch._prover, 1, "door"), (batch._grader, 2, {"arrays": {}})]


def test_without_a_proof_nobody_is_graded(begun):
    """A worker that dies while it proves has proved nothing."""
    found, grade = begun
    with pytest.raises(GradingError, match="nothing was graded: its worker process ended"):
        grade(Failed("its worker process ended with status 1"))
    assert found == [(batch._prover, 1, "door")]
