"""The tests' PostgreSQL server, or why there is none."""

import os
from collections.abc import Iterator

import pytest

from autograder.benchmarks._postgres import Server, programs, server
from autograder.tests.needs import need, need_module

WHY = "nothing shows that a gradebook in PostgreSQL works"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running server, one for all tests of a process; skips the test where there is none."""
    need_postgres()
    with server() as running:
        yield running


def need_postgres() -> None:
    """Skip the test where no server can be started; where CI is "true", fail it."""
    need(os.name == "posix", f"PostgreSQL is started as on Linux: {WHY}")
    need_module("psycopg", WHY)
    need(programs() is not None, f"PostgreSQL's initdb is not installed: {WHY}")
