"""Feedback pages for students, by nbgrader's own converter, readable without a network."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, quiet_log
from autograder.grade import GradingError
from autograder.ledger import LEDGER, read_ledger
from course.probes import Study


def write_feedback(folder: CourseFolder, study: Study, students: Iterable[str] | None = None,
                   jobs: int | None = None,
                   done: Callable[[str], None] = lambda student: None) -> list[Path]:
    """Write `feedback/{student}/{assignment}/*.html` for everybody who has been graded.

    Returns the folders. Raises `GradingError` if nobody has been.
    """
    graded = [student for student in folder.submitted(study.assignment)
              if (read_ledger(folder.results(study.assignment, student) / LEDGER) or {})
              .get("status") == "graded"]
    wanted = graded if students is None else list(students)
    ungraded = sorted(set(wanted) - set(graded))
    if ungraded or not wanted:
        who = ", ".join(ungraded) or "everybody"
        raise GradingError(f"not graded in {study.assignment} yet: {who}; "
                           f"run `autograder grade {study.name}` first")
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=context) as pool:
        futures = {pool.submit(_one, folder, study.assignment, s): s for s in wanted}
        for future in as_completed(futures):
            future.result()
            done(futures[future])
    return [folder.root / "feedback" / student / study.assignment for student in wanted]


def _one(folder: CourseFolder, assignment: str, student: str) -> None:
    config = folder.config()
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.student_id = student
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    converter.log = quiet_log(folder.results(assignment, student) / "feedback.log")
    converter.start()
