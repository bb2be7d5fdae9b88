"""Runs tasks in worker processes; a worker that crashes or hangs costs only its own task."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from autograder.errors import format_error, is_fatal
from autograder.grading.run.parent_watch import PARENT
from autograder.processes.descendants import kill_descendants
from common.clock import POLL_SECONDS, Clock, CpuMeter

if TYPE_CHECKING:  # Windows has no ForkServerContext
    from multiprocessing.context import ForkServerContext, SpawnContext

PARENT_WATCH = "autograder.grading.run.parent_watch"  # the first module that the server imports
_context: "ForkServerContext | SpawnContext" = (
    multiprocessing.get_context("forkserver")
    if os.name == "posix"
    else multiprocessing.get_context("spawn")
)
Work = Callable[..., AbstractContextManager[Callable[[Any], Any]]]


class TaskFailed(NamedTuple):
    """The result of a task that could not be completed; `reason` is one line."""

    reason: str
    fatal: bool = False  # every other task would fail in the same way


class WorkerSetupError(RuntimeError):
    """A worker could not be set up; the message explains why. None of its tasks was started."""


class _Worker:
    """One worker process, with the parent's end of the pipe to it."""

    def __init__(self, work: Work, arguments: tuple, temporary: str) -> None:
        self.pipe, worker_end = _context.Pipe()
        self.process = _context.Process(
            target=_serve, args=(work, arguments, worker_end, temporary), daemon=True
        )  # daemon: an interrupted start leaves no process behind
        self.process.start()
        worker_end.close()
        self.task: Any = None  # the task that it is doing
        if self.process.pid is None:  # only before `start`
            raise WorkerSetupError("a worker process could not be started")
        self._pid = self.process.pid
        self._meter = CpuMeter(self._pid)
        self._clock: Clock | None = None

    def begin(self, task: Any, seconds: float | None) -> None:
        """Start a task, which may use `seconds` of computing time."""
        self.task = task
        self._clock = Clock(self._meter, seconds) if seconds else None
        self.pipe.send(task)

    def is_over_time(self) -> bool:
        """Whether the task has used up its time."""
        if self._clock is None:
            return False
        self._meter.refresh()
        return self._clock.is_over

    def kill(self) -> None:
        """Kill the process and its descendants; a running task cannot be ended in another way."""
        kill_descendants(self._pid)
        self.process.kill()
        self.process.join()

    def stop(self) -> TaskFailed:
        """Kill the process of a task whose time is over."""
        self.kill()
        return TaskFailed(f"stopped after {self._clock.limit_text}" if self._clock else "stopped")

    def result(self) -> Any:
        """Return the result of the task, once the pipe is readable or closed."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return TaskFailed(f"its worker process ended with status {self.process.exitcode}")
        return result

    def end(self) -> None:
        """Let an idle process end; kill one that is doing a task."""
        if self.task is not None:
            self.kill()
        self.pipe.close()
        self.process.join()


def preload(modules: Sequence[str]) -> None:
    """Start to import `modules` for all workers, so that this process can do other work meanwhile."""
    if os.name == "posix":
        _start_server(modules)


def _start_server(modules: Sequence[str] = ()) -> None:
    """Start the fork server, unless it is running, with Ctrl-C (SIGINT) blocked.

    The server ignores SIGINT, but only after it has imported its modules. The signal is blocked
    instead of ignored because each worker unblocks it again, so that the processes which a worker
    starts can be interrupted.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # before SIGINT is blocked, because it unblocks signals
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

    The result is `TaskFailed` if the task raised an exception, if its worker died, or if it
    computed for more than `seconds`, which include the start of a new worker. After a result that
    is `fatal` no more tasks are started. `work`, arguments and tasks must be picklable. When the
    caller stops early, or this process ends for any reason, workers and their descendants are
    killed. Raises `WorkerSetupError` if `work` cannot be entered before any task is done.
    """
    if os.name == "posix":
        _start_server()
    # Temporary files of killed workers are in a folder that this process removes.
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
    is_first = True
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.begin(waiting.pop(), seconds)
            while waiting and len(workers) < jobs:
                workers.append(_Worker(work, arguments, temporary))
                workers[-1].begin(waiting.pop(), seconds)
            for worker, outcome in _finished(workers, seconds is not None):
                task, worker.task = worker.task, None
                result = _checked(worker, outcome, is_first)
                is_first = False
                if isinstance(result, TaskFailed) and not worker.process.is_alive():
                    workers.remove(worker)
                if getattr(result, "fatal", False):
                    waiting.clear()
                yield task, result
    finally:
        for worker in workers:
            worker.end()


def _finished(workers: Iterable[_Worker], limited: bool) -> Iterator[tuple[_Worker, Any]]:
    """Wait, then yield each worker whose task has ended or, if `limited`, is over time."""
    busy = [worker for worker in workers if worker.task is not None]
    ready = wait([worker.pipe for worker in busy], POLL_SECONDS if limited else None)
    for worker in busy:
        if worker.pipe in ready:
            yield worker, worker.result()
        elif worker.is_over_time():
            yield worker, worker.stop()


def _checked(worker: _Worker, result: Any, is_first: bool) -> Any:
    """Return the result of a task; raises a `WorkerSetupError` if it is the first result.

    After the first result, such an error is only a failure of its task, because other workers could
    be set up.
    """
    if not isinstance(result, WorkerSetupError):
        return result
    if is_first:
        raise result
    worker.process.join()
    return TaskFailed(str(result))


def _serve(work: Work, arguments: tuple, pipe: Connection, temporary: str) -> None:
    """Do tasks until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command handles Ctrl-C and ends the workers
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
                    WorkerSetupError(
                        str(error) if isinstance(error, RuntimeError) else format_error(error)
                    )
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
                result = TaskFailed(format_error(error), is_fatal(error))
            try:
                pipe.send(result)
            except OSError:
                return


def _end_with_parent() -> None:
    """Wait until the parent process has ended, then kill this process and its descendants.

    Otherwise, this process would continue its task after the parent's end, and start new sandboxes
    to replace the ones that ended with the parent. `join` waits for a pipe of multiprocessing's whose
    other end only the parent holds. The parent never writes to it, so it becomes readable only when
    the parent ends.
    """
    if parent := multiprocessing.parent_process():
        parent.join()
    kill_descendants(os.getpid())
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
