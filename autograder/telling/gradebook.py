"""Reads marks from nbgrader's gradebook, with a few queries for a whole class.

In SQL: nbgrader, whose classes say the same, takes a second to import, and a command waits for it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, DateTime, Interval, Row, column, text
from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import Done, db_url, engine, patiently
from autograder.errors import in_words
from autograder.grading.booked import (
    GRADES,
    IN_ORDER,
    NO_TABLE,
    OF_NOTEBOOKS,
    Booked,
    holds,
    ours,
    require_gradebook,
    rows_of,
)
from autograder.grading.ledger import OF_BEFORE, stands

CellName = tuple[str, str]  # the notebook's name and the cell's

STUDENTS = "SELECT id, first_name, last_name, email, lms_user_id FROM student"
CELLS = """
    SELECT a.name, n.name, c.name, coalesce(g.max_score, t.max_score), t.id IS NOT NULL,
        t.id IS NOT NULL OR EXISTS (
            SELECT 1 FROM base_cell o JOIN solution_cells s ON s.id = o.id
            WHERE o.notebook_id = n.id AND o.name = c.name)
    FROM assignment a
    LEFT JOIN notebook n ON n.assignment_id = a.id
    LEFT JOIN base_cell c ON c.notebook_id = n.id
    LEFT JOIN grade_cells g ON g.id = c.id
    LEFT JOIN task_cells t ON t.id = c.id"""
SUBMISSIONS = """
    SELECT s.student_id, s.timestamp, a.duedate, s.extension
    FROM assignment a JOIN submitted_assignment s ON s.assignment_id = a.id
    WHERE a.name = :assignment"""
PENALTIES = f"""
    SELECT s.student_id, n.name, sn.late_submission_penalty
    {OF_NOTEBOOKS}"""
COMMENTS = f"""
    SELECT s.student_id AS student, n.name AS notebook, c.name AS cell,
        t.auto_comment AS automatic, t.manual_comment AS manual
    {OF_NOTEBOOKS}
    JOIN comment t ON t.notebook_id = sn.id
    JOIN base_cell c ON t.cell_id = c.id"""
Noted = dict[str, dict[str, dict[str, Any]]]  # student -> notebook -> what is noted, as JSON


@dataclass
class Marks:
    """The marks of one submission; `score` is what counts, as in nbgrader's own export."""

    automatic: float = 0  # given by the autograder, where no person gave others
    manual: float = 0  # given by people
    extra: float = 0  # extra credit, of both
    penalty: float = 0  # for being late
    seconds_late: float = 0
    waiting: bool = False  # whether written answers wait for a person, and count 0 until then
    reopened: bool = False  # whether marks by people, which count, should be looked at again
    cells: dict[CellName, float | None] = field(default_factory=dict)  # None: waits for a person
    comments: list[str] = field(default_factory=list)  # by people
    booked: Booked = field(default_factory=dict)  # by the autograder, whatever people gave

    @property
    def score(self) -> float:
        """All points, less the penalty."""
        return max(0.0, self.automatic + self.manual + self.extra - self.penalty)


@dataclass(frozen=True)
class Cell:
    """A cell that has points in the gradebook."""

    points: float
    written: bool  # a person marks it


@contextmanager
def open_gradebook(folder: CourseFolder) -> Iterator[Connection]:
    """The course's gradebook; raises `CourseFolderError` if there is none yet."""
    require_gradebook(folder)
    try:
        with engine(db_url(folder)).connect() as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        if getattr(error.__cause__, "sqlstate", "") == NO_TABLE:
            raise CourseFolderError(
                f"there is no gradebook in {folder.root} yet: run `autograder release STUDY` first"
            ) from error
        raise CourseFolderError(in_words(error, folder.root)) from error


def read_gradebook(folder: CourseFolder, read: Callable[[Connection], Done]) -> Done:
    """What `read` finds in the course's gradebook, once its server answers.

    Raises `CourseFolderError` if there is no gradebook yet.
    """

    def attempt() -> Done:
        with open_gradebook(folder) as gradebook:
            return read(gradebook)

    return patiently(folder, attempt)


def students_of(gradebook: Connection) -> Sequence[Row]:
    """Everybody in the gradebook: id, first_name, last_name, email, lms_user_id."""
    return sorted(gradebook.execute(text(STUDENTS)), key=lambda student: student.id)


