"""Reads what nbgrader's gradebook holds of submissions: the truth that a ledger must match.

In SQL: nbgrader, whose classes say the same, takes a second to import, and a command waits for it.
"""

from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from sqlalchemy import Connection, Engine, Row, text
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import db_url, engine, file_of, patiently
from autograder.errors import in_words, is_for_all

Booked = dict[str, list[float | None]]
OF_NOTEBOOKS = """
    FROM assignment a
    JOIN submitted_assignment s ON s.assignment_id = a.id
    JOIN submitted_notebook sn ON sn.assignment_id = s.id
    JOIN notebook n ON sn.notebook_id = n.id"""
OF_ALL = " WHERE a.name = :assignment"
OF_ONE = f"{OF_ALL} AND s.student_id = :student"
GRADES = f"""
    SELECT s.student_id AS student, n.name AS notebook, c.name AS cell, g.auto_score AS automatic,
        g.manual_score AS manual, g.extra_credit AS extra, g.needs_manual_grade AS waits,
        coalesce(gc.max_score, tc.max_score) AS points
    {OF_NOTEBOOKS}
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
NO_TABLE = "42P01"  # PostgreSQL's code: nothing was released into this database
IN_ORDER = attrgetter("notebook", "cell")  # here: each database has an order of its own


def require_gradebook(folder: CourseFolder, assignment: str | None = None) -> None:
    """Raise `CourseFolderError` where there is no gradebook, or none that knows the assignment.

    Who asks an SQLite file that is not there makes an empty one, and who grades without the
    assignment fails with everybody.
    """
    if not _is_there(folder):
        lacks = f"there is no gradebook in {folder.root}"
    elif assignment and not _knows(folder, assignment):
        lacks = f"the gradebook of {folder.root} does not know {assignment}"
    else:
        return
    if next(folder.root.glob(f"results/{assignment or '*'}/*/submission.json"), None) is None:
        raise CourseFolderError(f"{lacks} yet: run `autograder release STUDY` first")
    what = assignment or "every assignment"
    raise CourseFolderError(
        f"{lacks}, although submissions were graded: put a copy of it back, or "
        f"release {what} and grade again, which gives all marks but those that "
        "people gave"
    )


def _is_there(folder: CourseFolder) -> bool:
    file = file_of(db_url(folder))
    return not file or (Path(file).is_file() and Path(file).stat().st_size > 0)


def _knows(folder: CourseFolder, assignment: str) -> bool:
    def look() -> bool:
        with engine(db_url(folder)).connect() as gradebook:
            found = gradebook.execute(
                text("SELECT 1 FROM assignment WHERE name = :name"), {"name": assignment}
            )
            return found.first() is not None

    try:
        return patiently(folder, look)
    except SQLAlchemyError as error:
        code = getattr(error.__cause__, "sqlstate", NO_TABLE)  # SQLite has none for it
        if (
            is_for_all(error)
            or code != NO_TABLE
            or not isinstance(error, (OperationalError, ProgrammingError))
        ):
            raise CourseFolderError(in_words(error, folder.root)) from error
        return False  # there is no such table


def booked(
    db_url: str, assignment: str, student: str | None = None, opened: Engine | None = None
) -> dict[str, Booked]:
    """The automatic points and the extra credit of each cell, by notebook and cell, of everybody
    or of one student. `opened` has connections to the same gradebook.

    Points that people give are theirs to change; these are only ours.
    """
    found: dict[str, Booked] = defaultdict(dict)
    # Committed, although nothing was written: a rollback makes psycopg forget prepared statements.
    with (opened or engine(db_url)).begin() as gradebook:
        for grade in sorted(rows_of(gradebook, GRADES, assignment, student), key=IN_ORDER):
            found[grade.student] |= ours(grade)
    return dict(found)


def points_of(db_url: str, assignment: str) -> dict[str, float]:
    """The most points of each cell of an assignment that has any, by the cell's id."""
    with engine(db_url).begin() as gradebook:
        rows = gradebook.execute(text(POINTS), {"assignment": assignment})
        return {cell: float(points) for cell, points in rows}


def rows_of(
    gradebook: Connection, query: str, assignment: str, student: str | None = None
) -> Iterable[Row]:
    """What a query that ends with `OF_NOTEBOOKS` and more joins finds of an assignment: of
    everybody, or of one student.

    Two statements: no database finds one student by an index where it is asked for all or one.
    """
    return gradebook.execute(
        text(query + (OF_ALL if student is None else OF_ONE)),
        {"assignment": assignment, "student": student},
    )


def ours(grade: Row) -> Booked:
    """What one of `GRADES` says that is ours."""
    return {f"{grade.notebook}/{grade.cell}": [grade.automatic, grade.extra]}


def holds(found: Booked, claimed: Booked) -> bool:
    """Whether a gradebook still has what a ledger claims; other extra credit is a person's."""
    return found.keys() == claimed.keys() and all(
        points == ours and (extra is None) <= (our_extra is None)
        for (points, extra), (ours, our_extra) in ((found[c], claimed[c]) for c in found)
    )
