"""Recognises the rosters of the systems, and remembers what their exports and archives need."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.lms import canvas, github, gradescope, moodle
from autograder.lms.store import section, update_section
from autograder.lms.tables import Table, load_table
from autograder.lms.uploads import Directory, Hint, Student, full_names, plain_id

Fields = dict[str, Any]
MOODLE, GITHUB = "moodle_participants", "github_names"  # sections of lms.json


def students_of_system(table: Table) -> list[tuple[int, Fields]] | None:
    """Return the students in a table of a known system, each with the number of its line.

    Returns None for any other table, such as Moodle's, whose columns are plain. A student from Canvas
    also has "canvas", the columns that an export repeats.
    """
    head, rows = table.header, table.records()
    if canvas.is_canvas(head):
        return [
            (line, {**canvas.gradebook_fields(row), "canvas": canvas.identity(row)})
            for line, row in rows
            if canvas.is_student(row)
        ]
    if github.is_roster(head):
        return [(line, github.roster_fields(row)) for line, row in rows if any(row.values())]
    if gradescope.is_roster(head):
        return [
            (line, gradescope.roster_fields(row))
            for line, row in rows
            if gradescope.is_student(row)
        ]
    return None


def remember_roster(folder: CourseFolder, path: Path) -> None:
    """Remember the columns of Canvas's assignments, or the students' names on GitHub, in a roster."""
    table = load_table(path, "the roster")
    if canvas.is_canvas(table.header):
        update_section(folder, canvas.COLUMNS, canvas.assignment_columns(table))
    elif github.is_roster(table.header):
        update_section(folder, GITHUB, github.usernames(table))


def with_known_ids(path: Path, students: Iterable[Fields], known: Directory) -> list[Fields]:
    """Return the students in a roster, with the ids that the course already uses for them.

    GitHub Classroom's identifiers, Gradescope's SIDs and addresses, and those of Moodle's participants
    may be other identifiers of students who came from another roster. The ids in other rosters are
    unchanged.
    """
    head = load_table(path, "the roster").header
    others = (github.is_roster, gradescope.is_roster, moodle.is_participants)
    if canvas.is_canvas(head) or not any(matches(head) for matches in others):
        return list(students)
    return [
        {
            **student,
            "id": known.find((Hint("id", student["id"]), Hint("email", student.get("email", ""))))
            or student["id"],
        }
        for student in students
    ]


def directory(folder: CourseFolder, students: Iterable[Any], assignment: str) -> Directory:
    """Return the students in the gradebook, with the identifiers that the systems use.

    `students` are rows with id, first_name, last_name, email and lms_user_id. Students who are not on
    the roster are left out. Without a roster from GitHub Classroom, ids are names on GitHub.
    """
    people, identities = folder.people(), canvas.stored_identities(folder)
    participants = section(folder, MOODLE).get(assignment, {})
    on_github = section(folder, GITHUB)
    return Directory(
        _student(student, identities.get(student.id, {}), participants, on_github)
        for student in students
        if not people.is_unknown(student.id)
    )


def _student(
    row: Any,
    columns: Mapping[str, str],
    participants: Mapping[str, str],
    on_github: Mapping[str, str],
) -> Student:
    """Return a student with all known identifiers; `columns` are Canvas's."""
    sis = [columns.get(name, "") for name in ("SIS Login ID", "SIS User ID")]
    own = [row.id, row.email or "", row.lms_user_id or "", *sis]
    plain = {*map(plain_id, own)}
    return Student(
        row.id,
        {
            "canvas": [columns.get("ID", ""), row.lms_user_id or ""],
            "id": own,
            "email": [row.email or "", row.id],
            "participant": [key for key, name in participants.items() if name == row.id],
            "github": [key for key, name in on_github.items() if plain_id(name) in plain]
            if on_github
            else [row.id],
        },
        [*full_names(row.first_name or "", row.last_name or ""), columns.get("Student", "")],
    )
