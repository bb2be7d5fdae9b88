"""Reads marks from nbgrader's gradebook, with a few queries for a whole class.

This module uses SQL, because importing nbgrader's own classes would delay every command by a
second.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, DateTime, Interval, Row, column, text
from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import T, db_url, engine, with_retry
from autograder.errors import format_error
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.gradebook_reader import (
    BY_CELL,
    FROM_NOTEBOOKS,
    GRADES,
    PENALTIES,
    UNDEFINED_TABLE,
    AutomaticMarks,
    automatic_marks,
    has_claimed_marks,
    query_rows,
    require_gradebook,
)
from autograder.grading.records.ledger import PREVIOUS_MARKS_STAND, has_kept_marks
from common.command_lines import advice

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
COMMENTS = f"""
    SELECT s.student_id AS student, n.name AS notebook, c.name AS cell,
        t.auto_comment AS automatic, t.manual_comment AS manual
    {FROM_NOTEBOOKS}
    JOIN comment t ON t.notebook_id = sn.id
    JOIN base_cell c ON t.cell_id = c.id"""
NotebookRecords = dict[str, dict[str, dict[str, Any]]]  # student -> notebook -> marks


@dataclass
class Marks:
    """The marks of one submission; `score` is the effective score, as in nbgrader's own export,
    unless earlier attempts count as well.
    """

    automatic: float = 0  # from the autograder, unless a grader has overridden them
    manual: float = 0  # given by graders
    extra: float = 0  # extra credit, automatic and manual
    penalty: float = 0  # for late submission
    seconds_late: float = 0
    waiting: bool = False  # whether written answers are unmarked; until then, they count 0
    reopened: bool = False  # whether manual marks, which count, should be reviewed
    cells: dict[CellName, float | None] = field(default_factory=dict)  # None: not marked yet
    comments: list[str] = field(default_factory=list)  # written by graders
    booked: AutomaticMarks = field(default_factory=dict)  # from the autograder, even if overridden
    counted: float | None = None  # the score, if earlier attempts count
    attempts: str = ""  # a sentence about them

    @property
    def score(self) -> float:
        """The score that counts."""
        return self.last_score if self.counted is None else self.counted

    @property
    def last_score(self) -> float:
        """All points of the last attempt minus the penalty."""
        return max(0.0, self.automatic + self.manual + self.extra - self.penalty)


@dataclass(frozen=True)
class Cell:
    """A cell that has points in the gradebook."""

    points: float
    written: bool  # marked by a grader


@contextmanager
def open_gradebook(folder: CourseFolder) -> Iterator[Connection]:
    """Open the course's gradebook; raises `CourseFolderError` if there is none yet."""
    require_gradebook(folder)
    try:
        with engine(db_url(folder)).connect() as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        if getattr(error.__cause__, "sqlstate", "") == UNDEFINED_TABLE:
            raise CourseFolderError(
                f"there is no gradebook in {folder.root} yet: "
                f"run {advice('generate', course=folder.root)} first"
            ) from error
        raise CourseFolderError(format_error(error, folder.root)) from error


def read_gradebook(folder: CourseFolder, read: Callable[[Connection], T]) -> T:
    """Call `read` with the course's gradebook and return its result; retry while a server is down.

    Raises `CourseFolderError` if there is no gradebook yet.
    """

    def attempt() -> T:
        with open_gradebook(folder) as gradebook:
            return read(gradebook)

    return with_retry(folder, attempt)


def students_of(gradebook: Connection) -> Sequence[Row]:
    """Return all students in the gradebook, with id, first_name, last_name, email and lms_user_id."""
    return sorted(gradebook.execute(text(STUDENTS)), key=lambda student: student.id)


def assignments_of(gradebook: Connection) -> dict[str, dict[CellName, Cell]]:
    """Return all assignments by name, each with its cells that have points, by notebook and name."""
    assignments: dict[str, dict[CellName, Cell]] = defaultdict(dict)
    rows = sorted(
        gradebook.execute(text(CELLS)),
        key=lambda row: (row[0], row[1] or "", bool(row[4]), row[2] or ""),
    )
    for assignment, notebook, cell, points, _, written in rows:
        cells = assignments[assignment]
        if points is not None:
            cells[notebook, cell] = Cell(points, bool(written))
    return dict(assignments)


def marks_of(gradebook: Connection, assignment: str) -> Mapping[str, Marks]:
    """Return the marks of every submission to an assignment, by student."""
    marks: dict[str, Marks] = defaultdict(Marks)
    for student, seconds in _lateness(gradebook, assignment):
        marks[student].seconds_late = seconds
    for student, _, penalty in query_rows(gradebook, PENALTIES, assignment):
        marks[student].penalty += penalty or 0
    for grade in sorted(query_rows(gradebook, GRADES, assignment), key=BY_CELL):
        _add_grade(marks[grade.student], grade)
    for comment in sorted(query_rows(gradebook, COMMENTS, assignment), key=BY_CELL):
        if comment.manual is not None:
            marks[comment.student].comments.append(comment.manual)
    return dict(marks)


