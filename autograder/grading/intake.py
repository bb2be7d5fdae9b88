"""Copies the files of a submission that count, checked and repaired where that is safe.

The marks need only the module. A notebook that is missing or cannot be read is replaced by the one
that was released, so that only its written answers are lost; the cells' nbgrader metadata is always
taken from the release. A file with another name, in a folder or in a zip file, is used if it is
clear which one is meant. Each repair is reported in one sentence, and the submission itself is
never changed.
"""

import codecs
import re
import shutil
import tempfile
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path, PurePath

import nbformat
from nbformat import NotebookNode

from autograder.grading.archives import unpack_all
from autograder.grading.candidates import alike, clear_choice
from autograder.grading.handed_in import HandedIn, Submitted, shown
from autograder.grading.notebook_repair import UnreadableNotebook, read_notebook
from autograder.grading.released_cells import graded_ids, holds_cells_of, restore_metadata
from autograder.nbgrader_times import TIMESTAMP, submission_time
from autograder.times import TimeError
from course.probes import Study
from course.probes.syntax import SLOW

LIKE_NBGRADER = re.compile(rb"\d{4}-\d\d-\d\d [ -~]+\s*\Z")
CHECKPOINTS = ".ipynb_checkpoints"
RELEASED_INSTEAD = "the released notebook is used instead, so its written answers are lost"


@dataclass(frozen=True)
class Intake:
    """The result of an intake: `problems` in sentences, and whether there is anything to grade."""

    problems: tuple[str, ...]
    gradable: bool


def take_in(
    handed_in: HandedIn, study: Study, release: Path, staged: Path, zone: tzinfo = UTC
) -> Intake:
    """Copy the files that count of a submission to `staged`; report what was wrong with them.

    `zone` is the course's time zone, in which a timestamp.txt without one is read.
    """
    submission = handed_in.folder
    files = [Submitted(path, path.relative_to(submission)) for path in handed_in.files]
    problems = list(handed_in.problems())
    if not files:
        return Intake((*problems, "the folder is empty: nothing was handed in"), False)
    staged.mkdir(parents=True)
    released = {
        path.name: nbformat.read(path, as_version=4) for path in sorted(release.glob("*.ipynb"))
    }
    for file in files:
        if file.path.suffix != ".ipynb" and file.name.parts[0] not in released:
            _copy(file.path, staged / file.name)
    problems += _timestamp_problems(staged, zone)
    with tempfile.TemporaryDirectory(prefix="unpacked-") as temporary:
        top = {str(file.name) for file in files}
        needed = {name for name, notebook in released.items() if graded_ids(notebook)}
        if (needed | {study.module} - {""}) - top:
            unpacked, complaints = unpack_all(files, Path(temporary))
            problems += complaints
            files += unpacked
        if study.module:
            problems += _stage_module(study.module, handed_in, files, staged)
        for name, notebook in released.items():
            chosen, said = _notebook(
                name, notebook, files, set(released), _checkpoint_hint(name, handed_in)
            )
            problems += said
            nbformat.write(chosen, staged / name)
    return Intake(tuple(problems), True)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _timestamp_problems(staged: Path, zone: tzinfo) -> list[str]:
    """A sentence for a time that cannot be read. It is kept if it looks like nbgrader's own, whose
    text identifies a submission when its feedback is released."""
    try:
        submission_time(staged, zone)
    except TimeError as error:
        path = staged / TIMESTAMP
        if not LIKE_NBGRADER.match(path.read_bytes()):
            path.unlink()
        return [
            f"{TIMESTAMP}: {error}; until it is corrected the time of submission is unknown, "
            "and there is no late penalty"
        ]
    return []


def _stage_module(
    module: str, handed_in: HandedIn, files: Sequence[Submitted], staged: Path
) -> list[str]:
    """Put the module into `staged` if it has another name or place; report what is wrong with it.

    From another folder the files next to it come along, as it may import them.
    """
    candidates = alike(files, module)
    exact = next((file for file in candidates if file.name == PurePath(module)), None)
    chosen = exact or clear_choice(candidates, module)
    if chosen is None:
        return [
            f"{module} is missing: its checks get no marks"
            + _module_hint(module, handed_in, files, candidates)
        ]
    problems = []
    if chosen is not exact:
        problems.append(
            f"{module} is missing, but {shown(chosen.name)!r} was found and is used instead"
        )
        _copy(chosen.path, staged / module)
        folder = chosen.name.parent
        for file in files if folder.parts else ():
            if folder in file.name.parents and file.path.suffix != ".ipynb":
                target = staged / file.name.relative_to(folder)
                if (
                    ".." not in file.name.parts
                    and not target.exists()
                    and _can_be_made(target, staged)
                ):
                    _copy(file.path, target)
    problems += _ignored(chosen, candidates)
    return problems + _encoding_problems(staged / module, module)


