"""Runs tasks that need the gradebook: those that find its server away are done again later."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from autograder.course_folder import CourseFolder
from autograder.database import ATTEMPTS, pause_after, reach
from autograder.grading.workers import Failed, run_tasks


class Later(NamedTuple):
    """Takes the place of a result: the gradebook's server was away, and why in one line."""

    reason: str


def run_patiently(
    folder: CourseFolder,
    work: Callable[..., AbstractContextManager],
    arguments: tuple,
    tasks: Iterable[Any],
    jobs: int,
    seconds: float | None = None,
) -> Iterator[tuple[Any, Any]]:
    """`run_tasks`, but for results that are `Later`: their tasks are done once the server answers.

    Only this process waits, and says so: until it takes the next result, workers get no new task.
    A task that fails again and again although the server answers is `Failed`. Raises `NoAnswer`
    when patience is over.
    """
    left, attempts = list(tasks), Counter[Any]()
    while left:
        again = []
        for task, result in run_tasks(work, arguments, left, min(jobs, len(left)), seconds):
            if not isinstance(result, Later):
                yield task, result
                continue
            attempts[task] += 1
            if attempts[task] == ATTEMPTS:
                yield task, Failed(result.reason)
                continue
            again.append(task)
            reach(folder)
        if again:
            time.sleep(pause_after(min(attempts[task] for task in again)))
        left = again
