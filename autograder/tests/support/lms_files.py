"""Texts and tables as learning management systems may export them."""

import csv
import io
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from hypothesis import strategies as st

from autograder.course_folder import CourseFolder
from autograder.lms.collect import Collected, Times, collect_from
from autograder.lms.rosters import directory
from course.checks import load_study

ODD = [
    "Byron, Ada",
    "Õunapuu, Zoë",
    "O'Neil; Jim",
    '"Quoted", Q',
    "=HYPERLINK(1)",
    '="=1+1"',
    "+49 30",
    "-1",
    "@home",
    "李, 雷",
    " Leading, X",
    "Tab\tbed, T",
    "Müller|Pipe, P",
    "'=x, Y",
    "Two\nLines, T",
]
# No control characters, which no system allows in names; no lone surrogates, which are not text.
LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp"))
WORDS = st.text(LETTERS, min_size=1, max_size=12).filter(str.strip)
NAMES = st.one_of(st.sampled_from(ODD), WORDS)
IDS = st.integers(1, 10**9).map(str)
LOGINS = st.from_regex(r"[a-z0-9+=@._-]{1,12}", fullmatch=True).filter(
    lambda text: text not in (".", "..")
)
BOMS = st.sampled_from(["", "\ufeff"])
DELIMITERS = st.sampled_from([",", ";", "\t"])
NEWLINES = st.sampled_from(["\n", "\r\n"])


def written(rows, delimiter=",", newline="\n", bom="") -> str:
    """Rows as CSV."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=newline).writerows(rows)
    return bom + file.getvalue()


def student(name: str, first="", last="", email="", number="") -> SimpleNamespace:
    """A row of the gradebook."""
    return SimpleNamespace(
        id=name, first_name=first, last_name=last, email=email, lms_user_id=number
    )


STUDY = load_study("study3")
NOTEBOOK = "05_type_a.ipynb"
DUE = datetime(2026, 3, 2, 10, tzinfo=UTC)
CLASS = [  # id, first and last name, email, Canvas's id
    student("ada", "Ada", "Byron", "ada@example.org", "4711"),
    student("ben", "Ben", "Li", "ben@example.org", "4712"),
    student("zoe", "Zoë", "Õunapuu", "zoe@example.org", "4713"),
]


def course(root: Path) -> CourseFolder:
    """A course folder with a released assignment and without a gradebook."""
    folder = CourseFolder.create(root)
    release = folder.release(STUDY.assignment)
    release.mkdir(parents=True)
    (release / NOTEBOOK).write_text("{}", "utf-8")
    return folder


def archive(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """A zip file with these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


def collected(folder: CourseFolder, path: Path, *times, students=None, system="") -> Collected:
    """The result of collecting an archive, for the class or for other students."""
    known = directory(folder, CLASS if students is None else students, STUDY.assignment)
    return collect_from(folder, STUDY, path, known, Times(times, DUE), system)


def submissions(folder: CourseFolder) -> dict[str, str]:
    """All files below `submitted`, with their contents."""
    home = folder.root / "submitted"
    return {
        path.relative_to(home).as_posix(): path.read_text("utf-8")
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


def submission(name: str, **files: str) -> dict[str, str]:
    """The files of a student's submission as `submissions` returns them; `__` stands for a dot."""
    return {
        f"{name}/{STUDY.assignment}/{file.replace('__', '.')}": content
        for file, content in files.items()
    }
