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
from autograder.workspace.strip import BEGIN, END
from common.command_lines import KIT
from course.checks import load_study, studies
from course.checks.study_paths import VARIABLE

MAX_LINES = 150  # of the guide, and of what its reader writes
GUIDE = (KIT / "docs" / "own_study.md").read_text("utf-8")
STEP = re.compile(  # commands, or a block for a file of the study
    r"(?:Add to\s`(?P<file>[^`]+)`(?P<how>[^:]*):\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


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


@pytest.mark.parametrize("part", ["course", "autograder/studies"])
def test_a_folder_that_is_no_study_is_not_written_into(course, part):
    """It may contain work that an instructor has not finished."""
    unfinished = course.studies_home / part / f"study{len(studies()) + 1}_nim" / "nim.py"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_text("my own work\n", "utf-8")
    assert new_study(course, "nim").name == f"study{len(studies()) + 1}"
    assert unfinished.read_text("utf-8") == "my own work\n"


def test_a_function_that_returns_its_argument_earns_nothing(course, monkeypatch):
    """The kit has many such functions, and `doctor --all` lists public code that earns marks."""
    need_isolation()
    same = PublicDefinition("same", "a module", range(1, 2), "def same(heap):\n    return heap\n")
    monkeypatch.setattr(public_code, "_public_definitions", lambda excluded: [same])
    assert find_accidental_answers(new_study(course, "nim")) == (1, [])


@pytest.mark.slow
def test_the_guide_leads_from_nothing_to_marks(tmp_path):
    """The steps are taken as printed. A right module, two wrong ones and the stub get the marks
    that they deserve.
    """
    assert len(GUIDE.splitlines()) < MAX_LINES
    need_isolation()
    course = tmp_path / "my_course"
    steps = list(STEP.finditer(GUIDE))
    assert GUIDE.count("```") == 2 * len(steps)
    written = 0
    for step in steps:
        if step["file"]:
            written += add(course / "studies" / step["file"], step["text"], step["how"])
            continue
        assert step["language"] == "sh"
        for line in step["text"].splitlines():
            if " grade " in line:
                submit(course)
            run_line(line, tmp_path)
            written += 1
    assert written < MAX_LINES
    with (course / "reports/gradebook.csv").open(encoding="utf-8") as file:
        scores = {row["student"]: float(row["study11_nim.score"]) for row in csv.DictReader(file)}
    assert scores == {"ada": 6, "ben": 4, "cy": 0, "dan": 5}
    for student, sentence in {
        "ben": "The opponent must be left with a multiple of 4",
        "dan": "An even total is not always lost",
    }.items():
        page = (course / f"feedback/{student}/study11_nim/20_nim.html").read_text("utf-8")
        assert sentence in page


def add(file: Path, block: str, how: str) -> int:
    """Append a block of the guide to its file, with a solution region if the guide requires one;
    return the number of lines.
    """
    if BEGIN in how and END in how:
        head, quotes, solution = block.rpartition('"""\n')
        block = f"{head}{quotes}    {BEGIN}\n{solution}    {END}\n"
    else:
        assert not how
    file.write_text(f"{file.read_text('utf-8')}\n\n{block}", "utf-8")
    return len(block.splitlines())


def run_line(line: str, folder: Path) -> None:
    """Run one command of the guide. `grade` returns 1, because a stub needs attention."""
    program, script, *words = shlex.split(line)
    assert (program, script) == ("python3", "run.py")
    if words[0] == "test":
        command = [
            "pytest",
            "-p",
            "no:cacheprovider",
            "-c",
            str(KIT / "pyproject.toml"),
            *words[1:],
        ]
    else:
        command = ["autograder", *words]
    ran = subprocess.run(
        [sys.executable, "-P", "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 or (ran.returncode == 1 and words[0] == "grade"), (
        line + ran.stdout + ran.stderr
    )


def submit(course: Path) -> None:
    """Put four submissions into the course: the answer, two known mistakes and the stub."""
    answer = (course / "studies/autograder/studies/study11_nim/nim.py").read_text("utf-8")
    for student, text in {
        "ada": answer,
        "ben": answer.replace("% (MOST + 1)", "% MOST"),
        "cy": None,
        "dan": answer.replace("xor ^= n", "xor ^= n % 2"),
    }.items():
        folder = course / "submitted" / student / "study11_nim"
        shutil.copytree(course / "release" / "study11_nim", folder)
        if text:
            (folder / "nim.py").write_text(text, "utf-8")
