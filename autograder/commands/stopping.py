"""Ends a command and all that it started within moments of SIGINT, SIGTERM or SIGHUP."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from autograder.descendants import kill_descendants
from autograder.interrupts import raise_when_interrupted

GRACE = 1.0  # seconds that a command may spend on cleaning up
STATUS = 128  # to which a shell adds the number of the signal that ended a command
STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Stopped(KeyboardInterrupt):
    """The command was told to end by a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at a signal that ends commands, and enforce the end soon after.

    If the command is still busy after `GRACE`, for example while it waits for a locked gradebook,
    it is killed with all that it started. A signal that was ignored stays ignored, as `nohup` asks.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone handles signals
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
    """Wait for a signal; if the command has not ended `GRACE` later, kill it.

    The number of each signal arrives here even while the main thread is inside a library that does
    not return.
    """
    while received := os.read(reading, 1):
        if received[0] in STOPS and not over.wait(GRACE):
            kill_descendants(os.getpid())
            os._exit(STATUS + received[0])


@contextmanager
def leave_promptly() -> Iterator[None]:
    """End the process as soon as a command that was stopped has ended.

    What is registered for the exit still runs, and everything that the command started is killed.
    Python does not take its modules apart, which would take seconds on a busy machine.
    """
    try:
        yield
    except SystemExit as end:
        if isinstance(end.code, int) and end.code in {STATUS + number for number in STOPS}:
            atexit._run_exitfuncs()
            with suppress(OSError):  # whoever read it may be gone
                sys.stdout.flush()
            kill_descendants(os.getpid())
            os._exit(end.code)
        raise


def exit_status(stop: KeyboardInterrupt) -> int:
    """The exit status of a command that was stopped."""
    return STATUS + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)
