"""Puts an error of somebody's code into one line, with the last line of that code it passed."""

import sysconfig
import traceback
from pathlib import Path
from typing import TypeGuard

LENGTH = 300  # characters of a message
KIT = Path(__file__).parents[1]
GIVEN = ("tictactoe", "sequence", "course")  # the kit's own packages
STUDIES = "study"  # how the folders in `course` begin that hold students' modules


class _FileError(SyntaxError):
    """What is known of an error in a file that Python could not read; for annotations only."""

    filename: str
    lineno: int


def describe(error: BaseException) -> str:
    """The error in one line: "ValueError: no move (line 12 of minimax.py)".

    The line is the last one of the person's own code: never one of the kit, of Python's library or
    of an installed package, where the error may have been raised. Of a group of errors, the first
    is told too.
    """
    if isinstance(error, BaseExceptionGroup):
        first = error.exceptions[0]
        return f"{_said(error)}; the first is {_said(first)}{_where(first)}"
    return _said(error) + _where(error)


def _said(error: BaseException) -> str:
    words = text(error)
    if _is_of_a_file(error):
        words = f"{error.msg:.{LENGTH}}"  # without the place, which follows
    return f"{type(error).__name__}{': ' if words else ''}{words}"


def _is_of_a_file(error: BaseException) -> TypeGuard[_FileError]:
    """Whether Python could not read a file of the person's own."""
    return isinstance(error, SyntaxError) and bool(
        error.msg and error.filename and error.lineno and _is_own(error.filename)
    )


def _where(error: BaseException) -> str:
    """The last line of the person's own code; if other code raised the error and says from which
    error, the last line that led to that one."""
    if _is_of_a_file(error):
        return _line(error.lineno, error.filename)
    own, ends_there = _own_frames(error)
    if error.__cause__ and not ends_there:
        own = _own_frames(error.__cause__)[0] or own
    return _line(own[-1].lineno, own[-1].filename) if own else ""


def _own_frames(error: BaseException) -> tuple[list[traceback.FrameSummary], bool]:
    """The calls in the person's own code that led to an error, and whether the last of all is."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_own(frame.filename)]
    return own, bool(own) and own[-1] is frames[-1]


def _line(number: int | None, file: str) -> str:
    return f" (line {number} of {'a cell' if _is_cell(file) else Path(file).name})"


def text(error: BaseException) -> str:
    """What an error says, cut where it is long; some cannot say it."""
    try:
        return f"{error!s:.{LENGTH}}"
    except BaseException:  # its own __str__ is broken
        return "(its message cannot be shown)"


def _is_cell(file: str) -> bool:
    """Whether this is how IPython or its kernel names a cell of a notebook."""
    return file.startswith("<ipython-input-") or Path(file).parent.name.startswith("ipykernel_")


def _is_own(file: str) -> bool:
    path = Path(file)
    if _is_cell(file):
        return True
    if file.startswith("<") or any(path.is_relative_to(place) for place in _installed()):
        return False
    if not path.is_relative_to(KIT):
        return True
    package, *rest = path.relative_to(KIT).parts
    return package not in GIVEN or rest[0].startswith(STUDIES) or rest[0] == "tests"


def _installed() -> list[str]:
    places = sysconfig.get_paths()
    return [places[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
