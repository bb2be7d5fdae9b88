"""nbgrader's exchange with a released study, a student's folder, submissions and feedback."""

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from autograder.course_folder import STUDENT_FILE, CourseFolder
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from course.checks import Study, load_study

STUDY = load_study("study3")  # three notebooks, checks, written answers and extra credit
NOTEBOOK = "03_lane_heuristic"
WRITTEN = ["lane_counts", "heuristic"]  # the functions that notebook 3 requires
ignore_exchange_warnings = pytest.mark.filterwarnings(  # both are nbgrader's own
    "ignore:.*unrecognized arguments:DeprecationWarning", "ignore:unclosed file:ResourceWarning"
)


def release_to_exchange(folder: CourseFolder, study: Study) -> None:
    """Release a study into the exchange, as formgrader's button does."""
    done = NbGraderAPI(config=folder.config()).release_assignment(study.assignment)
    assert done["success"], done


def make_student_folder(root: Path, course: CourseFolder) -> Path:
    """A student's empty folder, configured with the course's exchange."""
    root.mkdir()
    (root / STUDENT_FILE).write_text(course.student_settings(), "utf-8")
    return root


def module_text(*names: str) -> str:
    """The study's module with the reference's version of these functions and stubs for the others."""
    return stub(answer_path(STUDY).read_text("utf-8"), STUDY.module, keep=list(names))


def submit(
    course: CourseFolder,
    student_folder: Path,
    student: str,
    module: str,
    answer: str,
    study: Study = STUDY,
    *,
    change: Callable[[Path], object] = lambda work: None,
) -> None:
    """Fetch the study, write the module and every answer, and submit through nbgrader's exchange.

    `change` may edit the student's folder of the study before the submission.
    """
    work = student_folder / study.assignment
    _exchange(course, student_folder, student, "FetchAssignment", study).start()
    (work / study.module).write_text(module, "utf-8")
    for path in work.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = answer
        nbformat.write(notebook, path)
    change(work)
    _exchange(course, student_folder, student, "Submit", study).start()


def fetch_feedback(
    course: CourseFolder, student_folder: Path, student: str, study: Study = STUDY
) -> list[str]:
    """Fetch feedback through nbgrader's exchange: the text of each page."""
    _exchange(course, student_folder, student, "FetchFeedback", study).start()
    pages = (student_folder / study.assignment).glob("feedback/*/*.html")
    return [page.read_text("utf-8") for page in pages]


def _exchange(course: CourseFolder, student_folder: Path, student: str, step: str, study: Study):
    """Run a step of nbgrader's exchange as one student; `student_folder` has the exchange's path."""
    config = Config(json.loads(course.student_settings()))
    config.CourseDirectory.student_id = student
    config.CourseDirectory.assignment_id = study.assignment
    config.Exchange.assignment_dir = str(student_folder)
    config.Exchange.cache = str(student_folder.with_name(f"{student_folder.name}-cache"))
    return getattr(ExchangeFactory(config=config), step)(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
