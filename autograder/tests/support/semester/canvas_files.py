"""The files that an instructor downloads from Canvas, and the marks in the file that goes back."""

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

IDENTITY = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
TEST_STUDENT = [
    "Student, Test",
    "6999",
    "",
    "0123456789abcdef0123456789abcdef01234567",
    "Section A",
]
LAST_NAMES = ["Õunapuu", "O'Neil", "von Ahn", "Nguyễn", "Smith", "Müller-Lüdenscheidt"]
FIRST_NAMES = ["Zoë", "Jim", "Ada", "Ben", "Chloe", "Dan", "Eve", "Femi", "Gus", "Hana", "Ivo"]


class Student(NamedTuple):
    """A student in Canvas."""

    number: int  # 1, 2, ...; the id in the course is s01, s02, ...
    section: str

    @property
    def id(self) -> str:
        """The login, which is the id in the course."""
        return f"s{self.number:02}"

    @property
    def name(self) -> str:
        """The name as Canvas sorts it; one of them looks like a formula."""
        last = LAST_NAMES[self.number % 6]
        return f"{'=' if self.number == 7 else ''}{last}, {FIRST_NAMES[self.number % 11]}"

    @property
    def full_name(self) -> str:
        """The name as the course shows it."""
        last, first = self.name.split(", ")
        return f"{first} {last}"

    def row(self) -> list[str]:
        """The cells that identify the student."""
        return [self.name, str(7000 + self.number), f"X{self.number}", self.id, self.section]


def write_gradebook(path: Path, students: Iterable[Student], columns: Mapping[str, float]) -> Path:
    """Write a gradebook without marks; `columns` are the assignments' columns with their points."""
    empty = [""] * len(columns)
    points = [f"{number:.2f}" for number in columns.values()]
    rows = [
        [*IDENTITY, *columns, "Final Score"],
        ["    Points Possible", "", "", "", "", *points, "(read only)"],
        *([*student.row(), *empty, ""] for student in students),
        [*TEST_STUDENT, *empty, ""],
    ]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text("\ufeff" + text.getvalue(), "utf-8")
    return path


def write_submissions(path: Path, files: Mapping[Student, Mapping[str, str]]) -> Path:
    """Write the archive that *Download Submissions* gives, with these files of each student."""
    number = 90_000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, own in files.items():
            name = "".join(filter(str.isalnum, student.name)).lower()
            for file, text in own.items():
                number += 1
                archive.writestr(f"{name}_{7000 + student.number}_{number}_{file}", text)
    return path


def write_times(path: Path, times: Mapping[Student, str]) -> Path:
    """Write the table with the times of the submissions."""
    text = io.StringIO()
    rows = ([7000 + student.number, time] for student, time in times.items())
    csv.writer(text).writerows([["canvas_id", "submitted_at"], *rows])
    path.write_text(text.getvalue(), "utf-8")
    return path


def read_marks(path: Path) -> tuple[list[list[str]], dict[str, dict[str, float | None]]]:
    """Return the identifying cells of an export for Canvas, and the marks of each student by column.

    A blank is None.
    """
    head, _, *rows = csv.reader(io.StringIO(path.read_text("utf-8-sig")))
    width = len(IDENTITY)
    assert head[:width] == IDENTITY
    marks = {
        row[3]: {
            column: float(cell) if cell else None
            for column, cell in zip(head[width:], row[width:], strict=True)
        }
        for row in rows
    }
    return [row[:width] for row in rows], marks
