"""Exports the marks of all assignments as CSV: everything in the gradebook, or the columns that
Canvas and Moodle import.

Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe, and so is each
part that may become a separate cell if the file is split at another separator. Only the cells by
which Canvas matches rows and columns are exactly as Canvas exported them; `canvas_warnings` names
any formulas among them. If a submission is missing or not graded yet, the mark is left blank, because
a blank is not a zero.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.deciding import describe_outdated_results, outdated_results
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.grading.records.ledger import current_entry, read_results
from autograder.lms import canvas
from autograder.reporting.gradebook import (
    Cell,
    CellName,
    Marks,
    assignments_of,
    count_attempts,
    effective_marks,
    marks_of,
    read_gradebook,
    students_of,
)
from common.command_lines import advice
from course.checks import UnknownCheck
from course.checks.study_paths import natural_sort_key

# The start of a cell, characters that some spreadsheets ignore, and the start of a formula.
START = r"(^|[;|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])"
IGNORED = r"\s\"\x00-\x1f\ufeff\u200b-\u200f\u2060"
SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"{START}(?=[{IGNORED}]*{SIGN})")
# Text with an apostrophe before a formula gets another one, so that removing one restores any text.
UNPREFIXED = re.compile(rf"{START}(?=[{IGNORED}']*{SIGN})")
PREFIXED = re.compile(rf"{START}'(?=[{IGNORED}']*{SIGN})")
GRADEBOOK_HEAD = ("student", "last_name", "first_name", "email", "lms_user_id")
MOODLE_HEAD = ("username", "idnumber", "email")
Line = list[Any]


class ExactCell(str):
    """A cell that a system exported and matches, so it is written without a change."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """One assignment: its points, and the marks of all graded students."""

    assignment: str
    max_points: float
    marks: Mapping[str, Marks]
    unmarked: Mapping[str, str]  # students who submitted but have no marks -> reason
    doubtful: Mapping[str, str] = field(
        default_factory=dict
    )  # students whose marks need review -> reason
    out_of_date: str = ""  # how many marks are outdated, and why

    @property
    def waiting(self) -> list[str]:
        """The students whose written answers are not all marked."""
        return sorted(student for student, marks in self.marks.items() if marks.waiting)

    @property
    def reopened(self) -> list[str]:
        """The students with manual marks for answers that have changed since they were
        marked.
        """
        return sorted(student for student, marks in self.marks.items() if marks.reopened)


@dataclass(frozen=True)
class Roster:
    """All students in the gradebook, and their marks."""

    folder: CourseFolder
    students: Sequence[Row]  # from `students_of`
    columns: list[Column] = field(default_factory=list)


def read_marks(folder: CourseFolder) -> Roster:
    """Return the marks of all assignments, with study2 before study10.

    Raises `CourseFolderError` if there are no assignments, or if a graded assignment is missing
    from the gradebook.
    """
    roster = read_gradebook(
        folder,
        lambda gradebook: Roster(
            folder,
            [row for row in students_of(gradebook) if not folder.people().person(row.id).dropped],
            [
                _column(folder, gradebook, assignment, cells)
                for assignment, cells in sorted(
                    assignments_of(gradebook).items(), key=lambda item: natural_sort_key(item[0])
                )
            ],
        ),
    )
    for path in sorted(folder.root.glob("results/*")):  # may be missing from an older gradebook
        if next(path.glob("*/submission.json"), None) and path.name not in {
            column.assignment for column in roster.columns
        }:
            require_gradebook(folder, path.name)
    if not roster.columns:
        raise CourseFolderError(
            f"there are no assignments in the gradebook of {folder.root} yet: "
            f"run {advice('generate', course=folder.root)} first"
        )
    return roster


def in_section(roster: Roster, section: str) -> Roster:
    """Return the students of one section and their marks. Raises `UserError` for an unknown one."""
    wanted = set(roster.folder.people().in_section(section))

    def only(table: Mapping[str, Any]) -> dict[str, Any]:
        return {student: value for student, value in table.items() if student in wanted}

    return replace(
        roster,
        students=[student for student in roster.students if student.id in wanted],
        columns=[
            replace(
                column,
                marks=only(column.marks),
                unmarked=only(column.unmarked),
                doubtful=only(column.doubtful),
            )
            for column in roster.columns
        ],
    )


def suffix(section: str | None) -> str:
    """Return the end of the name of a file about one section, or "" if it is about all."""
    return "_section_" + re.sub(r"[^\w-]+", "_", section) if section else ""


def _column(
    folder: CourseFolder, gradebook: Connection, assignment: str, cells: Mapping[CellName, Cell]
) -> Column:
    marks = marks_of(gradebook, assignment)
    people = folder.people()
    marks = {student: own for student, own in marks.items() if not people.person(student).dropped}
    students = {*marks, *folder.submitted(assignment)}
    entries = {s: current_entry(folder, assignment, s) for s in sorted(students)}
    attempts = AttemptRule(folder, assignment, gradebook)
    effective = {}
    for s, entry in entries.items():
        valid, problem = effective_marks(marks.get(s), entry)
        problem = problem or attempts.problem(s, entry)
        effective[s] = count_attempts(attempts, s, valid, entry), problem
    return Column(
        assignment,
        sum((cell.points for cell in cells.values()), 0.0),
        {s: valid for s, (valid, _) in effective.items() if valid},
        {
            s: problem or entries[s]["status"]
            for s, (valid, problem) in effective.items()
            if not valid
        }
        | dict.fromkeys(folder.misnamed(assignment), "not a student's name")
        | dict.fromkeys(folder.not_on_roster(assignment), "not on the roster"),
        {s: problem for s, (valid, problem) in effective.items() if valid and problem},
        _out_of_date(folder, assignment),
    )


def _out_of_date(folder: CourseFolder, assignment: str) -> str:
    try:
        study = folder.assignment(assignment)
    except UnknownCheck:  # the kit no longer has this study
        return ""
    return describe_outdated_results(folder, study, outdated_results(folder, study))


def export(roster: Roster, kind: str) -> str:
    """Return the marks as the text of a CSV file; `kind` is one of `FORMATS`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in FORMATS[kind](roster):
        writer.writerow([plain_cell(value) for value in line])
    return text.getvalue()


