"""Grades the submissions to an assignment, distributed over worker processes.

A submission that has been graded and has not changed since is not graded again, and an interrupted
run continues where it stopped. A failure affects only its own submission. This module imports
little, because it examines the submissions while the workers import nbgrader.
"""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.course_folder import CourseFolder, hidden_folders, nfc
from autograder.database import wait_for_gradebook, with_retry
from autograder.errors import UserError, format_error
from autograder.grading.intake.submission_files import list_submission
from autograder.grading.mark_history.changes import recording
from autograder.grading.records.agreement import require_expected, require_same_points
from autograder.grading.records.attempts import keep_versions_of_others, unmarked_versions
from autograder.grading.records.deciding import changes, count_reasons, grader_state
from autograder.grading.records.gradebook_reader import read_automatic_marks, require_gradebook
from autograder.grading.records.ledger import (
    LEDGER,
    FatalError,
    Graded,
    previous_result,
    read_ledger,
    record_fault,
    state_of,
    unreadable_files,
)
from autograder.grading.run.execution_overrides import (
    NO_OVERRIDES,
    ExecutionOverrides,
    config_with_overrides,
)
from autograder.grading.run.retry import RetryLater, run_with_retry
from autograder.grading.run.workers import TaskFailed, WorkerSetupError, preload, run_tasks
from autograder.sandbox.launch import fork_server as start_fork_server
from autograder.times import course_zone
from course.checks import Study

WORKER_MODULES = ("autograder.grading.run.submission",)
NOT_BOOKED = "the gradebook does not have its marks"
ATTEMPTS = "earlier attempts have no marks yet"
DAMAGED = "files of its last grading run are damaged or missing"


class GradingError(UserError):
    """Nothing can be graded: there are no submissions, or the grader failed its self-test."""


def grade(  # noqa: PLR0913
    folder: CourseFolder,
    study: Study,
    students: Iterable[str] | None = None,
    *,
    force: bool = False,
    jobs: int | None = None,
    overrides: ExecutionOverrides = NO_OVERRIDES,
    done: Callable[[Graded], None] = lambda graded: None,
    note: Callable[[str], None] = lambda sentence: None,
) -> list[Graded]:
    """Grade the submissions to `study`, either all or those of `students`.

    `done` is called with each result, and `note` with a sentence that explains why some submissions
    are graded again. `overrides` replaces configured options that decide where submissions run.
    Grading begins with a self-test, in which the reference must get full marks and the stub none.
    After a fatal error the remaining submissions are left for the next run. Raises `GradingError`
    if the self-test fails, if submissions cannot be isolated or if there is nothing to grade, and
    `CourseFolderError` without a release.
    """
    wait_for_gradebook(folder)
    submitted, config = (
        _submitted(folder, study, students),
        config_with_overrides(folder, overrides),
    )
    graded: list[Graded] = (
        []
        if students
        else [
            Graded(name, "nothing to grade", (why,))
            for name, why in folder.skipped(study.assignment).items()
        ]
    )

    rivals = folder.rival_submissions(study.assignment)

    def add(result: Graded) -> None:
        if result.student in rivals:
            result = replace(result, problems=(*result.problems, rivals[result.student]))
        graded.append(_with_recorded_fault(folder, study, result))
        done(graded[-1])

    owners = folder.owners(study.assignment)
    owned = sorted({owners.get(student, student) for student in submitted})
    unchanged, outdated = ([], {}) if force else _graded_earlier(folder, study, owned, config)
    for result in unchanged:
        add(result)
    if outdated:
        are = "1 submission is" if len(outdated) == 1 else f"{len(outdated)} submissions are"
        note(f"{study.assignment}: {are} graded again ({count_reasons(outdated.values())})")
    remaining = sorted({*owned} - {result.student for result in graded})

    def why(student: str) -> str:
        reasons = outdated.get(owners.get(student, student))
        return f"graded again: {', '.join(reasons)}" if reasons else "graded"

    with recording(folder, study.assignment, why):
        try:
            with closing(
                _grade_in_workers(folder, study, remaining, force, jobs, overrides)
            ) as results:
                for result in results:
                    add(result)
        except WorkerSetupError as error:
            raise GradingError(f"nothing was graded: {error}") from error
        for student in sorted({*owned} - {result.student for result in graded}):
            graded.append(Graded(student, "left"))
            done(graded[-1])
        for result in _shared(folder, study, owners, graded):
            graded.append(result)
            done(result)
    return sorted(graded, key=lambda g: g.student)


def _shared(
    folder: CourseFolder, study: Study, owners: Mapping[str, str], graded: Iterable[Graded]
) -> list[Graded]:
    """Copy the marks of groups' submissions to the other members, and return their results."""
    results = {result.student: result for result in graded}
    members = {name: owner for name, owner in owners.items() if name != owner and owner in results}
    if not members:
        return []
    from autograder.grading.records.group_marks import share_marks  # slow to import

    share_marks(folder, study, set(members.values()))
    return [
        replace(results[owner], student=member, seconds=0.0)
        for member, owner in sorted(members.items())
    ]


