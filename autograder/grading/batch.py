"""Grades a class: the submissions are shared out among worker processes.

A submission that has been graded and has not changed since is left alone; an interrupted run
continues where it stopped. A failure counts for its own submission, and the others are graded.
This module imports little: the workers import nbgrader, all at once, while it looks at the class.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.course_folder import CourseFolder, hidden_folders, nfc
from autograder.database import patiently, reach
from autograder.errors import Refused, in_words
from autograder.grading.agreement import require_expected, require_same_points
from autograder.grading.booked import booked, require_gradebook
from autograder.grading.deciding import changes, counted, grader_state
from autograder.grading.handed_in import look_at
from autograder.grading.ledger import (
    LEDGER,
    FaultForAll,
    Graded,
    graded_before,
    note_fault,
    read_ledger,
    state_of,
    unreadable,
)
from autograder.grading.patient import run_patiently
from autograder.grading.where import AS_CONFIGURED, Where, config_for
from autograder.grading.workers import CannotWork, Failed, prepare, run_tasks
from autograder.sandbox.launch import door as warm_parents
from course.probes import Study

MODULES = ("autograder.grading.submission",)  # which workers import
NOT_BOOKED = "the gradebook does not hold its marks"
DAMAGED = "files of its last grading are damaged or missing"


class GradingError(Refused):
    """Nothing can be graded: there are no submissions, or the machinery cannot be trusted."""


def grade(
    folder: CourseFolder,
    study: Study,  # noqa: PLR0913 - as the command has
    students: Iterable[str] | None = None,
    *,
    force: bool = False,
    jobs: int | None = None,
    where: Where = AS_CONFIGURED,
    done: Callable[[Graded], None] = lambda graded: None,
    note: Callable[[str], None] = lambda sentence: None,
) -> list[Graded]:
    """Grade the submissions to `study`, all or those of `students`; `done` gets each result, and
    `note` is told before grading begins why some are graded again.

    `where` says where submissions run ("isolation", "scheduler") if that is not as the course's
    configuration says. Before anybody is graded, the reference must get full marks and the stub
    none. After a fault that everybody would meet, the rest is left for the same command later.
    Raises `GradingError` if they do not, if submissions cannot be isolated, or if there is nothing
    to grade, and `CourseFolderError` without a release.
    """
    reach(folder)
    submitted, config = _submitted(folder, study, students), config_for(folder, where)
    graded: list[Graded] = (
        []
        if students
        else [
            Graded(name, "nothing to grade", (why,))
            for name, why in folder.misnamed(study.assignment).items()
        ]
    )

    def take(result: Graded) -> None:
        graded.append(_noted(folder, study, result))
        done(graded[-1])

    unchanged, again = ([], {}) if force else _before(folder, study, submitted, config)
    for result in unchanged:
        take(result)
    if again:
        are = "1 submission is" if len(again) == 1 else f"{len(again)} submissions are"
        note(f"{study.assignment}: {are} graded again ({counted(again.values())})")
    left = sorted({*submitted} - {result.student for result in graded})
    try:
        with closing(_graded(folder, study, left, force, jobs, where)) as results:
            for result in results:
                take(result)
    except CannotWork as error:
        raise GradingError(f"nothing was graded: {error}") from error
    for student in sorted({*submitted} - {result.student for result in graded}):
        graded.append(Graded(student, "left"))
        done(graded[-1])
    return sorted(graded, key=lambda g: g.student)


def _graded(
    folder: CourseFolder,
    study: Study,
    students: list[str],
    force: bool,
    jobs: int | None,
    where: Where,
) -> Iterator[Graded]:
    """Yield the results of these students; the canaries are proved before the first one's.

    One proof, here, counts for all: workers run on this machine, from the same files, or on others
    from files with the same digest. No answer is ever sent to another machine.
    """
    if not students:
        return
    prepare(MODULES)
    config = config_for(folder, where)
    sandbox = config.GradingStep.get("isolation", "sandbox") == "sandbox"
    with warm_parents(hidden_folders(config)) if sandbox else nullcontext() as door:
        ((_, found),) = run_tasks(_prover, (folder, study, where, door), [study.name], 1)
        if isinstance(found, Failed):
            raise CannotWork(found.reason)
        with closing(
            run_patiently(
                folder,
                _grader,
                (folder, study, force, where, door, found),
                students,
                jobs or os.cpu_count() or 1,
            )
        ) as results:
            for student, result in results:
                yield (
                    (FaultForAll if result.for_all else Graded)(
                        student, "fault", (result.reason,)
                    )  # a fault is never a mark
                    if isinstance(result, Failed)
                    else result
                )


def _noted(folder: CourseFolder, study: Study, graded: Graded) -> Graded:
    """A result of which the fault, if it is one, has been recorded where that is possible."""
    try:
        note_fault(folder.results(study.assignment, graded.student), graded)
    except OSError as error:  # a disk that is full has no place for a note of that either
        return replace(
            graded,
            status="fault",
            problems=(*graded.problems, f"this could not be noted: {in_words(error, folder.root)}"),
        )
    return graded


def _submitted(folder: CourseFolder, study: Study, students: Iterable[str] | None) -> list[str]:
    folder.require_release(study)
    require_gradebook(folder, study.assignment)
    require_expected(study)
    patiently(
        folder, partial(require_same_points, folder, study, folder.config().CourseDirectory.db_url)
    )
    submitted = list(folder.submitted(study.assignment))
    if students is not None:
        wanted = list(dict.fromkeys(map(nfc, students)))
        unknown = sorted(set(wanted) - set(submitted))
        if unknown:
            raise GradingError(
                f"there is no submission to {study.assignment} by " + ", ".join(unknown)
            )
        return wanted
    if not submitted and not folder.misnamed(study.assignment):
        raise GradingError(
            f"there are no submissions to {study.assignment} in "
            f"{folder.root / 'submitted'} (submitted/STUDENT/{study.assignment}/)"
        )
    return submitted


def _before(
    folder: CourseFolder, study: Study, students: Iterable[str], config: Config
) -> tuple[list[Graded], dict[str, list[str]]]:
    """Those who need not be graded again, and why others must be who have been graded before.

    This is found before there are workers. What cannot be read is for a worker to report.
    """
    unchanged: list[Graded] = []
    again: dict[str, list[str]] = {}
    grader, release = grader_state(folder, study, config), folder.release(study.assignment)
    try:
        marks = patiently(folder, partial(booked, config.CourseDirectory.db_url, study.assignment))
    except SQLAlchemyError:
        return unchanged, again
    for student in students:
        results = folder.results(study.assignment, student)
        with suppress(OSError):
            if entry := read_ledger(results / LEDGER):
                handed_in = look_at(folder.submission(study.assignment, student), study, release)
                state = state_of(handed_in, grader)
                before = graded_before(
                    folder, study.assignment, student, state, marks.get(student, {})
                )
                if before:
                    unchanged.append(before)
                else:
                    again[student] = changes(entry["state"], state) or [
                        DAMAGED
                        if unreadable(folder, study.assignment, student, entry)
                        else NOT_BOOKED
                    ]
    return unchanged, again


def _prover(*arguments) -> AbstractContextManager[Callable[[str], Any]]:
    """The worker's side of the proof, whose module is imported in the worker alone."""
    from autograder.grading.submission import prover

    return prover(*arguments)


def _grader(*arguments) -> AbstractContextManager[Callable[[str], Graded]]:
    """The worker's side of the grading, whose module is imported in the worker alone."""
    from autograder.grading.submission import grader

    return grader(*arguments)
