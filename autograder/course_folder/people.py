"""What a course knows about its students besides their names: `people.json` in the course folder.

```
{
 "roster": true,                              whether a roster was imported
 "students": {"ada": {"section": "A", "group": "7", "dropped": true}},
 "extensions": [
  {"assignment": "study2_alpha_beta", "student": "ada", "days": 2},
  {"assignment": "study2_alpha_beta", "section": "B", "until": "2027-03-05T22:59:00+00:00"}
 ]
}
```

Names, addresses and marks are in the gradebook. This file is written only by commands, atomically, and
grading leaves it unchanged.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.errors import UserError

FILE = "people.json"
KINDS = ("student", "group", "section")  # to whom an extension applies


class PeopleError(UserError):
    """`people.json` cannot be read."""


@dataclass(frozen=True)
class Person:
    """A student's section, group and status."""

    section: str = ""
    group: str = ""
    dropped: bool = False


@dataclass(frozen=True)
class Extension:
    """More time for an assignment: for a number of days, or until a time."""

    assignment: str
    kind: str  # one of KINDS
    name: str
    days: float = 0
    until: datetime | None = None

    def granted(self, due: datetime | None) -> timedelta:
        """Return the time that is added to a due date, an aware time; none if there is no due date."""
        if self.until is None:
            return timedelta(days=self.days)
        return max(self.until - due, timedelta()) if due else timedelta()


@dataclass(frozen=True)
class People:
    """The content of `people.json`."""

    students: Mapping[str, Person] = field(default_factory=dict)
    extensions: Sequence[Extension] = ()
    roster: bool = False

    def person(self, student: str) -> Person:
        """Return what is known about a student; a default if nothing is."""
        return self.students.get(student, Person())

    def is_unknown(self, student: str) -> bool:
        """Whether a roster was imported that does not list this student."""
        return self.roster and student not in self.students

    def is_active(self, student: str) -> bool:
        """Whether a student is on the roster and has not been dropped."""
        return not self.is_unknown(student) and not self.person(student).dropped

    def dropped(self, students: Iterable[str]) -> list[str]:
        """Return those `students` who are marked as dropped."""
        return sorted(student for student in students if self.person(student).dropped)

    def in_section(self, section: str) -> list[str]:
        """Return the students of a section. Raises `UserError` if there is no such section."""
        students = [name for name, person in self.students.items() if person.section == section]
        if not students or not section:
            listed = ", ".join(self.names("section"))
            raise UserError(
                f"there is no section {section!r} on the roster"
                + (f", only {listed}" if listed else ": import one with a column section")
            )
        return sorted(students)

    def groups(self) -> dict[str, list[str]]:
        """Return the students of each group, including dropped ones, by the group's name."""
        groups: dict[str, list[str]] = {}
        for name, person in sorted(self.students.items()):
            if person.group:
                groups.setdefault(person.group, []).append(name)
        return groups

    def members(self, student: str) -> list[str]:
        """Return the students of a student's group, including dropped ones; without a group, only
        the student.
        """
        group = self.person(student).group
        return self.groups()[group] if group else [student]

    def names(self, kind: str) -> list[str]:
        """Return all students, groups or sections, by their names."""
        if kind == "student":
            return sorted(self.students)
        return sorted({getattr(person, kind) for person in self.students.values()} - {""})

    def extension(self, assignment: str, student: str, due: datetime | None) -> timedelta:
        """Return the most generous of the extensions that apply to a student."""
        person = self.person(student)
        names = {"student": student, "group": person.group, "section": person.section}
        return max(
            (
                each.granted(due)
                for each in self.extensions
                if each.assignment == assignment and names[each.kind] == each.name
            ),
            default=timedelta(),
        )

    def students_of(self, extension: Extension, students: Iterable[str]) -> list[str]:
        """Return those `students` to whom an extension applies."""
        return [
            student
            for student in students
            if extension.name
            == (
                student
                if extension.kind == "student"
                else getattr(self.person(student), extension.kind)
            )
        ]

    def with_person(self, student: str, **changes: Any) -> "People":
        """Return these people after a change of one student, added to them if necessary."""
        changed = replace(self.person(student), **changes)
        return replace(self, students={**self.students, student: changed})

    def with_extension(self, extension: Extension) -> "People":
        """Return these people with an extension, which replaces an earlier one of the same name."""
        return replace(self, extensions=[*self.without(extension).extensions, extension])

    def without(self, extension: Extension) -> "People":
        """Return these people without the extension for the same assignment and name."""
        key = extension.assignment, extension.kind, extension.name
        return replace(
            self,
            extensions=[e for e in self.extensions if (e.assignment, e.kind, e.name) != key],
        )


def read_people(root: Path) -> People:
    """Return the people of the course folder `root`; none without a file. Raises `PeopleError`."""
    path = root / FILE
    try:
        status = path.stat()
        return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))
    except FileNotFoundError:
        return People()


@lru_cache(maxsize=8)
def _read(path: Path, _version: tuple[int, ...]) -> People:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PeopleError(
            f"{path} cannot be read ({error}): restore it from your backup; without one, delete it, "
            "import the roster again and repeat the extensions"
        ) from error
    try:
        return _people(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PeopleError(
            f"{path} has an unexpected content ({type(error).__name__}: {error}): restore it from "
            "your backup; without one, delete it, import the roster again and repeat the extensions"
        ) from error


def _people(data: Mapping[str, Any]) -> People:
    people = People(
        {name: Person(**fields) for name, fields in data.get("students", {}).items()},
        [_extension(entry) for entry in data.get("extensions", [])],
        data.get("roster", False),
    )
    for person in people.students.values():
        if not (
            isinstance(person.section, str)
            and isinstance(person.group, str)
            and isinstance(person.dropped, bool)
        ):
            raise ValueError(f"{person} has a value of the wrong type")
    return people


def _extension(entry: Mapping[str, Any]) -> Extension:
    (kind,) = entry.keys() & set(KINDS)
    until = datetime.fromisoformat(entry["until"]).astimezone(UTC) if "until" in entry else None
    return Extension(
        str(entry["assignment"]), kind, str(entry[kind]), float(entry.get("days", 0)), until
    )


def write_people(root: Path, people: People) -> None:
    """Write the people of a course folder, atomically."""
    data = {
        "roster": people.roster,
        "students": {
            name: {key: value for key, value in vars(person).items() if value}
            for name, person in sorted(people.students.items())
        },
        "extensions": [_entry(extension) for extension in people.extensions],
    }
    path = root / FILE
    part = path.with_name(f".{FILE}-{os.getpid()}")
    part.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    part.replace(path)


def _entry(extension: Extension) -> dict[str, Any]:
    amount = (
        {"days": extension.days}
        if extension.until is None
        else {"until": extension.until.isoformat()}
    )
    return {"assignment": extension.assignment, extension.kind: extension.name, **amount}
