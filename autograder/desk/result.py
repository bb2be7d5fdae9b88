"""The result of a command in one sentence, from its exit status and from what it printed."""

import os
import signal
from collections.abc import Iterable, Sequence

from autograder.desk.message import sentence

COMPLAINT = "autograder: "  # begins the sentence with which a command stops
TRACEBACK = "Traceback (most recent call last):"
LOOK = "Some of it needs a look: see the output below."
UNEXPECTED = (
    "It stopped unexpectedly ({}). Finished work is kept; click the button again to continue."
)


def result(status: int, stopped: bool, lines: Sequence[str], done: str = "") -> str:
    """What came of a command; `done` is shown if it did its work, by default its last line."""
    if status in (0, 1):
        last = next((line for line in reversed(lines) if line.strip()), "done")
        said = done or sentence(last)
        return f"{said} {LOOK}" if status else said
    if stopped:
        return "Stopped. Finished work is kept; click the button again to continue."
    said = [line.removeprefix(COMPLAINT) for line in lines if line.startswith(COMPLAINT)]
    if said:
        return f"Not done. {sentence(said[-1])}"
    if status < 0:
        why = f"ended by the system with {_name(-status)}; is there enough memory?"
        return UNEXPECTED.format(why)
    return UNEXPECTED.format(
        next((line for line in reversed(lines) if line.strip()), f"exit status {status}")
    )


def without_tracebacks(lines: Iterable[str]) -> list[str]:
    """What a command printed, with only the last line of each traceback."""
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
