"""Finds and describes suspicious properties of submissions, which never change a mark."""

import hashlib
import io
import json
import sys
import sysconfig
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.grading.intake.submission_files import (
    MAX_LISTED,
    SubmissionFiles,
    list_submission,
    printable_name,
)
from autograder.reporting.gradebook import CellName
from course.checks import Study

KIT = {"autograder", "common", "course", "sequence", "tictactoe"}
STARTUP_MODULES = {"sitecustomize", "usercustomize"}  # Python imports these before anything else
IMPORTABLE_SUFFIXES = {".py", ".pyc", ".so", ".pyd"}
METADATA_KEYS = (
    "points",
    "grade",
    "solution",
    "locked",
    "task",
    "cell_type",
)  # keys of nbgrader's metadata
# The size in bytes up to which modules are compared without their layout, which is twenty times a
# long answer. Larger modules would take seconds and hundreds of megabytes to tokenize.
MAX_COMPARED_BYTES = 200_000
LAYOUT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL}


def suspicions(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """Return the suspicious properties of the submissions to `study`, by student.

    The report adds the findings of the command `similarity`.
    """
    release = folder.release(study.assignment)
    findings = defaultdict(list)
    owners = folder.owners(study.assignment)
    submissions = {
        student: list_submission(submission, study, release)
        for student, submission in folder.submitted(study.assignment).items()
        if owners[student] == student  # not copies of a group's submission
    }
    for student, submission in submissions.items():
        own = [
            *_links(submission),
            *_shadows(submission, study, release),
            *_changed_cells(submission, release),
            *_not_compared(submission, study),
        ]
        if own:
            findings[student] = own
    for students in _same_modules(submissions, study, release):
        for student in students:
            others = ", ".join(other for other in students if other != student)
            findings[student].append(f"the same {study.module} as {others}")
    return dict(sorted(findings.items()))


def _links(submission: SubmissionFiles) -> Iterator[str]:
    if submission.folder.is_symlink():
        yield "the whole submission is a link"
    links = [entry for entry in submission.entries if entry.kind == "link"]
    for entry in links[:MAX_LISTED]:
        yield f"{printable_name(entry.name)} is a link to {printable_name(entry.path.readlink())}"
    if links[MAX_LISTED:]:
        yield f"{len(links[MAX_LISTED:]):,} more links"


def _shadows(submission: SubmissionFiles, study: Study, release: Path) -> Iterator[str]:
    """Yield files and folders that would shadow installed modules."""
    for entry in submission.entries:
        path, name = entry.name, entry.name.name.partition(".")[0]
        if (
            len(path.parts) > 1
            or str(path) == study.module
            or (release / path).exists()
            or not name.isidentifier()
        ):
            continue
        if path.suffix in IMPORTABLE_SUFFIXES or entry.kind == "folder":
            if name in STARTUP_MODULES:
                yield f"{printable_name(path)} would run whenever Python starts"
            elif name in KIT or name in sys.stdlib_module_names or _is_installed(name):
                yield f"{printable_name(path)} has the name of an installed module"


def _is_installed(name: str) -> bool:
    places = sysconfig.get_paths()
    spec = PathFinder.find_spec(name, [places["purelib"], places["platlib"]])
    return spec is not None and spec.origin is not None


def _changed_cells(submission: SubmissionFiles, release: Path) -> Iterator[str]:
    """Yield changes to parts of graded cells that students have no reason to change."""
    for path in sorted(release.glob("*.ipynb")):
        theirs = submission.folder / path.name
        if theirs not in submission.files:
            continue
        released = dict(marked_cells(path))
        for grade_id, cell in dict.fromkeys(_differences(theirs, released)):
            yield f"{path.name}: the {cell} of the cell {grade_id} were changed; they were restored"


def _differences(path: Path, released: dict[str, dict]) -> Iterator[tuple[str, str]]:
    for grade_id, cell in marked_cells(path):
        if grade_id in released:
            theirs, ours = cell["metadata"]["nbgrader"], released[grade_id]["metadata"]["nbgrader"]
            if theirs.get("points") != ours.get("points"):
                yield grade_id, "points"
            if any(theirs.get(key) != ours.get(key) for key in METADATA_KEYS[1:]):
                yield grade_id, "settings"
            if cell["metadata"].get("tags", []) != released[grade_id]["metadata"].get("tags", []):
                yield grade_id, "tags"
            if ours.get("locked") and _source(cell) != _source(released[grade_id]):
                yield grade_id, "lines"


def marked_cells(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cells with a grade id in a notebook file, which may have any content."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    cells = data.get("cells") if isinstance(data, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        metadata = cell.get("metadata") if isinstance(cell, dict) else None
        marked = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        if isinstance(marked, dict) and "grade_id" in marked:
            yield str(marked["grade_id"]), cell


def in_notebook_order(
    folder: CourseFolder, study: Study, cells: Iterable[CellName]
) -> list[CellName]:
    """Sort cells by their position in the released notebooks; the gradebook does not store it."""
    released = [
        (path.stem, grade_id)
        for path in sorted(folder.release(study.assignment).glob("*.ipynb"))
        for grade_id, _ in marked_cells(path)
    ]
    place = {name: number for number, name in enumerate(released)}
    return sorted(cells, key=lambda name: (place.get(name, len(place)), name))


def _source(cell: dict[str, Any]) -> str:
    lines = cell.get("source")
    return ("".join(map(str, lines)) if isinstance(lines, list) else str(lines)).strip()


def _not_compared(submission: SubmissionFiles, study: Study) -> Iterator[str]:
    """Report a module that is too long to be compared except byte for byte."""
    for entry in submission.entries:
        if (
            str(entry.name) == study.module
            and not entry.ignored
            and entry.size > MAX_COMPARED_BYTES
        ):
            yield (
                f"{study.module} was not compared with other students' modules, except for "
                f"exact copies: it has {entry.size:,} bytes, more than {MAX_COMPARED_BYTES:,}"
            )


def _same_modules(
    submissions: Mapping[str, SubmissionFiles], study: Study, release: Path
) -> list[list[str]]:
    """Return groups of students whose modules differ only in comments and white space."""
    stub = _digest(release / study.module) if study.module else None
    groups = defaultdict(list)
    for student, submission in submissions.items():
        module = submission.folder / study.module
        digest = _digest(module) if module in submission.files else None
        if digest not in (None, stub):
            groups[digest].append(student)
    return [students for students in groups.values() if len(students) > 1]


def _digest(path: Path) -> str | None:
    """Return a digest of a module without comments and layout, or of its bytes; None if the module
    is blank.
    """
    raw = path.read_bytes()
    blank, digest = True, hashlib.sha256()
    try:
        if len(raw) > MAX_COMPARED_BYTES:
            raise tokenize.TokenError("too long")
        for token in tokenize.tokenize(io.BytesIO(raw).readline):
            if token.type not in LAYOUT:
                words = " ".join(token.string.split())  # without indentation and line ends
                blank = blank and not words
                digest.update(repr((token.type, words)).encode("utf-8", "surrogatepass"))
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        blank, digest = not raw.strip(), hashlib.sha256(raw)
    return None if blank else digest.hexdigest()
