"""Reads everybody's answers to one question, and writes their marks into nbgrader's gradebook.

What formgrader writes, this reads, and the other way round. A mark is written at once, and only in
the place of the one that its giver has seen: of two who mark the same answer, the later is told.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, column, func, table, text, update
from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.database import db_url, engine, patiently
from autograder.errors import Refused, in_words
from autograder.grading.booked import OF_NOTEBOOKS, require_gradebook
from autograder.telling.gradebook import CellName, assignments_of, marks_of, read_gradebook
from autograder.telling.integrity import in_order, marked_cells
from autograder.telling.pictures import attached_to
from autograder.telling.questions import allowed, source_of
from course.probes import Study

ANSWERS = f"""
    SELECT g.id AS id, s.student_id AS student, w.first_name AS first, w.last_name AS last,
        g.auto_score AS automatic, g.manual_score AS points, g.needs_manual_grade AS waits,
        t.id AS about, t.manual_comment AS comment
    {OF_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    JOIN student w ON w.id = s.student_id
    LEFT JOIN (comment t JOIN base_cell o ON t.cell_id = o.id)
        ON t.notebook_id = sn.id AND o.name = c.name
    WHERE a.name = :assignment AND n.name = :notebook AND c.name = :cell"""
WAITING = f"""
    SELECT n.name, c.name, count(*), sum(CASE WHEN g.needs_manual_grade THEN 1 ELSE 0 END)
    {OF_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    WHERE a.name = :assignment
    GROUP BY n.name, c.name"""
GRADE = table("grade", column("id"), column("manual_score"), column("needs_manual_grade"))
COMMENT = table("comment", column("id"), column("manual_comment"))
REUSED = 9  # comments that are offered again: as many as there are digits


@dataclass(frozen=True)
class Asked:
    """A question that people mark, and how many answers it has."""

    cell: CellName
    points: float
    answers: int
    waiting: int


@dataclass(frozen=True)
class Answer:
    """One student's answer to a question, with its mark in the gradebook."""

    id: str  # of the mark; it tells nothing of the student
    student: str
    name: str
    automatic: float | None  # 0 where nothing was written
    points: float | None  # given by a person
    waits: bool  # for a person: there is no mark, or it was graded again since
    about: str | None  # the id of the comment
    comment: str | None


class Overtaken(Refused):
    """Somebody else has marked the same answer meanwhile; `now` is what they left."""

    def __init__(self, message: str, now: Answer) -> None:
        super().__init__(message)
        self.now = now


def questions(folder: CourseFolder, study: Study) -> list[Asked]:
    """The questions of an assignment that people mark, in the order of its notebooks."""
    require_gradebook(folder, study.assignment)

    def read(gradebook: Connection) -> tuple[dict, list[Row]]:
        return (
            assignments_of(gradebook).get(study.assignment, {}),
            list(gradebook.execute(text(WAITING), {"assignment": study.assignment})),
        )

    cells, counted = read_gradebook(folder, read)
    counts = {(row[0], row[1]): (row[2], int(row[3])) for row in counted}
    return [
        Asked(cell, cells[cell].points, *counts.get(cell, (0, 0)))
        for cell in in_order(folder, study, cells)
        if cells[cell].written
    ]


def answers(folder: CourseFolder, study: Study, cell: CellName) -> list[Answer]:
    """Everybody's answer to a question, in no order that says anything."""
    wanted = {"assignment": study.assignment, "notebook": cell[0], "cell": cell[1]}
    rows = read_gradebook(folder, lambda book: list(book.execute(text(ANSWERS), wanted)))
    return sorted(map(_answer, rows), key=lambda answer: answer.id)


def late(folder: CourseFolder, study: Study) -> set[str]:
    """Who handed in an assignment late, by its due date and the extensions."""
    found = read_gradebook(folder, lambda book: marks_of(book, study.assignment))
    return {student for student, marks in found.items() if marks.seconds_late}


def source(folder: CourseFolder, study: Study, cell: CellName, student: str) -> dict[str, Any]:
    """The cell that a student wrote an answer into, as it was graded; empty if it is gone."""
    path = folder.root / "autograded" / student / study.assignment / f"{cell[0]}.ipynb"
    found = dict(marked_cells(path)).get(cell[1], {})
    return {
        "text": source_of(found),
        "kind": found.get("cell_type", ""),
        "attachments": attached_to(found),
        "folder": path.parent,
    }


def give(
    folder: CourseFolder, seen: Answer, points: float | None, most: float, step: float
) -> Answer:
    """Write the points of an answer, or with None take them back; returns the answer as it is now.

    Raises `Refused` for points that the question does not have, and `Overtaken` if its mark is no
    longer the one that was `seen`.
    """
    if points is not None and (
        type(points) not in (int, float) or points not in list(allowed(most, step))
    ):
        raise Refused(
            f"{points!r} is no mark of this question: it gives " + _range(list(allowed(most, step)))
        )
    waits = points is None and seen.automatic is None
    return _write(
        folder,
        seen,
        update(GRADE)
        .where(GRADE.c.id == seen.id, GRADE.c.manual_score.is_not_distinct_from(seen.points))
        .values(manual_score=points, needs_manual_grade=waits),
        {"points": points, "waits": waits},
    )


def say(folder: CourseFolder, seen: Answer, comment: str) -> Answer:
    """Write the comment on an answer; returns the answer as it is now. Raises `Overtaken`."""
    new = comment.strip() or None
    if seen.about is None:
        raise Refused("nbgrader keeps no comments on cells of this kind")
    return _write(
        folder,
        seen,
        update(COMMENT)
        .where(
            COMMENT.c.id == seen.about,
            func.coalesce(COMMENT.c.manual_comment, "") == (seen.comment or ""),
        )
        .values(manual_comment=new),
        {"comment": new},
    )


def comments(found: Iterable[Answer]) -> list[str]:
    """The comments on a question's answers to choose from, the commonest first."""
    counted = Counter(answer.comment for answer in found if answer.comment)
    return sorted(counted, key=lambda comment: (-counted[comment], comment))[:REUSED]


def _range(points: Sequence[float]) -> str:
    """The marks of a question in words."""
    *first, last = [f"{number:g}" for number in points]
    return f"{', '.join(first)} or {last}" if first else f"nothing but {last}"


def _write(folder: CourseFolder, seen: Answer, statement: Any, new: dict[str, Any]) -> Answer:
    """Change one row, unless somebody else has; in one transaction, so that nothing is half done."""

    def attempt() -> tuple[int, Answer | None]:
        with engine(db_url(folder)).begin() as gradebook:
            changed = gradebook.execute(statement).rowcount
            row = gradebook.execute(
                text(ANSWERS.partition("WHERE")[0] + "WHERE g.id = :id"), {"id": seen.id}
            ).first()
            return changed, row and _answer(row)

    require_gradebook(folder)
    try:
        changed, now = patiently(folder, attempt)
    except SQLAlchemyError as error:
        raise CourseFolderError(in_words(error, folder.root)) from error
    if now is None:
        raise Refused("this answer is no longer in the gradebook: read the answers again")
    if not changed and any(getattr(now, name) != value for name, value in new.items()):
        what = (
            "the comment is now " + (f"“{now.comment}”" if now.comment else "none")
            if "comment" in new
            else "it has no points now"
            if now.points is None
            else f"it has {now.points:g} now"
        )
        raise Overtaken(
            f"somebody else has marked this answer meanwhile, and {what}; "
            "yours was not written: give it again to replace theirs",
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
        row.about,
        row.comment or None,
    )
