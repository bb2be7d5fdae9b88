"""Runs tasks in worker processes; a worker that dies, or is never done, costs only its own task."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, NamedTuple

from autograder.descendants import kill_descendants
from autograder.errors import in_words, is_for_all
from autograder.grading.parent_watch import PARENT
from sequence.league.clock import WATCH, Clock, Meter

PARENT_WATCH = "autograder.grading.parent_watch"  # the first module that the server imports
_context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
Work = Callable[..., AbstractContextManager[Callable[[Any], Any]]]


class Failed(NamedTuple):
    """Takes the place of a result: the task could not be done, and why in one line."""

    reason: str
    for_all: bool = False  # and so would all others


class CannotWork(RuntimeError):
    """A worker could not be set up; the message says why. None of its tasks was begun."""


class _Worker:
    """One process, and this side's end of the pipe to it."""

    def __init__(self, work: Work, arguments: tuple, temporary: str) -> None:
        self.pipe, theirs = _context.Pipe()
        self.process = _context.Process(
            target=_serve, args=(work, arguments, theirs, temporary), daemon=True
        )  # an interrupted start leaves none behind
        self.process.start()
        theirs.close()
        self.task: Any = None  # what it has begun
        self._meter = Meter(self.process.pid)
        self._clock: Clock | None = None

    def begin(self, task: Any, seconds: float | None) -> None:
        """Begin a task, which has so many seconds of computing."""
        self.task = task
        self._clock = Clock(self._meter, seconds) if seconds else None
        self.pipe.send(task)

    def is_late(self) -> bool:
        """Whether the time of the task is over."""
        if self._clock is None:
            return False
        self._meter.look()
        return self._clock.is_over

    def kill(self) -> None:
        """Kill the process and all that it started: nothing else ends a task that has begun."""
        kill_descendants(self.process.pid)
        self.process.kill()
        self.process.join()

    def stop(self) -> Failed:
        """End a task whose time is over, and the process with it."""
        self.kill()
        return Failed(f"stopped after {self._clock.within}")

    def result(self) -> Any:
        """The result of the task, once the pipe or the process has something to tell."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return Failed(f"its worker process ended with status {self.process.exitcode}")
        return result

    def end(self) -> None:
        """Let an idle process end, and kill one that is in the middle of a task."""
        if self.task is not None:
            self.kill()
        self.pipe.close()
        self.process.join()


def prepare(modules: Sequence[str]) -> None:
    """Begin to import `modules` once for all workers, while this process does other things."""
    if os.name == "posix":
        _start_server(modules)


def _start_server(modules: Sequence[str] = ()) -> None:
    """Start the server that forks workers, unless it runs, out of reach of Ctrl-C.

    It ignores Ctrl-C by itself, but only when it has imported what it is told to. Blocked, and not
    ignored, because each worker unblocks it again: what that starts must not inherit either.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # first, as it unblocks what we block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    _context.set_forkserver_preload([PARENT_WATCH, *modules])
    os.environ[PARENT] = str(os.getpid())
    try:
        forkserver.ensure_running()
    finally:
        del os.environ[PARENT]
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_tasks(
    work: Work, arguments: tuple, tasks: Iterable[Any], jobs: int, seconds: float | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield each task with the result of `with work(*arguments) as do: do(task)`, as they finish.

    The result is `Failed` if that raised, if the worker died, or if it computed for more than
    `seconds`; the first task of a worker pays for its start, too. After a result that is `for_all`
    no more tasks are begun, as they would have it too. `work`, arguments and tasks must
    be picklable. When the caller stops early, or this process ends for whatever reason, workers and
    all that they started are killed in the middle of their tasks. Raises `CannotWork` if `work`
    cannot be entered before any task is done.
    """
    if os.name == "posix":
        _start_server()
    # Workers that are killed leave their temporary files in a folder that this process removes.
    with tempfile.TemporaryDirectory(prefix="workers-", ignore_cleanup_errors=True) as temporary:
        yield from _run_tasks(work, arguments, tasks, jobs, seconds, temporary)


def _run_tasks(
    work: Work,
    arguments: tuple,
    tasks: Iterable[Any],
    jobs: int,
    seconds: float | None,
    temporary: str,
) -> Iterator[tuple[Any, Any]]:
    waiting = list(tasks)[::-1]
    workers: list[_Worker] = []
    done = 0
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.begin(waiting.pop(), seconds)
            while waiting and len(workers) < jobs:
                workers.append(_Worker(work, arguments, temporary))
                workers[-1].begin(waiting.pop(), seconds)
            busy = [worker for worker in workers if worker.task is not None]
            ready = wait([worker.pipe for worker in busy], WATCH if seconds else None)
            for worker in busy:
                if worker.pipe in ready:
                    result = worker.result()
                elif worker.is_late():
                    result = worker.stop()
                else:
                    continue
                task, worker.task = worker.task, None
                if isinstance(result, CannotWork):
                    if not done:
                        raise result
                    result = Failed(str(result))  # of this one; others work
                    worker.process.join()
                if isinstance(result, Failed) and not worker.process.is_alive():
                    workers.remove(worker)
                done += 1
                if getattr(result, "for_all", False):
                    waiting.clear()
                yield task, result
    finally:
        for worker in workers:
            worker.end()


def _serve(work: Work, arguments: tuple, pipe: Connection, temporary: str) -> None:
    """Do tasks until the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then ends us
    Thread(target=_end_with_parent, daemon=True).start()
    tempfile.tempdir = temporary
    if os.name == "posix":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # see `_start_server`
    with ExitStack() as stack:
        try:
            do = stack.enter_context(work(*arguments))
        except Exception as error:
            with suppress(EOFError, OSError):
                pipe.recv()
                pipe.send(
                    CannotWork(str(error) if isinstance(error, RuntimeError) else in_words(error))
                )
            return
        while True:
            try:
                task = pipe.recv()
            except (EOFError, OSError):
                return
            try:
                result = do(task)
            except Exception as error:
                result = Failed(in_words(error), is_for_all(error))
            try:
                pipe.send(result)
            except OSError:
                return


def _end_with_parent() -> None:
    """Kill this process and all that it started once the process that started it has ended.

    Otherwise it would finish its task, and start sandboxes in place of those that have ended with
    the parent. What tells of the end is a pipe of multiprocessing's: the parent alone holds its
    other end, and never writes to it, so that it becomes readable only when the parent ends.
    """
    multiprocessing.parent_process().join()
    kill_descendants(os.getpid())
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
