"""A damaged file in a course folder is reported and repaired, and affects no other student."""

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.grading.records.ledger import LEDGER, current_entry, previous_result, read_ledger
from autograder.grading.run import submission as grading
from autograder.grading.run.batch import grade
from autograder.tests.support.courses.classes import make_course
from autograder.workspace import module_texts
from course.checks import load_study

STUDY = load_study("study2")
MOST_SECONDS = 300  # of a command
NOTEBOOK = "02_alpha_beta"
COMMANDS = (
    ["report", "study2"],
    ["feedback", "study2"],
    ["export", "--output", "-"],
    ["solutions", "study2", "--before-deadline"],
    ["late-penalties", "study2", "--due", "2026-07-02 10:00"],
)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00{\xe9"),
    "UTF-16": lambda path: path.write_bytes(path.read_text("utf-8", "replace").encode("utf-16")),
    "a list": lambda path: path.write_text("[1, 2]", "utf-8"),
    "another object": lambda path: path.write_text('{"a": 1}', "utf-8"),
    "other types": lambda path: path.write_text(
        '{"status": 1, "state": [], "problems": "x", "outcomes": {}, "booked": 0}', "utf-8"
    ),
    "odd outcomes": lambda path: path.write_text(
        '{"outcomes": [1, {}], "inside": [], "booked": {}}', "utf-8"
    ),
    "deep": lambda path: path.write_text("[" * 100_000, "utf-8"),
    "missing": Path.unlink,
    "a folder": a_folder,
    "a symbolic link to itself": a_loop,
    "a pipe": a_pipe,
}
FILES = (
    f"results/{STUDY.assignment}/ada/{LEDGER}",
    f"results/{STUDY.assignment}/ada/{NOTEBOOK}.json",
    f"autograded/ada/{STUDY.assignment}/{NOTEBOOK}.ipynb",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """A course in which ada and bob are graded, shared and never modified."""
    folder = make_course(tmp_path_factory.mktemp("made") / "course", STUDY)
    for student in ("ada", "bob"):
        target = folder.root / "submitted" / student / STUDY.assignment
        shutil.copytree(folder.release(STUDY.assignment), target)
        (target / STUDY.module).write_text(module_texts(STUDY)["reference"], "utf-8")
        path = target / f"{NOTEBOOK}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        nbformat.write(notebook, path)
    assert {g.status for g in grade(folder, STUDY, jobs=1)} == {"graded"}
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


def damage_file(path: Path, damage: str) -> None:
    """Damage a file, even a read-only one, as nbgrader leaves them."""
    path.parent.chmod(0o755)
    path.chmod(0o644)
    DAMAGES[damage](path)


def run(course: CourseFolder, command: list[str]) -> tuple[int, str]:
    """The exit status and the complete output of a command; exceptions are raised, as is
    `WaitsForever`.
    """
    where = ["--course", str(course.root)]
    signal.signal(signal.SIGALRM, waits_too_long)
    signal.alarm(MOST_SECONDS)
    try:
        done = CliRunner().invoke(app, [*command, *where], catch_exceptions=False)
    finally:
        signal.alarm(0)
    return done.exit_code, done.output + done.stderr


class WaitsForever(BaseException):  # no error that a command handles
    """A command does not end, perhaps because it has opened a pipe."""


def waits_too_long(*_: object) -> None:
    raise WaitsForever


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_read_is_graded_again(course, monkeypatch, file, damage):
    """This includes an autograded notebook, which is rewritten; bob's result is unchanged."""
    monkeypatch.setattr(grading, "run_self_test", lambda *arguments: None)
    path = course.root / file
    damage_file(path, damage)
    assert current_entry(course, STUDY.assignment, "ada")["status"] == "not graded"
    assert current_entry(course, STUDY.assignment, "bob")["status"] == "graded"
    ledger = read_ledger(course.results(STUDY.assignment, "ada") / LEDGER)
    if ledger:
        assert not previous_result(
            course, STUDY.assignment, "ada", ledger["state"], ledger["marks"]
        )
    with grading.grader(course, STUDY, False) as grade_one:
        assert grade_one("bob").status == "unchanged"
        stays = damage == "a folder" and file.startswith("results")  # grading removes no folders
        assert grade_one("ada").status == ("fault" if stays else "graded")
    if stays:
        path.rmdir()
        with grading.grader(course, STUDY, False) as grade_one:
            assert grade_one("ada").status == "graded"
    assert current_entry(course, STUDY.assignment, "ada")["status"] == "graded"


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "damage",
    [
        "cut off",
        pytest.param("no UTF-8", marks=pytest.mark.slow),
        pytest.param("odd outcomes", marks=pytest.mark.slow),
        pytest.param("a folder", marks=pytest.mark.slow),
        pytest.param("missing", marks=pytest.mark.slow),
        pytest.param("other types", marks=pytest.mark.slow),
    ],
)
def test_no_command_fails_for_everybody(course, file, damage):
    """Each command processes bob and reports that ada's result is damaged or missing."""
    damage_file(course.root / file, damage)
    for command in COMMANDS:
        status, said = run(course, command)
        assert status in (0, 1), (command, said)
        assert "Traceback" not in said
    page = (course.root / "reports" / f"{STUDY.assignment}.html").read_text("utf-8")
    assert "damaged" in page or damage == "missing"
    assert list((course.root / "feedback" / "bob" / STUDY.assignment).glob("*.html"))


