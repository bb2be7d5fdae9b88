"""An odd submission affects no other: every command ends, and the other students keep their marks.

One class contains every kind of odd submission, and two students with correct ones.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.dashboard.overview import overview
from autograder.grading.intake.submission_files import MAX_ENTRIES
from autograder.grading.run.batch import grade
from autograder.grading.run.instructor_tests import MarkInProcessTests
from autograder.release.notebooks import NotebookError
from autograder.reporting.pages.feedback import write_feedback
from autograder.tests.support.courses.classes import (
    CHECK,
    MODULES,
    NOTEBOOK,
    STUDY,
    make_course,
    score,
    submit,
)
from autograder.tests.support.courses.own_assignments import OWN, own_assignment, own_scores, solve
from autograder.tests.support.needs import need_isolation

pytestmark = [
    pytest.mark.xdist_group("odd"),
    pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names and files"),
]
FULL = CHECK.max_points
TIES = f"{NOTEBOOK}.ipynb"


def pipes(folder: Path) -> None:
    """Named pipes instead of the files that are read."""
    for name in (TIES, "data.csv", "timestamp.txt"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)


def nested(folder: Path) -> None:
    """Nested folders, deeper than a path can express."""
    before = Path.cwd()
    try:
        os.chdir(folder)
        for _ in range(300):
            Path("folder in folder").mkdir()
            os.chdir("folder in folder")
        Path("end.py").touch()
    finally:
        os.chdir(before)


def sparse(folder: Path) -> None:
    """Sparse files of 200 GB."""
    for name in ("big.py", "big.ipynb", ".hidden"):
        with (folder / name).open("wb") as file:
            file.truncate(200 * 10**9)


def named(folder: Path) -> None:
    """Names made of arbitrary bytes, blanks, markup and options."""
    for name in (
        b"\xff\xfe.py",
        b"end .py ",
        b"<img src=x onerror=alert(1)>.ipynb",
        b"a\nb.txt",
        b" ",
        b"-rf",
        b"\xff.ipynb",
    ):
        (folder / os.fsdecode(name)).write_text("1")
    (folder / os.fsdecode(b"\xfe dir ")).mkdir()
    (folder / os.fsdecode(b"\xfe dir /x.py")).touch()


def many(folder: Path) -> None:
    """A very large number of files."""
    for number in range(MAX_ENTRIES + 1):
        (folder / f"{number}.txt").touch()


def linked(folder: Path) -> None:
    """Links to the gradebook, in addition to the notebook and instead of it."""
    (folder / TIES).unlink()
    for name in (TIES, "mine.txt"):
        (folder / name).symlink_to(folder.parents[2] / "gradebook.db")


def edited(edit: Callable[[list], None]) -> Callable[[Path], None]:
    """Apply `edit` to the notebook's cells, as plain data."""

    def change(folder: Path) -> None:
        data = json.loads((folder / TIES).read_text("utf-8"))
        edit(data["cells"])
        (folder / TIES).write_text(json.dumps(data), "utf-8")

    return change


def code(source: str, **more) -> dict:
    """A code cell as plain data."""
    return {
        "cell_type": "code",
        "id": "odd",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **more,
    }


