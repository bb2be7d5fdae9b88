"""Ends all processes that a process has started."""

from contextlib import suppress

import psutil


def kill_descendants(pid: int) -> None:
    """Kill everything that the process `pid` has started, directly or indirectly, but not the
    process itself."""
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
