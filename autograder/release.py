"""Releases an assignment by allowlist, then searches the released bytes for leaks."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

import course
import sequence
import tictactoe
from autograder import verdicts, workspace
from autograder.course_folder import CONFIG_FILE, CourseFolder, run_quietly
from autograder.derive import COURSE
from autograder.errors import Refused
from autograder.notebooks import notebook_texts
from autograder.strip import BEGIN, solutions
from course.probes import Study, load_expected
from course.probes.question import texts_of
from course.progress import NOTES
from course.start import PAGE

PUBLIC_PACKAGES = (tictactoe, sequence, course)  # what a student may be given beside the assignment
MIN_LEAK = 40  # characters without white space from which a run of solution lines is an answer
REPLIES = 4  # so many neighbouring replies, or all node counts of a check, are no coincidence
STAFF_OR_MADE = {"autograder", "build", "dist"}  # folders at the root that are not handed out


class ReleaseError(Refused):
    """The assignment was not released; the message says why."""


def released_files(study: Study) -> list[Path]:
    """The allowlist: the study's stub module and its notebooks, and nothing else."""
    folder = COURSE / study.assignment
    return [folder / study.module,
            *(path.with_suffix(".ipynb") for path in notebook_texts(folder))]


def release(folder: CourseFolder, study: Study) -> Path:
    """Release `study` into the course folder; returns the folder of what students get.

    What was released before is replaced only when the new release has passed the search for leaks.
    Raises `ReleaseError`.
    """
    with tempfile.TemporaryDirectory(prefix=".release-", dir=folder.root) as temporary:
        stages = {name: Path(temporary, name) / study.assignment for name in ("source", "release")}
        source, released = stages.values()
        source.mkdir(parents=True)
        for path in released_files(study):
            if not path.is_file():
                raise ReleaseError(f"{path.name} of {study.assignment} is missing: "
                                   "run `autograder build`")
            shutil.copy(path, source / path.name)
        _refuse_leaks(study, source)
        _generate(folder, study, Path(temporary))
        _refuse_leaks(study, released)
        for name, stage in stages.items():
            target = folder.root / name / study.assignment
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            stage.rename(target)
    return folder.release(study.assignment)


def _refuse_leaks(study: Study, files: Path) -> None:
    if leaks := find_leaks(study, files.iterdir()):
        raise ReleaseError(f"{study.assignment} is not released: " + "; ".join(leaks))


def public_files() -> list[Path]:
    """Everything that a student may be given: all of the repository outside `autograder/`.

    Where only the packages are installed, the files of the public ones.
    """
    root = COURSE.parent
    if (root / "pyproject.toml").is_file():
        return list(_shipped(root))
    roots = [Path(package.__file__).parent for package in PUBLIC_PACKAGES]
    return [path for root in roots for path in _shipped(root)]


def _shipped(root: Path) -> Iterator[Path]:
    """The files below `root` without what git ignores, environments and course folders."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders
            if not (name in (".git", ".hypothesis", ".ipynb_checkpoints") or "cache" in name
                    or (here == root and name in STAFF_OR_MADE)
                    or (here / name / "pyvenv.cfg").exists()
                    or (here / name / CONFIG_FILE).exists()))
        yield from (here / name for name in sorted(files)
                    if name not in (".git", NOTES, PAGE) and (here / name).is_file())


def find_leaks(study: Study, files: Iterable[Path]) -> list[str]:
    """What in `files` gives away hidden positions, expected replies or solutions, in sentences."""
    hidden = verdicts.hidden_study(study.name)
    public = {text for check in study.checks.values() for case in check.cases
              for text in texts_of(case)}
    secret = {text for check in hidden.checks.values() for case in check.cases
              for text in texts_of(case)} - public
    pieces = _answer_pieces(study)
    replies = _reply_pieces(study)
    found = []
    for path in files:
        raw = path.read_bytes()
        text = raw.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')
        squeezed = re.sub(r'[\s",]+', "", text)  # a notebook keeps each line as a quoted string
        found += [f"{path.name} holds the hidden position {s}" for s in sorted(secret)
                  if s.encode() in raw]
        if re.search(rf'{BEGIN}[ \t]*(?:["\r\n]|$)', text):  # it ends its line
            found.append(f"{path.name} holds a solution region")
        if any(piece in squeezed for piece in pieces):
            found.append(f"{path.name} holds lines of the answer")
        numbers = _numbers(text)
        found += [f"{path.name} holds expected replies to the hidden positions of {check}"
                  for check, runs in replies.items() if any(run in numbers for run in runs)]
    return found


def _answer_pieces(study: Study) -> set[str]:
    """Every run of two or three neighbouring solution lines that is long enough to give it away."""
    pieces = set()
    for region in solutions(workspace.answer_path(study).read_text("utf-8")):
        lines = [re.sub(r'[\s",]+', "", line) for line in region.splitlines()]
        for size in (2, 3):
            pieces |= {"".join(lines[i:i + size]) for i in range(len(lines) - size + 1)}
        pieces.add("".join(lines))
    return {piece for piece in pieces if len(piece) >= MIN_LEAK}


def _reply_pieces(study: Study) -> dict[str, list[str]]:
    """By check, the numbers of neighbouring expected replies and of all node counts, in a row.

    Only numbers, so that it makes no difference how they are written down.
    """
    expected, _ = load_expected(verdicts.expected_file(study))
    pieces = {}
    for check, replies in expected.items():
        runs = [replies[i:i + REPLIES] for i in range(max(1, len(replies) - REPLIES + 1))]
        runs.append([reply["nodes"] for reply in replies if "nodes" in reply])
        numbers = [_numbers(json.dumps(run)) for run in runs]
        pieces[check] = [run for run in numbers if len(run.split()) >= REPLIES]
    return pieces


def _numbers(text: str) -> str:
    """The numbers in a text, with a blank before and after each."""
    return f" {' '.join(re.findall(r'-?[0-9]+(?:[.][0-9]+)?', text))} "


def _generate(folder: CourseFolder, study: Study, stages: Path) -> None:
    """nbgrader's own `generate_assignment`, from and to folders in `stages`: locks, checksums, and
    the cells into the gradebook."""
    config = folder.config()
    config.CourseDirectory.source_directory = str(stages / "source")
    config.CourseDirectory.release_directory = str(stages / "release")
    config.CourseDirectory.assignment_id = study.assignment
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    log_file = folder.root / "results" / study.assignment / "release.log"
    try:
        run_quietly(converter, log_file)
    except Exception as error:
        raise ReleaseError(f"nbgrader could not generate {study.assignment}: {error}; "
                           f"see {log_file}") from error


def add_students(folder: CourseFolder, students: Iterable[tuple[str, str, str]]) -> None:
    """Put students, as (id, first name, last name), on the gradebook's roster."""
    config = folder.config()
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        for student, first, last in students:
            gradebook.update_or_create_student(student, first_name=first, last_name=last)
