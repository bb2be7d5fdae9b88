"""Says what is wrong with this environment or with a course folder, and how to fix it."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CONFIG_FILE, CourseFolder, put_environment_on_path
from autograder.database import db_url, engine, file_of
from autograder.errors import Refused, in_words
from autograder.sandbox.launch import AUTOGRADER

STAFF_ONLY = [AUTOGRADER / name for name in ("answers", "mutants", "verdicts")]
NAMED = 3  # files in a sentence


def environment() -> Iterator[str]:
    """Yield what is wrong with the environment, in sentences that say what to do."""
    put_environment_on_path()
    for program in ("alembic", "jupyter"):
        if shutil.which(program) is None:
            yield (
                f"{program}, which nbgrader calls by name, is not on PATH: "
                "start through `python3 run.py`, or activate the environment"
            )


def exchange(folder: CourseFolder) -> Iterator[str]:
    """Yield what is wrong with the exchange, the folder through which students hand in."""
    where = folder.exchange()
    name = shlex.quote(str(where))
    if not where.is_dir():
        wrong, cure = "missing", f"mkdir -p {name} && chmod a+rwxt {name}"
    elif not os.access(where, os.W_OK | os.X_OK):
        wrong, cure = "not writable", f"chmod a+rwxt {name}"
    else:
        return
    yield (
        f"the exchange folder {where} is {wrong}, so nothing can be released to students or "
        f"collected from them in the browser: run `{cure}`, or set c.Exchange.root to another "
        f"folder in {folder.root / CONFIG_FILE}"
    )


def gradebook(folder: CourseFolder) -> Iterator[str]:
    """Yield why a gradebook that a server keeps cannot be used now; nobody waits for it."""
    try:
        url = db_url(folder)
        if file_of(url) is None:
            engine(url).connect().close()
    except Refused as refused:
        yield str(refused)
    except SQLAlchemyError as error:
        yield in_words(error, folder.root)


def read_by_others(folder: CourseFolder) -> Iterator[str]:
    """Yield what other users of this machine can read of the course."""
    exchange = folder.exchange().resolve()
    found = [path for path in readable(folder.root) if not path.is_relative_to(exchange)]
    if found:
        yield _told(found, folder.root)


def answers_read_by_others() -> Iterator[str]:
    """Yield what other users of this machine can read of the staff's part of the kit."""
    found = [path for place in STAFF_ONLY for path in readable(place)]
    if found:
        yield _told(found, AUTOGRADER)


def _told(found: list[Path], cure: Path) -> str:
    more = f" and {len(found) - NAMED} more files" if len(found) > NAMED else ""
    return (
        f"other users of this machine can read {', '.join(map(str, found[:NAMED]))}{more}: run "
        f"`chmod go-rwx {shlex.quote(str(cure))}`"
    )


def readable(place: Path) -> Iterator[Path]:
    """The files at or below a path that every user of this machine can read."""
    if _can_enter(place.parent):
        yield from _readable(place)


def _readable(path: Path) -> Iterator[Path]:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode) and mode & stat.S_IROTH:
        yield path
    elif stat.S_ISDIR(mode) and mode & stat.S_IROTH and mode & stat.S_IXOTH:
        for inner in sorted(path.iterdir()):
            yield from _readable(inner)


def _can_enter(folder: Path) -> bool:
    """Whether every user can go into a folder, if its name is known."""
    path = folder.resolve()
    return all(each.stat().st_mode & stat.S_IXOTH for each in (path, *path.parents))
