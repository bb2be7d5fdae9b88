"""Runs a command in a process of its own, with its progress and output, so that a page stays alive."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread, Timer
from typing import Any

from autograder.desk.child import MARK

LINES = 500  # of a command's output that are kept: a class of 500 with a problem each
PATIENCE = 20  # seconds that a command has to stop by itself, as after Ctrl-C


class Job:
    """A command that was started; `changed` is called, in a thread, whenever it says something.

    `progress` is what it said last of how far it is, `lines` what it printed, `stopped` whether it
    was told to stop, and `status` its exit status, None until it has ended.
    """

    def __init__(self, arguments: Sequence[str], changed: Callable[["Job"], object]) -> None:
        self.progress: dict[str, Any] = {}
        self.lines: deque[str] = deque(maxlen=LINES)
        self.stopped = False
        self.status: int | None = None
        self._changed = changed
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.desk.child", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._thread = Thread(target=self._listen, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Have the command stop as after Ctrl-C; what it has finished is kept."""
        self.stopped = True
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        end = Timer(PATIENCE, self._kill)
        end.daemon = True
        end.start()

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait until the command has ended and `changed` has been called; its exit status."""
        self._thread.join(seconds)
        return self.status

    def _listen(self) -> None:
        for line in self._process.stdout:
            if line.startswith(MARK):
                self.progress = json.loads(line.removeprefix(MARK))
            else:
                self.lines.append(line.rstrip("\n"))
            self._changed(self)
        self._process.stdout.close()
        self.status = self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._changed(self)

    def _kill(self) -> None:
        if self._process.poll() is None and os.name == "posix":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
