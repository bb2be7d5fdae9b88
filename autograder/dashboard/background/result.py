"""Summarises the result of a command in one sentence, from its exit status and its output."""

import os
import signal
from collections.abc import Iterable, Sequence

from autograder.dashboard.background.message import sentence

ERROR_PREFIX = "autograder: "  # the beginning of the message with which a command stops
TRACEBACK = "Traceback (most recent call last):"
ATTENTION = "Some of it needs attention: see the output below."
UNEXPECTED = (
    "It stopped unexpectedly ({}). Finished work is kept; click the button again to continue."
)


def result(status: int, stopped: bool, lines: Sequence[str], done: str = "") -> str:
    """Return the result of a command; `done` is the text after success, by default the last line of
    output.
    """
    if status in (0, 1):
        last = next((line for line in reversed(lines) if line.strip()), "done")
        text = done or sentence(last)
        return f"{text} {ATTENTION}" if status else text
    if stopped:
        return "Stopped. Finished work is kept; click the button again to continue."
    errors = [line.removeprefix(ERROR_PREFIX) for line in lines if line.startswith(ERROR_PREFIX)]
    if errors:
        return f"Not done. {sentence(errors[-1])}"
    if status < 0:
        why = f"ended by the system with {_name(-status)}; is there enough memory?"
        return UNEXPECTED.format(why)
    return UNEXPECTED.format(
        next((line for line in reversed(lines) if line.strip()), f"exit status {status}")
    )


def without_tracebacks(lines: Iterable[str]) -> list[str]:
    """Return a command's output with only the last line of each traceback."""
    kept, inside = [], False
    for line in lines:
        if line.strip() == TRACEBACK:
            inside = True
        elif inside and (line.startswith((" ", "\t")) or not line.strip()):
            continue
        else:
            inside = False
            kept.append(line)
    return kept


def _name(number: int) -> str:
    return signal.Signals(number).name if os.name == "posix" else f"signal {number}"
