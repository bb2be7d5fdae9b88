"""Tasks for workers."""

import errno
import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager


@contextmanager
def work():
    """Execute a task."""

    def do(task: str) -> str:
        if task == "spin":
            while True:
                pass
        if task == "sleep":
            time.sleep(2)
        if task == "spin aloud":
            print("spinning", flush=True)
            while True:
                pass
        if task == "child":
            tempfile.mkdtemp(prefix="left-")
            subprocess.call(["sleep", "3600"])
        if task == "raise":
            raise ValueError("no\nmore")
        if task == "die":
            os._exit(3)
        if task == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if task == "blocked":
            return f"blocked: {sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))}"
        return f"{task} is done"

    yield do
