"""Submissions as the systems store them, and the students to whom they belong."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from autograder.course_folder import nfc


class FilePart(NamedTuple):
    """A file in an archive or folder; `problem` explains why it cannot be copied, or is empty."""

    name: PurePosixPath
    size: int
    open: Callable[[], IO[bytes]]
    problem: str = ""


class Hint(NamedTuple):
    """How a system identifies a student: the kind of identifier, the identifier, and the name."""

    kind: str  # canvas, participant, github, id, email or name
    value: str
    name: str = ""


Owner = tuple[Hint, ...]  # several identifiers of one student, the most reliable first


@dataclass
class Upload:
    """One submission: its students, its files by their names in the submission, and its time.

    `late` means that the system calls it late; `time` is None if the system does not export it.
    """

    label: str
    owners: tuple[Owner, ...]
    files: dict[str, FilePart] = field(default_factory=dict)
    late: bool = False
    time: datetime | None = None
    problems: list[str] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, part: FilePart, version: int = 0) -> None:
        """Add a file. Of several files with the same name, the one with the highest version counts."""
        if name in self.files:
            self.problems.append(f"there are several files {name}: the newest one counts")
            if version < self.versions[name]:
                return
        self.files[name] = part
        self.versions[name] = version


class Student(NamedTuple):
    """A student of the course with all known identifiers, by kind."""

    id: str
    identifiers: Mapping[str, Iterable[str]]
    names: Iterable[str]


class Directory:
    """The students of a course, by the identifiers that the systems use."""

    def __init__(self, students: Iterable[Student]) -> None:
        self.students: set[str] = set()
        self._by_identifier: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._names: dict[str, set[str]] = {}
        for student in students:
            self.students.add(student.id)
            self._names[student.id] = {*map(plain_name, student.names)} - {""}
            for kind, values in student.identifiers.items():
                for value in values:
                    if value.strip():
                        self._by_identifier[kind, plain_id(value)].add(student.id)
            for name in self._names[student.id]:
                self._by_identifier["name", name].add(student.id)
        self._knows_participants = any(kind == "participant" for kind, _ in self._by_identifier)

    def find(self, owner: Owner) -> str | None:
        """Return the student whom the first unambiguous hint identifies; None if there is none.

        If the course knows the participants of a Moodle assignment, only they are considered.
        """
        for hint in owner:
            plain = plain_name if hint.kind == "name" else plain_id
            students = self._by_identifier.get((hint.kind, plain(hint.value)), set())
            if len(students) == 1 and hint.value.strip():
                return next(iter(students))
            if hint.kind == "participant" and self._knows_participants:
                return None
        return None

    def has_name(self, hint: Hint) -> bool:
        """Whether the name in a hint is one of the student whom it identifies."""
        student = self.find((hint,))
        return student is not None and plain_name(hint.name) in self._names[student]


def plain_id(value: str) -> str:
    """Return an identifier in the form in which identifiers are compared.

    >>> plain_id(" Ada@example.org ")
    'ada@example.org'
    """
    return nfc(value).strip().casefold()


def plain_name(name: str) -> str:
    """Return the letters and digits of a name without accents, in lower case.

    >>> plain_name("Õunapuu, Zoë"), plain_name("zoë_õunapuu")
    ('ounapuuzoe', 'zoeounapuu')
    """
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", decomposed)))


def full_names(first: str, last: str) -> Iterator[str]:
    """Yield the forms in which systems write a name."""
    yield f"{first} {last}"
    yield f"{last}, {first}"


def matching_title(names: Iterable[str], titles: Mapping[str, str]) -> str:
    """Return the key of the title of an assignment that has several `names`.

    Returns "" if no title or several match. A title matches if it is one of the names, or if it begins
    with one, for example with "Study 3". The case and other characters than letters and digits do not
    count.
    """
    plain = {key: plain_name(title) for key, title in titles.items()}
    wanted = [plain_name(name) for name in names if plain_name(name)]
    for matches in (
        [key for key, title in plain.items() if title in wanted],
        [
            key
            for key, title in plain.items()
            if any(re.match(rf"{re.escape(name)}(?!\d)", title) for name in wanted)
        ],
    ):
        if matches:
            return matches[0] if len(matches) == 1 else ""
    return ""
