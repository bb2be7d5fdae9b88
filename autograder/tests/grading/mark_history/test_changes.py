"""Every change of a mark is recorded once, with its reason, and all changes add up to the mark."""

import json
import os
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.database import db_url
from autograder.errors import UserError
from autograder.grading.mark_history import changes, formgrader_marks
from autograder.grading.mark_history.changes import (
    EARLIER,
    OUTSIDE,
    read_changes,
    record_changes,
    record_outside_changes,
    recording,
)
from autograder.grading.mark_history.requests import FILE, answer_request, enter_request
from autograder.release.assignments import add_students
from autograder.reporting.gradebook import marks_of, open_gradebook

pytestmark = pytest.mark.xdist_group("late")

WEEK, STUDENTS, CELLS = "week7", ("ada", "ben"), ("first", "second")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """A course with one assignment; both students have 3 of 10 points in both cells."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("marks") / "course")
    add_students(folder, [(student, student, "") for student in STUDENTS])
    folder.release(WEEK).mkdir(parents=True)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(WEEK, duedate="2026-03-02 10:00:00 UTC")
        book.add_notebook("one", WEEK)
        for cell in CELLS:
            book.add_grade_cell(cell, "one", WEEK, max_score=10, cell_type="code")
        for student in STUDENTS:
            book.add_submission(WEEK, student, timestamp="2026-03-03 09:00:00 UTC")
            for cell in CELLS:
                book.find_grade(cell, "one", WEEK, student).auto_score = 3
        book.db.commit()
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


def mark(folder: CourseFolder, student: str, cell: str, **values: float | None) -> None:
    """Change a grade as formgrader does."""
    with Gradebook(db_url(folder)) as book:
        grade = book.find_grade(cell, "one", WEEK, student)
        for name, value in values.items():
            setattr(grade, name, value)
        book.db.commit()


def run(folder: CourseFolder, *arguments: str):
    """Run a command in this process."""
    return CliRunner().invoke(app, [*arguments, "--course", str(folder.root)])


def log(folder: CourseFolder) -> Path:
    """The file with the changes."""
    return folder.root / "marks" / f"{WEEK}.jsonl"


def test_a_change_is_recorded_once(course, monkeypatch):
    """With the user, the reason and the items that differ; nothing is written without a change."""
    monkeypatch.setenv("JUPYTERHUB_USER", "prof")
    record_changes(course, WEEK, "graded")
    assert record_changes(course, WEEK, "graded") == []
    mark(course, "ada", "second", manual_score=7, extra_credit=0.5)
    (change,) = record_changes(course, WEEK, lambda student: f"why {student}")
    assert (change.who, change.why, change.student) == ("prof", "why ada", "ada")
    assert (change.before, change.after) == (6, 10.5)
    assert change.items == {"one/second": (3, 7.5)}
    assert read_changes(course, WEEK)[-1] == change
    assert len(log(course).read_text("utf-8").splitlines()) == 3


def test_only_the_selected_students_are_compared(course):
    """Other students' changes are left to a later call."""
    record_changes(course, WEEK, "graded")
    for student in STUDENTS:
        mark(course, student, "first", manual_score=1)
    assert [each.student for each in record_changes(course, WEEK, "x", ["ben"])] == ["ben"]
    assert [each.student for each in record_changes(course, WEEK, "x")] == ["ada"]


def test_marks_of_other_programs_are_found(course):
    """First all marks from before the history; then changes, without a user's name."""
    assert {change.why for change in record_outside_changes(course, WEEK)} == {EARLIER}
    mark(course, "ben", "first", manual_score=None, auto_score=4)
    (change,) = record_outside_changes(course, WEEK)
    assert (change.who, change.why, change.after) == ("unknown", OUTSIDE, 7)


