"""Workers: a task that dies, raises or never ends costs itself only."""

import errno
import os
import time
from contextlib import contextmanager

import pytest

from autograder.grading.workers import Failed, run_tasks


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