def _lateness(gradebook: Connection, assignment: str) -> Iterator[tuple[str, float]]:
    """Yield each student who has submitted, with the number of seconds after the deadline, or 0."""
    query = text(SUBMISSIONS).columns(
        column("student_id"),
        column("timestamp", DateTime),
        column("duedate", DateTime),
        column("extension", Interval),
    )
    for student, submitted, due, extension in gradebook.execute(query, {"assignment": assignment}):
        late = submitted - due - (extension or timedelta()) if submitted and due else timedelta()
        yield student, max(0, late.total_seconds())


def _add_grade(marks: Marks, grade: Row) -> None:
    """Add the grade of one cell to the marks of its submission."""
    score = _effective_score(grade)
    marks.waiting |= bool(grade.waits) and grade.manual is None
    marks.reopened |= bool(grade.waits) and grade.manual is not None
    if grade.manual is not None:
        marks.manual += grade.manual
    else:
        marks.automatic += grade.automatic or 0
    if score is not None:  # nbgrader counts extra credit only if there is a mark
        marks.extra += grade.extra or 0
    marks.cells[grade.notebook, grade.cell] = score
    marks.booked |= automatic_marks(grade)


def effective_marks(marks: Marks | None, entry: Mapping[str, Any]) -> tuple[Marks | None, str]:
    """Return the marks of a submission with this entry in the ledger, and the problem with them, or
    "".

    The gradebook is authoritative. A submission whose new grading run was interrupted keeps its
    previous marks as long as the gradebook has them all. The previous marks also remain valid if
    the newest submission cannot be graded.
    """
    claimed, graded = entry.get("marks"), entry["status"] == "graded"
    if marks is None:
        return None, "its marks are no longer in the gradebook: grade again" if graded else ""
    if graded and claimed is not None and not has_claimed_marks(marks.booked, claimed):
        return marks, (
            "the marks in the gradebook differ from those recorded by grading: grade again"
        )
    if graded:
        return marks, ""
    if has_kept_marks(entry):
        return marks, PREVIOUS_MARKS_STAND
    if (
        entry["status"] in ("fault", "not graded")
        and claimed
        and has_claimed_marks(marks.booked, claimed)
    ):
        return marks, "its marks are from the previous grading run"
    return None, ""


def count_attempts(
    rule: AttemptRule, student: str, marks: Marks | None, entry: Mapping[str, Any]
) -> Marks | None:
    """Return marks with the score that counts, according to the course's rule for attempts."""
    if marks is None or not (earlier := rule.earlier(student, entry)):
        return marks
    return replace(
        marks,
        counted=rule.decide(earlier, marks.last_score),
        attempts=rule.describe(earlier, marks.last_score),
    )


def notebook_records(db_url: str, assignment: str, student: str | None = None) -> NotebookRecords:
    """Return the marks and comments of an assignment's notebooks, for all students or for one of
    them.

    Each notebook has a "penalty" for late submission, the "marks" of each cell with points, and the
    "comments" on cells.
    """
    records: NotebookRecords = defaultdict(dict)
    selection = assignment, student
    with engine(db_url).connect() as gradebook:
        for name, notebook, penalty in query_rows(gradebook, PENALTIES, *selection):
            records[name][notebook] = {"penalty": penalty or 0, "marks": {}, "comments": {}}
        for grade in sorted(query_rows(gradebook, GRADES, *selection), key=BY_CELL):
            score = _effective_score(grade)
            records[grade.student][grade.notebook]["marks"][grade.cell] = {
                "score": 0 if score is None else score + (grade.extra or 0),
                "points": grade.points or 0,
                "waits": bool(grade.waits),
            }
        for comment in sorted(query_rows(gradebook, COMMENTS, *selection), key=BY_CELL):
            message = comment.automatic if comment.manual is None else comment.manual
            if message:
                records[comment.student][comment.notebook]["comments"][comment.cell] = message
    return dict(records)


def student_name(db_url: str, student: str) -> str:
    """Return the full name of a student in the gradebook, or "" if it has no name."""
    with engine(db_url).connect() as gradebook:
        row = gradebook.execute(text(f"{STUDENTS} WHERE id = :id"), {"id": student}).first()
    return full_name(row) if row else ""


def full_name(student: Row) -> str:
    """Return the first and last name of a student, if the gradebook has them."""
    return " ".join(filter(None, (student.first_name, student.last_name)))


def _effective_score(grade: Row) -> float | None:
    return grade.automatic if grade.manual is None else grade.manual
