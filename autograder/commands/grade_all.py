"""Grades, generates feedback and writes the report in one command, which saves start-up time."""

from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from autograder.commands.console import print_line
from autograder.commands.people import Selection, submitters
from autograder.commands.progress import (
    feedback_study,
    grade_study,
    grades_as_json,
    print_feedback,
    print_grades,
)
from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import Graded, current_entry
from autograder.grading.run.execution_overrides import NO_OVERRIDES, ExecutionOverrides
from autograder.reporting.pages.feedback import Feedback
from course.checks import Study

ALL = Selection()
REPORT = "autograder.reporting.report"  # slow to import, so a thread does it during grading


class GradeAllResult(NamedTuple):
    """The results of grading, feedback and report."""

    graded: list[Graded]
    pages: list[Feedback]
    report: tuple[Path, ...]

    @property
    def needs_a_look(self) -> bool:
        """Whether a submission needs attention, or a page could not be written."""
        return any(graded.needs_a_look for graded in self.graded) or any(
            page.problem for page in self.pages
        )

    def to_json(self) -> dict[str, Any]:
        """Return the results as plain data."""
        return {
            "grades": grades_as_json(self.graded),
            "feedback": [page._asdict() | {"folder": str(page.folder)} for page in self.pages],
            "report": [str(path) for path in self.report],
        }


def grade_all(
    folder: CourseFolder,
    study: Study,
    selection: Selection = ALL,
    *,
    force: bool = False,
    jobs: int | None = None,
    overrides: ExecutionOverrides = NO_OVERRIDES,
    verbose: bool = True,
) -> GradeAllResult:
    """Grade, generate feedback for all graded students, and write the report of the class, or of the
    selected section.

    If `verbose`, print the results of each step.
    """
    folder.require_release(study)
    students = submitters(folder, study, *selection)
    Thread(target=import_module, args=(REPORT,), daemon=True).start()
    graded = grade_study(folder, study, students, force=force, jobs=jobs, overrides=overrides)
    if verbose:
        print_grades(folder, study, graded, overrides)
    marked = [
        student
        for student in students or folder.submitted(study.assignment)
        if current_entry(folder, study.assignment, student)["status"] == "graded"
    ]
    pages = feedback_study(folder, study, marked, jobs) if marked else []
    if verbose and marked:
        print_feedback(folder, study, pages)
    report = import_module(REPORT).write_report(folder, study, selection.section)
    for path in report if verbose else ():
        print_line(f"report: {path}")
    return GradeAllResult(graded, pages, report)
