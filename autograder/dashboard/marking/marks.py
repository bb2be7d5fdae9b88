"""Reads all students' answers to one question, and writes their marks into nbgrader's gradebook.

Formgrader reads these marks, and marks from formgrader are read here. A mark is saved immediately,
but it replaces only the mark that the grader has seen. If two graders mark the same answer, the
second one gets an error.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, column, func, table, text, update
from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import db_url, engine, with_retry
from autograder.errors import UserError, format_error
from autograder.grading.records.gradebook_reader import FROM_NOTEBOOKS, require_gradebook
from autograder.reporting.gradebook import CellName, assignments_of, marks_of, read_gradebook
from autograder.reporting.integrity import in_notebook_order, marked_cells
from autograder.reporting.pages.pictures import attached_to
from autograder.reporting.questions import allowed, source_of
from course.checks import Study

ANSWERS = f"""
    SELECT g.id AS id, s.student_id AS student, w.first_name AS first, w.last_name AS last,
        g.auto_score AS automatic, g.manual_score AS points, g.needs_manual_grade AS waits,
        t.id AS comment_id, t.manual_comment AS comment
    {FROM_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    JOIN student w ON w.id = s.student_id
    LEFT JOIN (comment t JOIN base_cell o ON t.cell_id = o.id)
        ON t.notebook_id = sn.id AND o.name = c.name
    WHERE a.name = :assignment AND n.name = :notebook AND c.name = :cell"""
WAITING = f"""
    SELECT n.name, c.name, s.student_id, g.needs_manual_grade
    {FROM_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    WHERE a.name = :assignment"""
GRADE = table("grade", column("id"), column("manual_score"), column("needs_manual_grade"))
COMMENT = table("comment", column("id"), column("manual_comment"))
MAX_REUSED = 9  # comments that are offered again, one per digit


@dataclass(frozen=True)
class MarkedQuestion:
    """A question that is marked by hand, and its number of answers."""

    cell: CellName
    points: float
    answers: int
    waiting: int


@dataclass(frozen=True)
class Answer:
    """One student's answer to a question, with its mark in the gradebook."""

    id: str  # id of the mark, which does not identify the student
    student: str
    name: str
    automatic: float | None  # 0 if nothing was written
    points: float | None  # the manual mark
    waits: bool  # whether it needs a manual mark, or needs one again because the answer changed
    comment_id: str | None
    comment: str | None


class StaleMarkError(UserError):
    """Another grader has marked the same answer in the meantime; `now` is the answer's current
    state.
    """

    def __init__(self, message: str, now: Answer) -> None:
        super().__init__(message)
        self.now = now


def questions(folder: CourseFolder, study: Study) -> list[MarkedQuestion]:
    """Return the manually marked questions of an assignment, in the order of its notebooks."""
    require_gradebook(folder, study.assignment)

    def read(gradebook: Connection) -> tuple[dict, list[Row]]:
        return (
            assignments_of(gradebook).get(study.assignment, {}),
            list(gradebook.execute(text(WAITING), {"assignment": study.assignment})),
        )

    cells, counted = read_gradebook(folder, read)
    is_marked = _marked_students(folder, study)
    waits: dict[CellName, list[bool]] = defaultdict(list)
    for notebook, name, student, waiting in counted:
        if is_marked(student):
            waits[notebook, name].append(bool(waiting))
    return [
        MarkedQuestion(cell, cells[cell].points, len(waits[cell]), sum(waits[cell]))
        for cell in in_notebook_order(folder, study, cells)
        if cells[cell].written
    ]


def answers(folder: CourseFolder, study: Study, cell: CellName) -> list[Answer]:
    """Return the answers to a question, one for each group, in an order that does not identify the
    students. Answers of students who have dropped the course are left out.
    """
    wanted = {"assignment": study.assignment, "notebook": cell[0], "cell": cell[1]}
    rows = read_gradebook(folder, lambda book: list(book.execute(text(ANSWERS), wanted)))
    is_marked = _marked_students(folder, study)
    return sorted(
        (_answer(row) for row in rows if is_marked(row.student)), key=lambda answer: answer.id
    )


def _marked_students(folder: CourseFolder, study: Study) -> Callable[[str], bool]:
    """Return whether a student's answers are marked: those of the submission that counts in a group,
    and none of students who have dropped the course.
    """
    people, owners = folder.people(), folder.owners(study.assignment)
    counting = set(owners.values())
    return lambda student: (
        student in counting or (student not in owners and not people.person(student).dropped)
    )


def late_students(folder: CourseFolder, study: Study) -> set[str]:
    """Return the students who submitted an assignment late according to its due date and their
    extensions.
    """
    all_marks = read_gradebook(folder, lambda book: marks_of(book, study.assignment))
    return {student for student, marks in all_marks.items() if marks.seconds_late}


def answer_cell(folder: CourseFolder, study: Study, cell: CellName, student: str) -> dict[str, Any]:
    """Return the cell with a student's answer at the time of grading; an empty cell if it no longer
    exists.
    """
    path = folder.root / "autograded" / student / study.assignment / f"{cell[0]}.ipynb"
    cell_content = dict(marked_cells(path)).get(cell[1], {})
    return {
        "text": source_of(cell_content),
        "kind": cell_content.get("cell_type", ""),
        "attachments": attached_to(cell_content),
        "folder": path.parent,
    }


def save_points(
    folder: CourseFolder, previous: Answer, points: float | None, maximum: float, step: float
) -> Answer:
    """Save the points of an answer, or remove them if they are None; return the updated answer.

    Raises `UserError` for points that the question does not allow, and `StaleMarkError` if the mark
    is no longer the same as in `previous`.
    """
    if points is not None and (
        type(points) not in (int, float) or points not in list(allowed(maximum, step))
    ):
        raise UserError(
            f"{points!r} is not a possible mark for this question, which gives "
            + _range(list(allowed(maximum, step)))
        )
    waits = points is None and previous.automatic is None
    return _write(
        folder,
        previous,
        update(GRADE)
        .where(
            GRADE.c.id == previous.id, GRADE.c.manual_score.is_not_distinct_from(previous.points)
        )
        .values(manual_score=points, needs_manual_grade=waits),
        {"points": points, "waits": waits},
    )


def save_comment(folder: CourseFolder, previous: Answer, comment: str) -> Answer:
    """Save the comment on an answer; return the updated answer. Raises `StaleMarkError`."""
    new = comment.strip() or None
    if previous.comment_id is None:
        raise UserError("nbgrader stores no comments on cells of this kind")
    return _write(
        folder,
        previous,
        update(COMMENT)
        .where(
            COMMENT.c.id == previous.comment_id,
            func.coalesce(COMMENT.c.manual_comment, "") == (previous.comment or ""),
        )
        .values(manual_comment=new),
        {"comment": new},
    )


def comments(answers: Iterable[Answer]) -> list[str]:
    """Return those comments on a question's answers that are offered again, most frequent first."""
    counted = Counter(answer.comment for answer in answers if answer.comment)
    return sorted(counted, key=lambda comment: (-counted[comment], comment))[:MAX_REUSED]


def _range(points: Sequence[float]) -> str:
    """Describe the marks that a question allows."""
    *first, last = [f"{number:g}" for number in points]
    return f"{', '.join(first)} or {last}" if first else f"nothing but {last}"


def _write(folder: CourseFolder, previous: Answer, statement: Any, new: dict[str, Any]) -> Answer:
    """Change one row in one transaction, unless another grader has changed it."""

    def attempt() -> tuple[int, Answer | None]:
        with engine(db_url(folder)).begin() as gradebook:
            changed = gradebook.execute(statement).rowcount
            row = gradebook.execute(
                text(ANSWERS.partition("WHERE")[0] + "WHERE g.id = :id"), {"id": previous.id}
            ).first()
            return changed, None if row is None else _answer(row)

    require_gradebook(folder)
    try:
        changed, now = with_retry(folder, attempt)
    except SQLAlchemyError as error:
        raise CourseFolderError(format_error(error, folder.root)) from error
    if now is None:
        raise UserError("this answer is no longer in the gradebook: read the answers again")
    if not changed and any(getattr(now, name) != value for name, value in new.items()):
        what = (
            "the comment is now " + (f"“{now.comment}”" if now.comment else "none")
            if "comment" in new
            else "it has no points now"
            if now.points is None
            else f"it has {now.points:g} now"
        )
        raise StaleMarkError(
            f"another grader has marked this answer in the meantime, and {what}; yours was not "
            "saved: enter it again to replace theirs",
            now,
        )
    return now


def _answer(row: Row) -> Answer:
    name = " ".join(filter(None, (row.first, row.last)))
    return Answer(
        row.id,
        row.student,
        name,
        row.automatic,
        row.points,
        bool(row.waits),
        row.comment_id,
        row.comment or None,
    )
