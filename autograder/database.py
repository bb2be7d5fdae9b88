"""Connects to the gradebook's database, and waits for a server that does not answer for a while.

SQLite is a file and answers at once, or never. A server restarts, loses connections, has too many
of them: that passes, and whoever is sent away says so and comes back.
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
from autograder.errors import GO_ON, Refused, in_words

PATIENCE = 600  # seconds, unless c.GradingStep.gradebook_seconds says otherwise
PAUSES = (0.5, 15)  # seconds between two attempts: the first pause, which doubles, and the longest
ATTEMPTS = 6  # at the same work, each after the server has answered

# PostgreSQL's codes of what passes: lost connections, restarts, too many connections; and of two
# writers who met, of whom one has to begin again.
PASSES = ("08", "57P01", "57P02", "57P03", "53300", "23505", "40001", "40P01")
# A connection that was never made has no code, so these words decide that waiting does not help.
# Some are libpq's, some the server's; a server in another language is waited for.
STAYS = (
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

Done = TypeVar("Done")
log = logging.getLogger(__name__)  # without other orders, a warning is a line on stderr


class NoAnswer(Refused):
    """The gradebook's server has not answered for as long as one would wait."""


@cache
def engine(db_url: str) -> Engine:
    """How to connect to a gradebook, each time anew: another may be put in its place.

    Raises `Refused` for an address that says nothing; no message repeats it, as it may hold a
    password.
    """
    try:
        return create_engine(db_url, poolclass=NullPool)
    except ImportError as error:
        raise Refused(
            f"c.CourseDirectory.db_url asks for {error.name}, which is not installed; "
            "for PostgreSQL run `python3 run.py setup postgres`"
        ) from error
    except Exception as error:
        raise Refused(
            "c.CourseDirectory.db_url in the course's configuration is no address of a "
            f"database ({type(error).__name__})"
        ) from None


def db_url(folder: CourseFolder) -> str:
    """Where the course's gradebook is."""
    return folder.config().CourseDirectory.db_url


def file_of(url: str) -> str | None:
    """The file of a gradebook in SQLite; None of one that a server has."""
    engine(url)  # raises what is wrong with the address
    parsed = make_url(url)
    return parsed.database if parsed.get_backend_name() == "sqlite" else None


def passes(error: BaseException) -> bool:
    """Whether the cause of an error is that the gradebook's server was away, or another writer in
    the way: what failed may be done again."""
    return any(_passes(cause) for cause in _causes(error))


def _passes(cause: BaseException) -> bool:
    psycopg = sys.modules.get("psycopg")  # whoever got an error of it has imported it
    if psycopg is None or not isinstance(cause, psycopg.Error):
        return False
    if cause.sqlstate is not None:
        return cause.sqlstate.startswith(PASSES)
    return isinstance(cause, psycopg.OperationalError) and not any(
        words in str(cause) for words in STAYS
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and all that it comes from: nbgrader raises its own while it handles others."""
    if error is not None:
        yield error
        yield from _causes(error.__cause__)
        if error.__context__ is not error.__cause__:
            yield from _causes(error.__context__)


def reach(folder: CourseFolder) -> None:
    """Return when the gradebook's server answers, at once if it is a file; say when that takes
    time.

    Raises `NoAnswer` when patience is over, and `Refused` for what waiting does not mend.
    """
    if file_of(db_url(folder)) is not None:
        return
    patience = folder.config().GradingStep.get("gradebook_seconds", PATIENCE)
    end, (pause, longest), waited = time.monotonic() + patience, PAUSES, False
    while True:
        try:
            engine(db_url(folder)).connect().close()
        except SQLAlchemyError as error:
            if not passes(error):
                raise Refused(in_words(error, folder.root)) from error
            why = str(error.__cause__).partition("\n")[0]
            left = end - time.monotonic()
            if left <= 0:
                raise NoAnswer(
                    f"the gradebook of {folder.root} has not answered for {patience:g} "
                    f"seconds ({why}); {GO_ON}"
                ) from error
            if not waited:
                until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
                log.warning(
                    "the gradebook of %s does not answer (%s); trying again until %s",
                    folder.root,
                    why,
                    until,
                )
            waited = True
            time.sleep(min(pause, left))
            pause = min(2 * pause, longest)
        else:
            if waited:
                log.warning("the gradebook of %s answers again", folder.root)
            return


def patiently(folder: CourseFolder, work: Callable[[], Done]) -> Done:
    """The result of work that can be done again; it is, whenever the gradebook's server was away."""
    for attempt in range(1, ATTEMPTS + 1):
        reach(folder)
        try:
            return work()
        except Exception as error:
            if attempt == ATTEMPTS or not passes(error):
                raise
        time.sleep(pause_after(attempt))
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def refused_in_words(folder: CourseFolder) -> Iterator[None]:
    """Raise `Refused` for what the database refuses to nbgrader's gradebook within the block.

    nbgrader logs a traceback, and raises an error of its own beside the database's.
    """
    logging.getLogger("tornado.application").addHandler(quiet := logging.NullHandler())
    try:
        yield
    except Exception as error:
        if isinstance(error.__context__, SQLAlchemyError):
            raise Refused(in_words(error.__context__, folder.root)) from error
        raise
    finally:
        logging.getLogger("tornado.application").removeHandler(quiet)


def pause_after(attempt: int) -> float:
    """Seconds to wait after a failed attempt: others who were in the way are done then."""
    return min(PAUSES[0] * 2 ** (attempt - 1), PAUSES[1])
