"""Runs a command in a separate process and reads its progress and output."""

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

from autograder.dashboard.background.child import MARK

# The number of output lines that are kept; this is enough for a class of 500 with one problem each.
MAX_LINES = 500
STOP_SECONDS = 20  # a stopped command is killed after this time


class Job:
    """A command that was started; `changed` is called, in a thread, after each line of its output.

    `progress` is its last progress report, `lines` is what it printed, `stopped` is whether `stop`
    was called, and `status` is its exit status, which is None until the command has ended.
    """

    def __init__(self, arguments: Sequence[str], changed: Callable[["Job"], object]) -> None:
        self.progress: dict[str, Any] = {}
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        self.stopped = False
        self.status: int | None = None
        self._changed = changed
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.dashboard.background.child", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("the command has no pipes")  # both were requested above
        self._input, self._output = self._process.stdin, self._process.stdout
        self._thread = Thread(target=self._listen, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the command as after Ctrl-C; finished work is kept."""
        self.stopped = True
        with contextlib.suppress(OSError):
            self._input.close()
        end = Timer(STOP_SECONDS, self._kill)
        end.daemon = True
        end.start()

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait until the command has ended and `changed` has been called; return the exit status."""
        self._thread.join(seconds)
        return self.status

    def _listen(self) -> None:
        for line in self._output:
            if line.startswith(MARK):
                self.progress = json.loads(line.removeprefix(MARK))
            else:
                self.lines.append(line.rstrip("\n"))
            self._changed(self)
        self._output.close()
        self.status = self._process.wait()
        with contextlib.suppress(OSError):
            self._input.close()
        self._changed(self)

    def _kill(self) -> None:
        if self._process.poll() is None and os.name == "posix":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
