"""Runs tasks that need the gradebook and repeats a task that found its server unavailable."""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from autograder.course_folder import CourseFolder
from autograder.database import MAX_ATTEMPTS, retry_delay, wait_for_gradebook
from autograder.grading.run.workers import TaskFailed, run_tasks


class RetryLater(NamedTuple):
    """A task's result if the gradebook's server was unavailable; `reason` is one line."""

    reason: str


def run_with_retry(
    folder: CourseFolder,
    work: Callable[..., AbstractContextManager],
    arguments: tuple,
    tasks: Iterable[Any],
    jobs: int,
    seconds: float | None = None,
) -> Generator[tuple[Any, Any], None, None]:
    """Like `run_tasks`, but tasks whose result is `RetryLater` are repeated once the server
    answers.

    Only this process waits, and logs that it is waiting; until it takes the next result, workers
    get no new task. A task that fails `MAX_ATTEMPTS` times although the server answers is
    `TaskFailed`. Raises `GradebookUnreachable` when the time limit of the gradebook is over.
    """
    remaining, attempts = list(tasks), Counter[Any]()
    while remaining:
        repeat = []
        for task, result in run_tasks(
            work, arguments, remaining, min(jobs, len(remaining)), seconds
        ):
            if not isinstance(result, RetryLater):
                yield task, result
                continue
            attempts[task] += 1
            if attempts[task] == MAX_ATTEMPTS:
                yield task, TaskFailed(result.reason)
                continue
            repeat.append(task)
            wait_for_gradebook(folder)
        if repeat:
            time.sleep(retry_delay(min(attempts[task] for task in repeat)))
        remaining = repeat
