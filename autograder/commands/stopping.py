"""Ends a command and all its child processes soon after SIGINT, SIGTERM or SIGHUP."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from autograder.processes.descendants import kill_descendants
from autograder.processes.interrupts import raise_when_interrupted

GRACE = 1.0  # seconds that a command may spend on cleaning up
STATUS = 128  # the exit status after a signal is this plus the signal's number
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Stopped(KeyboardInterrupt):
    """The command was ended by a signal other than SIGINT."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on a signal that ends commands, and make sure that the command ends.

    If it is still busy after `GRACE`, for example waiting for a locked gradebook, it is killed with
    all its child processes. A signal that was ignored stays ignored, so `nohup` works.
    """
    if threading.current_thread() is not threading.main_thread():  # it cannot handle signals
        yield
        return
    before = {number: signal.getsignal(number) for number in STOPS}
    raise_when_interrupted()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    over = threading.Event()
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, _raise)
    wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watch = threading.Thread(target=_enforce, args=(reading, over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            if handler is not signal.getsignal(number):
                signal.signal(number, handler)
        over.set()
        os.close(writing)
        watch.join()
        os.close(reading)


def _raise(number: int, _frame) -> None:
    raise Stopped(number)


def _enforce(reading: int, over: threading.Event) -> None:
    """Wait for a signal; kill the command if it has not ended `GRACE` seconds later.

    The number of each signal can be read here even while the main thread is blocked in a library
    call.
    """
    while received := os.read(reading, 1):
        if received[0] in STOPS and not over.wait(GRACE):
            kill_descendants(os.getpid())
            os._exit(STATUS + received[0])


@contextmanager
def leave_promptly() -> Iterator[None]:
    """End the process as soon as a stopped command has ended.

    Exit handlers still run, and all child processes are killed. Python's module teardown is
    skipped, because it can take seconds on a busy machine.
    """
    try:
        yield
    except SystemExit as end:
        if isinstance(end.code, int) and end.code in {STATUS + number for number in STOPS}:
            atexit._run_exitfuncs()
            with suppress(OSError):  # the reader may have exited
                sys.stdout.flush()
            kill_descendants(os.getpid())
            os._exit(end.code)
        raise


def exit_status(stop: KeyboardInterrupt) -> int:
    """Return the exit status of a stopped command."""
    return STATUS + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)
