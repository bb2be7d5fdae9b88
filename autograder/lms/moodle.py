"""Moodle: participants, the grades of a course, an assignment's grading worksheet and its archive.

The formats are those of the documentation and of the source code of Moodle 4.5. Paths are relative
to https://github.com/moodle/moodle/tree/MOODLE_405_STABLE (and to `public/` since Moodle 5.1).

- "Grade import" and "Grade export": the import has the same format as the export, with First name,
  Last name, ID number, Email address, and columns such as "Assignment: TITLE (Real)". Users are
  matched by username, ID number or email address; columns are chosen during the import.
  https://docs.moodle.org/405/en/Grade_import
  https://docs.moodle.org/405/en/Grade_export
- `grade/export/txt/grade_export_txt.php` and `grade/export/lib.php`: the columns of the export as
  plain text file, which may have feedback, "Assignment: TITLE (Feedback)", after each grade.
- "Using Assignment", *Download grading worksheet*, with the column names of
  `mod/assign/gradingtable.php` in English: Identifier ("Participant 12345"), Full name, the site's
  columns of identity, Status, Grade, Maximum Grade, Grade can be changed, Last modified (submission),
  Last modified (grade), Feedback comments.
  https://docs.moodle.org/405/en/Using_Assignment
- `mod/assign/feedback/offline/importgradeslib.php`: an upload needs Identifier, Grade and Last
  modified (grade); the digits at the end of Identifier count. Other columns are ignored.
- `mod/assign/classes/downloader.php`: an archive has `FULL NAME_ID_assignsubmission_TYPE/...`, or the
  same beginning in the names of the files; ID is the participant's number in this assignment. For
  submissions of teams, it is the number of the group.
- "Participants", *With selected users*, *Download table data as*, with the column names of
  `user/action_redir.php` in English: First name, Last name, the site's columns of identity
  (by default only Email address) and Groups, the names of the groups separated by ", ". It has no
  roles; a table of the same page may have the column Roles (`user/classes/table/participants.php`).
  https://docs.moodle.org/405/en/Participants

An archive contains no times; the worksheet of the same assignment has them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo

from autograder.lms.tables import Table
from autograder.lms.uploads import (
    Directory,
    FilePart,
    Hint,
    Owner,
    Upload,
    matching_title,
    plain_name,
)

IDENTIFIER, NAME, GRADE = "Identifier", "Full name", "Grade"
FIRST, LAST = "First name", "Last name"
GROUPS, ROLES = "Groups", "Roles"
STAFF = {"manager", "course creator", "teacher", "non-editing teacher"}
GRADE_TIME, SUBMITTED = "Last modified (grade)", "Last modified (submission)"
CHANGEABLE, FEEDBACK = "Grade can be changed", "Feedback comments"
MAXIMUM = ("Maximum Grade", "Maximum grade")
IDS = {"Username": "id", "ID number": "id", "Email address": "email"}  # columns -> kinds of hints
NUMBER_AT_END = re.compile(r"(?P<number>\d+)\s*$")
FOLDER = re.compile(
    r"(?P<name>.*?)_(?P<id>\d+)_assignsubmission_(?P<type>[a-z]+)(?:_(?P<file>.*))?"
)
DECIMAL_COMMA = re.compile(r"\d+,\d+")
MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
REAL, FEEDBACK_OF = " (Real)", " (Feedback)"  # ends of columns in the export of grades
ITEM = re.compile(r"^\w+: ")  # "Assignment: "
TIME = re.compile(  # "Monday, 2 March 2026, 2:14 PM", or in the United States "March 2, 2026"
    r"(?:\w+, )?(?:(?P<day>\d{1,2}) (?P<month>\w+)|(?P<month_first>\w+) (?P<day_last>\d{1,2}),)"
    r" (?P<year>\d{4}), (?P<hour>\d{1,2}):(?P<minute>\d\d)(?:\s?(?P<half>[AP]M))?"
)


def is_worksheet(head: Iterable[str]) -> bool:
    """Whether the column names are those of a grading worksheet."""
    return {IDENTIFIER, GRADE, GRADE_TIME} <= {*head}


def is_student(row: Mapping[str, str]) -> bool:
    """Whether a row of the participants may belong to a student, because it has no roles or not only
    those of staff.

    >>> is_student({"Roles": "Teacher, Manager"}), is_student({"Roles": "Student, Teacher"})
    (False, True)
    """
    roles = {role.strip().lower() for role in row.get(ROLES, "").split(",")}
    return not roles <= STAFF


def group_fields(row: Mapping[str, str]) -> dict[str, str]:
    """Return the section of a participant, which is the first group, and all groups if there are
    several.

    >>> group_fields({"Groups": "Lab A, Team 3"}), group_fields({"Groups": ""})
    ({'section': 'Lab A', 'groups': 'Lab A, Team 3'}, {'section': ''})
    """
    groups = [name.strip() for name in row[GROUPS].split(",") if name.strip()]
    several = {"groups": ", ".join(groups)} if len(groups) > 1 else {}
    return {"section": "".join(groups[:1]), **several}


def is_participants(head: Iterable[str]) -> bool:
    """Whether the column names are those of the participants of a course."""
    names = {*head}
    return {FIRST, LAST} <= names and bool({GROUPS, ROLES} & names)


def participant(row: Mapping[str, str]) -> str:
    """Return the participant's number in this assignment, or "".

    >>> participant({"Identifier": "Participant 12345"})
    '12345'
    """
    match = NUMBER_AT_END.search(row[IDENTIFIER])
    return match["number"] if match else ""


def owner(row: Mapping[str, str]) -> Owner:
    """Return how a row of a worksheet identifies its student, the most reliable column first."""
    name = (row.get(NAME) or f"{row.get(FIRST, '')} {row.get(LAST, '')}").strip()
    hints = [Hint(kind, row[column].strip(), name) for column, kind in IDS.items() if column in row]
    return (*hints, Hint("name", name, name))


def participant_key(number: str, name: str) -> str:
    """Return the number and the name of a participant; both must agree, because the numbers of teams
    and of other assignments are similar.
    """
    return f"{number} {plain_name(name)}"


def participants(table: Table, directory: Directory) -> dict[str, str]:
    """Return the students whom a worksheet lists, by their participants' numbers and names."""
    return {
        participant_key(number, row.get(NAME, "")): student
        for _, row in table.records()
        if (number := participant(row)) and (student := directory.find(owner(row)))
    }


