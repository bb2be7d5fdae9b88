"""Defines `UserError`, which stops a command, and describes system errors in one sentence.

Only the standard library is imported, so that commands which stop early do so quickly.
"""

import errno
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

RESUME_HINT = "after this is fixed, run the same command again to continue from here"
MIN_FREE_BYTES = 1_000_000  # with less, SQLite reports various errors
EXHAUSTED_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
PERMISSION_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)
SQLITE_UNAVAILABLE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
)


class UserError(Exception):
    """A command cannot or will not do what was requested; the message explains why in one sentence."""


def format_error(error: BaseException, course: Path | None = None) -> str:
    """Return one line about an error. The line can be written to any file, although names in the
    error may be any bytes.
    """
    text = system_error_message(error, course) or f"{type(error).__name__}: {error}"
    return (text.splitlines() or [""])[0].encode("utf-8", "backslashreplace").decode()


def system_error_message(error: BaseException, course: Path | None = None) -> str | None:
    """Return a sentence about an error of the operating system or the gradebook's database.

    Returns None if the error has another cause.
    """
    for cause in _causes(error):
        if isinstance(cause, _database_errors()):
            return _database_error_message(cause, course)
        if isinstance(cause, OSError) and not isinstance(cause, BrokenPipeError):
            message = _os_error_message(cause, course)
            if message is not None:
                return message
    return None


def _database_error_message(error: BaseException, course: Path | None) -> str:
    if course and course.is_dir() and shutil.disk_usage(course).free < MIN_FREE_BYTES:
        return f"the disk of {course} is full; {RESUME_HINT}"
    gradebook = f"the gradebook of {course}" if course else "the gradebook"
    return f"{gradebook} cannot be used: {' '.join(str(error).split())}; {RESUME_HINT}"


def _os_error_message(error: OSError, course: Path | None) -> str | None:
    if not error.strerror and str(error):  # it was raised with only a message
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        # An error that occurs while copying names two files; the second one was being written.
        place = error.filename2 or error.filename or _full_disk(course)
        return f"{f'the disk of {place}' if place else 'a disk'} is full; {RESUME_HINT}"
    if error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return None


def is_fatal(error: BaseException, shared: Iterable[Path] = ()) -> bool:
    """Whether every other submission would fail in the same way.

    Examples are a full disk, a gradebook that stays locked, a file or folder in `shared` that
    cannot be written, and any error with a true attribute `fatal`.
    """
    numbers: tuple[int, ...] = EXHAUSTED_ERRNOS
    if any(path.exists() and not os.access(path, os.W_OK) for path in shared):
        numbers += PERMISSION_ERRNOS
    return any(
        getattr(cause, "fatal", False)
        or (cause.errno in numbers if isinstance(cause, OSError) else _is_database_failure(cause))
        for cause in _causes(error)
    )


def _is_database_failure(error: BaseException) -> bool:
    """Whether the database itself failed, and not just one query. Drivers use the same names for
    errors.
    """
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in SQLITE_UNAVAILABLE
    return not hasattr(error, "orig") and "OperationalError" in {  # SQLAlchemy's error has a cause
        kind.__name__ for kind in type(error).__mro__
    }


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _database_errors() -> tuple[type[Exception], ...]:
    """Return the error classes of SQLite, and those of PostgreSQL if its driver has been imported."""
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error, psycopg.Error) if psycopg else (sqlite3.Error,)


def _full_disk(course: Path | None) -> Path | None:
    """Return the folder whose disk is full, because the error of a failed write does not name the
    file.

    Returns None if neither the temporary folder nor the course folder is on a full disk.
    """
    paths = [Path(tempfile.gettempdir()), course or Path()]
    free, path = min((shutil.disk_usage(path).free, path) for path in paths)
    return path.resolve() if free < MIN_FREE_BYTES else None
