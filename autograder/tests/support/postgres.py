"""PostgreSQL for tests: what it needs, and whether its password has been told."""

import os
from pathlib import Path

from autograder.benchmarks._postgres import PASSWORD, programs
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.tests.support.needs import need, need_module

WHY = "nothing shows that a gradebook in PostgreSQL works"


def need_postgres() -> None:
    """Skip the test where no server can be started; where CI is "true", fail it."""
    need(os.name == "posix", f"PostgreSQL is started as on Linux: {WHY}")
    need_module("psycopg", WHY)
    need(programs() is not None, f"PostgreSQL's initdb is not installed: {WHY}")


def told_password(folder: CourseFolder) -> list[Path]:
    """The files of a course folder that hold the password, but for its configuration."""
    return [
        path
        for path in folder.root.rglob("*")
        if path.is_file() and path.name != CONFIG_FILE and PASSWORD.encode() in path.read_bytes()
    ]
