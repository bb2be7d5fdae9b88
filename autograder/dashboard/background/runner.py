"""Runs the commands of the overview's buttons, one at a time, each with its own message.

A command keeps the assignment, the course and the message with which it was started. Other
overviews of the same course, in any kernel, cannot start a command until it has ended.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any

from autograder.dashboard.background.jobs import Job
from autograder.dashboard.background.message import Message, sentence
from autograder.dashboard.background.result import result, without_tracebacks
from autograder.errors import UserError, format_error

LOCK = ".overview.lock"  # in the course folder
BUSY = "{} is running: wait until it has finished, or stop it"
BUSY_ELSEWHERE = (
    "another overview of this course is running a command: wait until it has "
    "finished, or stop it there"
)


@dataclass(frozen=True)
class Command:
    """The button, message and assignment of a command, whatever is selected while it runs."""

    label: str  # the label of its button
    message: Message  # shows its progress and its result
    about: str = ""  # the title of its assignment
    done: Callable[[], str] = str  # the sentence for its result; by default its last line
    lines: int | None = 1  # of output; longer output is shown unfolded
    then: Callable[[], Mapping[str, Any]] = dict  # more parts of its message after success

    @property
    def name(self) -> str:
        """The name of the command: its button and its assignment."""
        return f"{self.label} ({self.about})" if self.about else self.label


class Runner:
    """The commands of one overview; `busy` and `ended` are called when one begins and ends."""

    def __init__(self, busy: Callable[[bool], object], ended: Callable[[], object]) -> None:
        self.job: Job | None = None
        self.messages: list[Message] = []
        self._running: Command | None = None
        self._busy, self._ended = busy, ended
        self._one = RLock()  # clicks and the ends of commands come from different threads
        self._held: int | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a command is running, or has ended but its result is not shown yet."""
        return self._running is not None

    def runs_in(self, message: Message) -> bool:
        """Whether a message shows the command that is running."""
        return self._running is not None and self._running.message is message

    def press(self, message: Message, work: Callable[[], object]) -> None:
        """Do the work of a button; if that fails, the reason is shown in its message.

        A second click while the same command is running has no effect.
        """
        with self._one:
            if self.runs_in(message):
                return
            for other in self.messages:  # one command at a time, so that no outdated state is used
                if other is not message and not self.runs_in(other):
                    other.clear()
            try:
                work()
            except Exception as error:  # otherwise, the error would appear only in the kernel's log
                message.refuse(error)

    def run(self, command: Command, *arguments: str, course: Path) -> None:
        """Start a command on a course. Raises `UserError` if one is running."""
        with self._one:
            if self._running:
                raise UserError(BUSY.format(self._running.name))
            self._held = _hold(course)
            self._running = command
            self._busy(True)
            command.message.show(
                "running", f"{command.name}: running ...", actions={"stop": self.stop}
            )
            try:
                self.job = Job(
                    [*arguments, "--course", str(course)], partial(self._changed, command)
                )
            except BaseException:
                self._end()
                raise

    def stop(self) -> None:
        """Stop the command that is running, as Ctrl-C does."""
        if self.job and self._running:
            self._running.message.update(text=f"{self._running.name}: stopping ...")
            self.job.stop()

    def _changed(self, command: Command, job: Job) -> None:
        """Show a command's output and, when the command has ended, its result."""
        output = without_tracebacks(job.lines)
        if job.status is None:
            command.message.update(log="\n".join(output), **_progress(job.progress))
            return
        with self._one:
            message = self._result_message(command, job.status, job.stopped, output)
            command.message.show(**message)
            self._end()

    def _result_message(
        self, command: Command, status: int, stopped: bool, output: Sequence[str]
    ) -> dict[str, Any]:
        """Return the message with the result of a command that has ended."""
        worked = status in (0, 1)
        more: Mapping[str, Any] = {}
        try:
            text = result(status, stopped, output, command.done() if worked else "")
        except Exception as error:  # the course cannot be read after the command
            text = sentence(format_error(error))
        if worked:
            try:
                more = command.then()
            except Exception as error:
                text = f"{text} {sentence(format_error(error))}"
        try:
            self._ended()
        except Exception as error:
            text = f"{text} {sentence(format_error(error))}"
        beyond = command.lines is not None and len(output) > command.lines
        return {
            "kind": "done" if worked else "failed",
            "text": f"{command.name}: {text}",
            "log": "\n".join(output),
            "open": status == 1 or (worked and beyond),
            **({"done": 1, "total": 1} if worked else {}),
            **more,
        }

    def _end(self) -> None:
        self._running = None
        if self._held is not None:
            os.close(self._held)
            self._held = None
        self._busy(False)


def _progress(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the progress of a command in the form that a message shows."""
    if not report:
        return {}
    total, done = report["total"], report["done"]
    left = f", {_time(report['left'])} left" if report["left"] else ""
    of = f" of {total:g}" if total else ""
    return {
        "done": done,
        "total": total,
        "note": f"{report['what']}: {done:g}{of}{left}. {report['note']}".strip(),
    }


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _hold(course: Path) -> int | None:
    """Lock a course's overviews until the returned file is closed.

    Raises `UserError` if another overview holds the lock.
    """
    if os.name != "posix":
        return None
    import fcntl

    file = os.open(course / LOCK, os.O_RDONLY | os.O_CREAT, 0o664)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise UserError(BUSY_ELSEWHERE) from None
    except OSError:  # a file system without locks
        pass
    return file
