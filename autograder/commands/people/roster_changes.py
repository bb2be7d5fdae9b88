"""Compares a roster file with the students of a course, before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.course_folder.people import People, read_people
from autograder.reporting.gradebook import read_gradebook, students_of

IN_GRADEBOOK = ("first_name", "last_name", "email", "lms_user_id")
IN_PEOPLE = ("section", "group")
MAX_LISTED = 20  # students per line


@dataclass(frozen=True)
class RosterChanges:
    """What importing a roster changes; all students are named by their ids."""

    added: Sequence[str]
    changed: Mapping[str, Sequence[str]]  # student -> the changes, such as "section B (before: A)"
    missing: Sequence[str]  # students of the course, not dropped, that the file does not list
    dropped: Sequence[str]  # students in the file who are marked as dropped
    unknown: Sequence[
        str
    ]  # folders in submitted/ of students who are not in the file or the course
    groups: Mapping[str, int]  # group -> number of students in the file
    in_several: Mapping[str, str]  # student in several of Moodle's groups -> their names

    def lines(self) -> list[str]:
        """Return the changes in words, one line per kind."""
        lines = [f"added: {_listed(self.added)}"]
        lines += [f"changed: {name}: {', '.join(what)}" for name, what in self.changed.items()]
        if self.missing:
            lines.append(f"missing from the file: {_listed(self.missing)}")
        if self.dropped:
            lines.append(f"in the file, but dropped before: {_listed(self.dropped)}")
        if self.unknown:
            lines.append(f"folders in submitted/ of unknown students: {_listed(self.unknown)}")
        if self.groups:
            lines.append(
                f"groups: {len(self.groups)}; students in the largest: {max(self.groups.values())}"
            )
        if self.in_several:
            listed = [f"{name}: {groups}" for name, groups in self.in_several.items()]
            lines.append(
                f"in several groups in Moodle, the first of which is the section: {_listed(listed)}"
            )
        return lines


def roster_changes(folder: CourseFolder, students: Sequence[Mapping[str, Any]]) -> RosterChanges:
    """Return what adding these students to the roster of a course would change."""
    people, rows = read_people(folder.root), students_by_id(folder)
    listed = {student["id"] for student in students}
    changes = {
        student["id"]: _differences(student, rows.get(student["id"]), people)
        for student in students
        if student["id"] in rows or student["id"] in people.students
    }
    present = {*rows, *people.students}
    groups: dict[str, int] = {}
    for student in students:
        if group := student.get("group"):
            groups[group] = groups.get(group, 0) + 1
    return RosterChanges(
        sorted(listed - present),
        {name: what for name, what in changes.items() if what},
        sorted(name for name in present - listed if not people.person(name).dropped),
        sorted(name for name in listed if people.person(name).dropped),
        sorted(folder.submitters() - listed - present),
        groups,
        {student["id"]: student["groups"] for student in students if "groups" in student},
    )


def students_by_id(folder: CourseFolder) -> dict[str, Row]:
    """Return the students in the gradebook by id; none if there is no gradebook yet."""
    try:
        return {row.id: row for row in read_gradebook(folder, students_of)}
    except CourseFolderError:
        return {}


def _differences(student: Mapping[str, Any], row: Row | None, people: People) -> list[str]:
    """Return the fields of a student that a file changes, with their values."""
    before = {name: (getattr(row, name) if row else None) or "" for name in IN_GRADEBOOK}
    after = {name: student.get(name) or before[name] for name in IN_GRADEBOOK}
    person = people.person(student["id"])
    before |= {name: getattr(person, name) for name in IN_PEOPLE}
    after |= {name: student.get(name, before[name]) for name in IN_PEOPLE}
    return [
        f"{name} {after[name] or 'none'} (before: {before[name] or 'none'})"
        for name in (*IN_GRADEBOOK, *IN_PEOPLE)
        if after[name] != before[name]
    ]


def _listed(names: Sequence[str]) -> str:
    """Return the number of students and their names, or the first of many."""
    if not names:
        return "none"
    more = " ..." if len(names) > MAX_LISTED else ""
    return f"{len(names)} ({', '.join(names[:MAX_LISTED])}{more})"
