"""A large class: the database cost of a submission does not grow with the size of the database."""

import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine, make_url

from autograder.benchmarks.support.postgres import PASSWORD
from autograder.course_folder import CourseFolder
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.grading.run import gradebook_session
from autograder.grading.run import submission as grading
from autograder.reporting.gradebook import notebook_records
from autograder.tests.support.courses.classes import MODULES, STUDY, make_course, submit
from autograder.tests.support.needs import need_isolation

pytestmark = pytest.mark.xdist_group("postgres")
SMALL, LARGE = 30, 3_000  # students
EACH = 10  # SQLite instructions per counting step


def multiply(path: Path, students: int) -> None:
    """Copy one student's records for this many other students."""
    with closing(sqlite3.connect(path)) as book, book:
        book.row_factory = sqlite3.Row

        def copies(table: str, where: str, value: str, **new: str) -> Iterator[tuple[str, str]]:
            """Copy the rows; return the old and new id of each."""
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
    """The number of SQLite instructions run within the block, over all connections."""
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
def test_a_submission_costs_the_database_the_same_in_any_class(tmp_path, no_self_test, monkeypatch):
    """SQLite runs as many instructions to grade one of 3,000 students as one of 30, and to read the
    data of a page, because it finds rows by index and never scans the class. Instructions are
    counted, so no clock is needed.
    """
    need_isolation()
    monkeypatch.setattr(gradebook_session, "FIRST_ANALYZE", 1)
    folder = make_course(tmp_path / "small", STUDY)
    submit(folder, "ada", MODULES["reference"])
    with grading.grader(folder, STUDY, True) as grade_one:
        assert grade_one("ada").status == "graded"
    cost = {}
    for size in (SMALL, LARGE):
        copied = CourseFolder.open(shutil.copytree(folder.root, tmp_path / str(size)))
        multiply(Path(make_url(copied.config().CourseDirectory.db_url).database), size)
        costs = []
        with counted() as count, grading.grader(copied, STUDY, True) as grade_one:
            for _ in range(4):  # in some the database counts rows for itself
                before = count[0]
                assert grade_one("ada").status == "graded"
                costs.append(count[0] - before)
        with counted() as count:
            assert notebook_records(
                copied.config().CourseDirectory.db_url, STUDY.assignment, "ada"
            )["ada"]
        cost[size] = min(costs), count[0]
    for small, large in zip(cost[SMALL], cost[LARGE], strict=True):
        assert 0 < large < 1.5 * small


@pytest.mark.slow
def test_a_server_plans_a_repeated_statement_only_once(
    postgres,
    tmp_path,
    no_self_test,
    monkeypatch,
):
    """The statements that a worker sends for each submission stay prepared until the last one."""
    need_isolation()
    url = postgres.new_url()
    folder = make_course(tmp_path / "course", STUDY, url=url)
    submit(folder, "ada", MODULES["reference"])
    prepared, opened = [], []
    monkeypatch.setattr(
        grading,
        "read_automatic_marks",
        lambda *arguments: opened.append(arguments[-1]) or read_automatic_marks(*arguments),
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
    no_self_test,
    monkeypatch,
):
    """A grader is not a superuser: PostgreSQL has statistics for the gradebook and logs no warning."""
    need_isolation()
    monkeypatch.setattr(gradebook_session, "FIRST_ANALYZE", 1)
    url = make_url(postgres.new_url())
    postgres.sql(f"CREATE ROLE owner LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql(f"ALTER DATABASE {url.database} OWNER TO owner")
    url = url.set(username="owner").render_as_string(hide_password=False)
    folder = make_course(tmp_path / "course", STUDY, url=url)
    submit(folder, "ada", MODULES["reference"])
    before = len(postgres.log())
    with grading.grader(folder, STUDY, True) as grade_one:
        for _ in range(4):
            assert grade_one("ada").status == "graded"
    known = postgres.sql(
        "SELECT count(*) FROM pg_stats WHERE tablename = 'grade'", make_url(url).database
    )
    assert known[0][0] > 0
    assert "WARNING" not in postgres.log()[before:]
