"""Canvas: the gradebook as CSV, and the archive of an assignment's submissions.

The formats are those of Canvas's instructor guide and of its source code, at the commits in the links:

- "How do I import grades in the Gradebook?" and "How do I export grades in the Gradebook?": a row is
  matched by its identifying columns, and read-only columns are ignored.
  https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807
  https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-export-grades-in-the-Gradebook/ta-p/809
  and, since the guide has moved,
  https://community.instructure.com/en/kb/articles/660862-how-do-i-import-grades-in-the-gradebook
  https://community.instructure.com/en/kb/articles/660866-how-do-i-export-grades-in-the-gradebook
- `lib/gradebook_exporter.rb`: the header, a row about manual posting, the row of possible points with
  "(read only)", and the test student at the end. An assignment's column is called `TITLE (ID)`.
  https://github.com/instructure/canvas-lms/blob/0140a2effa6366ea3b73aeefa4bbc384b943934f/lib/gradebook_exporter.rb
- `lib/gradebook_importer.rb`: a student is found by `ID`, then by the SIS ids, then by name; an
  assignment by the id at the end of its column's name. Columns of totals are skipped.
  https://github.com/instructure/canvas-lms/blob/00b222d77ee43d046e6aee0347c4ed5b27e1741f/lib/gradebook_importer.rb
- `lib/content_zipper.rb`: `NAME[_LATE]_USER_FILE_FILENAME`, where NAME is the sortable name without
  anything but letters, digits and underscores, and USER and FILE are Canvas's ids.
  https://github.com/instructure/canvas-lms/blob/05e9653c12ef7afc65815ca84e5da7aa2e4c3bd3/lib/content_zipper.rb

Canvas matches the rows of an import by the identifying columns, so an export repeats them unchanged.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.lms.store import read_store, section, update_section, update_store
from autograder.lms.tables import Table
from autograder.lms.uploads import Directory, FilePart, Hint, Upload, matching_title
from course.checks import UnknownCheck

COLUMNS, CHOSEN = "canvas_columns", "canvas_chosen"  # sections of lms.json
FILE = "canvas.json"  # in the course folder: the identifying columns, by nbgrader's id
DEFAULT = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
IDENTITY = {*DEFAULT, "LastName", "FirstName", "Integration ID", "Root Account"}
TOTALS = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
COLUMN = re.compile(r"(?P<title>.*)\s\((?P<id>\d+)\)", re.DOTALL)
POINTS = "Points Possible"
POINTS_CELL = "    Points Possible"  # exactly as Canvas writes it
READ_ONLY = "(read only)"
TEST_STUDENTS = ("Student, Test", "Test Student")
TEST_LOGIN = re.compile(r"[0-9a-f]{40}")  # the login that Canvas assigns to its test student
IDS = re.compile(r"(?=_(?:(?P<late>LATE)_)?(?P<user>\d+)_(?P<file>\d+)_(?P<name>.+))")
PAGE = re.compile(r"(?P<owner>.+?)_(?:(?P<late>LATE)_)?(?P<user>\d+)_(?:text|link)\.html")
AGAIN = re.compile(
    r"-\d{1,3}$"
)  # Canvas numbers a file that was submitted under the same name again
CanvasRow = Mapping[str, str]


def is_canvas(head: Sequence[str]) -> bool:
    """Whether the column names are those of Canvas's gradebook."""
    return ("Student" in head or {"LastName", "FirstName"} <= {*head}) and (
        "SIS Login ID" in head or {"ID", "Section"} <= {*head}
    )


def is_student(row: CanvasRow) -> bool:
    """Whether a row belongs to a student. Other rows contain possible points, notes or the test
    student.
    """
    name, login = _full_name(row), row.get("SIS Login ID", "").strip()
    return (
        name not in (POINTS, *TEST_STUDENTS)
        and not TEST_LOGIN.fullmatch(login)
        and any([name, row.get("ID", "").strip(), login])
    )


def _full_name(row: CanvasRow) -> str:
    """Return "Byron, Ada", from one column or from two."""
    if "Student" in row:
        return row["Student"].strip()
    last, first = row.get("LastName", "").strip(), row.get("FirstName", "").strip()
    return ", ".join(filter(None, (last, first)))


def gradebook_fields(row: CanvasRow) -> dict[str, str]:
    """Return the id, the names and Canvas's id of a student, for nbgrader's gradebook.

    >>> gradebook_fields({"Student": "Byron, Ada", "ID": "4711", "SIS Login ID": "ada"})
    {'id': 'ada', 'first_name': 'Ada', 'last_name': 'Byron', 'lms_user_id': '4711'}
    """
    name, number = _full_name(row), row.get("ID", "").strip()
    last, comma, first = name.partition(",")
    if not comma:  # "Ada Byron"
        first, _, last = name.rpartition(" ")
    return {
        "id": row.get("SIS Login ID", number).strip(),
        "first_name": first.strip(),
        "last_name": last.strip(),
        "lms_user_id": number,
    }


def identity(row: CanvasRow) -> dict[str, str]:
    """Return the columns by which Canvas identifies a student, unchanged and in order."""
    return {column: value for column, value in row.items() if column in IDENTITY}


def store_identities(folder: CourseFolder, identities: Mapping[str, CanvasRow]) -> None:
    """Add the identifying columns of students, by nbgrader's id, to the columns stored in the
    course.
    """
    if identities:
        update_store(folder, FILE, identities)