def ask_others(cells: list) -> None:
    """Checks that do not exist or belong to another study, in old and new graded cells."""
    for cell in cells:
        if cell["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("check"):
            cell["source"] = 'check("study99.nothing")'
    cells.append(
        code(
            'check("study10.ladder")',
            metadata={
                "nbgrader": {
                    "grade": True,
                    "grade_id": "new",
                    "points": 50,
                    "solution": False,
                    "locked": True,
                    "schema_version": 3,
                    "task": False,
                    "cell_type": "code",
                }
            },
        )
    )


EMPTY = {"output_type": "stream", "name": "stdout", "text": ""}
# Problem -> how it is made, the remaining points, and a part of the message.
KINDS = {
    "pipes": (pipes, FULL, "is neither a file nor a folder"),
    "nested": (nested, FULL, "the name, with those of its folders"),
    "sparse": (sparse, FULL, "has 200,000,000,000 bytes and was ignored"),
    "named": (named, FULL, ""),
    "many": (many, FULL, f"there are more than {MAX_ENTRIES:,} files"),
    "linked": (linked, FULL, "is a link and was ignored"),
    "outputs": (
        edited(lambda cells: cells.insert(0, code("1", outputs=[EMPTY] * 70_000))),
        FULL,
        "has 70,000 outputs",
    ),
    "cells": (edited(lambda cells: cells.extend([code("")] * 30_000)), FULL, "cells, of which"),
    "others": (edited(ask_others), FULL, ""),
    "deep": (
        lambda folder: (folder / TIES).write_text("[" * 90_000 + "]" * 90_000),
        FULL,
        "is not a valid notebook",
    ),
    "brackets": (lambda folder: (folder / STUDY.module).write_text("(" * 90_000), 0, ""),
    "pipe": (lambda folder: (shutil.rmtree(folder), os.mkfifo(folder)), None, "is not a folder"),
}
MISNAMED = (b"\xffodd", b"odd ", b"o\ndd", b"o*d", b"[a-z]", "o\u202ed".encode())
ODD_BUT_FINE = ("<b>odd", "o'd\"d", "=1+1", "-odd", "o d")


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> dict:
    """The class after each command, with the output and exit status of each."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("odd") / "course", STUDY)
    for student in ("ann", "zoe", *ODD_BUT_FINE, *map(os.fsdecode, MISNAMED)):
        submit(folder, student, MODULES["reference"])
    for student, (make, *_) in KINDS.items():
        make(submit(folder, student, MODULES["reference"]))
    course = ["--course", str(folder.root)]
    run = {
        name: CliRunner().invoke(app, [*words, *course])
        for name, words in {
            "grade": ["grade", "study2", "--json"],
            "again": ["grade", "study2", "--json"],
            "feedback": ["feedback", "study2"],
            "report": ["report", "study2"],
            "export": ["export"],
        }.items()
    }
    return {"folder": folder, **run}


def of(school: dict, name: str) -> dict[str, dict]:
    """The lines of a `grade` run about each student."""
    return {result["student"]: result for result in json.loads(school[name].stdout)}


def test_every_command_ends(school):
    """No command raises an exception; `grade` reports that some submissions need review."""
    assert {name: result.exit_code for name, result in school.items() if name != "folder"} == {
        "grade": 1,
        "again": 1,
        "feedback": 0,
        "report": 0,
        "export": 0,
    }


@pytest.mark.parametrize("student", ["ann", "zoe", *ODD_BUT_FINE])
def test_neighbours_keep_their_marks(school, student):
    """Students with a correct submission have all points and no messages."""
    assert score(school["folder"], student) == FULL
    assert of(school, "grade")[student]["problems"] == []


@pytest.mark.parametrize("student", KINDS)
def test_an_odd_submission_is_reported_and_marked(school, student):
    """A module that is present is marked, and there are few messages."""
    _, points, sentence = KINDS[student]
    result = of(school, "grade")[student]
    assert result["status"] == ("nothing to grade" if points is None else "graded")
    assert sentence in "\n".join(result["problems"])
    assert len(result["problems"]) <= 5
    if points is not None:
        assert score(school["folder"], student) == points


def test_what_is_odd_stays_unchanged(school):
    """The second run grades no student, because nothing has changed since the first."""
    assert {r["status"] for s, r in of(school, "again").items() if not s.startswith("'")} == {
        "unchanged"
    }


def test_folders_that_no_student_can_have_are_reported_everywhere(school):
    """Each is named by `grade`, the report and the export, and none is graded."""
    names = {repr(os.fsdecode(name)) for name in MISNAMED}
    assert {
        s for s, r in of(school, "grade").items() if r["status"] == "nothing to grade"
    } == names | {"pipe"}
    reports = school["folder"].root / "reports"
    with (reports / f"{STUDY.assignment}.csv").open(encoding="utf-8", newline="") as file:
        rows = {line["student"] for line in csv.DictReader(file)}
    assert {name.lstrip("'").rstrip("'") for name in names} <= {r.strip("'") for r in rows}
    assert all(name in school["export"].stderr for name in names)


def test_the_report_and_the_overview_know_everybody(school):
    """The report has a line for each student, and the overview counts those with a name."""
    text = (school["folder"].root / "reports" / f"{STUDY.assignment}.html").read_text("utf-8")
    text = re.sub(r"</?a[^>]*>", "", text)  # names are links
    assert all(f'<th scope="row">{student}</th>' in text for student in ("ann", "zoe", *KINDS))
    found = overview(school["folder"].root)
    (line,) = (line for line in found.lines if line.assignment == STUDY.assignment)
    assert line.submitted == 2 + len(KINDS) + len(ODD_BUT_FINE)
    assert all(any(repr(os.fsdecode(name)) in said for said in found.problems) for name in MISNAMED)


def test_the_gradebook_is_on_no_page(school):
    """The target of a link appears in no file made from the submission."""
    for stage in ("autograded", "feedback"):
        for path in (school["folder"].root / stage / "linked").rglob("*"):
            assert path.is_dir() or b"SQLite format" not in path.read_bytes()


# ---- nbgrader's own commands


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """A course with study 2."""
    return make_course(tmp_path / "course", STUDY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipes", "sparse", "linked"])
def test_nbgraders_own_command_grades_as_ours_does(course, kind):
    """Ignored files are reported with the reason, and the marks are the same."""
    for student in ("ann", kind, "zoe"):
        submit(course, student, MODULES["reference"])
    KINDS[kind][0](course.submission(STUDY.assignment, kind))
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", STUDY.assignment],
        cwd=course.root,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert KINDS[kind][2] in done.stderr
    theirs = [score(course, student) for student in ("ann", kind, "zoe")]
    assert theirs[::2] == [FULL, FULL]
    grade(course, STUDY, force=True)
    assert theirs == [score(course, student) for student in ("ann", kind, "zoe")]


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # from nbgrader's models
def test_formgraders_buttons_grade_and_write_pages_of_plain_files_only(course):
    """With nbgrader's own API, a link to the gradebook discloses nothing, and another student's
    page equals the one that our command writes.
    """
    for student in ("ann", "linked"):
        submit(course, student, MODULES["reference"])
    linked(course.submission(STUDY.assignment, "linked"))
    config = course.config()
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    done = {student: api.autograde(STUDY.assignment, student) for student in ("ann", "linked")}
    assert {student: result["success"] for student, result in done.items()} == {
        "ann": True,
        "linked": True,
    }
    assert KINDS["linked"][2] in done["linked"]["log"]
    pages = {
        student: api.generate_feedback(STUDY.assignment, student, force=True)["success"]
        for student in ("ann", "linked")
    }
    assert pages["ann"]
    page = course.root / "feedback" / "ann" / STUDY.assignment / f"{NOTEBOOK}.html"
    theirs = page.read_bytes()
    assert f"{FULL:g} of {FULL:g} points".encode() in theirs
    book = (course.root / "gradebook.db").read_bytes()[:16]
    assert not [
        path
        for folder in ("autograded", "feedback")
        for path in (course.root / folder).rglob("*")
        if path.is_symlink() or (path.is_file() and path.read_bytes()[:16] == book)
    ]
    shutil.rmtree(page.parent)
    write_feedback(course, STUDY, ["ann"])
    assert page.read_bytes() == theirs


# ---- Checks that do not exist here


def check_cell(check: str):
    """An instructor's locked cell that runs a check."""
    return new_code_cell(
        f'check("{check}")',
        metadata={
            "nbgrader": {
                "grade_id": "asks",
                "schema_version": 3,
                "task": False,
                "grade": True,
                "locked": True,
                "solution": False,
                "points": 5,
            }
        },
    )


ASKED = {
    "study99.nothing": "there is no study 'study99'",
    "study2.nothing": "there is no check 'study2.nothing'",
    "alpha_beta.alpha_beta": "the check is called study2.alpha_beta",
    "study2.alpha_beta": "there is no alphabeta.py next to the notebook",
}


def test_a_check_that_nobody_can_pass_is_not_released(course):
    """The instructor gets an error message, and nothing is released."""
    for check, why in ASKED.items():
        with pytest.raises(NotebookError, match=rf"numbers\.ipynb: the cell 'asks' .*{why}"):
            own_assignment(course, more=[check_cell(check)])
        assert not list(course.release(OWN).glob("*"))


def test_a_check_that_has_gone_since_stops_every_command_in_one_sentence(course, monkeypatch):
    """A check that another version of the kit released causes no wrong marks and loses no page."""
    with monkeypatch.context() as earlier:
        earlier.setattr(
            MarkInProcessTests, "preprocess", lambda self, nb, resources: (nb, resources)
        )
        own_assignment(course, more=[check_cell("study99.nothing")])
    solve(course, "ann", "return 2 * x")
    said = {}
    for command in (["grade", OWN], ["feedback", OWN], ["report", OWN], ["export"]):
        done = CliRunner().invoke(app, [*command, "--course", str(course.root)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        said[command[0]] = done.exit_code, done.stderr
    assert said["grade"][0] == 2
    assert "nothing was graded: numbers.ipynb: the cell 'asks'" in said["grade"][1]
    assert len(said["grade"][1].strip().splitlines()) == 1
    assert (said["feedback"][0], said["report"][0], said["export"][0]) == (2, 0, 0)
    assert "ann (not graded)" in said["export"][1]


# ---- Checks in a student's own cells


@pytest.mark.slow
@pytest.mark.parametrize("call", ['check("study99.nothing")', 'check("study2.alpha_beta")'])
def test_a_call_of_check_in_a_manual_cell_is_a_call(course, call):
    """A student's call of a check in a manually graded cell runs no check and causes no error."""
    own_assignment(
        course,
        more=[
            new_code_cell(
                "# Explain.",
                metadata={
                    "nbgrader": {
                        "grade_id": "why",
                        "schema_version": 3,
                        "task": False,
                        "grade": True,
                        "locked": False,
                        "solution": True,
                        "points": 5,
                    }
                },
            )
        ],
    )
    for student in ("ann", "odd"):
        solve(course, student, "return 2 * x")
    path = course.submission(OWN, "odd") / "numbers.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = call
    nbformat.write(notebook, path)
    graded = {result.student: result for result in grade(course, course.assignment(OWN))}
    assert {result.status for result in graded.values()} == {"graded"}
    assert own_scores(course) == {"ann": 10, "odd": 10}
