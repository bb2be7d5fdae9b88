"""Marks of all assignments as CSV: everything in the gradebook, or what Canvas and Moodle import.

A text that a spreadsheet would take for a formula gets an apostrophe in front, and so does each
part of it that may become a cell of its own where the file is split at another separator. Missing
marks, where nothing was handed in or it has not been graded, are left blank: a blank is not a zero.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.grading.booked import require_gradebook
from autograder.grading.deciding import out_of_date, out_of_date_in_words
from autograder.grading.ledger import read_results, standing
from autograder.telling import canvas
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
from course.probes import UnknownCheck
from course.probes.homes import in_order

# Where a cell may begin, and what makes it a formula, after what some spreadsheets leave out.
FORMULA = re.compile(
    r"(^|[;|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])"
    r"(?=[\s\"\x00-\x1f\ufeff\u200b-\u200f\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20])"
)
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
    out_of_date: str = ""  # how many marks are of an earlier state, and why

    @property
    def waiting(self) -> list[str]:
        """The students whose written answers are still to be marked."""
        return sorted(student for student, marks in self.marks.items() if marks.waiting)

    @property
    def reopened(self) -> list[str]:
        """The students with marks by people for what has changed since."""
        return sorted(student for student, marks in self.marks.items() if marks.reopened)


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
    roster = read_gradebook(
        folder,
        lambda gradebook: Roster(
            folder,
            students_of(gradebook),
            [
                _column(folder, gradebook, assignment, cells)
                for assignment, cells in sorted(
                    assignments_of(gradebook).items(), key=lambda item: in_order(item[0])
                )
            ],
        ),
    )
    for path in sorted(folder.root.glob("results/*")):  # what an older gradebook does not know
        if next(path.glob("*/submission.json"), None) and path.name not in {
            column.assignment for column in roster.columns
        }:
            require_gradebook(folder, path.name)
    if not roster.columns:
        raise CourseFolderError(
            f"there are no assignments in the gradebook of {folder.root} yet: "
            "run `autograder release STUDY` first"
        )
    return roster


def _column(
    folder: CourseFolder, gradebook: Connection, assignment: str, cells: Mapping[CellName, Cell]
) -> Column:
    marks = marks_of(gradebook, assignment)
    handed_in = {*marks, *folder.submitted(assignment)}
    entries = {s: standing(folder, assignment, s) for s in sorted(handed_in)}
    found = {s: what_counts(marks.get(s), entry) for s, entry in entries.items()}
    return Column(
        assignment,
        sum((cell.points for cell in cells.values()), 0.0),
        {s: counts for s, (counts, _) in found.items() if counts},
        {s: wrong or entries[s]["status"] for s, (counts, wrong) in found.items() if not counts}
        | dict.fromkeys(folder.misnamed(assignment), "no name of a student"),
        {s: wrong for s, (counts, wrong) in found.items() if counts and wrong},
        _out_of_date(folder, assignment),
    )


def _out_of_date(folder: CourseFolder, assignment: str) -> str:
    try:
        study = folder.assignment(assignment)
    except UnknownCheck:  # of a study that the kit no longer has
        return ""
    return out_of_date_in_words(study, out_of_date(folder, study))


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
            yield (
                f"{column.assignment}: written answers are still to be marked, and count 0 "
                f"until then: {', '.join(column.waiting)}"
            )
        if column.reopened:
            yield (
                f"{column.assignment}: what a person has marked was changed since; the marks "
                f"count until somebody looks again: {', '.join(column.reopened)}"
            )
        if column.out_of_date:
            yield column.out_of_date
        if column.unmarked:
            yield (
                f"{column.assignment}: no marks yet, so left blank: "
                + ", ".join(f"{who} ({why})" for who, why in column.unmarked.items())
            )
        for who, why in column.doubtful.items():
            yield f"{column.assignment}/{who}: {why}"


def plain_cell(value: Any) -> Any:
    """A value for CSV; a text that a spreadsheet would run as a formula gets an apostrophe.

    >>> plain_cell("=HYPERLINK(1)"), plain_cell("Ada"), plain_cell(-1.5), plain_cell("Ada;=1+1")
    ("'=HYPERLINK(1)", 'Ada', -1.5, "Ada;'=1+1")
    """
    if isinstance(value, str):
        return FORMULA.sub(r"\1'", value)
    return "" if value is None else value


def _gradebook(roster: Roster) -> Iterator[Line]:
    parts = ("score", "max", "auto", "manual", "extra", "late_penalty")
    yield [
        "student",
        "last_name",
        "first_name",
        "email",
        "lms_user_id",
        *(f"{column.assignment}.{part}" for column in roster.columns for part in parts),
    ]
    for student in roster.students:
        line = [
            student.id,
            student.last_name,
            student.first_name,
            student.email,
            student.lms_user_id,
        ]
        for column in roster.columns:
            m = column.marks.get(student.id)
            numbers = (m.automatic, m.manual, m.extra, m.penalty) if m else [None] * 4
            line += [_score(m), column.max_points, *map(_rounded, numbers)]
        yield line


def _canvas(roster: Roster) -> Iterator[Line]:
    kept = canvas.kept_identities(roster.folder)
    head = list(next(iter(kept.values()), canvas.DEFAULT))
    yield [*head, *(column.assignment for column in roster.columns)]
    yield [
        CANVAS_POINTS,
        *[None] * (len(head) - 1),
        *(column.max_points for column in roster.columns),
    ]
    for student in roster.students:
        name = ", ".join(filter(None, (student.last_name, student.first_name)))
        known = kept.get(student.id) or {
            "Student": name or student.id,
            "ID": student.lms_user_id,
            "SIS Login ID": student.id,
        }
        yield [
            *(known.get(column) for column in head),
            *(_score(column.marks.get(student.id)) for column in roster.columns),
        ]


def _moodle(roster: Roster) -> Iterator[Line]:
    yield [
        "username",
        "idnumber",
        "email",
        *(f"{column.assignment}{part}" for column in roster.columns for part in ("", " feedback")),
    ]
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
            said.append(
                f"{outcome['check']}: {outcome['earned']:g} of {outcome['points']:g}" + cause
            )
    if marks.penalty:
        said.append(f"late: {marks.penalty:g} points off")
    return "; ".join(said + marks.comments)


def _score(marks: Marks | None) -> float | None:
    return _rounded(marks.score) if marks else None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 2)


FORMATS = {"gradebook": _gradebook, "canvas": _canvas, "moodle": _moodle}
