"""PostgreSQL for tests: its requirements, and whether its password has leaked."""

import os
from pathlib import Path

from autograder.benchmarks.support.postgres import PASSWORD, programs
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.tests.support.needs import need, need_module

WHY = "nothing shows that a gradebook in PostgreSQL works"


def need_postgres() -> None:
    """Skip the test if no server can be started; fail it if CI is "true"."""
    need(os.name == "posix", f"PostgreSQL is started as on Linux: {WHY}")
    need_module("psycopg", WHY)
    need(programs() is not None, f"PostgreSQL's initdb is not installed: {WHY}")


def files_with_password(folder: CourseFolder) -> list[Path]:
    """The files of a course folder that contain the password, except its configuration."""
    return [
        path
        for path in folder.root.rglob("*")
        if path.is_file() and path.name != CONFIG_FILE and PASSWORD.encode() in path.read_bytes()
    ]
