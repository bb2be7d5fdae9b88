"""A whole evening in one command: marks, then feedback, then the report, with one start for all."""

from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from autograder.commands.console import say
from autograder.commands.progress import (
    feedback_study,
    grade_study,
    grades_as_json,
    tell_feedback,
    tell_grades,
)
from autograder.course_folder import CourseFolder
from autograder.grading.ledger import Graded, standing
from autograder.grading.where import AS_CONFIGURED, Where
from autograder.telling.feedback import Feedback
from course.probes import Study

REPORT = "autograder.telling.report"  # slow to import, so this is done while others grade


class Evening(NamedTuple):
    """What came of an evening."""

    graded: list[Graded]
    pages: list[Feedback]
    report: tuple[Path, ...]

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at a submission, or at a page that could not be written."""
        return any(graded.needs_a_look for graded in self.graded) or any(
            page.problem for page in self.pages
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "grades": grades_as_json(self.graded),
            "feedback": [page._asdict() | {"folder": str(page.folder)} for page in self.pages],
            "report": [str(path) for path in self.report],
        }


def whole_evening(
    folder: CourseFolder,
    study: Study,
    students: list[str] | None = None,
    *,
    force: bool = False,
    jobs: int | None = None,
    where: Where = AS_CONFIGURED,
    tell: bool = True,
) -> Evening:
    """Grade, write feedback for all of them who have marks, and the report of the class.

    With `tell`, print after each step what it did.
    """
    folder.require_release(study)
    Thread(target=import_module, args=(REPORT,), daemon=True).start()
    graded = grade_study(folder, study, students, force=force, jobs=jobs, where=where)
    if tell:
        tell_grades(folder, study, graded, where)
    marked = [
        student
        for student in students or folder.submitted(study.assignment)
        if standing(folder, study.assignment, student)["status"] == "graded"
    ]
    pages = feedback_study(folder, study, marked, jobs) if marked else []
    if tell and marked:
        tell_feedback(folder, study, pages)
    report = import_module(REPORT).write_report(folder, study)
    for path in report if tell else ():
        say(f"report: {path}")
    return Evening(graded, pages, report)
