"""Copies the files of a submission that count, and repairs them where that is safe.

The marks depend only on the module. A notebook that is missing or cannot be read is replaced by the
released one, so only its written answers are lost. The nbgrader metadata of cells always comes from
the release. A file that has a different name, or is in a folder or a zip file, is used if there is
no doubt which required file it is. Each repair is reported in one sentence, and the submission
itself never changes.
"""

import codecs
import copy
import re
import shutil
import tempfile
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path, PurePath

import nbformat
from nbformat import NotebookNode

from autograder.grading.intake.archives import unpack_archives
from autograder.grading.intake.candidates import matching_files, unambiguous_file
from autograder.grading.intake.notebook_repair import UnreadableNotebook, read_notebook
from autograder.grading.intake.released_cells import (
    answer_cells,
    graded_ids,
    holds_cells_of,
    restore_metadata,
    take_answers,
)
from autograder.grading.intake.submission_files import (
    SubmissionFiles,
    SubmittedFile,
    printable_name,
)
from autograder.nbgrader_times import TIMESTAMP, submission_time
from autograder.times import TimeError
from common.messages import english
from common.syntax import SLOW_ENCODING
from course.checks import Study

LIKE_NBGRADER = re.compile(rb"\d{4}-\d\d-\d\d [ -~]+\s*\Z")
CHECKPOINTS = ".ipynb_checkpoints"
RELEASED_INSTEAD = english("the released notebook is used instead, so its written answers are lost")


@dataclass(frozen=True)
class Intake:
    """The result of staging: `problems` as sentences, and whether anything can be graded."""

    problems: tuple[str, ...]
    gradable: bool


def stage_submission(
    submission: SubmissionFiles, study: Study, release: Path, staged: Path, zone: tzinfo = UTC
) -> Intake:
    """Copy the files of a submission that count to `staged`; report problems with them.

    `zone` is the course's time zone, which applies to a timestamp.txt without a time zone.
    """
    files = [SubmittedFile(path, path.relative_to(submission.folder)) for path in submission.files]
    problems = list(submission.problems())
    if not files:
        return Intake((*problems, english("the folder is empty: nothing was submitted")), False)
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
            unpacked, complaints = unpack_archives(files, Path(temporary))
            problems += complaints
            files += unpacked
        if study.module:
            problems += _stage_module(study.module, submission, files, staged)
        for name, notebook in released.items():
            hint = _checkpoint_hint(name, submission)
            chosen, repairs = _choose_notebook(name, notebook, files, set(released), hint)
            problems += repairs
            nbformat.write(chosen, staged / name)
    return Intake(tuple(problems), True)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _timestamp_problems(staged: Path, zone: tzinfo) -> list[str]:
    """Return a sentence about a timestamp that cannot be read.

    The file is kept if nbgrader appears to have written it, because nbgrader uses its text to
    identify the submission when feedback is released.
    """
    try:
        submission_time(staged, zone)
    except TimeError as error:
        path = staged / TIMESTAMP
        if not LIKE_NBGRADER.match(path.read_bytes()):
            path.unlink()
        return [
            english(
                f"{TIMESTAMP}: {error}; until it is corrected the time of submission is unknown, "
                "and there is no late penalty"
            )
        ]
    return []


