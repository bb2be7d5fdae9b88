"""Reads an assignment's marks from nbgrader's gradebook, with a few queries for a whole class."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nbgrader import api
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Query

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.errors import in_words
from autograder.grading.booked import Booked, holds

CellName = tuple[str, str]  # the notebook's name and the cell's


@dataclass
class Marks:
    """The marks of one submission; `score` is what counts, as in nbgrader's own export."""

    automatic: float = 0  # given by the autograder, where no person gave others
    manual: float = 0  # given by people
    extra: float = 0  # extra credit, of both
    penalty: float = 0  # for being late
    seconds_late: float = 0
    waiting: bool = False  # whether written answers wait for a person
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
def open_gradebook(folder: CourseFolder) -> Iterator[api.Gradebook]:
    """The course's gradebook; raises `CourseFolderError` if there is none yet."""
    if not (folder.root / "gradebook.db").is_file():
        raise CourseFolderError(f"there is no gradebook in {folder.root} yet: "
                                "run `autograder release STUDY` first")
    place = folder.config().CourseDirectory
    try:
        with api.Gradebook(place.db_url, place.course_id) as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        raise CourseFolderError(in_words(error, folder.root)) from error


def max_points(gradebook: api.Gradebook, assignment: str) -> float:
    """The points of an assignment, extra credit apart."""
    try:
        return gradebook.find_assignment(assignment).max_score
    except api.MissingEntry:
        return 0.0


def cells_of(gradebook: api.Gradebook, assignment: str) -> dict[CellName, Cell]:
    """The cells of an assignment that have points, in the order of the notebooks."""
    found = {}
    rows = gradebook.db.query(api.Notebook).join(api.Assignment).filter(
        api.Assignment.name == assignment).order_by(api.Notebook.name)
    for notebook in rows:
        written = {cell.name for cell in notebook.solution_cells}
        for cell in notebook.grade_cells:
            found[notebook.name, cell.name] = Cell(cell.max_score, cell.name in written)
        for task in notebook.task_cells:
            found[notebook.name, task.name] = Cell(task.max_score, True)
    return found


def marks_of(gradebook: api.Gradebook, assignment: str) -> Mapping[str, Marks]:
    """The marks of every submission to an assignment, by student."""
    found: dict[str, Marks] = defaultdict(Marks)
    of_ours = api.Assignment.name == assignment
    database = gradebook.db
    for submission in database.query(api.SubmittedAssignment).join(api.Assignment).filter(of_ours):
        found[submission.student_id].seconds_late = submission.total_seconds_late
    notebooks = (database.query(api.SubmittedAssignment.student_id,
                                api.SubmittedNotebook.late_submission_penalty)
                 .join(api.SubmittedNotebook).join(
                     api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id))
    for student, penalty in notebooks.filter(of_ours):
        found[student].penalty += penalty or 0
    grades = _cells(database.query(
        api.SubmittedAssignment.student_id, api.Notebook.name, api.BaseCell.name,
        api.Grade.auto_score, api.Grade.manual_score, api.Grade.extra_credit,
        api.Grade.needs_manual_grade), api.Grade)
    for student, notebook, cell, automatic, manual, extra, waits in grades.filter(of_ours):
        marks = found[student]
        marks.waiting |= waits
        if manual is not None:
            marks.manual += manual
        else:
            marks.automatic += automatic or 0
        given = automatic if manual is None else manual
        if given is not None:  # without a mark extra credit does not count, for nbgrader
            marks.extra += extra or 0
        marks.cells[notebook, cell] = given
        marks.booked[f"{notebook}/{cell}"] = [automatic, extra]
    comments = _cells(database.query(api.SubmittedAssignment.student_id,
                                     api.Comment.manual_comment), api.Comment)
    for student, said in comments.filter(of_ours, api.Comment.manual_comment.is_not(None)):
        found[student].comments.append(said)
    return dict(found)


def what_counts(marks: Marks | None, entry: Mapping[str, Any]) -> tuple[Marks | None, str]:
    """The marks of a submission with this entry in the ledger, and what is wrong with them, or "".

    The gradebook is the truth. What was marked once and has to be graded again, because that was
    not finished, keeps its marks while the gradebook has them all.
    """
    claimed, graded = entry.get("marks"), entry["status"] == "graded"
    if graded and marks is None:
        return None, "its marks are no longer in the gradebook: grade again"
    if graded and claimed is not None and not holds(marks.booked, claimed):
        return marks, ("the gradebook holds other marks than were given when it was graded: grade "
                       "again")
    if graded or marks is None:
        return marks, ""
    if entry["status"] in ("fault", "not graded") and claimed and holds(marks.booked, claimed):
        return marks, "its marks are those of the last time that it was graded"
    return None, ""


def _cells(query: Query, kind: type[api.Base]) -> Query:
    """A query of something that each cell of each submission has, in the order of notebooks."""
    return (query.select_from(kind).join(api.BaseCell, kind.cell_id == api.BaseCell.id)
            .join(api.SubmittedNotebook, kind.notebook_id == api.SubmittedNotebook.id)
            .join(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
            .join(api.SubmittedAssignment,
                  api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
            .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
            .order_by(api.Notebook.name, api.BaseCell.name))
