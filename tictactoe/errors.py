"""Puts an error of somebody's code into one line, with the last line of that code it passed."""

import sysconfig
import traceback
from pathlib import Path

LENGTH = 300  # characters of a message
KIT = Path(__file__).parents[1]
GIVEN = ("tictactoe", "sequence", "course")  # the kit's own packages
STUDIES = "study"  # how the folders in `course` begin that hold students' modules


def describe(error: BaseException) -> str:
    """The error in one line: "ValueError: no move (line 12 of minimax.py)".

    The line is the last one of the person's own code: never one of the kit, of Python's library or
    of an installed package, where the error may have been raised.
    """
    words = text(error)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    where = f" (line {own[-1].lineno} of {Path(own[-1].filename).name})" if own else ""
    return f"{type(error).__name__}{': ' if words else ''}{words}{where}"


def text(error: BaseException) -> str:
    """What an error says, cut where it is long; some cannot say it."""
    try:
        return f"{error!s:.{LENGTH}}"
    except BaseException:  # its own __str__ is broken
        return "(its message cannot be shown)"


def _is_own(file: str) -> bool:
    path = Path(file)
    if file.startswith("<") or any(path.is_relative_to(place) for place in _installed()):
        return False
    if not path.is_relative_to(KIT):
        return True
    package, *rest = path.relative_to(KIT).parts
    return package not in GIVEN or rest[0].startswith(STUDIES) or rest[0] == "tests"


def _installed() -> list[str]:
    places = sysconfig.get_paths()
    return [places[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