@pytest.mark.parametrize("end", [None, KeyboardInterrupt])
def test_changes_in_a_block_have_its_reason(course, end):
    """Also if Ctrl-C ends it; earlier changes have another reason."""
    record_changes(course, WEEK, "graded")
    mark(course, "ada", "first", manual_score=1)
    with nullcontext() if end is None else pytest.raises(end), recording(course, WEEK, "block"):
        mark(course, "ben", "first", manual_score=1)
        if end:
            raise end
    assert [(each.student, each.why) for each in read_changes(course, WEEK)[2:]] == [
        ("ada", OUTSIDE),
        ("ben", "block"),
    ]


def test_a_mark_in_formgrader_is_saved_although_the_history_is_damaged(course, monkeypatch):
    """The page reports no failure; the log does."""
    log(course).parent.mkdir(exist_ok=True)
    log(course).write_text("damaged\n", "utf-8")
    monkeypatch.setattr(formgrader_marks, "_put", lambda handler, grade_id: None)
    with Gradebook(db_url(course)) as book:
        grade = book.find_grade("first", "one", WEEK, "ada")
        handler = Mock(gradebook=Mock(find_grade_by_id=lambda _: grade))
        handler.coursedir.root = str(course.root)
        formgrader_marks._put_and_record(handler, grade.id)
    assert "is damaged" in str(handler.log.error.call_args)


def test_a_mark_can_disappear_and_return(course):
    """Without a submission there is no mark; the history says so instead of claiming 0 points."""
    record_changes(course, WEEK, "graded")
    with Gradebook(db_url(course)) as book:
        book.remove_submission(WEEK, "ada")
    (change,) = record_changes(course, WEEK, "removed")
    assert (change.before, change.after) == (6, None)
    with Gradebook(db_url(course)) as book, book.db.no_autoflush:
        book.add_submission(WEEK, "ada")
        book.find_grade("first", "one", WEEK, "ada").auto_score = 3
        book.db.commit()
    (change,) = record_changes(course, WEEK, "graded")
    assert (change.before, change.after) == (None, 3)


def test_the_history_has_the_marks_of_the_gradebook(course):
    """Also after penalties and extensions, each of which has its reason."""
    (course.root / "course.toml").write_text("[late]\npercent = 10\n", "utf-8")
    for command in (
        ("late-penalties", WEEK),
        ("extend", WEEK, "--student", "ada", "--days", "2"),
        ("late-penalties", WEEK, "--due", "2026-02-28 10:00 UTC"),
    ):
        done = run(course, *command)
        assert done.exit_code == 0, done.output
        last = {change.student: change.after for change in read_changes(course, WEEK)}
        with open_gradebook(course) as book:
            assert last == {student: marks.score for student, marks in marks_of(book, WEEK).items()}
    reasons = [change.why for change in read_changes(course, WEEK) if change.student == "ada"]
    assert reasons == [
        EARLIER,
        changes.PENALTY_CHANGED,
        "extension granted or removed",
        changes.PENALTY_CHANGED,
    ]


def test_an_incomplete_line_is_replaced(course):
    """A run that was killed while it wrote loses only its own line."""
    record_changes(course, WEEK, "graded")
    whole = log(course).read_bytes()
    log(course).write_bytes(whole + whole.splitlines()[0][:20])
    mark(course, "ada", "first", manual_score=9)
    record_changes(course, WEEK, "again")
    assert [change.why for change in read_changes(course, WEEK)] == ["graded", "graded", "again"]


@given(st.binary(min_size=1, max_size=40).filter(lambda line: b"\n" not in line))
def test_a_damaged_file_is_reported(made, line):
    """Any other damage is a clear error with the number of the line; the file is left as it is."""
    path = log(made)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(line + b"\n")
    try:
        with pytest.raises(UserError, match=r"line 1 of .* is damaged"):
            record_changes(made, WEEK, "graded")
        assert path.read_bytes() == line + b"\n"
    finally:
        path.unlink()


