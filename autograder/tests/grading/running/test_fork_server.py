"""A fork server is started in advance and gives every client its own parent of jobs."""

import contextlib
import os
import shutil
import sys
import threading
from pathlib import Path

import psutil
import pytest

from autograder.benchmarks.support.browser.harness import wait_until
from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import Graded
from autograder.grading.run import batch
from autograder.grading.run.batch import GradingError
from autograder.grading.run.workers import TaskFailed
from autograder.sandbox import launch
from autograder.sandbox.client import Sandbox, SandboxFault
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.needs import need_isolation
from course.checks import load_study

LIMITS = SandboxLimits(processes=20)
# Starts as many processes as allowed, simultaneously; they end with the notebook.
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
WARM = 3  # processes below bubblewrap: its second process, the template and the light template
OWN = 2  # processes of each client: a parent and a light parent
WAIT = "import time\ntime.sleep(999)"


def processes(sandbox: psutil.Process) -> int:
    """The number of processes below bubblewrap."""
    return len(sandbox.children(recursive=True))


@pytest.fixture(params=["root", "user"])
def opened(request, monkeypatch):
    """The path of a fork server and its process, for root and for an ordinary user."""
    need_isolation()
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root grades with a separate user for each parent")
    if request.param == "user":
        monkeypatch.setattr(launch, "AS_ROOT", launch.AS_USER)
    before = {*psutil.Process().children()}
    with launch.fork_server() as path:
        (behind,) = {*psutil.Process().children()} - before
        yield path, behind
    assert not behind.is_running()
    assert not path.parent.exists()


def process_limit(sandbox: Sandbox) -> int:
    """The number of processes that a notebook can start."""
    ran = sandbox.run_cells({}, [CROWD], 10, 1, 20)
    return int(ran.outputs[0][0].text)


def process_limits(path: Path) -> list[int]:
    """The number of processes that each of two simultaneous notebooks can start."""
    with Sandbox(LIMITS, fork_server=path) as first, Sandbox(LIMITS, fork_server=path) as second:
        request = {"cells": [CROWD, WAIT], "characters": 1000}
        with first.job("cells", {}, request, 1 << 20) as job:
            while job.receive(job.clock(60)).get("end") != 0:
                pass
            return [process_limit(second), process_limit(second)]


@pytest.fixture
def counted(opened):
    """The same, if the kernel counts processes: only for an ordinary user in a namespace."""
    if os.geteuid() == 0 and launch.AS_ROOT == launch.AS_USER:
        pytest.skip("root's own processes are not counted; the test of a user is for users")
    return opened


@pytest.mark.slow
def test_one_students_processes_do_not_count_for_another(counted):
    """Each of two simultaneous notebooks can start the full number, and leaves none behind."""
    path, behind = counted
    with Sandbox(LIMITS, fork_server=path) as alone:
        most = process_limit(alone)
    assert 0 < most < LIMITS.processes
    assert process_limits(path) == [most, most]
    wait_until(lambda: processes(behind) == WARM, "a process is left behind")


def test_without_a_namespace_of_users_each_counts_for_all(monkeypatch, tmp_path):
    """An ordinary user's students would compete for the number of processes."""
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
    with launch.fork_server() as path:
        assert 0 in process_limits(path)


@pytest.mark.slow
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
    """Killing a worker ends its jobs, and other clients continue."""
    path, behind = opened
    stack = contextlib.ExitStack()
    sandbox = Sandbox(LIMITS, fork_server=path)
    stack.enter_context(sandbox.job(kind, files, request_, 999))
    assert processes(behind) == WARM + OWN + 1
    sandbox._control.close()
    wait_until(lambda: processes(behind) == WARM, "what it ran is still running")
    with pytest.raises(OSError, match="Bad file descriptor"):
        stack.close()
    with Sandbox(LIMITS, fork_server=path) as other:
        assert other.run_cells({}, ["print(1)"], 10, 1, 20).outputs[0][0].text == "1\n"


@pytest.mark.slow
def test_a_sandbox_that_ends_takes_no_marks(opened):
    """If all processes of the fork server are killed, its jobs do not count as failed."""
    path, behind = opened
    with Sandbox(LIMITS, fork_server=path) as sandbox:
        threading.Timer(0.5, behind.kill).start()
        with pytest.raises(SandboxFault):
            sandbox.run_cells({}, [WAIT], 60, 1, 60)


def test_ctrl_c_does_not_reach_what_runs(opened):
    """Ctrl-C is meant for the command, which lets its workers finish."""
    _, behind = opened
    assert os.getsid(behind.pid) != os.getsid(0)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no sandbox elsewhere")
def test_where_nobody_opens_a_sandbox_is_ones_own(tmp_path):
    """A missing or ended fork server only costs time."""
    need_isolation()
    with Sandbox(LIMITS, fork_server=tmp_path / "none") as sandbox:
        assert sandbox.run_cells({}, ["print(1)"], 10, 1, 20).outputs[0][0].text == "1\n"


def test_a_path_too_long_for_a_socket_gives_no_fork_server(tmp_path, monkeypatch):
    """A socket's address is limited to about a hundred characters; beyond that there is no server."""
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with launch.fork_server() as path:
        assert path is None
    assert not [*deep.iterdir()]


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """The tasks that `grade` creates for two students, not started, and a function that runs them."""
    found = []
    monkeypatch.setattr(batch, "preload", lambda modules: None)
    monkeypatch.setattr(batch, "start_fork_server", lambda hidden: contextlib.nullcontext("path"))
    monkeypatch.setattr(batch, "_submitted", lambda *arguments: ["ann", "bob"])
    # There is no gradebook.
    monkeypatch.setattr(batch, "recording", lambda *arguments: contextlib.nullcontext())

    def grade(proof):
        def run_with_retry(folder, work, arguments, tasks, jobs):
            return run_tasks(work, arguments, tasks, jobs)

        def run_tasks(work, arguments, tasks, jobs):
            found.append((work, jobs, arguments[-1]))
            for task in tasks:
                yield task, proof if work is batch._self_test else Graded(task, "graded")

        monkeypatch.setattr(batch, "run_tasks", run_tasks)
        monkeypatch.setattr(batch, "run_with_retry", run_with_retry)
        return batch.grade(
            CourseFolder.create(tmp_path / "course"),
            load_study("study2"),
            ["ann", "bob"],
            force=True,
            jobs=2,
        )

    return found, grade


def test_one_worker_proves_before_all_others_grade(begun):
    """Its results about an instructor's own tests are passed to the other workers."""
    found, grade = begun
    assert [graded.student for graded in grade({"arrays": {}})] == ["ann", "bob"]
    assert found == [(batch._self_test, 1, "path"), (batch._grader, 2, {"arrays": {}})]


def test_without_a_proof_nobody_is_graded(begun):
    """A worker that dies during the self-test has verified nothing."""
    found, grade = begun
    with pytest.raises(GradingError, match="nothing was graded: its worker process ended"):
        grade(TaskFailed("its worker process ended with status 1"))
    assert found == [(batch._self_test, 1, "path")]
