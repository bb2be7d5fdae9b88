"""Finds problems of this environment or of a course folder, and explains how to fix them."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CONFIG_FILE, CourseFolder, put_environment_on_path
from autograder.database import db_url, engine, sqlite_path
from autograder.errors import UserError, format_error
from autograder.sandbox.launch import AUTOGRADER

STAFF_ONLY = [AUTOGRADER / "studies"]
MAX_LISTED = 3  # files in a message


def environment() -> Iterator[str]:
    """Yield a message for each problem of the environment."""
    put_environment_on_path()
    for program in ("alembic", "jupyter"):
        if shutil.which(program) is None:
            yield (
                f"{program}, which nbgrader calls by name, is not on PATH: "
                "start through `python3 run.py`, or activate the environment"
            )


def exchange(folder: CourseFolder) -> Iterator[str]:
    """Yield a message for each problem of the exchange, the folder for submissions."""
    path = folder.exchange()
    name = shlex.quote(str(path))
    if not path.is_dir():
        problem, command = "missing", f"mkdir -p {name} && chmod a+rwxt {name}"
    elif not os.access(path, os.W_OK | os.X_OK):
        problem, command = "not writable", f"chmod a+rwxt {name}"
    else:
        return
    yield (
        f"the exchange folder {path} is {problem}, so nothing can be released to students or "
        f"collected from them in the browser: run `{command}`, or set c.Exchange.root to another "
        f"folder in {folder.root / CONFIG_FILE}"
    )


def gradebook(folder: CourseFolder) -> Iterator[str]:
    """Yield a message if the gradebook is on a server that cannot be used at the moment; do not
    wait for it.
    """
    try:
        url = db_url(folder)
        if sqlite_path(url) is None:
            engine(url).connect().close()
    except UserError as error:
        yield str(error)
    except SQLAlchemyError as error:
        yield format_error(error, folder.root)


def read_by_others(folder: CourseFolder) -> Iterator[str]:
    """Yield a message if other users of this machine can read parts of the course."""
    exchange = folder.exchange().resolve()
    paths = [path for path in readable(folder.root) if not path.is_relative_to(exchange)]
    if paths:
        yield _permission_message(paths, folder.root)


def answers_read_by_others() -> Iterator[str]:
    """Yield a message if other users of this machine can read the staff's part of the kit."""
    paths = [path for folder in STAFF_ONLY for path in readable(folder)]
    if paths:
        yield _permission_message(paths, AUTOGRADER)


def _permission_message(paths: list[Path], folder: Path) -> str:
    listed = ", ".join(map(str, paths[:MAX_LISTED]))
    more = f" and {len(paths) - MAX_LISTED} more files" if len(paths) > MAX_LISTED else ""
    return (
        f"other users of this machine can read {listed}{more}: run "
        f"`chmod go-rwx {shlex.quote(str(folder))}`"
    )


def readable(root: Path) -> Iterator[Path]:
    """Yield the files at or below a path that every user of this machine can read."""
    if _can_enter(root.parent):
        yield from _readable(root)


def _readable(path: Path) -> Iterator[Path]:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode) and mode & stat.S_IROTH:
        yield path
    elif stat.S_ISDIR(mode) and mode & stat.S_IROTH and mode & stat.S_IXOTH:
        for inner in sorted(path.iterdir()):
            yield from _readable(inner)


def _can_enter(folder: Path) -> bool:
    """Whether every user who knows a folder's name can enter the folder."""
    path = folder.resolve()
    return all(each.stat().st_mode & stat.S_IXOTH for each in (path, *path.parents))
