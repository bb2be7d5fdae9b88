"""A new gradebook equals one created by nbgrader alone, and needs no subprocess."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader import api
from sqlalchemy import create_engine, text

from autograder import gradebook
from autograder.course_folder import CourseFolder, put_environment_on_path
from autograder.database import db_url

PLAIN = """import sys
from nbgrader.api import Gradebook
Gradebook(sys.argv[1], "adversarial_search").close()
assert not [name for name in sys.modules if name.startswith("autograder")]"""
COLUMNS = text("""SELECT table_name, column_name, data_type, is_nullable, column_default,
  character_maximum_length FROM information_schema.columns WHERE table_schema = 'public'
  ORDER BY table_name, ordinal_position""")
CONSTRAINTS = text("""SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2""")


def nbgrader_creates(url: str) -> None:
    """Let nbgrader create a gradebook in a process without our code."""
    put_environment_on_path()
    subprocess.run([sys.executable, "-P", "-c", PLAIN, url], check=True, env=dict(os.environ))


@pytest.fixture
def no_subprocess(monkeypatch):
    """Running a program from nbgrader's gradebook fails the test."""

    def run(command: list[str], **_options) -> bytes:
        raise AssertionError(f"{command} was run")

    monkeypatch.setattr(api.sp, "check_output", run)


@pytest.mark.slow
def test_a_gradebook_in_sqlite_equals_nbgraders(tmp_path, no_subprocess):
    """The tables, indexes, rows and version are the same, statement by statement."""

    def dump(path: Path) -> list[str]:
        with closing(sqlite3.connect(path)) as book:
            return sorted(book.iterdump())

    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    gradebook.Gradebook(f"sqlite:///{ours}", "adversarial_search").close()
    nbgrader_creates(f"sqlite:///{theirs}")
    assert dump(ours) == dump(theirs)
    assert f"INSERT INTO \"alembic_version\" VALUES('{gradebook.schema_version()}');" in dump(ours)


@pytest.mark.slow
def test_a_gradebook_in_postgresql_equals_nbgraders(postgres):
    """The columns, constraints and version are the same."""

    def schema(url: str) -> list[list]:
        engine = create_engine(url)
        with engine.connect() as book:
            found = [
                [tuple(row) for row in book.execute(query)]
                for query in (COLUMNS, CONSTRAINTS, text("SELECT version_num FROM alembic_version"))
            ]
        engine.dispose()
        return found

    ours, theirs = postgres.new_url(), postgres.new_url()
    gradebook.Gradebook(ours, "adversarial_search").close()
    nbgrader_creates(theirs)
    assert schema(ours) == schema(theirs)
    assert schema(ours)[0]


def test_nbgraders_own_commands_use_it(tmp_path, no_subprocess, monkeypatch):
    """They only need to read the course's configuration, as formgrader does."""
    monkeypatch.setattr(api, "get_alembic_version", lambda: 1 / 0)
    monkeypatch.delitem(sys.modules, "autograder.gradebook")
    folder = CourseFolder.create(tmp_path / "course")
    api.Gradebook(db_url(folder)).close()
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as book:
        assert book.execute("SELECT * FROM alembic_version").fetchall() == [
            (gradebook.schema_version(),)
        ]
