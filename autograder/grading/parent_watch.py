"""Ends the server that forks workers when its parent has ended, even while it imports modules.

The server imports this module first. Once it has imported all, it notices the end of its parent
without help. A timer looks instead of a thread, so that the server forks with a single thread, and
its forks do not inherit it.
"""

import os
import signal
from multiprocessing import current_process

PARENT = "AUTOGRADER_PARENT"  # the variable with the parent's number, which only the server gets
LOOK = 0.25  # seconds between two looks


def _watch(parent: int) -> None:
    """End this process within moments of the end of the process `parent`, its parent."""

    def look(*_) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)


if PARENT in os.environ and current_process().name == "MainProcess":  # never in a worker
    _watch(int(os.environ.pop(PARENT)))