def _can_be_made(target: Path, staged: Path) -> bool:
    """Whether no file is where a folder of `target` would be."""
    return not any(folder.is_file() for folder in target.parents if staged in folder.parents)


def _ignored(chosen: Submitted, candidates: Sequence[Submitted]) -> list[str]:
    """A sentence that lists the other candidates whose contents are not those of `chosen`."""
    content = chosen.path.read_bytes()
    others = [
        repr(shown(file.name))
        for file in candidates
        if file is not chosen and file.path.read_bytes() != content
    ]
    if not others:
        return []
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return [
        f"{', '.join(others[:3])}{more} was also submitted and was ignored: "
        f"{shown(chosen.name)!r} counts"
    ]


def _module_hint(
    module: str, handed_in: HandedIn, files: Sequence[Submitted], candidates: Sequence[Submitted]
) -> str:
    """What may be meant by a module that is missing."""
    stem = module.removesuffix(".py").lower()
    names = [
        shown(file.name.as_posix())
        for file in candidates or files
        if file.name.suffix.lower() in (".py", ".txt") and stem in file.name.name.lower()
    ]
    if len(names) > 1 and candidates:
        return (
            f"; {' and '.join(map(repr, names[:3]))} differ, so rename the one that is meant "
            "and grade again"
        )
    if names:
        return f"; if {names[0]!r} is meant, rename it and grade again"
    return _checkpoint_hint(module, handed_in)


def _checkpoint_hint(name: str, handed_in: HandedIn) -> str:
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    saved = next(
        (
            entry.name
            for entry in handed_in.entries
            if entry.ignored == "hidden"
            and entry.name.parent.name == CHECKPOINTS
            and entry.name.name == f"{stem}-checkpoint{suffix}"
        ),
        None,
    )
    return f"; {shown(saved)!r} holds an earlier version" if saved else ""


def _encoding_problems(path: Path, module: str) -> list[str]:
    try:
        with tokenize.open(path) as text:
            if codecs.lookup(text.encoding).name != SLOW and "\0" in text.read():
                raise SyntaxError("it holds NUL characters")
    except (SyntaxError, UnicodeError, LookupError) as error:
        why = str(error).split(" for '")[0]  # without the path
        return [f"{module} is not UTF-8 text: Python cannot read it ({why})"]
    return []


def _notebook(
    name: str, released: NotebookNode, files: Sequence[Submitted], expected: set[str], hint: str
) -> tuple[NotebookNode, list[str]]:
    """The submitted notebook with the release's metadata, or else the released one.

    A notebook without graded cells need not be submitted. `hint` ends the sentence about one that
    was not found.
    """
    exact = next((file for file in files if file.name == PurePath(name)), None)
    if exact is None and not graded_ids(released):
        return released, []
    named = alike(files, name)
    problems = []
    if exact is not None:
        try:
            notebook, repairs = read_notebook(exact.path.read_bytes())
        except UnreadableNotebook as error:
            problems.append(f"{name} {error}")
        else:
            if repairs:
                problems.append(f"{name} {repairs}")
            return notebook, (
                problems + restore_metadata(notebook, released, name) + _ignored(exact, named)
            )
    notebooks = [
        file
        for file in files
        if file.name.suffix.lower() == ".ipynb" and str(file.name) not in expected
    ]
    for file in (*named, *(file for file in notebooks if file not in named)):
        if file is exact:
            continue
        try:
            notebook, repairs = read_notebook(file.path.read_bytes())
        except UnreadableNotebook:
            continue
        if not holds_cells_of(notebook, released):
            continue
        other = repr(shown(file.name))
        said = problems.pop() if problems else f"{name} is missing"
        problems = [f"{said}, but {other} holds its cells and is used instead"]
        if repairs:
            problems.append(f"{other} {repairs}")
        return notebook, problems + restore_metadata(notebook, released, name)
    said = problems.pop() if problems else f"{name} is missing"
    return released, [f"{said}: {RELEASED_INSTEAD}{hint}"]