def stored_identities(folder: CourseFolder) -> dict[str, CanvasRow]:
    """Return the stored columns, by nbgrader's id; empty if no roster was imported from Canvas."""
    return read_store(folder, FILE)


# ---- Columns of assignments


def assignment_columns(table: Table) -> dict[str, str]:
    """Return the columns of assignments that can be imported, with their possible points.

    Columns of totals are read-only, and Canvas skips them.
    """
    points: Mapping[str, str] = next(
        (row for _, row in table.records() if _full_name(row) == POINTS), {}
    )
    return {
        name: points.get(name, "").strip()
        for name in table.header
        if COLUMN.fullmatch(name)
        and not TOTALS.search(name)
        and "read only" not in points.get(name, "")
    }


def column_id(column: str) -> str:
    """Return the id at the end of a column's name, or "".

    >>> column_id("Homework 3 (12345)"), column_id("Homework 3")
    ('12345', '')
    """
    match = COLUMN.fullmatch(column)
    return match["id"] if match else ""


def matching_column(names: Iterable[str], columns: Iterable[str]) -> str:
    """Return the column of an assignment that has several `names`, as `matching_title` does.

    >>> matching_column(["study3_type_a", "study3"], ["Study 3: Shannon (77)", "Study 30 (78)"])
    'Study 3: Shannon (77)'
    """
    return matching_title(names, {column: COLUMN.sub(r"\g<title>", column) for column in columns})


def known_columns(folder: CourseFolder) -> dict[str, str]:
    """Return the columns of assignments in the gradebook that was imported, with their points."""
    return section(folder, COLUMNS)


def choose_column(folder: CourseFolder, assignment: str, column: str) -> None:
    """Remember the column of an assignment. Raises `UserError` for an unknown column."""
    known = known_columns(folder)
    matches = [name for name in known if column in (name, column_id(name))]
    if known and not matches:
        raise UserError(
            f"Canvas's gradebook has no column {column!r}: it has {', '.join(known)} (if the "
            "assignment is new, import the roster from Canvas again)"
        )
    update_section(folder, CHOSEN, {assignment: matches[0] if matches else column})


def column_of(folder: CourseFolder, assignment: str) -> str:
    """Return the column of an assignment in Canvas's gradebook, "" if it is unknown.

    It is the one that was chosen, or the one whose title matches the assignment's names.
    """
    chosen = section(folder, CHOSEN).get(assignment)
    if isinstance(chosen, str):
        return chosen
    return matching_column(names_of(folder, assignment), known_columns(folder))


def names_of(folder: CourseFolder, assignment: str) -> list[str]:
    """Return the names that an assignment may have in a system."""
    names = [assignment]
    with suppress(UnknownCheck):
        study = folder.assignment(assignment)
        names += [study.name, study.title]
    return names


# ---- Archives


def read_uploads(
    parts: Iterable[FilePart], directory: Directory, wanted: Iterable[str]
) -> list[Upload]:
    """Return the submissions in an archive that Canvas made, one per student.

    Canvas adds a number to a file that was submitted again under the same name; it is removed if the
    rest is one of the `wanted` names.
    """
    uploads: dict[Hint, Upload] = {}
    names = set(wanted)
    for part in parts:
        divisions = _divisions(part.name.name) if len(part.name.parts) == 1 else []
        if not divisions:
            continue
        chosen = _chosen(divisions, directory)
        upload = uploads.setdefault(
            chosen.owner, Upload(f"{chosen.owner.name}_{chosen.owner.value}", ((chosen.owner,),))
        )
        upload.late |= chosen.late
        upload.add(_original_name(chosen.name, names), part, chosen.file)
    return list(uploads.values())


class _Division(NamedTuple):
    """A way to divide a file's name into its owner, whether it is late, its id and its own name."""

    owner: Hint
    late: bool
    file: int
    name: str


def _divisions(name: str) -> list[_Division]:
    """Return every way to divide a name, because students choose their names and their files'."""
    divisions = [
        _Division(
            Hint("canvas", match["user"], name[: match.start()]),
            match["late"] is not None,
            int(match["file"]),
            match["name"],
        )
        for match in IDS.finditer(name)
        if match.start()
    ]
    page = PAGE.fullmatch(name)
    if not divisions and page:
        owner = Hint("canvas", page["user"], page["owner"])
        divisions.append(_Division(owner, page["late"] is not None, 0, name))
    return divisions


def _chosen(divisions: Sequence[_Division], directory: Directory) -> _Division:
    """Return the division whose owner is a student of the course.

    If there are several students, the name must be the student's as well; otherwise the file has no
    owner. "LATE" before a student's number is not part of the name.
    """
    known = [each for each in divisions if directory.find((each.owner,))]
    if len({directory.find((each.owner,)) for each in known}) > 1:
        known = [each for each in known if directory.has_name(each.owner)]
        if len(known) != 1:
            first = divisions[0]
            return first._replace(owner=Hint("canvas", "", first.owner.name))
    return (known or divisions)[0]


def _original_name(name: str, wanted: set[str]) -> str:
    """Return a file's name without the number of a resubmission.

    >>> _original_name("type_a-2.py", {"type_a.py"}), _original_name("notes-2.py", {"type_a.py"})
    ('type_a.py', 'notes-2.py')
    """
    stem, dot, suffix = name.rpartition(".")
    shorter = AGAIN.sub("", stem) + dot + suffix
    return shorter if name not in wanted and shorter in wanted else name
