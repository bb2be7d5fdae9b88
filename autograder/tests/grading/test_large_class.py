"""A large class: what a submission costs the database does not grow with what it holds."""

import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine, make_url

from autograder.benchmarks._postgres import PASSWORD
from autograder.course_folder import CourseFolder
from autograder.grading import gradebook_session
from autograder.grading import submission as grading
from autograder.grading.booked import booked
from autograder.release.assignments import release
from autograder.telling.gradebook import noted
from autograder.tests.support.classes import MODULES, STUDY, hand_in, make_course
from autograder.tests.support.needs import need_isolation

pytestmark = pytest.mark.xdist_group("postgres")
SMALL, LARGE = 30, 3_000  # students
EACH = 10  # instructions of SQLite between two that are counted


def multiply(path: Path, students: int) -> None:
    """Book what one student has for so many others, too."""
    with closing(sqlite3.connect(path)) as book, book:
        book.row_factory = sqlite3.Row

        def copies(table: str, where: str, value: str, **new: str) -> Iterator[tuple[str, str]]:
            """Copy the rows; the old and the new id of each."""
            for row in book.execute(f"SELECT * FROM {table} WHERE {where} = ?", [value]).fetchall():
                copied = {**row, "id": uuid.uuid4().hex, **new}
                book.execute(
                    f"INSERT INTO {table} ({', '.join(copied)}) VALUES "
                    f"({', '.join('?' * len(copied))})",
                    list(copied.values()),
                )
                yield row["id"], copied["id"]

        for number in range(students):
            who = f"s{number}"
            ((ada, _),) = copies("student", "id", "ada", id=who)
            for old, new in copies("submitted_assignment", "student_id", ada, student_id=who):
                for theirs, ours in copies(
                    "submitted_notebook", "assignment_id", old, assignment_id=new
                ):
                    for table in ("grade", "comment"):
                        [*copies(table, "notebook_id", theirs, notebook_id=ours)]


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many of SQLite's instructions run within the block, in all connections it opens."""
    count = [0]

    def one_more() -> None:
        count[0] += EACH

    def listen(connection, _record) -> None:
        connection.set_progress_handler(one_more, EACH)

    event.listen(Engine, "connect", listen)
    try:
        yield count
    finally:
        event.remove(Engine, "connect", listen)


@pytest.mark.slow
def test_a_submission_costs_the_database_the_same_in_any_class(tmp_path, no_canaries, monkeypatch):
    """SQLite runs as many instructions to grade a student of 3,000 as one of 30, and to read what
    is told on a page: it finds rows by index, and does not look through those of the class. These
    are counted; no clock is needed.
    """
    need_isolation()
    monkeypatch.setattr(gradebook_session, "FIRST_COUNT", 1)
    folder = CourseFolder.create(tmp_path / "small")
    release(folder, STUDY)
    hand_in(folder, "ada", MODULES["reference"])
    with grading.grader(folder, STUDY, True) as grade_one:
        assert grade_one("ada").status == "graded"
    cost = {}
    for size in (SMALL, LARGE):
        copied = CourseFolder.open(shutil.copytree(folder.root, tmp_path / str(size)))
        multiply(Path(make_url(copied.config().CourseDirectory.db_url).database), size)
        costs = []
        with counted() as count, grading.grader(copied, STUDY, True) as grade_one:
            for _ in range(4):  # in some of them the database counts its rows, which is not theirs
                before = count[0]
                assert grade_one("ada").status == "graded"
                costs.append(count[0] - before)
        with counted() as count:
            assert noted(copied.config().CourseDirectory.db_url, STUDY.assignment, "ada")["ada"]
        cost[size] = min(costs), count[0]
    for small, large in zip(cost[SMALL], cost[LARGE], strict=True):
        assert 0 < large < 1.5 * small


@pytest.mark.slow
def test_a_server_plans_what_it_is_asked_again_only_once(
    postgres,
    tmp_path,
    no_canaries,
    monkeypatch,
):
    """What a worker asks of PostgreSQL for each submission stays prepared until the last one."""
    need_isolation()
    url = postgres.new_url()
    folder = make_course(tmp_path / "course", STUDY, url=url)
    hand_in(folder, "ada", MODULES["reference"])
    prepared, opened = [], []
    monkeypatch.setattr(
        grading, "booked", lambda *arguments: opened.append(arguments[-1]) or booked(*arguments)
    )
    with grading.grader(folder, STUDY, True) as grade_one:
        for _ in range(8):
            assert grade_one("ada").status == "graded"
            with opened[-1].begin() as connection:
                prepared.append(
                    connection.exec_driver_sql(
                        "SELECT count(*) FROM pg_prepared_statements"
                    ).scalar()
                )
    assert prepared == sorted(prepared)
    assert prepared[-1] > 10


@pytest.mark.slow
def test_who_owns_no_more_than_the_gradebook_has_its_rows_counted(
    postgres,
    tmp_path,
    no_canaries,
    monkeypatch,
):
    """A grader is no superuser: PostgreSQL knows of the gradebook's rows, and logs no warning."""
    need_isolation()
    monkeypatch.setattr(gradebook_session, "FIRST_COUNT", 1)
    url = make_url(postgres.new_url())
    postgres.sql(f"CREATE ROLE owner LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql(f"ALTER DATABASE {url.database} OWNER TO owner")
    url = url.set(username="owner").render_as_string(hide_password=False)
    folder = make_course(tmp_path / "course", STUDY, url=url)
    hand_in(folder, "ada", MODULES["reference"])
    before = len(postgres.log())
    with grading.grader(folder, STUDY, True) as grade_one:
        for _ in range(4):
            assert grade_one("ada").status == "graded"
    known = postgres.sql(
        "SELECT count(*) FROM pg_stats WHERE tablename = 'grade'", make_url(url).database
    )
    assert known[0][0] > 0
    assert "WARNING" not in postgres.log()[before:]
