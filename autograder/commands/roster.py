"""Puts a class on the roster, from a table as universities' systems export it."""

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder, nfc
from autograder.database import db_url, patiently, refused_in_words
from autograder.errors import Refused
from autograder.telling import canvas

LONGEST = 128  # characters of an id: what a gradebook keeps
COLUMNS = {  # nbgrader's name of a column -> what it may be called
    "id": ("id", "student_id", "student", "username", "login", "anmeldename"),
    "first_name": ("first_name", "firstname", "first", "given_name", "vorname"),
    "last_name": ("last_name", "lastname", "last", "surname", "family_name", "nachname"),
    "email": ("email", "e-mail", "mail", "email_address", "e-mail-adresse"),
    "lms_user_id": ("lms_user_id", "idnumber", "id_number", "canvas_id", "id-nummer"),
}


def read_roster(text: str) -> list[dict[str, Any]]:
    """The students of a table with a head, by commas, semicolons or tabs, with or without a byte
    order mark. Raises `Refused` for a table without ids, or with an id that cannot be one.

    A student from Canvas's gradebook also has "canvas": the columns that an export repeats.

    >>> read_roster("Username;First name\\nada;Ada\\n")
    [{'id': 'ada', 'first_name': 'Ada'}]
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if named := re.match(r"sep=([,;\t])\n", text):  # a line for Excel, before the head
        text = "\n" + text[named.end() :]
    lines = text.strip()
    above = text[: len(text) - len(text.lstrip())].count("\n")
    head = lines.partition("\n")[0]
    table = csv.DictReader(io.StringIO(lines), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        rows = [(above + table.line_num, row) for row in table]
    except csv.Error as error:  # a quote that is never closed would swallow the rest of the class
        raise Refused(
            f"from line {above + table.line_num + 1} on the roster is no table "
            f"({error}): look for a quotation mark too many"
        ) from None
    head_names = [name or "" for name in table.fieldnames or ()]
    if canvas.is_canvas(head_names):
        found = [
            (number, {**canvas.gradebook_fields(whole), "canvas": canvas.identity(whole)})
            for number, row in rows
            for whole in [{name: row.get(name) or "" for name in head_names}]
            if canvas.is_student(whole)
        ]
        return _checked(found)
    columns: dict[str, str] = {}
    for column, names in COLUMNS.items():
        there = [name for name in table.fieldnames or () if _plain(name) in names]
        if len(there) > 1:  # Canvas has a Student, who is a name, beside an ID
            there = [name for name in there if _plain(name) != "student"]
        if len(there) > 1:
            raise Refused(
                f"the roster has two columns for the same thing in its head {head!r}: "
                "leave one of them out"
            )
        columns |= dict.fromkeys(there, column)
    found = [
        (number, {column: (row[name] or "").strip() for name, column in columns.items()})
        for number, row in rows
    ]
    found = [(number, student) for number, student in found if any(student.values())]
    if found and columns and "id" not in columns.values():
        raise Refused(
            f"the roster has no column id in its head {head[:100]!r}: call the column id "
            "that names the students as their folders in submitted/ do (in Moodle's "
            "exports that may be the column Email address or ID number, or one that you "
            "add with the usernames)"
        )
    if not found or "id" not in columns.values():
        raise Refused(
            "the roster needs a head with a column id (or username) and a line for each "
            "student; first_name, last_name, email and lms_user_id may follow"
        )
    return _checked(found)


def _checked(numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The students of lines by their numbers, normalised (NFC). Raises `Refused` for one that
    cannot be on a roster."""
    found = [
        (
            number,
            {
                column: nfc(value) if isinstance(value, str) else value
                for column, value in student.items()
            },
        )
        for number, student in numbered
    ]
    if not found:
        raise Refused("the roster lists no students")
    seen: set[str] = set()
    for number, student in found:
        name = student["id"]
        if (
            not name
            or len(name) > LONGEST
            or set("/\\*?[") & set(name)
            or name in (".", "..")
            or not name.isprintable()
        ):
            raise Refused(f"line {number} of the roster: {name!r} cannot be a student's id")
        if odd := [
            value
            for value in student.values()
            if isinstance(value, str) and not value.isprintable()
        ]:
            raise Refused(
                f"line {number} of the roster: {odd[0]!r} has a line break or other "
                "characters that cannot be printed"
            )
        if name in seen:
            raise Refused(f"line {number} of the roster: {name} is there twice")
        seen.add(name)
    return [student for _, student in found]


def load_roster(path: Path) -> list[dict[str, Any]]:
    """The students of a file, as `read_roster` gives them. Raises `Refused` as that does."""
    content = path.read_bytes()
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return read_roster(content.decode("utf-16" if utf16 else "utf-8-sig"))
    except UnicodeDecodeError:
        raise Refused(f'{path} is not in UTF-8: save it as "CSV UTF-8"') from None


def add_roster(folder: CourseFolder, found: Sequence[Mapping[str, Any]]) -> None:
    """Put students on the course's roster, or update them, and keep their columns of Canvas's."""

    def write() -> None:
        from autograder.gradebook import Gradebook  # slow to import

        with Gradebook(db_url(folder)) as book:
            for student in found:
                book.update_or_create_student(
                    student["id"],
                    **{
                        key: value
                        for key, value in student.items()
                        if key not in ("id", "canvas") and value
                    },
                )

    with refused_in_words(folder):
        patiently(folder, write)
    canvas.keep_identities(
        folder, {student["id"]: student["canvas"] for student in found if "canvas" in student}
    )


def _plain(name: str | None) -> str:
    return (name or "").strip().lower().replace(" ", "_")