def test_history_lists_changes(course):
    """In the course's time, and with the items; `--json` gives the same as data."""
    record_changes(course, WEEK, "graded")
    mark(course, "ada", "second", manual_score=7)
    done = run(course, "history", WEEK, "--student", "ada")
    assert done.exit_code == 0, done.output
    first, second, item = done.stdout.splitlines()
    assert "ada: none -> 6 points" in first
    assert second.endswith(f"ada: 6 -> 10 points, by unknown: {OUTSIDE}")
    assert item == "    one/second: 3 -> 7"
    data = json.loads(run(course, "history", WEEK, "--json").stdout)
    assert [each["student"] for each in data] == ["ada", "ben", "ada"]
    with Gradebook(db_url(course)) as book:
        book.remove_student("ada")
    assert "ada: none -> 6 points" in run(course, "history", WEEK, "--student", "ada").stdout
    done = run(course, "history", WEEK, "--student", "bea")
    assert done.exit_code == 2 and "not in the gradebook: bea" in done.stderr


def review_list(folder: CourseFolder) -> str:
    """The list of submissions to review, in the report."""
    done = run(folder, "report", WEEK)
    assert done.exit_code == 0, done.output
    page = (folder.root / "reports" / f"{WEEK}.html").read_text("utf-8")
    return page.partition('<section id="review">')[2].partition("</section>")[0]


def test_an_open_regrade_request_is_in_the_report(course):
    """The report lists the submission for review until the request has an answer."""
    course.submission(WEEK, "ada").mkdir(parents=True)
    request = "not answered yet: The second is right."
    assert request not in review_list(course)
    student = ("regrade", WEEK, "--student", "ada")
    run(course, *student, "--request", "The second is right.")
    assert request in review_list(course)
    run(course, *student, "--answer", "It is not.")
    assert "The second is right." not in review_list(course)


def test_a_regrade_request_and_its_answer(course):
    """The answer has the mark before and after; a student has one open request per assignment."""
    done = run(course, "regrade", WEEK, "--student", "ada", "--request", " The second is right. ")
    assert done.exit_code == 0, done.output
    done = run(course, "regrade", WEEK, "--student", "ada", "--request", "again")
    assert done.exit_code == 2
    assert "answer it first" in done.stderr
    mark(course, "ada", "second", manual_score=7)
    done = run(course, "regrade", WEEK, "--student", "ada", "--answer", "It is.")
    assert done.exit_code == 0, done.output
    assert "the mark was 6 and is 10 points" in done.stdout
    assert f"feedback {WEEK} --student ada" in done.stdout
    run(course, "regrade", WEEK, "--student", "ben", "--request", "Why?")
    listed = run(course, "regrade").stdout.splitlines()
    assert ["ben" in line for line in listed] == [True, False]
    assert "not answered yet" in listed[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--student", "ada"), "needs a study, --student and one of"),
        (("--request", "x"), "needs a study, --student and one of"),
        (("--student", "ada", "--request", "x", "--answer", "y"), "one of --request and --answer"),
        (("--student", "ada", "--request", " "), "need a text"),
        (("--student", "nobody", "--request", "x"), "nobody has no mark"),
        (("--student", "ada", "--answer", "x"), "has no request"),
    ],
)
def test_bad_requests_are_refused(course, options, message):
    """With one clear message; nothing is stored."""
    done = run(course, "regrade", WEEK, *options)
    assert (done.exit_code, message in done.stderr) == (2, True), done.output
    assert not (course.root / FILE).exists()


def test_damaged_requests_are_not_overwritten(course):
    """The file is left as it is."""
    record_changes(course, WEEK, "graded")
    (course.root / FILE).write_text("[{", "utf-8")
    for action in (enter_request, answer_request):
        with pytest.raises(UserError, match="damaged"):
            action(course, WEEK, "ada", "text")
    assert (course.root / FILE).read_text("utf-8") == "[{"


def test_a_user_without_a_name_has_a_number(monkeypatch):
    """As in a container that runs any user id."""
    monkeypatch.delenv("JUPYTERHUB_USER", raising=False)

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(changes.getpass, "getuser", nobody)
    expected = str(os.getuid()) if sys.platform != "win32" else "unknown"
    assert changes.user_name() == expected
