"""A new study in a course folder, made as `docs/own_study.md` says."""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course_folder import CourseFolder
from autograder.doctor import public_code
from autograder.doctor.public_code import PublicDefinition, find_accidental_answers
from autograder.errors import UserError
from autograder.release.own_course.new_study import new_study
from autograder.tests.support.needs import need_isolation
from common.command_lines import KIT
from course.checks import load_study, studies
from course.checks.study_paths import VARIABLE

GUIDE = (KIT / "docs" / "own_study.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CourseFolder:
    """A new course folder; the variable that lists studies is restored afterwards."""
    monkeypatch.setenv(VARIABLE, "")
    return CourseFolder.create(tmp_path / "my_course")


@pytest.mark.parametrize("name", ["Nim", "2nim", "nim game", "class", "", "../nim", "minimax"])
def test_names_that_cannot_be_used_are_refused(course, name):
    """Nothing is written."""
    with pytest.raises(UserError):
        new_study(course, name)
    assert not course.studies_home.exists()


def test_a_second_study_has_the_next_number(course):
    """Both are studies of this course, after those of the kit."""
    number = len(studies())
    for offset, name in enumerate(("nim", "hex_game"), 1):
        study = new_study(course, name)
        assert study.assignment == f"study{number + offset}_{name}"
        assert study.home == course.studies_home
    assert "best_take" in load_study("nim").checks


def test_a_function_that_returns_its_argument_earns_nothing(course, monkeypatch):
    """The kit has many such functions, and `doctor --all` lists public code that earns marks."""
    need_isolation()
    same = PublicDefinition("same", "a module", range(1, 2), "def same(heap):\n    return heap\n")
    monkeypatch.setattr(public_code, "_public_definitions", lambda excluded: [same])
    assert find_accidental_answers(new_study(course, "nim")) == (1, [])


@pytest.mark.slow
def test_the_guide_leads_from_nothing_to_marks(tmp_path):
    """Its commands are run as they are printed; a right, a wrong and an unchanged module get the
    marks that they deserve.
    """
    need_isolation()
    assert len(GUIDE.splitlines()) < 150
    before_grading = next(i for i, line in enumerate(COMMANDS) if " grade " in line)
    for number, line in enumerate(COMMANDS):
        if number == before_grading:
            submit(tmp_path / "my_course")
        words = shlex.split(line)
        assert words[:2] == ["python3", "run.py"]
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "autograder", *words[2:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0 or (ran.returncode == 1 and words[2] == "grade"), (
            line + ran.stdout + ran.stderr
        )
    with (tmp_path / "my_course/reports/gradebook.csv").open(encoding="utf-8") as file:
        scores = {row["student"]: float(row["study11_nim.score"]) for row in csv.DictReader(file)}
    assert scores == {"ada": 4, "ben": 2, "cy": 0}
    page = (tmp_path / "my_course/feedback/ben/study11_nim/20_nim.html").read_text("utf-8")
    assert "The opponent must be left with a multiple of 4" in page


def submit(course: Path) -> None:
    """Put three submissions into the course: the answer, a known mistake and the stub."""
    answer = (course / "studies/autograder/studies/study11_nim/nim.py").read_text("utf-8")
    for student, text in {
        "ada": answer,
        "ben": answer.replace("% (MOST + 1)", "% MOST"),
        "cy": None,
    }.items():
        folder = course / "submitted" / student / "study11_nim"
        shutil.copytree(course / "release" / "study11_nim", folder)
        if text:
            (folder / "nim.py").write_text(text, "utf-8")
