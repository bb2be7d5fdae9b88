"""Adds a class to the roster from a table that a learning management system has exported."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder, folder_lock, nfc
from autograder.course_folder.people import read_people, write_people
from autograder.database import database_errors_as_user_errors, db_url, with_retry
from autograder.errors import UserError
from autograder.lms import canvas, moodle
from autograder.lms.rosters import students_of_system
from autograder.lms.tables import Table, decoded, read_table
from autograder.reporting.export import is_own_export, original_text
from autograder.reporting.gradebook import read_gradebook, students_of

MAX_ID_LENGTH = 128  # the limit of a gradebook
COLUMNS = {  # nbgrader's name of a column -> names in rosters
    "id": ("id", "student_id", "student", "username", "login", "anmeldename"),
    "first_name": ("first_name", "firstname", "first", "given_name", "vorname"),
    "last_name": ("last_name", "lastname", "last", "surname", "family_name", "nachname"),
    "email": ("email", "e-mail", "mail", "email_address", "e-mail-adresse"),
    "section": ("section", "tutorium", "sektion", "sección", "seccion", "sezione"),
    "group": ("group", "team", "abgabegruppe", "lerngruppe", "équipe", "equipe", "equipo"),
    "lms_user_id": ("lms_user_id", "idnumber", "id_number", "canvas_id", "id-nummer"),
}


def read_roster(text: str, id_column: str = "") -> list[dict[str, Any]]:
    """Return the students in a table with a header row and with commas, semicolons or tabs as
    delimiters.

    The ids are in `id_column`; by default, the header decides. A student from Canvas's gradebook also
    has "canvas", which contains the columns that an export repeats, and a participant of several of
    Moodle's groups has "groups". Raises `UserError` for a table without ids, or with an invalid id.

    >>> read_roster("Username;First name\\nada;Ada\\n")
    [{'id': 'ada', 'first_name': 'Ada'}]
    """
    table = read_table(text, "the roster")
    students = students_of_system(table)
    if students is None:
        return _validated(_plain_students(table, id_column))
    if id_column:
        raise UserError(
            "--id is not for the rosters of Canvas, GitHub Classroom and Gradescope: the columns "
            "with their ids are known"
        )
    return _validated([(line, _with_section(fields)) for line, fields in students])


def _with_section(student: Mapping[str, Any]) -> dict[str, Any]:
    """Return a student with the section that is among Canvas's columns."""
    columns = student.get("canvas", {})
    return {**student} | ({"section": columns["Section"].strip()} if "Section" in columns else {})


def _plain_students(table: Table, id_column: str) -> list[tuple[int, dict[str, str]]]:
    """Return the students in a table that is not from Canvas, by line number; rows without text and
    Moodle's rows of staff are skipped.

    Raises `UserError` if there is no column with ids, or no student in the table.
    """
    columns = _columns_of(table)
    if id_column:
        columns["id"] = _chosen_column(table, id_column)
    restored = original_text if is_own_export(table.header) else str
    participants = moodle.is_participants(table.header)
    students = []
    for number, row in table.records():
        student = {column: restored(row[name]).strip() for column, name in columns.items()}
        if not any(student.values()) or (participants and not moodle.is_student(row)):
            continue
        if participants and moodle.GROUPS in row and "section" not in columns:
            student |= moodle.group_fields(row)
        students.append((number, student))
    if students and "id" not in columns:
        raise UserError(
            f"the roster has no column id in its header {_header_line(table)[:100]!r}: call the "
            "column id that names the students as their folders in submitted/ do, or name it with "
            "--id (in Moodle's exports that may be --id 'Email address' or --id 'ID number', or "
            "a column that you add with the usernames)"
        )
    if not students:
        raise UserError(
            "the roster needs a header with a column id (or username) and one line per student; "
            "first_name, last_name, email and lms_user_id are optional"
        )
    return students


