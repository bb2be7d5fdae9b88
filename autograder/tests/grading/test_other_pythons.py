"""Students and graders may use different Python versions: work from a newer one is explained."""

import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import Graded
from autograder.grading.run.batch import grade
from autograder.reporting.pages.feedback import write_feedback
from autograder.tests.support.courses.classes import (
    ALWAYS,
    CHECK,
    MODULES,
    NOTEBOOK,
    STUDY,
    config,
    first_cell,
    make_course,
    outcomes,
    page_of,
    stopped,
    submit,
)
from autograder.tests.support.needs import need_isolation, need_python
from course.checks.running.newer_python import RUNNING, version_text

pytestmark = pytest.mark.xdist_group("other Pythons")

ROOT = Path(__file__).parents[3]
NEEDS = f"grading uses Python {version_text(RUNNING)}"
NEW_IN = {  # a line that no earlier Python can parse
    12: 'names = f"{", ".join("ab")}"',
    13: "type Pair[T = int] = tuple[T, T]",
    14: 'template = t"{1}"',
}
AT_HOME = """
import sys
from course.submission import make_submission
from tictactoe import Board
sys.path.insert(0, sys.argv[1])
from alphabeta import AlphaBeta
print(AlphaBeta().search(Board("x_o_x_o__")).value, make_submission("study2", sys.argv[1]))
"""


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course folder with the study released."""
    need_isolation()
    return make_course(tmp_path_factory.mktemp("released") / "course", STUDY)


@pytest.fixture
def course(course_template, tmp_path) -> CourseFolder:
    """A released course for a single test."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


def graded(course: CourseFolder) -> Graded:
    """The result of the only submission, after writing its page."""
    (result,) = grade(course, STUDY)
    write_feedback(course, STUDY)
    return result


@pytest.mark.skipif(RUNNING >= (3, 15), reason="this Python knows the syntax")
def test_the_version_is_in_the_report_and_on_the_page(course):
    """A module and a cell that no current Python can parse earn no mark; the version is given."""
    config(course, ALWAYS)
    submit(course, "ada", "lazy import json\n", first_cell("lazy import json"))
    said = f"`lazy import` needs Python 3.15; {NEEDS}"
    assert any(said in problem for problem in graded(course).problems)
    assert said in page_of(course, "ada").replace("<code>", "`").replace("</code>", "`")
    assert said in stopped(course, "ada")
    assert outcomes(course, "ada")[CHECK.id]["earned"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_work_of_another_python_is_graded(course, tmp_path, minor):
    """A module run and packed by another interpreter gets its marks if this Python can parse it,
    and otherwise the message with the version.
    """
    python = need_python(minor)
    home = tmp_path / "home"
    place = shutil.copytree(course.release(STUDY.assignment), home / STUDY.assignment)
    (place / STUDY.module).write_text(f"{MODULES['reference']}\n{NEW_IN.get(minor, '')}\n", "utf-8")
    path = place / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.language_info = {"name": "python", "version": f"3.{minor}.0"}
    nbformat.write(notebook, path)
    subprocess.run([python, "-c", AT_HOME, place], cwd=ROOT, check=True)
    shutil.unpack_archive(home / f"{STUDY.assignment}.zip", course.root / "submitted" / "ada")
    result = graded(course)
    newer = (3, minor) > RUNNING
    assert any(f"needs Python 3.{minor}; {NEEDS}" in said for said in result.problems) == newer
    assert outcomes(course, "ada")[CHECK.id]["earned"] == (0 if newer else CHECK.max_points)
