"""Marks of all assignments as CSV: everything in the gradebook, or what Canvas and Moodle import.

A text that a spreadsheet would take for a formula, because it begins with = + - @ or a control
character, gets an apostrophe in front. Missing marks, where nothing was handed in or it has not
been graded, are left blank: a blank is not a zero.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.grading.booked import require_gradebook
from autograder.grading.ledger import read_results, standing
from autograder.telling.gradebook import (
    Cell,
    CellName,
    Marks,
    assignments_of,
    marks_of,
    read_gradebook,
    students_of,
    what_counts,
)
from course.probes.homes import in_order

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
CANVAS_POINTS = "    Points Possible"  # as Canvas itself writes it
Line = list[Any]


@dataclass(frozen=True)
class Column:
    """One assignment: its points, and the marks of everybody who has been graded."""

    assignment: str
    max_points: float
    marks: Mapping[str, Marks]
    unmarked: Mapping[str, str]  # who handed in something but has no marks -> why
    doubtful: Mapping[str, str] = field(default_factory=dict)  # whose marks need a look -> why

    @property
    def waiting(self) -> list[str]:
        """The students whose written answers are still to be marked."""
        return sorted(student for student, marks in self.marks.items() if marks.waiting)


@dataclass(frozen=True)
class Roster:
    """Everybody in the gradebook, and their marks."""

    folder: CourseFolder
    students: Sequence[Row]  # as `students_of` gives them
    columns: list[Column] = field(default_factory=list)


def read_marks(folder: CourseFolder) -> Roster:
    """The marks of all assignments, study2 before study10.

    Raises `CourseFolderError` if there are none, or if some that were graded are not in the
    gradebook.
    """
    roster = read_gradebook(folder, lambda gradebook: Roster(
        folder, students_of(gradebook), [
            _column(folder, gradebook, assignment, cells)
            for assignment, cells in sorted(
                assignments_of(gradebook).items(), key=lambda item: in_order(item[0]))]))
    for path in sorted(folder.root.glob("results/*")):  # what an older gradebook does not know
        if next(path.glob("*/submission.json"), None) and path.name not in {
                column.assignment for column in roster.columns}:
            require_gradebook(folder, path.name)
    if not roster.columns:
        raise CourseFolderError(f"there are no assignments in the gradebook of {folder.root} yet: "
                                "run `autograder release STUDY` first")
    return roster


def _column(folder: CourseFolder, gradebook: Connection, assignment: str,
            cells: Mapping[CellName, Cell]) -> Column:
    marks = marks_of(gradebook, assignment)
    handed_in = {*marks, *folder.submitted(assignment)}
    entries = {s: standing(folder, assignment, s) for s in sorted(handed_in)}
    found = {s: what_counts(marks.get(s), entry) for s, entry in entries.items()}
    return Column(
        assignment, sum((cell.points for cell in cells.values()), 0.0),
        {s: counts for s, (counts, _) in found.items() if counts},
        {s: wrong or entries[s]["status"] for s, (counts, wrong) in found.items() if not counts}
        | dict.fromkeys(folder.misnamed(assignment), "no name of a student"),
        {s: wrong for s, (counts, wrong) in found.items() if counts and wrong})


def export(roster: Roster, kind: str) -> str:
    """The marks as the text of a CSV file; `kind` is one of `FORMATS`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in FORMATS[kind](roster):
        writer.writerow([plain_cell(value) for value in line])
    return text.getvalue()


def warnings(roster: Roster) -> Iterator[str]:
    """Yield what users of the numbers should know, in sentences."""
    for column in roster.columns:
        if column.waiting:
            yield (f"{column.assignment}: written answers are still to be marked, and count 0 "
                   f"until then: {', '.join(column.waiting)}")
        if column.unmarked:
            yield (f"{column.assignment}: no marks yet, so left blank: "
                   + ", ".join(f"{who} ({why})" for who, why in column.unmarked.items()))
        for who, why in column.doubtful.items():
            yield f"{column.assignment}/{who}: {why}"


def plain_cell(value: Any) -> Any:
    """A value for CSV; a text that a spreadsheet would run as a formula gets an apostrophe.

    >>> plain_cell("=HYPERLINK(1)"), plain_cell("Ada"), plain_cell(-1.5)
    ("'=HYPERLINK(1)", 'Ada', -1.5)
    """
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return "" if value is None else value


def _gradebook(roster: Roster) -> Iterator[Line]:
    parts = ("score", "max", "auto", "manual", "extra", "late_penalty")
    yield ["student", "last_name", "first_name", "email", "lms_user_id",
           *(f"{column.assignment}.{part}" for column in roster.columns for part in parts)]
    for student in roster.students:
        line = [student.id, student.last_name, student.first_name, student.email,
                student.lms_user_id]
        for column in roster.columns:
            m = column.marks.get(student.id)
            numbers = (m.automatic, m.manual, m.extra, m.penalty) if m else [None] * 4
            line += [_score(m), column.max_points, *map(_rounded, numbers)]
        yield line


def _canvas(roster: Roster) -> Iterator[Line]:
    blank = [None] * 4
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section",
           *(column.assignment for column in roster.columns)]
    yield [CANVAS_POINTS, *blank, *(column.max_points for column in roster.columns)]
    for student in roster.students:
        name = ", ".join(filter(None, (student.last_name, student.first_name)))
        yield [name or student.id, student.lms_user_id, None, student.id, None,
               *(_score(column.marks.get(student.id)) for column in roster.columns)]


def _moodle(roster: Roster) -> Iterator[Line]:
    yield ["username", "idnumber", "email",
           *(f"{column.assignment}{part}" for column in roster.columns
             for part in ("", " feedback"))]
    for student in roster.students:
        line = [student.id, student.lms_user_id, student.email]
        for column in roster.columns:
            marks = column.marks.get(student.id)
            line += [_score(marks), _feedback(roster.folder, column, student.id) if marks else None]
        yield line


def _feedback(folder: CourseFolder, column: Column, student: str) -> str:
    """A line of words: the marks of each check, likely causes, lateness, a person's comments."""
    marks = column.marks[student]
    said = []
    for result in read_results(folder.results(column.assignment, student)).values():
        for outcome in result["outcomes"]:
            cause = f" ({outcome['cause']})" if outcome["cause"] else ""
            said.append(f"{outcome['check']}: {outcome['earned']:g} of {outcome['points']:g}"
                        + cause)
    if marks.penalty:
        said.append(f"late: {marks.penalty:g} points off")
    return "; ".join(said + marks.comments)


def _score(marks: Marks | None) -> float | None:
    return _rounded(marks.score) if marks else None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 2)


FORMATS = {"gradebook": _gradebook, "canvas": _canvas, "moodle": _moodle}
