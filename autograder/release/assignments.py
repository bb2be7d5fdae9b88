"""Generates an assignment from an allowlist, in nbgrader's source and release folders."""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly
from autograder.database import with_retry
from autograder.errors import UserError, format_error
from autograder.gradebook import Gradebook
from autograder.release.gradable import refusal_of
from autograder.release.leaks import find_leaks
from autograder.release.notebooks import notebook_texts, unprotect
from autograder.release.own_course import upgrade
from common.command_lines import advice
from course.checks import Study


class GenerationError(UserError):
    """The assignment was not generated; the message gives the reason."""


def assignment_files(study: Study) -> list[Path]:
    """Return the allowlist, which contains only the study's stub module and its notebooks."""
    return [
        study.folder / study.module,
        *(path.with_suffix(".ipynb") for path in notebook_texts(study.folder)),
    ]


def generate_assignment(
    folder: CourseFolder,
    study: Study,
    tell: Callable[[str, str], object] = lambda notebook, test: None,
) -> Path:
    """Generate `study` in the course folder; return the folder of the student version.

    `tell` is called with the notebook and the name of each of the instructor's own tests that can
    be evaluated only inside the submission's process. An earlier version is replaced only if the
    new one passes the search for leaks. Raises `GenerationError`.
    """
    with tempfile.TemporaryDirectory(prefix=".release-", dir=folder.root) as temporary:
        stages = {name: Path(temporary, name) / study.assignment for name in ("source", "release")}
        source, released = stages.values()
        source.mkdir(parents=True)
        for path in assignment_files(study):
            if not path.is_file():
                raise GenerationError(
                    f"{path.name} of {study.assignment} is missing: "
                    f"run {advice('build', study.name)}"
                )
            _copy_source(path, source / path.name)
        _refuse_leaks(study, source)
        with_retry(folder, partial(_generate, folder, study, Path(temporary), tell))
        _refuse_leaks(study, released)
        for name, stage in stages.items():
            target = folder.root / name / study.assignment
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            stage.rename(target)
    if study.module:
        upgrade.record(folder, study)
    return folder.release(study.assignment)


def _copy_source(path: Path, target: Path) -> None:
    """Copy a file for the instructor, who may edit every cell; `generate` protects the cells again."""
    if path.suffix != ".ipynb":
        shutil.copy(path, target)
        return
    notebook = nbformat.read(path, as_version=4)
    unprotect(notebook)
    nbformat.write(notebook, target)


def _refuse_leaks(study: Study, files: Path) -> None:
    if leaks := find_leaks(study, files.iterdir()):
        raise GenerationError(f"{study.assignment} was not generated: " + "; ".join(leaks))


def _generate(
    folder: CourseFolder, study: Study, stages: Path, tell: Callable[[str, str], object]
) -> None:
    """Run nbgrader's own `generate_assignment` with source and target folders in `stages`.

    nbgrader adds locks and checksums, and enters the cells in the gradebook.
    """
    config = folder.config()
    # The paths are relative, because nbgrader treats paths as patterns, and an absolute path may
    # contain ( or +.
    config.CourseDirectory.source_directory = str(stages.relative_to(folder.root) / "source")
    config.CourseDirectory.release_directory = str(stages.relative_to(folder.root) / "release")
    config.CourseDirectory.assignment_id = study.assignment
    config.MarkInProcessTests.report = tell
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    log_file = folder.root / "results" / study.assignment / "generate.log"
    try:
        run_quietly(converter, log_file)
    except Exception as error:
        if remedy := refusal_of(error, study.assignment, folder.root):
            raise GenerationError(remedy) from error
        raise GenerationError(
            f"nbgrader could not generate {study.assignment}: "
            f"{format_error(error, folder.root)}; "
            f"see {log_file}"
        ) from error


def add_students(folder: CourseFolder, students: Iterable[tuple[str, str, str]]) -> None:
    """Add students, as (id, first name, last name), to the gradebook's roster."""
    config = folder.config()
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        for student, first, last in students:
            gradebook.update_or_create_student(student, first_name=first, last_name=last)
