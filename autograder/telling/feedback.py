"""Writes feedback pages for students with nbgrader's own converter, readable offline.

This module imports little: the workers import nbgrader.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from autograder.course_folder import CourseFolder, run_quietly
from autograder.grading.batch import GradingError
from autograder.grading.ledger import standing
from autograder.grading.workers import CannotWork, Failed, prepare, run_tasks
from course.probes import Study

LOG = "feedback.log"


class Feedback(NamedTuple):
    """One student's pages: their folder, and, if they could not be written, why not."""

    student: str
    folder: Path
    problem: str | None


def write_feedback(folder: CourseFolder, study: Study, students: Iterable[str] | None = None,
                   jobs: int | None = None,
                   done: Callable[[Feedback], None] = lambda feedback: None) -> list[Feedback]:
    """Write `feedback/{student}/{assignment}/*.html` for everybody who has been graded.

    `done` gets each result. Raises `GradingError` if nobody, or not each of `students`, is graded.
    """
    prepare(["autograder.grading.quick_start", "nbgrader.converters"])
    assignment = study.assignment
    graded = [student for student in folder.submitted(assignment)
              if standing(folder, assignment, student)["status"] == "graded"]
    wanted = graded if students is None else list(dict.fromkeys(students))
    ungraded = sorted(set(wanted) - set(graded))
    if ungraded or not wanted:
        who = ", ".join(ungraded) or "everybody"
        raise GradingError(f"not graded in {assignment} yet: {who}; "
                           f"run `autograder grade {study.name}` first")
    written = []
    try:
        for student, result in run_tasks(_writer, (folder, assignment), wanted,
                                         min(jobs or os.cpu_count() or 1, len(wanted))):
            log = folder.results(assignment, student) / LOG
            written.append(Feedback(
                student, folder.root / "feedback" / student / assignment,
                f"{result.reason} (see {log})" if isinstance(result, Failed) else None))
            done(written[-1])
    except CannotWork as error:
        raise GradingError(f"no feedback was written: {error}") from error
    return sorted(written)


@contextlib.contextmanager
def _writer(folder: CourseFolder, assignment: str) -> Iterator[Callable[[str], None]]:
    """The worker's side: yields a function that writes one student's pages."""
    import autograder.grading.quick_start  # noqa: F401, I001 - before nbformat
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    config = folder.config()

    def write(student: str) -> None:
        config.CourseDirectory.assignment_id = assignment
        config.CourseDirectory.student_id = student
        converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
        converter.force = True
        run_quietly(converter, folder.results(assignment, student) / LOG)

    yield write