def warnings(roster: Roster, kind: str = "gradebook") -> Iterator[str]:
    """Yield warnings for users of the marks, exported in one of `FORMATS`."""
    if kind == "canvas":
        yield from canvas_warnings(roster)
    for column in roster.columns:
        if column.waiting:
            yield (
                f"{column.assignment}: written answers are not marked yet and count 0 "
                f"until then: {', '.join(column.waiting)}"
            )
        if column.reopened:
            yield (
                f"{column.assignment}: answers with manual marks have changed; the marks "
                f"count until a grader reviews them: {', '.join(column.reopened)}"
            )
        if column.out_of_date:
            yield column.out_of_date
        if column.unmarked:
            yield (
                f"{column.assignment}: left blank, because there are no marks yet: "
                + ", ".join(f"{student} ({reason})" for student, reason in column.unmarked.items())
            )
        for student, problem in column.doubtful.items():
            yield f"{column.assignment}/{student}: {problem}"


def plain_cell(value: Any) -> Any:
    """Return a value for CSV; text that a spreadsheet would run as a formula is prefixed with an
    apostrophe.

    >>> plain_cell("=HYPERLINK(1)"), plain_cell("Ada"), plain_cell(-1.5), plain_cell("Ada;=1+1")
    ("'=HYPERLINK(1)", 'Ada', -1.5, "Ada;'=1+1")
    """
    if isinstance(value, str) and not isinstance(value, ExactCell):
        return UNPREFIXED.sub(r"\1'", value)
    return "" if value is None else value


def original_text(cell: str) -> str:
    """Return the text for which `plain_cell` returns a cell.

    >>> original_text("'=HYPERLINK(1)"), original_text("O'Neil"), original_text("''=1")
    ('=HYPERLINK(1)', "O'Neil", "'=1")
    """
    return PREFIXED.sub(r"\1", cell)


def is_own_export(head: Sequence[str]) -> bool:
    """Whether the column names are those of an export in our format `gradebook` or `moodle`."""
    return any(tuple(head[: len(own)]) == own for own in (GRADEBOOK_HEAD, MOODLE_HEAD))