def assignments_of(gradebook: Connection) -> dict[str, dict[CellName, Cell]]:
    """All assignments by name, and the cells of each that have points, by notebook and name."""
    found: dict[str, dict[CellName, Cell]] = defaultdict(dict)
    rows = sorted(
        gradebook.execute(text(CELLS)),
        key=lambda row: (row[0], row[1] or "", bool(row[4]), row[2] or ""),
    )
    for assignment, notebook, cell, points, _, written in rows:
        cells = found[assignment]
        if points is not None:
            cells[notebook, cell] = Cell(points, bool(written))
    return dict(found)


def marks_of(gradebook: Connection, assignment: str) -> Mapping[str, Marks]:
    """The marks of every submission to an assignment, by student."""
    found: dict[str, Marks] = defaultdict(Marks)
    submissions = text(SUBMISSIONS).columns(
        column("student_id"),
        column("timestamp", DateTime),
        column("duedate", DateTime),
        column("extension", Interval),
    )
    for student, handed_in, due, extension in gradebook.execute(
        submissions, {"assignment": assignment}
    ):
        late = handed_in - due - (extension or timedelta()) if handed_in and due else timedelta()
        found[student].seconds_late = max(0, late.total_seconds())
    for student, _, penalty in rows_of(gradebook, PENALTIES, assignment):
        found[student].penalty += penalty or 0
    for grade in sorted(rows_of(gradebook, GRADES, assignment), key=IN_ORDER):
        marks, given = found[grade.student], _given(grade)
        marks.waiting |= bool(grade.waits) and grade.manual is None
        marks.reopened |= bool(grade.waits) and grade.manual is not None
        if grade.manual is not None:
            marks.manual += grade.manual
        else:
            marks.automatic += grade.automatic or 0
        if given is not None:  # without a mark extra credit does not count, for nbgrader
            marks.extra += grade.extra or 0
        marks.cells[grade.notebook, grade.cell] = given
        marks.booked |= ours(grade)
    for comment in sorted(rows_of(gradebook, COMMENTS, assignment), key=IN_ORDER):
        if comment.manual is not None:
            found[comment.student].comments.append(comment.manual)
    return dict(found)


def what_counts(marks: Marks | None, entry: Mapping[str, Any]) -> tuple[Marks | None, str]:
    """The marks of a submission with this entry in the ledger, and what is wrong with them, or "".

    The gradebook is the truth. What was marked once and has to be graded again, because that was
    not finished, keeps its marks while the gradebook has them all; and they stand when nothing
    that can be graded follows.
    """
    claimed, graded = entry.get("marks"), entry["status"] == "graded"
    if graded and marks is None:
        return None, "its marks are no longer in the gradebook: grade again"
    if graded and claimed is not None and not holds(marks.booked, claimed):
        return marks, (
            "the gradebook holds other marks than were given when it was graded: grade again"
        )
    if graded or marks is None:
        return marks, ""
    if stands(entry):
        return marks, OF_BEFORE
    if entry["status"] in ("fault", "not graded") and claimed and holds(marks.booked, claimed):
        return marks, "its marks are those of the last time that it was graded"
    return None, ""


def noted(db_url: str, assignment: str, student: str | None = None) -> Noted:
    """What is noted on everybody's notebooks of an assignment, or on those of one student.

    Of each notebook: the "penalty" for being late, the "marks" of each cell that has points, and
    the "comments" on cells.
    """
    found: Noted = defaultdict(dict)
    wanted = assignment, student
    with engine(db_url).connect() as gradebook:
        for who, notebook, penalty in rows_of(gradebook, PENALTIES, *wanted):
            found[who][notebook] = {"penalty": penalty or 0, "marks": {}, "comments": {}}
        for grade in sorted(rows_of(gradebook, GRADES, *wanted), key=IN_ORDER):
            given = _given(grade)
            found[grade.student][grade.notebook]["marks"][grade.cell] = {
                "score": 0 if given is None else given + (grade.extra or 0),
                "points": grade.points or 0,
                "waits": bool(grade.waits),
            }
        for comment in sorted(rows_of(gradebook, COMMENTS, *wanted), key=IN_ORDER):
            said = comment.automatic if comment.manual is None else comment.manual
            if said:
                found[comment.student][comment.notebook]["comments"][comment.cell] = said
    return dict(found)


def name_of(db_url: str, student: str) -> str:
    """The name of a student in the gradebook; "" if it has none."""
    with engine(db_url).connect() as gradebook:
        row = gradebook.execute(text(f"{STUDENTS} WHERE id = :id"), {"id": student}).first()
    return full_name(row) if row else ""


def full_name(student: Row) -> str:
    """The first and last name of a student, as far as the gradebook has them."""
    return " ".join(filter(None, (student.first_name, student.last_name)))


def _given(grade: Row) -> float | None:
    return grade.automatic if grade.manual is None else grade.manual
