"""Ends the fork server when its parent has ended, even while the server imports modules.

The server imports this module first. Once everything is imported, the server itself notices the end
of its parent. Until then, a timer checks for it. A thread cannot be used, because the server must
be single-threaded when it forks, and the forked processes must not inherit the check.
"""

import os
import signal
from multiprocessing import current_process

PARENT = "AUTOGRADER_PARENT"  # the server's environment variable that holds its parent's process id
CHECK_SECONDS = 0.25


def _watch(parent: int) -> None:
    """End this process soon after its parent, the process `parent`, has ended."""

    def check(*_) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, CHECK_SECONDS, CHECK_SECONDS)


if PARENT in os.environ and current_process().name == "MainProcess":  # never in a worker
    _watch(int(os.environ.pop(PARENT)))
