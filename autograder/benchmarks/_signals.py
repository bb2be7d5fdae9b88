"""Sends a signal to a command and watches how all its processes end (Linux only)."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import NamedTuple

import psutil

LOOK = 0.02  # seconds between two looks
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


class Ending(NamedTuple):
    """How a command ended: seconds from the signal to the end of its last process, and how much
    its processes computed in the meantime, as far as it was seen. `left` describes processes that
    were still alive when the wait ended, and were killed.
    """

    seconds: float
    computed: float
    left: tuple[str, ...]


class Command:
    """A command, and all processes that it has started, also those whose parents have ended."""

    def __init__(self, arguments: list[str], **settings) -> None:
        self._others = {process.pid for process in psutil.Process().children(recursive=True)}
        self.process = subprocess.Popen(arguments, start_new_session=True, **settings)

    def living(self) -> list[psutil.Process]:
        """All processes of the command that are alive."""
        found = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.pid not in self._others and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def end(self, number: signal.Signals, most: float, patience: float) -> Ending:
        """Send a signal, and wait until all processes have ended.

        The wait ends early if they compute for more than `most` seconds, or after `patience` on
        the wall.
        """
        before = dict(map(_computed, self.living()))
        now = dict(before)
        begun = time.monotonic()
        self.process.send_signal(number)
        while living := self.living():
            now |= dict(map(_computed, living))
            if _growth(before, now) > most or time.monotonic() - begun > patience:
                break
            time.sleep(LOOK)
        ending = Ending(
            time.monotonic() - begun, _growth(before, now), tuple(map(_described, living))
        )
        self.kill()
        return ending

    def kill(self) -> None:
        """Kill what is left."""
        while living := self.living():
            for process in living:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(LOOK)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        for process in psutil.Process().children():  # orphans that we have adopted
            if process.pid not in self._others:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, 0)


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Let this process be the parent of all orphans among its descendants within the block."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _computed(process: psutil.Process) -> tuple[psutil.Process, float]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process, sum(process.cpu_times()[:2])
    return process, 0.0


def _growth(before: dict[psutil.Process, float], now: dict[psutil.Process, float]) -> float:
    return sum(max(0.0, seconds - before.get(process, 0.0)) for process, seconds in now.items())


def _described(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return f"{process.pid}: {' '.join(process.cmdline())[-100:]}"
    return f"{process.pid}: has ended"
