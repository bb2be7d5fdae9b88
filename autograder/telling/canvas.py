"""Reads Canvas's gradebook CSV as a roster, and keeps the columns that identify a student.

Canvas matches the rows of an import by these columns, so an export repeats them unchanged.
"""

import json
import re
from collections.abc import Mapping, Sequence

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.grading.ledger import write_json

FILE = "canvas.json"  # in the course folder
DEFAULT = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
IDENTITY = {*DEFAULT, "Integration ID", "Root Account"}
POINTS = "Points Possible"
TEST_STUDENTS = ("Student, Test", "Test Student")
TEST_LOGIN = re.compile(r"[0-9a-f]{40}")  # what Canvas gives its test student for a login
Row = Mapping[str, str]


def is_canvas(head: Sequence[str]) -> bool:
    """Whether the names of columns are those of Canvas's gradebook."""
    return "Student" in head and ("SIS Login ID" in head or {"ID", "Section"} <= {*head})


def is_student(row: Row) -> bool:
    """Whether a row is a student's: not the points possible, a row of notes or the test student."""
    name, login = row.get("Student", "").strip(), row.get("SIS Login ID", "").strip()
    return (
        name not in (POINTS, *TEST_STUDENTS)
        and not TEST_LOGIN.fullmatch(login)
        and any(row.get(column, "").strip() for column in ("Student", "ID", "SIS Login ID"))
    )


def gradebook_fields(row: Row) -> dict[str, str]:
    """The id, the names and Canvas's id of a student, for nbgrader's gradebook.

    >>> gradebook_fields({"Student": "Byron, Ada", "ID": "4711", "SIS Login ID": "ada"})
    {'id': 'ada', 'first_name': 'Ada', 'last_name': 'Byron', 'lms_user_id': '4711'}
    """
    name, number = row["Student"].strip(), row.get("ID", "").strip()
    last, comma, first = name.partition(",")
    if not comma:  # "Ada Byron"
        first, _, last = name.rpartition(" ")
    return {
        "id": row.get("SIS Login ID", number).strip(),
        "first_name": first.strip(),
        "last_name": last.strip(),
        "lms_user_id": number,
    }


def identity(row: Row) -> dict[str, str]:
    """The columns by which Canvas identifies a student, unchanged and in order."""
    return {column: value for column, value in row.items() if column in IDENTITY}


def keep_identities(folder: CourseFolder, found: Mapping[str, Row]) -> None:
    """Add students' columns to those that the course keeps, by nbgrader's id."""
    if found:
        write_json(folder.root / FILE, kept_identities(folder) | found)


def kept_identities(folder: CourseFolder) -> dict[str, Row]:
    """The columns that the course keeps, by nbgrader's id; empty without an import from Canvas."""
    path = folder.root / FILE
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CourseFolderError(
            f"{path} cannot be read ({error}): import the roster from Canvas again"
        ) from error
