"""Releases an assignment by allowlist, into nbgrader's source and release folders."""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly
from autograder.database import patiently
from autograder.errors import Refused, in_words
from autograder.gradebook import Gradebook
from autograder.release.gradable import refusal_of
from autograder.release.leaks import find_leaks
from autograder.release.notebooks import notebook_texts, unprotect
from course.probes import Study


class ReleaseError(Refused):
    """The assignment was not released; the message says why."""


def released_files(study: Study) -> list[Path]:
    """The allowlist: the study's stub module and its notebooks, and nothing else."""
    return [
        study.folder / study.module,
        *(path.with_suffix(".ipynb") for path in notebook_texts(study.folder)),
    ]


def release(
    folder: CourseFolder,
    study: Study,
    tell: Callable[[str, str], object] = lambda notebook, test: None,
) -> Path:
    """Release `study` into the course folder; returns the folder of what students get.

    `tell` gets the notebook and the name of each of the instructor's own tests that can be decided
    only inside the submission's process.

    An earlier release is replaced only when the new one has passed the search for leaks. Raises
    `ReleaseError`.
    """
    with tempfile.TemporaryDirectory(prefix=".release-", dir=folder.root) as temporary:
        stages = {name: Path(temporary, name) / study.assignment for name in ("source", "release")}
        source, released = stages.values()
        source.mkdir(parents=True)
        for path in released_files(study):
            if not path.is_file():
                raise ReleaseError(
                    f"{path.name} of {study.assignment} is missing: run `autograder build`"
                )
            _copy_source(path, source / path.name)
        _refuse_leaks(study, source)
        patiently(folder, partial(_generate, folder, study, Path(temporary), tell))
        _refuse_leaks(study, released)
        for name, stage in stages.items():
            target = folder.root / name / study.assignment
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            stage.rename(target)
    return folder.release(study.assignment)


def _copy_source(path: Path, target: Path) -> None:
    """Copy a file for the instructor, who may edit every cell; `generate` protects them again."""
    if path.suffix != ".ipynb":
        shutil.copy(path, target)
        return
    notebook = nbformat.read(path, as_version=4)
    unprotect(notebook)
    nbformat.write(notebook, target)


def _refuse_leaks(study: Study, files: Path) -> None:
    if leaks := find_leaks(study, files.iterdir()):
        raise ReleaseError(f"{study.assignment} was not released: " + "; ".join(leaks))


def _generate(
    folder: CourseFolder, study: Study, stages: Path, tell: Callable[[str, str], object]
) -> None:
    """nbgrader's own `generate_assignment`, from and to folders in `stages`: locks, checksums, and
    the cells into the gradebook."""
    config = folder.config()
    # Seen from the course: nbgrader takes these for patterns, and a path to it may hold ( or +.
    config.CourseDirectory.source_directory = str(stages.relative_to(folder.root) / "source")
    config.CourseDirectory.release_directory = str(stages.relative_to(folder.root) / "release")
    config.CourseDirectory.assignment_id = study.assignment
    config.TellInside.tell = tell
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    log_file = folder.root / "results" / study.assignment / "release.log"
    try:
        run_quietly(converter, log_file)
    except Exception as error:
        if advice := refusal_of(error, study.assignment, folder.root):
            raise ReleaseError(advice) from error
        raise ReleaseError(
            f"nbgrader could not generate {study.assignment}: "
            f"{in_words(error, folder.root)}; "
            f"see {log_file}"
        ) from error


def add_students(folder: CourseFolder, students: Iterable[tuple[str, str, str]]) -> None:
    """Add students, as (id, first name, last name), to the gradebook's roster."""
    config = folder.config()
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        for student, first, last in students:
            gradebook.update_or_create_student(student, first_name=first, last_name=last)
