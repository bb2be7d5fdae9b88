"""What a command says when it stops: `Refused`, or what failed on the machine, in one sentence.

Only the standard library is imported, as commands that refuse should do so at once.
"""

import errno
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

GO_ON = "when that is mended, the same command goes on from here"
ROOM = 1_000_000  # bytes; with less SQLite says that it is full, cannot read, or is locked
EVERYWHERE = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
REFUSALS = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
)


class Refused(Exception):
    """A command cannot or will not do what it was asked; the message says why in one sentence."""


def in_words(error: BaseException, course: Path | None = None) -> str:
    """What went wrong, in one line that any file takes: names in it may be any bytes."""
    text = of_the_machine(error, course) or f"{type(error).__name__}: {error}"
    return (text.splitlines() or [""])[0].encode("utf-8", "backslashreplace").decode()


def of_the_machine(error: BaseException, course: Path | None = None) -> str | None:
    """A sentence for what the system or the gradebook's database refused; None if they did not."""
    for cause in _causes(error):
        if isinstance(cause, _of_databases()):
            if course and course.is_dir() and shutil.disk_usage(course).free < ROOM:
                return f"the disk of {course} is full; {GO_ON}"
            of, why = f" of {course}" if course else "", " ".join(str(cause).split())
            return f"the gradebook{of} cannot be used: {why}; {GO_ON}"
        if isinstance(cause, OSError) and not isinstance(cause, BrokenPipeError):
            if not cause.strerror and str(cause):  # raised with a sentence of its own
                return str(cause)
            if cause.errno in (errno.ENOSPC, errno.EDQUOT):
                place = cause.filename2 or cause.filename or _fullest(course)  # of a copy, the copy
                return f"{f'the disk of {place}' if place else 'a disk'} is full; {GO_ON}"
            if cause.strerror:
                return f"{cause.strerror}: {cause.filename}" if cause.filename else cause.strerror
    return None


def is_for_all(error: BaseException, shared: Iterable[Path] = ()) -> bool:
    """Whether whoever comes next would meet the same: a full disk, a gradebook that stays locked,
    one of the `shared` folders and files that cannot be written, or what says so `for_all`."""
    numbers = EVERYWHERE
    if any(place.exists() and not os.access(place, os.W_OK) for place in shared):
        numbers += FORBIDDEN
    return any(
        getattr(cause, "for_all", False)
        or (cause.errno in numbers if isinstance(cause, OSError) else _is_of_the_database(cause))
        for cause in _causes(error)
    )


def _is_of_the_database(error: BaseException) -> bool:
    """Whether a database as such refuses, and not what it was asked; drivers name errors alike."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in REFUSALS
    return not hasattr(error, "orig") and "OperationalError" in {  # SQLAlchemy's own has a cause
        kind.__name__ for kind in type(error).__mro__
    }


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _of_databases() -> tuple[type[Exception], ...]:
    """The errors of SQLite, and of PostgreSQL where its driver is in use."""
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error, psycopg.Error) if psycopg else (sqlite3.Error,)


def _fullest(course: Path | None) -> Path | None:
    """Where there is the least room: an error of a write does not say to which file it was.

    None if there is room in all places that are known here.
    """
    places = [Path(tempfile.gettempdir()), course or Path()]
    room, place = min((shutil.disk_usage(place).free, place) for place in places)
    return place.resolve() if room < ROOM else None
