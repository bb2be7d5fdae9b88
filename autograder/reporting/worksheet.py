"""Fills Moodle's grading worksheet of an assignment, or its export of grades, with marks and feedback.

What we add is safe in a spreadsheet; Moodle's own cells are exactly as Moodle wrote them, because it
matches participants by them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autograder.errors import UserError
from autograder.lms import moodle
from autograder.lms.canvas import names_of
from autograder.lms.rosters import MOODLE, directory
from autograder.lms.store import update_section
from autograder.lms.tables import Table
from autograder.reporting.export import Column, Roster, feedback_line, plain_cell
from course.checks import Study


class FilledWorksheet(NamedTuple):
    """A worksheet as text, and warnings about it."""

    text: str
    warnings: list[str]


def fill_worksheet(roster: Roster, study: Study, table: Table) -> FilledWorksheet:
    """Return a worksheet with the marks of an assignment; rows without marks are unchanged.

    The table may also be the export of the course's grades. The participants of a worksheet are
    remembered, so that the archive of the same assignment can be collected. Raises `UserError` for
    another table, and for an assignment without marks.
    """
    name, head = study.assignment, table.header
    if not moodle.is_worksheet(head) and not moodle.is_grades(head):
        raise UserError(
            "the file must be a grading worksheet or an export of grades, in English: it needs the "
            f"columns {moodle.IDENTIFIER}, {moodle.GRADE} and {moodle.GRADE_TIME}, or "
            f"'Assignment: TITLE{moodle.REAL}' and an address or ID number"
        )
    target = moodle.grade_column(table, names_of(roster.folder, name))
    if not target:
        raise UserError(
            f"no column of the export of grades belongs to {study.name} alone: name the assignment "
            f"in Moodle {study.name} or {study.title!r}, or use its grading worksheet"
        )
    column = next((c for c in roster.columns if c.assignment == name), None)
    if column is None:
        raise UserError(f"there is no assignment {name} in the gradebook")
    known = directory(roster.folder, roster.students, name)
    students = [known.find(moodle.owner(row)) for _, row in table.records()]
    if moodle.is_worksheet(head):
        update_section(roster.folder, MOODLE, {name: moodle.participants(table, known)})
    grades = [
        (
            round(column.marks[student].score, 2),
            plain_cell(feedback_line(roster.folder, column, student)),
        )
        if student is not None and student in column.marks
        else None
        for student in students
    ]
    return FilledWorksheet(
        moodle.fill(table, target, grades).text(), list(_warnings(column, table, students))
    )


def _warnings(column: Column, table: Table, students: Sequence[str | None]) -> Iterator[str]:
    unknown = [
        str(line) for line, student in zip(table.lines, students, strict=True) if student is None
    ]
    if unknown:
        yield (
            "no student on the roster matches these lines of the file, which are unchanged: "
            f"{', '.join(unknown)}"
        )
    missing = sorted(column.marks.keys() - {*students})
    if missing:
        yield f"the file does not list these students: {', '.join(missing)}"
    maximum = moodle.maximum(table)
    if maximum is not None and maximum != column.max_points:
        yield (
            f"the maximum grade in Moodle is {maximum:g}, but {column.assignment} has "
            f"{column.max_points:g} points; the marks are unchanged, and Moodle ignores those above "
            "its maximum"
        )