def _grade_in_workers(
    folder: CourseFolder,
    study: Study,
    students: list[str],
    force: bool,
    jobs: int | None,
    overrides: ExecutionOverrides,
) -> Generator[Graded, None, None]:
    """Yield the results of these students, after one self-test.

    The self-test runs on this machine and is valid for all workers, because they run the same
    files, or on other machines files with the same digest. Answers never leave this machine.
    """
    if not students:
        return
    preload(WORKER_MODULES)
    config = config_with_overrides(folder, overrides)
    sandbox = config.GradingStep.get("isolation", "sandbox") == "sandbox"
    with start_fork_server(hidden_folders(config)) if sandbox else nullcontext() as fork_server:
        ((_, tested),) = run_tasks(
            _self_test, (folder, study, overrides, fork_server), [study.name], 1
        )
        if isinstance(tested, TaskFailed):
            raise WorkerSetupError(tested.reason)
        with closing(
            run_with_retry(
                folder,
                _grader,
                (folder, study, force, overrides, fork_server, tested),
                students,
                jobs or os.cpu_count() or 1,
            )
        ) as results:
            for student, result in results:
                if isinstance(result, TaskFailed):  # an internal error is never a mark
                    kind = FatalError if result.fatal else Graded
                    yield kind(student, "fault", (result.reason,))
                else:
                    yield result


def _with_recorded_fault(folder: CourseFolder, study: Study, graded: Graded) -> Graded:
    """Return the result; if it is a fault, record the fault in the results folder first."""
    try:
        record_fault(folder.results(study.assignment, graded.student), graded)
    except OSError as error:  # such as a full disk
        return replace(
            graded,
            status="fault",
            problems=(
                *graded.problems,
                f"this could not be recorded: {format_error(error, folder.root)}",
            ),
        )
    return graded


def _submitted(folder: CourseFolder, study: Study, students: Iterable[str] | None) -> list[str]:
    folder.require_release(study)
    require_gradebook(folder, study.assignment)
    require_expected(study)
    with_retry(
        folder, partial(require_same_points, folder, study, folder.config().CourseDirectory.db_url)
    )
    return selected(folder, study, students)


def selected(folder: CourseFolder, study: Study, students: Iterable[str] | None) -> list[str]:
    """Return the students whose submissions are to be graded. Raises `GradingError` for students
    without a submission, for unknown and dropped students, and if there is nothing to grade.
    """
    submitted = list(folder.submitted(study.assignment))
    if students is not None:
        wanted = list(dict.fromkeys(map(nfc, students)))
        skipped, people = folder.skipped(study.assignment), folder.people()
        for student in wanted:
            if student in skipped or people.person(student).dropped:
                raise GradingError(skipped.get(student, f"{student} is marked as dropped"))
        unknown = sorted(set(wanted) - set(submitted))
        if unknown:
            raise GradingError(
                f"there is no submission to {study.assignment} by " + ", ".join(unknown)
            )
        return wanted
    if not submitted and not folder.skipped(study.assignment):
        raise GradingError(
            f"there are no submissions to {study.assignment} in "
            f"{folder.root / 'submitted'} (submitted/STUDENT/{study.assignment}/)"
        )
    return submitted


def _graded_earlier(
    folder: CourseFolder, study: Study, students: Iterable[str], config: Config
) -> tuple[list[Graded], dict[str, list[str]]]:
    """Return the results that are still valid and, by student, the reasons why others are not.

    This runs before workers are started. Submissions that cannot be read are left to a worker,
    which reports the error.
    """
    unchanged: list[Graded] = []
    outdated: dict[str, list[str]] = {}
    grader, release = grader_state(folder, study, config), folder.release(study.assignment)
    try:
        marks = with_retry(
            folder, partial(read_automatic_marks, config.CourseDirectory.db_url, study.assignment)
        )
    except SQLAlchemyError:
        return unchanged, outdated
    zone = course_zone(config)
    for student in students:
        results = folder.results(study.assignment, student)
        with suppress(OSError):
            if entry := read_ledger(results / LEDGER):
                files = list_submission(
                    folder.submission(study.assignment, student), study, release
                )
                state = state_of(files, grader)
                before = previous_result(
                    folder, study.assignment, student, state, marks.get(student, {})
                )
                keep_versions_of_others(folder, study, student)
                attempts = unmarked_versions(
                    folder, study.assignment, student, state["submission"], zone
                )
                if before and not attempts:
                    unchanged.append(before)
                elif before:
                    outdated[student] = [ATTEMPTS]
                else:
                    outdated[student] = changes(entry["state"], state) or [
                        DAMAGED
                        if unreadable_files(folder, study.assignment, student, entry)
                        else NOT_BOOKED
                    ]
    return unchanged, outdated


def _self_test(*arguments) -> AbstractContextManager[Callable[[str], Any]]:
    """Run the self-test in a worker; only workers import its module."""
    from autograder.grading.run.submission import self_test

    return self_test(*arguments)


def _grader(*arguments) -> AbstractContextManager[Callable[[str], Graded | RetryLater]]:
    """Grade in a worker; only workers import the module that does so."""
    from autograder.grading.run.submission import grader

    return grader(*arguments)
