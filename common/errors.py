"""One-line descriptions of errors, which give the last line of the user's own code."""

import sysconfig
import traceback
from pathlib import Path
from typing import TypeGuard

from common.messages import english

MAX_MESSAGE_LENGTH = 300  # characters of a message
KIT = Path(__file__).parents[1]
KIT_PACKAGES = ("common", "tictactoe", "sequence", "course")  # the kit's own packages
STUDY_PREFIX = "study"  # start of the names of the folders in `course` with students' modules


class _FileError(SyntaxError):
    """A syntax error that has a file and a line; used only in annotations."""

    filename: str
    lineno: int


def describe(error: BaseException) -> str:
    """The error in one line: "ValueError: no move (line 12 of minimax.py)".

    The line is the last one in the user's own code, even if the error was raised in the kit, the
    standard library or an installed package. For an exception group, the first error in it is
    described as well.
    """
    if isinstance(error, BaseExceptionGroup):
        first = error.exceptions[0]
        return (
            f"{_type_and_message(error)}; the first is {_type_and_message(first)}{_location(first)}"
        )
    return _type_and_message(error) + _location(error)


def _type_and_message(error: BaseException) -> str:
    message = error_message(error)
    if _is_own_file_error(error):
        message = f"{error.msg:.{MAX_MESSAGE_LENGTH}}"  # without the location, which follows
    return f"{type(error).__name__}{': ' if message else ''}{message}"


def _is_own_file_error(error: BaseException) -> TypeGuard[_FileError]:
    """Whether Python could not parse one of the user's own files."""
    return isinstance(error, SyntaxError) and bool(
        error.msg and error.filename and error.lineno and _is_own(error.filename)
    )


def _location(error: BaseException) -> str:
    """The last line of the user's own code.

    If other code raised the error from an error in the user's code, the line of the latter is used.
    """
    if _is_own_file_error(error):
        return _location_text(error.lineno, error.filename)
    own, ends_there = _own_frames(error)
    if error.__cause__ and not ends_there:
        own = _own_frames(error.__cause__)[0] or own
    return _location_text(own[-1].lineno, own[-1].filename) if own else ""


def _own_frames(error: BaseException) -> tuple[list[traceback.FrameSummary], bool]:
    """The calls in the user's own code that led to an error, and whether the last call is one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_own(frame.filename)]
    return own, bool(own) and own[-1] is frames[-1]


def _location_text(number: int | None, file: str) -> str:
    return english(f" (line {number} of {'a cell' if _is_cell(file) else Path(file).name})")


def error_message(error: BaseException) -> str:
    """The message of an error, shortened if it is long."""
    try:
        return f"{error!s:.{MAX_MESSAGE_LENGTH}}"
    except BaseException:  # the exception's own __str__ raises an error
        return english("(its message cannot be shown)")


def _is_cell(file: str) -> bool:
    """Whether this is the file name that IPython or its kernel gives a notebook cell."""
    return file.startswith("<ipython-input-") or Path(file).parent.name.startswith("ipykernel_")


def _is_own(file: str) -> bool:
    path = Path(file)
    if _is_cell(file):
        return True
    if file.startswith("<") or any(path.is_relative_to(folder) for folder in _installed()):
        return False
    if not path.is_relative_to(KIT):
        return True
    package, *rest = path.relative_to(KIT).parts
    return package not in KIT_PACKAGES or rest[0].startswith(STUDY_PREFIX) or rest[0] == "tests"


def _installed() -> list[str]:
    paths = sysconfig.get_paths()
    return [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
