"""Sends a signal to a command and waits until all its processes have ended (Linux only)."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import NamedTuple

import psutil

STEP_SECONDS = 0.02
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


class Ending(NamedTuple):
    """How a command ended.

    `seconds` is the time from the signal to the end of the last process, and `computed` is the CPU
    time that all processes were seen to use meanwhile. `left` describes processes that had to be
    killed.
    """

    seconds: float
    computed: float
    left: tuple[str, ...]


class Command:
    """A command and all its descendant processes, including orphans."""

    def __init__(self, arguments: list[str], **settings) -> None:
        self._others = {process.pid for process in psutil.Process().children(recursive=True)}
        self.process = subprocess.Popen(arguments, start_new_session=True, **settings)

    def living(self) -> list[psutil.Process]:
        """Return all processes of the command that are alive."""
        processes = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.pid not in self._others and process.status() != psutil.STATUS_ZOMBIE:
                    processes.append(process)
        return processes

    def end(self, number: signal.Signals, cpu_limit: float, timeout: float) -> Ending:
        """Send a signal, and wait until all processes have ended.

        The wait ends early if they use more than `cpu_limit` seconds of CPU time, or after `timeout`
        seconds.
        """
        before = dict(map(_computed, self.living()))
        now = dict(before)
        begun = time.monotonic()
        self.process.send_signal(number)
        while living := self.living():
            now |= dict(map(_computed, living))
            if _growth(before, now) > cpu_limit or time.monotonic() - begun > timeout:
                break
            time.sleep(STEP_SECONDS)
        ending = Ending(
            time.monotonic() - begun, _growth(before, now), tuple(map(_described, living))
        )
        self.kill()
        return ending

    def kill(self) -> None:
        """Kill the remaining processes."""
        while living := self.living():
            for process in living:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(STEP_SECONDS)
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
