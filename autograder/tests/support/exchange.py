"""nbgrader's exchange: a study released into it, a student's folder, submissions and feedback."""

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
from course.probes import Study, load_study

STUDY = load_study("study3")  # three notebooks, checks, written answers and extra credit
NOTEBOOK = "03_lane_heuristic"
WRITTEN = ["lane_counts", "heuristic"]  # the functions that notebook 3 asks for
ignore_exchange_warnings = pytest.mark.filterwarnings(  # both are nbgrader's own
    "ignore:.*unrecognized arguments:DeprecationWarning", "ignore:unclosed file:ResourceWarning"
)


def put_out(folder: CourseFolder, study: Study) -> None:
    """Release a study into the exchange, as formgrader's button does."""
    done = NbGraderAPI(config=folder.config()).release_assignment(study.assignment)
    assert done["success"], done


def make_desk(root: Path, course: CourseFolder) -> Path:
    """A student's empty folder that knows the course's exchange."""
    root.mkdir()
    (root / STUDENT_FILE).write_text(course.student_settings(), "utf-8")
    return root


def module_text(*names: str) -> str:
    """The study's module with these functions as the reference has them, the others stubs."""
    return stub(answer_path(STUDY).read_text("utf-8"), STUDY.module, keep=list(names))


def hand_in(
    course: CourseFolder,
    desk: Path,
    student: str,
    module: str,
    answer: str,
    study: Study = STUDY,
    *,
    change: Callable[[Path], object] = lambda work: None,
) -> None:
    """Fetch the study, write the module and every answer, submit: by nbgrader's own exchange.

    `change` may change the student's folder of the study before it is submitted.
    """
    work = desk / study.assignment
    _exchange(course, desk, student, "FetchAssignment", study).start()
    (work / study.module).write_text(module, "utf-8")
    for path in work.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = answer
        nbformat.write(notebook, path)
    change(work)
    _exchange(course, desk, student, "Submit", study).start()


def fetch_feedback(
    course: CourseFolder, desk: Path, student: str, study: Study = STUDY
) -> list[str]:
    """What nbgrader's exchange brings back to the student: the text of each page."""
    _exchange(course, desk, student, "FetchFeedback", study).start()
    pages = (desk / study.assignment).glob("feedback/*/*.html")
    return [page.read_text("utf-8") for page in pages]


def _exchange(course: CourseFolder, desk: Path, student: str, step: str, study: Study):
    """A step of nbgrader's exchange as one student takes it; `desk` is the student's folder."""
    config = Config(json.loads(course.student_settings()))
    config.CourseDirectory.student_id = student
    config.CourseDirectory.assignment_id = study.assignment
    config.Exchange.assignment_dir = str(desk)
    config.Exchange.cache = str(desk.with_name(f"{desk.name}-cache"))
    return getattr(ExchangeFactory(config=config), step)(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
