"""Connects to the gradebook's database, and waits for a server that is temporarily unavailable.

An SQLite database is a file, which works immediately or not at all. A server may restart, lose
connections or have too many of them. Such errors are transient, so they are reported and the work
is repeated.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from sqlalchemy import Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder
from autograder.errors import RESUME_HINT, UserError, format_error
from common.command_lines import advice

MAX_WAIT_SECONDS = 600  # unless c.GradingStep.gradebook_seconds is set
RETRY_PAUSES = (
    0.5,
    15,
)  # seconds between attempts: the first pause, which doubles, and the longest
MAX_ATTEMPTS = 6  # attempts at the same work, each after the server has answered

# PostgreSQL's codes of transient errors: lost connections, restarts, too many connections, and
# conflicts between two writers, which force one of them to start again.
TRANSIENT_SQLSTATES = ("08", "57P01", "57P02", "57P03", "53300", "23505", "40001", "40P01")
# If no connection was made, the error has no code, so permanent errors are recognised by these
# words, some from libpq and some from the server. Messages in another language count as transient.
PERMANENT_MESSAGES = (
    "authentication failed",
    "no password supplied",
    "pg_hba.conf",
    "does not exist",
    "not permitted",
    "permission denied",
    "certificate",
    "SSL was required",
    "root.crt",
)

T = TypeVar("T")
log = logging.getLogger(__name__)  # by default, a warning is printed on stderr


class GradebookUnreachable(UserError):
    """The gradebook's server did not answer within the time limit."""


@cache
def engine(db_url: str) -> Engine:
    """Return an engine that opens a new connection each time, because the file may be replaced.

    Raises `UserError` for an invalid address. No message repeats the address, because it may
    contain a password.
    """
    try:
        return create_engine(db_url, poolclass=NullPool)
    except ImportError as error:
        raise UserError(
            f"c.CourseDirectory.db_url needs {error.name}, which is not installed; "
            f"for PostgreSQL run {advice('setup', 'postgres')}"
        ) from error
    except Exception as error:
        raise UserError(
            "c.CourseDirectory.db_url in the course's configuration is not the address of a "
            f"database ({type(error).__name__})"
        ) from None


def db_url(folder: CourseFolder) -> str:
    """Return the address of the course's gradebook."""
    return folder.config().CourseDirectory.db_url


def sqlite_path(url: str) -> str | None:
    """Return the file of a gradebook in SQLite; None if the gradebook is on a server."""
    engine(url)  # raises `UserError` for an invalid address
    parsed = make_url(url)
    return parsed.database if parsed.get_backend_name() == "sqlite" else None


def is_transient(error: BaseException) -> bool:
    """Whether the gradebook's server was unavailable or another writer interfered, so that the
    failed work can be retried."""
    return any(_is_transient_cause(cause) for cause in _causes(error))


def _is_transient_cause(cause: BaseException) -> bool:
    psycopg = sys.modules.get("psycopg")  # it has been imported if its errors can occur
    if psycopg is None or not isinstance(cause, psycopg.Error):
        return False
    if cause.sqlstate is not None:
        return cause.sqlstate.startswith(TRANSIENT_SQLSTATES)
    return isinstance(cause, psycopg.OperationalError) and not any(
        words in str(cause) for words in PERMANENT_MESSAGES
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error with all its causes and contexts, because nbgrader raises its own errors while
    it handles others.
    """
    if error is not None:
        yield error
        yield from _causes(error.__cause__)
        if error.__context__ is not error.__cause__:
            yield from _causes(error.__context__)


def wait_for_gradebook(folder: CourseFolder) -> None:
    """Return when the gradebook's server answers (immediately for a file); log longer waits.

    Raises `GradebookUnreachable` when the time limit is over, and `UserError` for permanent errors.
    """
    if sqlite_path(db_url(folder)) is not None:
        return
    limit = folder.config().GradingStep.get("gradebook_seconds", MAX_WAIT_SECONDS)
    end, (pause, longest), waited = time.monotonic() + limit, RETRY_PAUSES, False
    while True:
        try:
            engine(db_url(folder)).connect().close()
        except SQLAlchemyError as error:
            if not is_transient(error):
                raise UserError(format_error(error, folder.root)) from error
            why = str(error.__cause__).partition("\n")[0]
            left = end - time.monotonic()
            if left <= 0:
                raise GradebookUnreachable(
                    f"the gradebook of {folder.root} has not answered for {limit:g} "
                    f"seconds ({why}); {RESUME_HINT}"
                ) from error
            if not waited:
                until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
                log.warning(
                    "the gradebook of %s does not respond (%s); trying again until %s",
                    folder.root,
                    why,
                    until,
                )
            waited = True
            time.sleep(min(pause, left))
            pause = min(2 * pause, longest)
        else:
            if waited:
                log.warning("the gradebook of %s is available again", folder.root)
            return


def with_retry(folder: CourseFolder, work: Callable[[], T]) -> T:
    """Return the result of `work`, which is repeated after transient errors of the gradebook's
    server.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        wait_for_gradebook(folder)
        try:
            return work()
        except Exception as error:
            if attempt == MAX_ATTEMPTS or not is_transient(error):
                raise
        time.sleep(retry_delay(attempt))
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def database_errors_as_user_errors(folder: CourseFolder) -> Iterator[None]:
    """Raise `UserError` for database errors that occur in nbgrader's gradebook within the block.

    nbgrader logs a traceback, and raises its own error with the database's error as its context.
    """
    logging.getLogger("tornado.application").addHandler(quiet := logging.NullHandler())
    try:
        yield
    except Exception as error:
        if isinstance(error.__context__, SQLAlchemyError):
            raise UserError(format_error(error.__context__, folder.root)) from error
        raise
    finally:
        logging.getLogger("tornado.application").removeHandler(quiet)


def retry_delay(attempt: int) -> float:
    """Return how many seconds to wait after a failed attempt, so that other writers can finish."""
    return min(RETRY_PAUSES[0] * 2 ** (attempt - 1), RETRY_PAUSES[1])
