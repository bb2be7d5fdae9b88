"""A course folder created and graded by an earlier version of the kit remains usable.

`course_before_0_1.tar.xz` contains a course folder with a study of the kit, an assignment of the
instructor, a late penalty, results, feedback and a gradebook. Modules and study folders had other
names then.
"""

import csv
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from autograder.course_folder import CourseFolder
from autograder.course_folder.outdated_files import outdated_files
from autograder.grading.records.deciding import outdated_results
from autograder.release.assignments import generate_assignment
from autograder.studies import load_module
from autograder.tests.support.courses.own_assignments import OWN, own_scores
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path
from course.checks import load_study

STORED = Path(__file__).parents[2] / "support" / "course_before_0_1.tar.xz"
STUDY = load_study("study2")
# Before the penalty; ben's mistake costs 9 points, and his module was submitted a day late.
SCORES = {"ada": 15.0, "ben": 6.0, "cy": 0.0}
LATE = {"ben": 0.6}


@pytest.fixture
def old(tmp_path) -> CourseFolder:
    """The stored course folder."""
    with tarfile.open(STORED) as archive:
        options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since 3.11.4
        archive.extractall(tmp_path, **options)
    return CourseFolder.open(tmp_path / "course")


def autograder(folder: CourseFolder, *arguments: str) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "autograder", *arguments, "--course", str(folder.root)],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def marks(folder: CourseFolder) -> tuple[dict[str, float], dict[str, float]]:
    """The score and the late penalty of each student, from the report's table."""
    autograder(folder, "report", STUDY.name)
    with (folder.root / "reports" / f"{STUDY.assignment}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    penalties = {row["student"]: float(row["late_penalty"]) for row in rows}
    scores = {row["student"]: float(row["score"]) + penalties[row["student"]] for row in rows}
    return scores, {name: penalty for name, penalty in penalties.items() if penalty}


def test_its_marks_are_readable_and_known_to_be_out_of_date(old):
    """An upgrade loses nothing, and the report names the cause."""
    assert marks(old) == (SCORES, LATE)
    assert set(outdated_results(old, STUDY)) == set(SCORES)


def test_its_notebooks_are_reported_until_they_are_generated_again(old):
    """They import modules that had other names then; the instructor's own notebook does not."""
    notebook = f"{STUDY.assignment}/02_alpha_beta.ipynb"
    modules = "course.hand_in, course.recorded, tictactoe.show"
    for stage, sentence in zip(("source", "release"), outdated_files(old), strict=True):
        assert sentence.startswith(f"{stage}/{notebook} imports {modules}, which this version of ")
        assert f" generate study2 --course {old.root}` makes the assignment again" in sentence
    generate_assignment(old, STUDY)
    assert list(outdated_files(old)) == []


def test_modules_of_earlier_stubs_can_be_loaded(tmp_path):
    """The stub of study 9 imported its three functions from `sequence.agents.worth`."""
    study = load_study("study9")
    text = answer_path(study).read_text("utf-8")
    old = text.replace(
        "from sequence.agents.evaluation import", "from sequence.agents.worth import"
    )
    assert old != text
    path = tmp_path / study.module
    path.write_text(old, "utf-8")
    assert vars(load_module(path)).keys() >= {"best_action", "chances", "ranked"}


@pytest.mark.slow
def test_it_is_graded_again_with_the_same_marks(old):
    """The submissions, the late penalty and the instructor's own tests have the same effect."""
    need_isolation()
    autograder(old, "grade", STUDY.name)
    assert outdated_results(old, STUDY) == {}
    assert marks(old) == (SCORES, LATE)
    autograder(old, "feedback", STUDY.name)
    before = own_scores(old)
    autograder(old, "grade", OWN)
    assert own_scores(old) == before