def _columns_of(table: Table) -> dict[str, str]:
    """Return the table's name for each column that nbgrader knows. Raises `UserError` for
    duplicates.
    """
    columns: dict[str, str] = {}
    for column, names in COLUMNS.items():
        matches = [name for name in table.header if _normalised(name) in names]
        if len(matches) > 1:  # Canvas has a column Student with names and another one with ids
            matches = [name for name in matches if _normalised(name) != "student"]
        if len(matches) > 1:
            raise UserError(
                f"the roster has two columns for the same thing in its header "
                f"{_header_line(table)!r}: remove one of them"
            )
        columns |= dict.fromkeys([column] if matches else [], "".join(matches))
    return columns


def _chosen_column(table: Table, name: str) -> str:
    """Return the table's name of a column. Raises `UserError` if it has none, or several of them."""
    matches = [each for each in table.header if _normalised(each) == _normalised(name)]
    if len(matches) != 1:
        raise UserError(
            f"--id {name!r} must be one of the columns in the roster's header "
            f"{_header_line(table)[:100]!r}"
        )
    return matches[0]


def _validated(numbered: Sequence[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the students, normalised to NFC, from pairs of a line number and a student.

    Raises `UserError` for a student who cannot be on a roster.
    """
    if not numbered:
        raise UserError("the roster lists no students")
    students: dict[str, dict[str, Any]] = {}
    for number, fields in numbered:
        student = {
            column: nfc(value) if isinstance(value, str) else value
            for column, value in fields.items()
        }
        name = student["id"]
        if problem := _problem_of(student):
            raise UserError(f"line {number} of the roster: {problem}")
        if name in students:
            raise UserError(f"line {number} of the roster: {name} is listed twice")
        students[name] = student
    return list(students.values())


def _problem_of(student: Mapping[str, Any]) -> str:
    """Return the reason why a student cannot be on a roster, or ""."""
    name = student["id"]
    forbidden = not name or len(name) > MAX_ID_LENGTH or set("/\\*?[") & set(name)
    if forbidden or name in (".", "..") or not name.isprintable():
        return f"{name!r} cannot be a student's id"
    for value in student.values():
        if isinstance(value, str) and not value.isprintable():
            return f"{value!r} has a line break or other characters that cannot be printed"
    return ""


def load_roster(path: Path, id_column: str = "") -> list[dict[str, Any]]:
    """Return the students in a file in the form that `read_roster` returns. Raises `UserError`."""
    return read_roster(decoded(path.read_bytes(), path), id_column)


def add_roster(folder: CourseFolder, students: Sequence[Mapping[str, Any]]) -> None:
    """Add students to the course's roster, or update them, and keep their columns from Canvas.

    After the first call, students are unknown unless they were added here or are in the gradebook.
    """

    def write() -> None:
        from autograder.gradebook import Gradebook  # slow to import

        with Gradebook(db_url(folder)) as book:
            for student in students:
                book.update_or_create_student(
                    student["id"],
                    **{
                        key: value
                        for key, value in student.items()
                        if key in COLUMNS and key not in ("id", "section", "group") and value
                    },
                )

    with database_errors_as_user_errors(folder):
        with_retry(folder, write)
    add_people(folder, students)
    canvas.store_identities(
        folder, {student["id"]: student["canvas"] for student in students if "canvas" in student}
    )


def add_people(folder: CourseFolder, students: Sequence[Mapping[str, Any]]) -> None:
    """Store the sections and groups of students; without these columns, they are left unchanged."""
    with folder_lock(folder.root):
        people = read_people(folder.root)
        if not people.roster:
            for row in read_gradebook(folder, students_of):  # so that no marks disappear
                people = people.with_person(row.id)
        for student in students:
            fields = {key: student[key] for key in ("section", "group") if key in student}
            people = people.with_person(student["id"], **fields)
        write_people(folder.root, replace(people, roster=True))


def _normalised(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _header_line(table: Table) -> str:
    return table.delimiter.join(table.header)