def _gradebook(roster: Roster) -> Iterator[Line]:
    people = roster.folder.people()
    has_sections = bool(people.names("section"))
    parts = ("score", "max", "auto", "manual", "extra", "late_penalty")
    yield [
        *GRADEBOOK_HEAD,
        *(["section"] if has_sections else []),
        *(f"{column.assignment}.{part}" for column in roster.columns for part in parts),
    ]
    for student in roster.students:
        line = [
            student.id,
            student.last_name,
            student.first_name,
            student.email,
            student.lms_user_id,
            *([people.person(student.id).section] if has_sections else []),
        ]
        for column in roster.columns:
            marks = column.marks.get(student.id)
            numbers = (
                (marks.automatic, marks.manual, marks.extra, marks.penalty) if marks else [None] * 4
            )
            line += [_score(marks), column.max_points, *map(_rounded, numbers)]
        yield line


def _canvas(roster: Roster) -> Iterator[Line]:
    identities = canvas.stored_identities(roster.folder)
    head = list(next(iter(identities.values()), canvas.DEFAULT))
    points = canvas.known_columns(roster.folder)
    names = {
        column.assignment: canvas.column_of(roster.folder, column.assignment)
        for column in roster.columns
    }
    yield [*head, *(ExactCell(names[c.assignment]) or c.assignment for c in roster.columns)]
    yield [
        canvas.POINTS_CELL,
        *[None] * (len(head) - 1),
        *(ExactCell(points.get(names[c.assignment], "")) or c.max_points for c in roster.columns),
    ]
    for student in roster.students:
        name = ", ".join(filter(None, (student.last_name, student.first_name)))
        identity = identities.get(student.id)
        yield [
            *(
                [ExactCell(identity.get(column, "")) for column in head]
                if identity
                else map(
                    {
                        "Student": name or student.id,
                        "LastName": student.last_name,
                        "FirstName": student.first_name,
                        "ID": student.lms_user_id,
                        "SIS Login ID": student.id,
                        "Section": roster.folder.people().person(student.id).section,
                    }.get,
                    head,
                )
            ),
            *(_score(column.marks.get(student.id)) for column in roster.columns),
        ]


def canvas_warnings(roster: Roster) -> Iterator[str]:
    """Yield warnings for users of the export for Canvas."""
    points = canvas.known_columns(roster.folder)
    for column in roster.columns if points else ():
        name = canvas.column_of(roster.folder, column.assignment)
        if not name:
            yield (
                f"{column.assignment}: no column of Canvas's gradebook matches it, so the import "
                "creates a new assignment; to use an existing one, add "
                f"--column '{column.assignment}=ID', with the number in its column's name"
            )
        elif (known := _number(points.get(name, ""))) not in (None, column.max_points):
            yield (
                f"{column.assignment}: {name} has {known:g} possible points in Canvas, but "
                f"{column.max_points:g} here; the marks are exported unchanged"
            )
    students = {student.id for student in roster.students}
    formulas = [
        student
        for student, identity in canvas.stored_identities(roster.folder).items()
        if student in students and any(map(FORMULA.search, identity.values()))
    ]
    if formulas:
        yield (
            "Canvas's own columns contain text that a spreadsheet evaluates as a formula, and are "
            "unchanged because Canvas matches them: import the file without opening it in a "
            f"spreadsheet; students: {', '.join(formulas)}"
        )


def _number(text: str) -> float | None:
    """Return a number, which may have a decimal comma; None for any other text."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _moodle(roster: Roster) -> Iterator[Line]:
    yield [
        *MOODLE_HEAD,
        *(f"{column.assignment}{part}" for column in roster.columns for part in ("", " feedback")),
    ]
    for student in roster.students:
        line = [student.id, student.lms_user_id, student.email]
        for column in roster.columns:
            marks = column.marks.get(student.id)
            line += [
                _score(marks),
                feedback_line(roster.folder, column, student.id) if marks else None,
            ]
        yield line


def feedback_line(folder: CourseFolder, column: Column, student: str) -> str:
    """Return the feedback in one line: marks of each check, likely causes, late penalty, and
    comments.
    """
    marks = column.marks[student]
    parts = []
    for result in read_results(folder.results(column.assignment, student)).values():
        for outcome in result["outcomes"]:
            cause = f" ({outcome['cause']})" if outcome["cause"] else ""
            parts.append(
                f"{outcome['check']}: {outcome['earned']:g} of {outcome['points']:g}" + cause
            )
    if marks.penalty:
        parts.append(f"late: {marks.penalty:g} points off")
    return "; ".join(parts + marks.comments)


def _score(marks: Marks | None) -> float | None:
    return _rounded(marks.score) if marks else None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 2)


FORMATS = {"gradebook": _gradebook, "canvas": _canvas, "moodle": _moodle}
