"""Workers: a task that dies, raises or never ends costs itself only."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.grading.workers import Failed, run_tasks

SLOW = """
import time
print("importing", flush=True)
time.sleep(2)
"""
ROOT = Path(__file__).parents[3]
STOPPED = """
import contextlib, sys
from autograder.grading.workers import prepare, run_tasks
from autograder.tests.grading.test_workers import work

if __name__ == "__main__":
    try:
        prepare(["slow_to_import"])
        list(run_tasks(work, (), ["a", "b"], 2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@contextmanager
def work():
    """Does what a task says."""
    def do(task: str) -> str:
        if task == "spin":
            while True:
                pass
        if task == "sleep":
            time.sleep(2)
        if task == "raise":
            raise ValueError("no\nmore")
        if task == "die":
            os._exit(3)
        if task == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if task == "blocked":
            return f"blocked: {sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))}"
        return f"{task} is done"

    yield do


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("odd, why", [
    ("spin", "stopped after 1 s of computing time"), ("raise", "ValueError: no"),
    ("die", "its worker process ended with status 3")])
def test_one_task_costs_itself_only(odd, why, jobs):
    """All others are done, whoever has the odd ones, and however many there are."""
    tasks = ["a", odd, "b", "c", odd, "d"]
    found = list(run_tasks(work, (), tasks, jobs, 1))
    assert sorted(task for task, _ in found) == sorted(tasks)
    for task, result in found:
        if task == odd:
            assert isinstance(result, Failed)
            assert result.reason.startswith(why)
        else:
            assert result == f"{task} is done"


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_what_hits_everybody_no_more_tasks_are_begun(jobs):
    """What others have begun by then ends as it would."""
    found = dict(run_tasks(work, (), ["full", "a", "b", "c", "d", "e"], jobs))
    assert found["full"].for_all
    assert "disk" in found["full"].reason
    assert len([*found]) - [*found].index("full") <= jobs  # in the order in which they ended
    assert not any(result.for_all for result in found.values() if isinstance(result, Failed)
                   and result != found["full"])


def test_who_only_waits_is_not_late():
    """What counts is computing time."""
    assert dict(run_tasks(work, (), ["sleep", "a"], 1, 1)) == {
        "sleep": "sleep is done", "a": "a is done"}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
def test_ctrl_c_while_workers_are_prepared_is_no_traceback_of_theirs(tmp_path):
    """All processes of a terminal get it: the command ends, then the others, without a word."""
    (tmp_path / "slow_to_import.py").write_text(SLOW, "utf-8")
    (tmp_path / "command.py").write_text(STOPPED, "utf-8")
    command = subprocess.Popen(
        [sys.executable, str(tmp_path / "command.py")], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])})
    assert command.stdout.readline() == "importing\n"
    os.killpg(command.pid, signal.SIGINT)
    said = command.communicate(timeout=300)[1]  # until the last of them has closed its end
    assert (command.returncode, said) == (130, "")


def test_workers_children_can_be_interrupted():
    """What a worker starts finds Ctrl-C unblocked, whatever kept it from the worker."""
    assert dict(run_tasks(work, (), ["blocked"], 1)) == {"blocked": "blocked: []"}
