"""Puts a class on the roster, from a table as universities' systems export it."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.course_folder import CourseFolder
from autograder.database import db_url, patiently
from autograder.errors import Refused

COLUMNS = {  # nbgrader's name of a column -> what it may be called
    "id": ("id", "student_id", "student", "username", "login"),
    "first_name": ("first_name", "firstname", "first", "given_name"),
    "last_name": ("last_name", "lastname", "last", "surname", "family_name"),
    "email": ("email", "e-mail", "mail", "email_address"),
    "lms_user_id": ("lms_user_id", "idnumber", "id_number", "canvas_id"),
}


def read_roster(text: str) -> list[dict[str, str]]:
    """The students of a table with a head, by commas, semicolons or tabs, with or without a byte
    order mark. Raises `Refused` for a table without ids, or with an id that cannot be one.

    >>> read_roster("Username;First name\\nada;Ada\\n")
    [{'id': 'ada', 'first_name': 'Ada'}]
    """
    lines = text.removeprefix("\ufeff").strip()
    head = lines.partition("\n")[0]
    rows = list(csv.DictReader(io.StringIO(lines), delimiter=max(",;\t", key=head.count)))
    known = {name: column for column, names in COLUMNS.items() for name in names}
    found = [{known[key]: (value or "").strip() for name, value in row.items()
              if (key := _plain(name)) in known} for row in rows]
    if not found or "id" not in found[0]:
        raise Refused("the roster needs a head with a column id (or username) and a line for each "
                      "student; first_name, last_name, email and lms_user_id may follow")
    seen: set[str] = set()
    for number, student in enumerate(found, 2):
        name = student["id"]
        if not name or not name.isprintable() or set("/\\*?[") & set(name) or name in (".", ".."):
            raise Refused(f"line {number} of the roster: {name!r} cannot be a student's id")
        if name in seen:
            raise Refused(f"line {number} of the roster: {name} is there twice")
        seen.add(name)
    return found


def load_roster(path: Path) -> list[dict[str, str]]:
    """The students of a file, as `read_roster` gives them. Raises `Refused` as that does."""
    try:
        return read_roster(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise Refused(f"{path} is not in UTF-8: save it as \"CSV UTF-8\"") from None


def add_roster(folder: CourseFolder, found: Sequence[Mapping[str, str]]) -> None:
    """Put students on the course's roster, or bring them up to date."""
    def write() -> None:
        from nbgrader.api import Gradebook  # slow to import

        with Gradebook(db_url(folder)) as book:
            for student in found:
                book.update_or_create_student(student["id"], **{
                    key: value for key, value in student.items() if key != "id" and value})

    patiently(folder, write)


def _plain(name: str | None) -> str:
    return (name or "").strip().lower().replace(" ", "_")
