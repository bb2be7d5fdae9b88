"""Reads submissions from nbgrader's gradebook, which is authoritative; a ledger must agree with it.

This module uses SQL, because importing nbgrader would slow down every command by a second.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, DateTime, Engine, Interval, Row, column, text
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import db_url, engine, sqlite_path, with_retry
from autograder.errors import format_error, is_fatal
from common.command_lines import advice

AutomaticMarks = dict[str, list[float | None]]
FROM_NOTEBOOKS = """
    FROM assignment a
    JOIN submitted_assignment s ON s.assignment_id = a.id
    JOIN submitted_notebook sn ON sn.assignment_id = s.id
    JOIN notebook n ON sn.notebook_id = n.id"""
WHERE_ASSIGNMENT = " WHERE a.name = :assignment"
WHERE_STUDENT = f"{WHERE_ASSIGNMENT} AND s.student_id = :student"
GRADES = f"""
    SELECT s.student_id AS student, n.name AS notebook, c.name AS cell, g.auto_score AS automatic,
        g.manual_score AS manual, g.extra_credit AS extra, g.needs_manual_grade AS waits,
        coalesce(gc.max_score, tc.max_score) AS points
    {FROM_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    LEFT JOIN grade_cells gc ON gc.id = c.id
    LEFT JOIN task_cells tc ON tc.id = c.id"""
POINTS = """
    SELECT c.name, coalesce(g.max_score, t.max_score)
    FROM assignment a
    JOIN notebook n ON n.assignment_id = a.id
    JOIN base_cell c ON c.notebook_id = n.id
    LEFT JOIN grade_cells g ON g.id = c.id
    LEFT JOIN task_cells t ON t.id = c.id
    WHERE a.name = :assignment AND coalesce(g.max_score, t.max_score) IS NOT NULL"""
PENALTIES = f"""
    SELECT s.student_id, n.name, sn.late_submission_penalty
    {FROM_NOTEBOOKS}"""
TIMES = """
    SELECT s.student_id, a.name, s.timestamp, a.duedate, s.extension
    FROM assignment a JOIN submitted_assignment s ON s.assignment_id = a.id"""
UNDEFINED_TABLE = "42P01"  # PostgreSQL's error code if nothing was released into this database
BY_CELL = attrgetter("notebook", "cell")  # sorted here, because each database has its own order


class SubmissionTime(NamedTuple):
    """By how many seconds a submission is late; `due` is the due date without extensions, in UTC."""

    student: str
    assignment: str
    due: datetime | None
    seconds: float
    extension: timedelta = timedelta()


class Executor(Protocol):
    """A connection, or a session of nbgrader's gradebook."""

    def execute(self, statement: Any, parameters: Any = None, /) -> Any:
        """Run a statement."""


def require_gradebook(folder: CourseFolder, assignment: str | None = None) -> None:
    """Raise `CourseFolderError` if there is no gradebook, or if it does not contain the assignment.

    Opening an SQLite file that does not exist would create an empty one, and grading without the
    assignment would fail for all students.
    """
    if not _is_there(folder):
        lacks = f"there is no gradebook in {folder.root}"
    elif assignment and not _knows(folder, assignment):
        lacks = f"the gradebook of {folder.root} does not contain {assignment}"
    else:
        return
    command = advice("generate", *filter(None, [assignment]), course=folder.root)
    if next(folder.root.glob(f"results/{assignment or '*'}/*/submission.json"), None) is None:
        raise CourseFolderError(f"{lacks} yet: run {command} first")
    what = assignment or "every assignment"
    raise CourseFolderError(
        f"{lacks}, although submissions were graded: restore a backup, or generate {what} and "
        "grade again, which restores all marks except manual ones"
    )


def _is_there(folder: CourseFolder) -> bool:
    file = sqlite_path(db_url(folder))
    return not file or (Path(file).is_file() and Path(file).stat().st_size > 0)


def _knows(folder: CourseFolder, assignment: str) -> bool:
    def look() -> bool:
        with engine(db_url(folder)).connect() as gradebook:
            rows = gradebook.execute(
                text("SELECT 1 FROM assignment WHERE name = :name"), {"name": assignment}
            )
            return rows.first() is not None

    try:
        return with_retry(folder, look)
    except SQLAlchemyError as error:
        code = getattr(error.__cause__, "sqlstate", UNDEFINED_TABLE)  # SQLite has no such code
        if (
            is_fatal(error)
            or code != UNDEFINED_TABLE
            or not isinstance(error, (OperationalError, ProgrammingError))
        ):
            raise CourseFolderError(format_error(error, folder.root)) from error
        return False  # there is no such table


def read_automatic_marks(
    db_url: str, assignment: str, student: str | None = None, opened: Engine | None = None
) -> dict[str, AutomaticMarks]:
    """Return the automatic points and the extra credit of each student's cells, by notebook and
    cell.

    Manual marks are not included. If `student` is given, only that student's marks are
    read. `opened` has connections to the same gradebook.
    """
    marks: dict[str, AutomaticMarks] = defaultdict(dict)
    # Commit although nothing was written, because a rollback makes psycopg forget prepared
    # statements.
    with (opened or engine(db_url)).begin() as gradebook:
        for grade in sorted(query_rows(gradebook, GRADES, assignment, student), key=BY_CELL):
            marks[grade.student] |= automatic_marks(grade)
    return dict(marks)


def read_max_points(db_url: str, assignment: str) -> dict[str, float]:
    """Return the maximum points of each graded cell of an assignment, by the cell's id."""
    with engine(db_url).begin() as gradebook:
        rows = gradebook.execute(text(POINTS), {"assignment": assignment})
        return {cell: float(points) for cell, points in rows}


def read_times(gradebook: Executor, student: str | None = None) -> Iterator[SubmissionTime]:
    """Yield the times of all submissions to all assignments, of all students or of one."""
    query = text(TIMES + ("" if student is None else " WHERE s.student_id = :student")).columns(
        column("student_id"),
        column("name"),
        column("timestamp", DateTime),
        column("duedate", DateTime),
        column("extension", Interval),
    )
    for row in gradebook.execute(query, {"student": student} if student is not None else {}):
        name, assignment, submitted, due, extension = row
        more = extension or timedelta()
        late = submitted - due - more if submitted and due else timedelta()
        yield SubmissionTime(name, assignment, due, max(0.0, late.total_seconds()), more)


def query_rows(
    gradebook: Connection, query: str, assignment: str, student: str | None = None
) -> Iterable[Row]:
    """Return the rows that a query with `FROM_NOTEBOOKS` selects for an assignment, for all
    students or for one.

    There is a separate statement for each case, because no database would use an index on students
    if one statement covered both.
    """
    return gradebook.execute(
        text(query + (WHERE_ASSIGNMENT if student is None else WHERE_STUDENT)),
        {"assignment": assignment, "student": student},
    )


def automatic_marks(grade: Row) -> AutomaticMarks:
    """Return the marks in one row of `GRADES` that the autograder has given."""
    return {f"{grade.notebook}/{grade.cell}": [grade.automatic, grade.extra]}


def has_claimed_marks(marks: AutomaticMarks, claimed: AutomaticMarks) -> bool:
    """Whether a gradebook still has the marks that a ledger claims.

    A person may have changed extra credit.
    """
    return marks.keys() == claimed.keys() and all(
        points == our_points and (extra is None) <= (our_extra is None)
        for (points, extra), (our_points, our_extra) in (
            (marks[cell], claimed[cell]) for cell in marks
        )
    )
