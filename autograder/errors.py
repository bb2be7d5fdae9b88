"""What a command says when it stops: `Refused`, or what failed on the machine, in one sentence.

Only the standard library is imported, as commands that refuse should do so at once.
"""

import errno
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

GO_ON = "when that is mended, the same command goes on from here"


class Refused(Exception):
    """A command cannot or will not do what it was asked; the message says why in one sentence."""


def in_words(error: BaseException, course: Path | None = None) -> str:
    """What went wrong, in one line that any file takes: names in it may be any bytes."""
    text = of_the_machine(error, course) or f"{type(error).__name__}: {error}"
    return (text.splitlines() or [""])[0].encode("utf-8", "backslashreplace").decode()


def of_the_machine(error: BaseException, course: Path | None = None) -> str | None:
    """A sentence for what the system or the gradebook's database refused; None if they did not."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _of_databases()):
            of, why = f" of {course}" if course else "", " ".join(str(cause).split())
            return f"the gradebook{of} cannot be used: {why}; {GO_ON}"
        if isinstance(cause, OSError) and not isinstance(cause, BrokenPipeError):
            if not cause.strerror and str(cause):  # raised with a sentence of its own
                return str(cause)
            if cause.errno in (errno.ENOSPC, errno.EDQUOT):
                return f"the disk of {cause.filename or _fullest(course)} is full; {GO_ON}"
            if cause.strerror:
                return f"{cause.strerror}: {cause.filename}" if cause.filename else cause.strerror
        cause = cause.__cause__
    return None


def _of_databases() -> tuple[type[Exception], ...]:
    """The errors of SQLite, and of PostgreSQL where its driver is in use."""
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error, psycopg.Error) if psycopg else (sqlite3.Error,)


def _fullest(course: Path | None) -> Path:
    """Where there is the least room: an error of a write does not say to which file it was."""
    places = [Path(tempfile.gettempdir()), course or Path()]
    return min(places, key=lambda place: shutil.disk_usage(place).free).resolve()
