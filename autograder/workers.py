"""Runs tasks in worker processes; a worker that dies costs its own task and no other."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

_context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")


class Failed(NamedTuple):
    """In the place of a result: the task could not be done, and why in one line."""

    reason: str


class _Worker:
    """One process, and this side's end of the pipe to it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.pipe, theirs = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(function, theirs), daemon=False)
        self.process.start()
        theirs.close()
        self.task: tuple | None = None

    def start(self, task: tuple) -> None:
        """Begin a task; `result` has its end."""
        self.task = task
        self.pipe.send(task)

    def result(self) -> Any:
        """The result of the task, once the pipe or the process has something to tell."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return Failed(f"the process that graded it ended with status {self.process.exitcode}")

    def end(self) -> None:
        """Let the process end after what it is doing."""
        self.pipe.close()
        self.process.join()


def run_tasks(function: Callable[..., Any], tasks: Iterable[tuple], jobs: int,
              preload: Sequence[str] = ()) -> Iterator[tuple[tuple, Any]]:
    """Yield each task with `function(*task)`, or with `Failed`, as they are done.

    `function` and tasks must be picklable; `preload` names modules that are imported once for all
    workers. Workers end when this process does, after the task they have begun.
    """
    if os.name == "posix":
        _context.set_forkserver_preload(list(preload))
    waiting = list(tasks)[::-1]
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.task for worker in workers):
            idle = [worker for worker in workers if worker.task is None]
            while waiting and (idle or len(workers) < jobs):
                if not idle:
                    workers.append(_Worker(function))
                    idle.append(workers[-1])
                idle.pop().start(waiting.pop())
            ready = wait([worker.pipe for worker in workers if worker.task])
            for worker in [w for w in workers if w.pipe in ready]:
                result, task, worker.task = worker.result(), worker.task, None
                if not worker.process.is_alive():
                    workers.remove(worker)
                yield task, result
    finally:
        for worker in workers:
            worker.end()


def _serve(function: Callable[..., Any], pipe: Connection) -> None:
    """Do tasks until the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then ends us
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            result = function(*task)
        except Exception as error:
            result = Failed(f"{type(error).__name__}: {error}".splitlines()[0])
        try:
            pipe.send(result)
        except BrokenPipeError:
            return