@pytest.fixture(scope="module")
def complete(made, tmp_path_factory) -> tuple[CourseFolder, Path]:
    """A course with a roster and every kind of file that a command reads."""
    root = shutil.copytree(made.root, tmp_path_factory.mktemp("complete") / "course")
    course, roster = CourseFolder.open(root), root.with_name("roster.csv")
    roster.write_text("id,first_name,last_name\nada,Ada,Byron\nbob,Robert,Boole\n", "utf-8")
    course.secret()
    for student in ("ada", "bob"):
        for stage in ("submitted", "autograded"):
            (root / stage / student / STUDY.assignment / "timestamp.txt").write_text(
                "2026-07-02 12:00:00 UTC", "utf-8"
            )
    for command in (
        ["roster", str(roster)],
        ["release", "study2"],
        ["late-penalties", "study2", "--due", "2026-07-02 10:00", "--percent-a-day", "10"],
        ["grade", "study2", "--jobs", "1"],
        *COMMANDS[:2],
        ["export"],
    ):
        status, said = run(course, command)
        assert status == 0, said
    return course, roster


EVERY_COMMAND = {
    "generate": 4,
    "grade": 8,
    "feedback": 8,
    "report": 20,
    "export": 100,
    "solutions": 4,
    "late-penalties": 100,
    "release": 20,
    "collect": 100,
    "release-feedback": 20,
    "roster": 100,
}


@pytest.mark.slow
def test_no_pipe_is_waited_for(complete, tmp_path):
    """A command ends even if a file that the kit writes is a named pipe, which has no reader."""
    course, _ = complete
    files = [
        *course.root.glob("*"),
        *course.root.glob("marks/*"),
        *course.root.glob("results/**/*"),
    ]
    names = [path.relative_to(course.root) for path in sorted(files) if path.is_file()]
    assert len(names) > 10
    for name in names:
        damaged = CourseFolder(shutil.copytree(course.root, tmp_path / "course"))
        damage_file(damaged.root / name, "a pipe")
        status, said = run(damaged, ["late-penalties", "study2"])
        assert status in (0, 1, 2) and "Traceback" not in said, (name, said)
        shutil.rmtree(damaged.root)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_file_may_be_damaged(complete, tmp_path, monkeypatch, name):
    """A command that reads any damaged file ends with a message, and bob's marks are unchanged.

    After the file is restored, the same command gives the same exit status as before. Slow commands
    are tested with a random subset of the files.
    """
    monkeypatch.setattr(grading, "run_self_test", lambda *arguments: None)
    course, roster = complete
    command = {
        "grade": [name, "study2", "--jobs", "1"],
        "export": [name],
        "solutions": [name, "study2", "--before-deadline"],
        "roster": [name, str(roster)],
    }.get(name, [name, "study2"])
    files = [
        path.relative_to(course.root)
        for path in sorted(course.root.rglob("*"))
        if path.is_file() and "bob" not in path.parts
    ]
    assert len(files) > 20
    chosen = random.sample(files, min(EVERY_COMMAND[name], len(files)))
    expected = None
    for file in (None, *chosen):
        root = tmp_path / "course"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(course.root, root)
        damaged = CourseFolder(root)
        if file is None:
            expected, _ = run(damaged, command)
            continue
        written = file.parts[0] == "reports"  # writing to a pipe waits for its reader, as it should
        damage = random.choice(sorted(DAMAGES.keys() - ({"a pipe"} if written else set())))
        damage_file(root / file, damage)
        status, said = run(damaged, command)
        where = (name, str(file), damage, said)
        assert status in (0, 1, 2) and "Traceback" not in said and (said or not status), where
        if (root / file).is_dir():
            (root / file).rmdir()
        (root / file).unlink(missing_ok=True)
        shutil.copy2(course.root / file, root / file)
        assert marks_of_bob(damaged) == marks_of_bob(course), where
        again, said = run(damaged, command)
        assert again == expected, (*where, said)


def marks_of_bob(course: CourseFolder) -> dict:
    """The automatic points of bob's cells in the gradebook."""
    return read_automatic_marks(course.config().CourseDirectory.db_url, STUDY.assignment, "bob")


def test_stray_files_are_no_results(course):
    """Unrelated files in the folder are ignored."""
    folder = course.root / "results" / STUDY.assignment
    (folder / "notes.json").write_text("{", "utf-8")
    (folder / "ada" / "notes.json").write_text('{"outcomes": 1}', "utf-8")
    (folder / "ada" / "other.json").mkdir()
    (folder / "zoe").write_text("", "utf-8")
    for command in COMMANDS:
        status, said = run(course, command)
        assert status == 0, (command, said)
    assert current_entry(course, STUDY.assignment, "ada")["status"] == "graded"
