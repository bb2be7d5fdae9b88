"""Grades a class: the submissions are shared out among worker processes.

A submission that has been graded and has not changed since is left alone; an interrupted run
continues where it stopped. A failure counts for its own submission, and the others are graded.
This module imports little: the workers import nbgrader, all at once, while it looks at the class.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from autograder.course_folder import CourseFolder
from autograder.database import patiently, reach
from autograder.errors import Refused, in_words
from autograder.grading.booked import booked
from autograder.grading.handed_in import look_at
from autograder.grading.ledger import (
    LEDGER,
    Graded,
    graded_before,
    grader_state,
    note_fault,
    state_of,
)
from autograder.grading.patient import run_patiently
from autograder.grading.workers import CannotWork, Failed, prepare
from course.probes import Study


class GradingError(Refused):
    """Nothing can be graded: there are no submissions, or the machinery cannot be trusted."""


def grade(folder: CourseFolder, study: Study, students: Iterable[str] | None = None, *,
          force: bool = False, jobs: int | None = None, isolation: str | None = None,
          done: Callable[[Graded], None] = lambda graded: None) -> list[Graded]:
    """Grade the submissions to `study`, all or those of `students`; `done` gets each result.

    `isolation` overrides the course's configuration. Before anybody is graded, the reference must
    get full marks and the stub none. Raises `GradingError` if they do not, if submissions cannot be
    isolated, or if there is nothing to grade, and `CourseFolderError` without a release.
    """
    submitted = _submitted(folder, study, students)
    reach(folder)
    graded: list[Graded] = [] if students else [
        Graded(name, "nothing to grade", (why,))
        for name, why in folder.misnamed(study.assignment).items()]

    def take(result: Graded) -> None:
        graded.append(_noted(folder, study, result))
        done(graded[-1])

    for result in () if force else _unchanged(folder, study, submitted, isolation):
        take(result)
    left = sorted({*submitted} - {result.student for result in graded})
    if left:
        prepare(["autograder.grading.submission"])
    try:
        for student, result in run_patiently(folder, _grader, (folder, study, force, isolation),
                                             left, jobs or os.cpu_count() or 1):
            take(Graded(student, "fault", (result.reason,))  # a fault is never a mark
                 if isinstance(result, Failed) else result)
    except CannotWork as error:
        raise GradingError(f"nothing was graded: {error}") from error
    return sorted(graded, key=lambda g: g.student)


def _noted(folder: CourseFolder, study: Study, graded: Graded) -> Graded:
    """A result of which the fault, if it is one, has been recorded where that is possible."""
    try:
        note_fault(folder.results(study.assignment, graded.student), graded)
    except OSError as error:  # a disk that is full has no place for a note of that either
        return replace(graded, status="fault", problems=(
            *graded.problems, f"this could not be noted: {in_words(error, folder.root)}"))
    return graded


def _submitted(folder: CourseFolder, study: Study, students: Iterable[str] | None) -> list[str]:
    folder.require_release(study)
    submitted = list(folder.submitted(study.assignment))
    if students is not None:
        wanted = list(dict.fromkeys(students))
        unknown = sorted(set(wanted) - set(submitted))
        if unknown:
            raise GradingError(f"there is no submission to {study.assignment} by "
                               + ", ".join(unknown))
        return wanted
    if not submitted and not folder.misnamed(study.assignment):
        raise GradingError(f"there are no submissions to {study.assignment} in "
                           f"{folder.root / 'submitted'} (submitted/STUDENT/{study.assignment}/)")
    return submitted


def _unchanged(folder: CourseFolder, study: Study, students: Iterable[str],
               isolation: str | None) -> Iterator[Graded]:
    """Yield those who need not be graded again, found before there are workers.

    What cannot be read is a worker's to tell.
    """
    config = folder.config()
    if isolation:
        config.GradingStep.isolation = isolation
    grader, release = grader_state(folder, study, config), folder.release(study.assignment)
    try:
        marks = patiently(folder, partial(
            booked, config.CourseDirectory.db_url, study.assignment))
    except SQLAlchemyError:
        return
    for student in students:
        results, before = folder.results(study.assignment, student), None
        with contextlib.suppress(OSError):
            if (results / LEDGER).is_file():
                handed_in = look_at(folder.submission(study.assignment, student), study, release)
                before = graded_before(results, student, state_of(handed_in, grader),
                                       marks.get(student, {}))
        if before:
            yield before


@contextlib.contextmanager
def _grader(*arguments) -> Iterator[Callable[[str], Graded]]:
    """The worker's side, whose module is imported in the worker alone."""
    from autograder.grading.submission import grader

    with grader(*arguments) as grade_one:
        yield grade_one
