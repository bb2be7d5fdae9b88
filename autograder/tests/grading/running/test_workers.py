"""Workers: a task that dies, raises or never ends affects no other task."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from autograder.benchmarks.support.signals import Command, adopting
from autograder.grading.run.workers import TaskFailed, run_tasks
from autograder.tests.support.courses.tasks import work

SLOW = """
import time
print("importing", flush=True)
time.sleep(2)
"""
ROOT = Path(__file__).parents[4]
linux = pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans")
STOPPED = """
import contextlib, sys
from autograder.grading.run.workers import preload, run_tasks
from autograder.tests.support.courses.tasks import work

if __name__ == "__main__":
    try:
        preload(["slow_to_import"])
        list(run_tasks(work, (), ["a", "b"], 2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "odd, why",
    [
        ("spin", "stopped after 1 s of computing time"),
        ("raise", "ValueError: no"),
        ("die", "its worker process ended with status 3"),
    ],
)
def test_one_task_costs_itself_only(odd, why, jobs):
    """All others are completed, whichever tasks fail and however many workers there are."""
    tasks = ["a", odd, "b", "c", odd, "d"]
    found = list(run_tasks(work, (), tasks, jobs, 1))
    assert sorted(task for task, _ in found) == sorted(tasks)
    for task, result in found:
        if task == odd:
            assert isinstance(result, TaskFailed)
            assert result.reason.startswith(why)
        else:
            assert result == f"{task} is done"


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_what_hits_everybody_no_more_tasks_are_begun(jobs):
    """Tasks that have already begun end normally."""
    found = dict(run_tasks(work, (), ["full", "a", "b", "c", "d", "e"], jobs))
    assert found["full"].fatal
    assert "disk" in found["full"].reason
    assert len([*found]) - [*found].index("full") <= jobs  # in the order in which they ended
    assert not any(
        result.fatal
        for result in found.values()
        if isinstance(result, TaskFailed) and result != found["full"]
    )


@pytest.mark.slow
def test_who_only_waits_is_not_late():
    """Only CPU time counts."""
    assert dict(run_tasks(work, (), ["sleep", "a"], 1, 1)) == {
        "sleep": "sleep is done",
        "a": "a is done",
    }


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
def test_ctrl_c_while_workers_are_prepared_is_no_traceback_of_theirs(tmp_path):
    """All processes of a terminal receive it: the command ends, then the others, silently."""
    (tmp_path / "slow_to_import.py").write_text(SLOW, "utf-8")
    (tmp_path / "command.py").write_text(STOPPED, "utf-8")
    command = subprocess.Popen(
        [sys.executable, str(tmp_path / "command.py")],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )
    assert command.stdout.readline() == "importing\n"
    os.killpg(command.pid, signal.SIGINT)
    said = command.communicate(timeout=300)[1]  # until the last of them has closed its end
    assert (command.returncode, said) == (130, "")


def test_workers_children_can_be_interrupted():
    """Ctrl-C is not blocked in a worker's child process, although it is in the worker."""
    assert dict(run_tasks(work, (), ["blocked"], 1)) == {"blocked": "blocked: []"}


# ---- The parent ends during a task

LONELY = """
import sys
from autograder.grading.run import workers
from autograder.tests.support.courses.tasks import work

if __name__ == "__main__":
    if sys.argv[1] == "unwatched":
        workers.PARENT_WATCH = "unwatched"
    workers.preload(sys.argv[2:])
    list(workers.run_tasks(work, (), ["spin aloud"], 1))
"""
UNWATCHED = """
import os

os.environ.pop("AUTOGRADER_PARENT")
import autograder.grading.run.workers

autograder.grading.run.workers._end_with_parent = lambda: None
"""
SPINS = """
print("spinning", flush=True)
while True:
    pass
"""


@pytest.fixture
def worker_command(tmp_path):
    """Starts a command with a busy worker, and returns it after the first line of output."""
    for name, text in {"command": LONELY, "unwatched": UNWATCHED, "spins": SPINS}.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")

    def start(*arguments: str) -> Command:
        command = Command(
            [sys.executable, str(tmp_path / "command.py"), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        )
        assert command.process.stdout.readline() == "spinning\n"
        return command

    with adopting():
        yield start


@pytest.mark.slow
@linux
@pytest.mark.parametrize("watch", ["watched", "unwatched"])
@pytest.mark.parametrize("modules", [[], ["spins"]], ids=["in a task", "in an import"])
def test_what_workers_do_ends_with_their_parent(worker_command, watch, modules):
    """Tasks and imports end after SIGKILL; without the two monitors, both continue."""
    ending = worker_command(watch, *modules).end(signal.SIGKILL, cpu_limit=5, timeout=600)
    assert bool(ending.left) == (watch == "unwatched"), ending


@linux
def test_who_stops_early_leaves_no_worker_and_no_file(tmp_path, monkeypatch):
    """Workers are killed during their tasks, with the processes that they started."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    others = {process.pid for process in psutil.Process().children(recursive=True)}
    results = run_tasks(work, (), ["a", "child", "child"], 2)
    assert next(results) == ("a", "a is done")
    end = time.monotonic() + 600
    while len([*tmp_path.glob("workers-*/left-*")]) < 1:
        assert time.monotonic() < end
        time.sleep(0.02)
    results.close()
    assert not [*tmp_path.iterdir()]
    for process in psutil.Process().children(recursive=True):
        if process.pid not in others:
            assert process.status() == psutil.STATUS_ZOMBIE or "sleep" not in process.name()
