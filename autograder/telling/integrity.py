"""Finds what is suspicious about submissions, in sentences; none of it changes a mark."""

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
from autograder.grading.handed_in import TOLD, HandedIn, look_at, shown
from autograder.telling.gradebook import CellName
from course.probes import Study

KIT = {"tictactoe", "sequence", "course", "autograder"}
AT_START = {"sitecustomize", "usercustomize"}  # Python imports these before anything else
IMPORTED = {".py", ".pyc", ".so", ".pyd"}
KEYS = ("points", "grade", "solution", "locked", "task", "cell_type")  # of nbgrader's metadata
# Bytes of a module that is compared without its layout: twenty times a long answer. Tokens of more
# would cost seconds and hundreds of megabytes.
COMPARED = 200_000
LAYOUT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL}


def suspicions(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """What is suspicious about the submissions to `study`, by student, if anything is."""
    release = folder.release(study.assignment)
    found = defaultdict(list)
    everything = {
        student: look_at(submission, study, release)
        for student, submission in folder.submitted(study.assignment).items()
    }
    for student, handed_in in everything.items():
        said = [
            *_links(handed_in),
            *_shadows(handed_in, study, release),
            *_changed_cells(handed_in, release),
            *_not_compared(handed_in, study),
        ]
        if said:
            found[student] = said
    for students in _same_modules(everything, study, release):
        for student in students:
            others = ", ".join(other for other in students if other != student)
            found[student].append(f"the same {study.module} as {others}")
    return dict(sorted(found.items()))


def _links(handed_in: HandedIn) -> Iterator[str]:
    if handed_in.folder.is_symlink():
        yield "the whole submission is a link"
    links = [entry for entry in handed_in.entries if entry.kind == "link"]
    for entry in links[:TOLD]:
        yield f"{shown(entry.name)} is a link to {shown(entry.path.readlink())}"
    if links[TOLD:]:
        yield f"{len(links[TOLD:]):,} more links"


def _shadows(handed_in: HandedIn, study: Study, release: Path) -> Iterator[str]:
    """Files and folders that would be imported instead of what is installed."""
    for entry in handed_in.entries:
        path, name = entry.name, entry.name.name.partition(".")[0]
        if (
            len(path.parts) > 1
            or str(path) == study.module
            or (release / path).exists()
            or not name.isidentifier()
        ):
            continue
        if path.suffix in IMPORTED or entry.kind == "folder":
            if name in AT_START:
                yield f"{shown(path)} would run whenever Python starts"
            elif name in KIT or name in sys.stdlib_module_names or _is_installed(name):
                yield f"{shown(path)} has the name of an installed module"


def _is_installed(name: str) -> bool:
    places = sysconfig.get_paths()
    spec = PathFinder.find_spec(name, [places["purelib"], places["platlib"]])
    return spec is not None and spec.origin is not None


def _changed_cells(handed_in: HandedIn, release: Path) -> Iterator[str]:
    """What was changed in marked cells that people have no reason to change."""
    for path in sorted(release.glob("*.ipynb")):
        theirs = handed_in.folder / path.name
        if theirs not in handed_in.files:
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
            if any(theirs.get(key) != ours.get(key) for key in KEYS[1:]):
                yield grade_id, "settings"
            if cell["metadata"].get("tags", []) != released[grade_id]["metadata"].get("tags", []):
                yield grade_id, "tags"
            if ours.get("locked") and _source(cell) != _source(released[grade_id]):
                yield grade_id, "lines"


def marked_cells(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cells with an id of nbgrader's, of a file that may hold anything."""
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


def in_order(folder: CourseFolder, study: Study, cells: Iterable[CellName]) -> list[CellName]:
    """Cells as they follow each other in the released notebooks, which the gradebook does not know."""
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


def _not_compared(handed_in: HandedIn, study: Study) -> Iterator[str]:
    """A module that is too long to be compared with others except byte for byte."""
    for entry in handed_in.entries:
        if str(entry.name) == study.module and not entry.ignored and entry.size > COMPARED:
            yield (
                f"{study.module} was not compared with other students' modules, except for "
                f"exact copies: it has {entry.size:,} bytes, more than {COMPARED:,}"
            )


def _same_modules(
    everything: Mapping[str, HandedIn], study: Study, release: Path
) -> list[list[str]]:
    """Groups of students whose modules are the same but for comments and blanks."""
    stub = _digest(release / study.module) if study.module else None
    groups = defaultdict(list)
    for student, handed_in in everything.items():
        module = handed_in.folder / study.module
        digest = _digest(module) if module in handed_in.files else None
        if digest not in (None, stub):
            groups[digest].append(student)
    return [students for students in groups.values() if len(students) > 1]


def _digest(path: Path) -> str | None:
    """A digest of a module without comments and layout, or of its bytes; None if it is blank."""
    raw = path.read_bytes()
    blank, digest = True, hashlib.sha256()
    try:
        if len(raw) > COMPARED:
            raise tokenize.TokenError("too long")
        for token in tokenize.tokenize(io.BytesIO(raw).readline):
            if token.type not in LAYOUT:
                words = " ".join(token.string.split())  # no more of indents and line ends
                blank = blank and not words
                digest.update(repr((token.type, words)).encode("utf-8", "surrogatepass"))
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        blank, digest = not raw.strip(), hashlib.sha256(raw)
    return None if blank else digest.hexdigest()
