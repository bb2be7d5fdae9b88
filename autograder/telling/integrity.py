"""Finds what is suspicious about submissions, in sentences; none of it changes a mark."""

import hashlib
import io
import json
import sys
import sysconfig
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.sandbox.limits import MAX_BYTES
from course.probes import Study

KIT = {"tictactoe", "sequence", "course", "autograder"}
AT_START = {"sitecustomize", "usercustomize"}  # Python imports these before anything else
IMPORTED = {".py", ".pyc", ".so", ".pyd"}
KEYS = ("points", "grade", "solution", "locked", "task", "cell_type")  # of nbgrader's metadata
LAYOUT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL}


def suspicions(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """What is suspicious about the submissions to `study`, by student, if anything is."""
    release = folder.release(study.assignment)
    found = defaultdict(list)
    for student, submission in folder.submitted(study.assignment).items():
        said = [*_links(submission), *_shadows(submission, study, release),
                *_changed_cells(submission, release)]
        if said:
            found[student] = said
    for students in _same_modules(folder, study):
        for student in students:
            others = ", ".join(other for other in students if other != student)
            found[student].append(f"the same {study.module} as {others}")
    return dict(sorted(found.items()))


def _links(submission: Path) -> Iterator[str]:
    if submission.is_symlink():
        yield "the whole submission is a link"
        return
    for path in sorted(submission.rglob("*")):
        if path.is_symlink():
            yield f"{_shown(path.relative_to(submission))} is a link to {_shown(path.readlink())}"


def _shadows(submission: Path, study: Study, release: Path) -> Iterator[str]:
    """Files and folders that would be imported instead of what is installed."""
    if submission.is_symlink() or not submission.is_dir():
        return
    for path in sorted(submission.iterdir()):
        name = path.name.partition(".")[0]
        if path.name == study.module or (release / path.name).exists() or not name.isidentifier():
            continue
        if path.suffix in IMPORTED or path.is_dir():
            if name in AT_START:
                yield f"{_shown(path.name)} would run whenever Python starts"
            elif name in KIT or name in sys.stdlib_module_names or _is_installed(name):
                yield f"{_shown(path.name)} has the name of an installed module"


def _is_installed(name: str) -> bool:
    places = sysconfig.get_paths()
    spec = PathFinder.find_spec(name, [places["purelib"], places["platlib"]])
    return spec is not None and spec.origin is not None


def _changed_cells(submission: Path, release: Path) -> Iterator[str]:
    """What was changed in marked cells that people have no reason to change."""
    if submission.is_symlink():
        return
    for path in sorted(release.glob("*.ipynb")):
        released = dict(marked_cells(path))
        for grade_id, cell in dict.fromkeys(_differences(submission / path.name, released)):
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
        if path.is_symlink() or path.stat().st_size > MAX_BYTES:
            return
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    cells = data.get("cells") if isinstance(data, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        metadata = cell.get("metadata") if isinstance(cell, dict) else None
        marked = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        if isinstance(marked, dict) and "grade_id" in marked:
            yield str(marked["grade_id"]), cell


def _source(cell: dict[str, Any]) -> str:
    lines = cell.get("source")
    return ("".join(map(str, lines)) if isinstance(lines, list) else str(lines)).strip()


def _same_modules(folder: CourseFolder, study: Study) -> list[list[str]]:
    """Groups of students whose modules are the same but for comments and blanks."""
    if not study.module:
        return []
    stub = _digest(folder.release(study.assignment) / study.module)
    groups = defaultdict(list)
    for student, submission in folder.submitted(study.assignment).items():
        digest = None if submission.is_symlink() else _digest(submission / study.module)
        if digest not in (None, stub):
            groups[digest].append(student)
    return [students for students in groups.values() if len(students) > 1]


def _digest(path: Path) -> str | None:
    """A digest of a module without comments and layout, or of its bytes; None if it is blank."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    raw = path.read_bytes()
    try:
        tokens = [(t.type, " ".join(t.string.split()))  # no more of indents and line ends
                  for t in tokenize.tokenize(io.BytesIO(raw).readline) if t.type not in LAYOUT]
        blank = all(not string for _, string in tokens)
        raw = repr(tokens).encode("utf-8", "surrogatepass")
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        blank = not raw.strip()
    return None if blank else hashlib.sha256(raw).hexdigest()


def _shown(name: Path | str) -> str:
    return str(name).encode("utf-8", "backslashreplace").decode()  # names may be any bytes