def _stage_module(
    module: str, submission: SubmissionFiles, files: Sequence[SubmittedFile], staged: Path
) -> list[str]:
    """Copy the module to `staged` if it has another name or is in another folder; report problems
    with it.

    If it is in another folder, the files next to it are copied too, because it may import them.
    """
    candidates = matching_files(files, module)
    exact = next((file for file in candidates if file.name == PurePath(module)), None)
    chosen = exact or unambiguous_file(candidates, module)
    if chosen is None:
        return [
            english(
                f"{module} is missing: its checks earn no points"
                + _module_hint(module, submission, files, candidates)
            )
        ]
    problems = []
    if chosen is not exact:
        problems.append(
            english(
                f"{module} is missing, but {printable_name(chosen.name)!r} was found and is used "
                "instead"
            )
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
    """Whether the folders of `target` can be created, because no file has the name of one of them."""
    return not any(folder.is_file() for folder in target.parents if staged in folder.parents)


def _ignored(chosen: SubmittedFile, candidates: Sequence[SubmittedFile]) -> list[str]:
    """Return a sentence that lists the other candidates with contents different from `chosen`."""
    content = chosen.path.read_bytes()
    others = [
        repr(printable_name(file.name))
        for file in candidates
        if file is not chosen and file.path.read_bytes() != content
    ]
    if not others:
        return []
    more = english(f" and {len(others) - 3} more" if len(others) > 3 else "")
    return [
        english(
            f"{', '.join(others[:3])}{more} was also submitted and was ignored: "
            f"{printable_name(chosen.name)!r} counts"
        )
    ]


def _module_hint(
    module: str,
    submission: SubmissionFiles,
    files: Sequence[SubmittedFile],
    candidates: Sequence[SubmittedFile],
) -> str:
    """Return a hint about which file may be the missing module."""
    stem = module.removesuffix(".py").lower()
    names = [
        printable_name(file.name.as_posix())
        for file in candidates or files
        if file.name.suffix.lower() in (".py", ".txt") and stem in file.name.name.lower()
    ]
    if len(names) > 1 and candidates:
        return english(
            f"; {' and '.join(map(repr, names[:3]))} differ, so rename the one that is meant "
            "and grade again"
        )
    if names:
        return english(f"; if {names[0]!r} is meant, rename it and grade again")
    return _checkpoint_hint(module, submission)


def _checkpoint_hint(name: str, submission: SubmissionFiles) -> str:
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    saved = next(
        (
            entry.name
            for entry in submission.entries
            if entry.ignored == "hidden"
            and entry.name.parent.name == CHECKPOINTS
            and entry.name.name == f"{stem}-checkpoint{suffix}"
        ),
        None,
    )
    return english(f"; {printable_name(saved)!r} contains an earlier version" if saved else "")


def _encoding_problems(path: Path, module: str) -> list[str]:
    try:
        with tokenize.open(path) as text:
            if codecs.lookup(text.encoding).name != SLOW_ENCODING and "\0" in text.read():
                raise SyntaxError(english("it contains NUL characters"))
    except (SyntaxError, UnicodeError, LookupError) as error:
        why = str(error).split(" for '")[0]  # without the path
        return [english(f"{module} is not UTF-8 text: Python cannot read it ({why})")]
    return []


def _choose_notebook(
    name: str, released: NotebookNode, files: Sequence[SubmittedFile], expected: set[str], hint: str
) -> tuple[NotebookNode, list[str]]:
    """Return the submitted notebook with the release's metadata or, if none was submitted, the
    released notebook.

    A notebook without graded cells need not be submitted. `hint` is appended to the sentence about
    a missing notebook.
    """
    exact = next((file for file in files if file.name == PurePath(name)), None)
    if exact is None and not graded_ids(released):
        return released, []
    same_name = matching_files(files, name)
    elsewhere = _answers_elsewhere(released, files, expected - {name})
    problem = english(f"{name} is missing")
    if exact is not None:
        try:
            notebook, repairs = read_notebook(exact.path.read_bytes())
        except UnreadableNotebook as error:
            problem = f"{name} {error}"
        else:
            problems = [f"{name} {repairs}"] if repairs else []
            problems += restore_metadata(notebook, released, name)
            problems += _ignored(exact, same_name)
            problems += _take_answers(notebook, released, name, elsewhere)
            return notebook, problems
    others = [file for file in _other_notebooks(files, same_name, expected) if file is not exact]
    for file in others:
        if (copied := _copy_of(released, file)) is not None:
            notebook, repairs = copied
            other = repr(printable_name(file.name))
            problems = [english(f"{problem}, but {other} contains its cells and is used instead")]
            if repairs:
                problems.append(f"{other} {repairs}")
            return notebook, problems + restore_metadata(notebook, released, name)
    for file, answers in elsewhere:
        notebook = copy.deepcopy(released)
        take_answers(notebook, released, answers)
        return notebook, [
            english(f"{problem}, but its answers are in {str(file.name)!r} and are used")
        ]
    return released, [english(f"{problem}: {RELEASED_INSTEAD}{hint}")]


def _take_answers(
    notebook: NotebookNode,
    released: NotebookNode,
    name: str,
    elsewhere: Iterable[tuple[SubmittedFile, Mapping[str, NotebookNode]]],
) -> list[str]:
    """Fill untouched answers of a notebook from other notebooks; return sentences that report this."""
    return [
        english(f"{name}: {answer} is unchanged, so the answer in {str(file.name)!r} was taken")
        for file, answers in elsewhere
        for answer in take_answers(notebook, released, answers)
    ]


def _answers_elsewhere(
    released: NotebookNode, files: Sequence[SubmittedFile], others: set[str]
) -> Iterator[tuple[SubmittedFile, dict[str, NotebookNode]]]:
    """Yield the other required notebooks that contain answer cells of this one, with these cells
    by grade id.

    A submission contains such a notebook if that notebook was released before this one was split
    off from it.
    """
    ids = [name.encode() for name in answer_cells(released, released)]
    for file in files:
        if str(file.name) in others:
            data = file.path.read_bytes()
            if any(name in data for name in ids):  # faster than parsing all notebooks
                with suppress(UnreadableNotebook):
                    if answers := answer_cells(read_notebook(data)[0], released):
                        yield file, answers


def _other_notebooks(
    files: Sequence[SubmittedFile], same_name: Sequence[SubmittedFile], expected: set[str]
) -> list[SubmittedFile]:
    """Return the files that may be a misnamed notebook, with similar names first."""
    return [*same_name] + [
        file
        for file in files
        if file.name.suffix.lower() == ".ipynb"
        and str(file.name) not in expected
        and file not in same_name
    ]


def _copy_of(released: NotebookNode, file: SubmittedFile) -> tuple[NotebookNode, str] | None:
    """Return the notebook in a file, with its repairs, if it contains cells of the released one."""
    try:
        notebook, repairs = read_notebook(file.path.read_bytes())
    except UnreadableNotebook:
        return None
    return (notebook, repairs) if holds_cells_of(notebook, released) else None