def submission_times(table: Table, zone: tzinfo) -> Iterator[tuple[Owner, datetime]]:
    """Yield the time of every submission that a worksheet lists, in UTC.

    Moodle writes times in the zone of the person who downloads the worksheet; `zone` is the course's.
    """
    for _, row in table.records():
        when = read_time(row.get(SUBMITTED, ""), zone)
        if when:
            yield owner(row), when


def read_time(text: str, zone: tzinfo) -> datetime | None:
    """Return a time as Moodle writes it in English, in UTC; None for any other text.

    >>> read_time("Monday, 2 March 2026, 2:14 PM", UTC).isoformat()
    '2026-03-02T14:14:00+00:00'
    """
    match = TIME.fullmatch(text.strip().replace("\u202f", " "))
    if match is None:
        return None
    month = (match["month"] or match["month_first"]).lower()
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    if month not in MONTHS:
        return None
    try:
        local = datetime(
            int(match["year"]),
            MONTHS.index(month) + 1,
            int(match["day"] or match["day_last"]),
            hour,
            int(match["minute"]),
            tzinfo=zone,
        )
    except ValueError:
        return None
    return local.astimezone(UTC)


def maximum(table: Table) -> float | None:
    """Return the maximum grade of a worksheet; None if it has none, as with scales."""
    for _, row in table.records():
        for name in MAXIMUM:
            try:
                return float(row[name].replace(",", "."))
            except (KeyError, ValueError):
                continue
    return None


def is_grades(head: Iterable[str]) -> bool:
    """Whether the column names are those of the export of a course's grades."""
    names = {*head}
    return bool(names & IDS.keys()) and any(name.endswith(REAL) for name in names)


def grade_column(table: Table, names: Iterable[str]) -> str:
    """Return the column of an assignment's grades, "" if there is none or several match its names.

    A worksheet has only one. In the export of grades, titles are compared as in `matching_title`.
    """
    if is_worksheet(table.header):
        return GRADE
    columns = [column for column in table.header if column.endswith(REAL)]
    titles = {column: ITEM.sub("", column.removesuffix(REAL)) for column in columns}
    column = matching_title(names, titles)
    return column if columns.count(column) == 1 else ""  # two activities may have the same title


def fill(table: Table, column: str, grades: Sequence[tuple[float, str] | None]) -> Table:
    """Return a table with grades in a column, and feedback next to it: one entry for each row.

    Rows without an entry are unchanged, and so are grades that Moodle has locked. Numbers have a
    decimal comma if the table's have one.
    """
    feedback = FEEDBACK if column == GRADE else column.removesuffix(REAL) + FEEDBACK_OF
    comma = any(
        DECIMAL_COMMA.fullmatch(cell)
        for _, row in table.records()
        for name, cell in row.items()
        if name in (*MAXIMUM, column) or name.endswith(REAL)
    )
    changes: list[dict[str, str]] = []
    for (_, row), grade in zip(table.records(), grades, strict=True):
        cells = {}
        if grade and row.get(CHANGEABLE, "").strip().lower() != "no":
            number = f"{grade[0]:.2f}"
            cells[column] = number.replace(".", ",") if comma else number
            if feedback in table.header:
                cells[feedback] = grade[1]
        changes.append(cells)
    return table.with_cells(changes)


def read_uploads(parts: Iterable[FilePart]) -> list[Upload]:
    """Return the submissions in an archive, one per participant or team."""
    uploads: dict[str, Upload] = {}
    for part in parts:
        first, *inside = part.name.parts
        match = FOLDER.fullmatch(first)
        if match is None:
            continue
        name = "/".join(inside) or match["file"] or ""
        if not name:
            continue
        label = f"{match['name']}_{match['id']}"
        hint = Hint("participant", participant_key(match["id"], match["name"]), match["name"])
        upload = uploads.setdefault(
            label, Upload(label, ((hint, Hint("name", match["name"], match["name"])),))
        )
        upload.add(name, part)
    return list(uploads.values())
