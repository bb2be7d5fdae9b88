"""Marking written answers: the data sent to the page, and the results in nbgrader's gradebook."""

import base64
import json
import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc

from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.dashboard.marking import marks
from autograder.dashboard.marking.marks import StaleMarkError
from autograder.dashboard.marking.page import AGAIN, NOTHING, Marking
from autograder.database import db_url, sqlite_path
from autograder.errors import UserError
from autograder.grading.records.late import set_penalty_rule
from autograder.release.assignments import add_students, generate_assignment
from autograder.release.notebooks import answer_id
from autograder.reporting.gradebook import marks_of, open_gradebook
from autograder.reporting.questions import allowed, answers, question
from autograder.tests.support.courses.marking import ask, key, opened, read
from autograder.tests.support.pages.images import DATA, DOT
from course.checks import load_study, studies

pytestmark = pytest.mark.xdist_group("dashboard")

STUDY = load_study("study2")
NAME, NOTEBOOK = STUDY.assignment, "02_alpha_beta"
WRITTEN = next(iter(STUDY.written))
CELL = (NOTEBOOK, answer_id(WRITTEN))
HOSTILE = (
    "<script>attack()</script><img src=x onerror='attack()'>\n\n**bold** "
    "<a href='javascript:attack()'>here</a> <style>* {display: none}</style>"
)
CLASS = {
    "ada": ("Ada", "Lovelace", "Because the window is empty."),
    "ben": ("Ben", "Hostile", HOSTILE),
    "cy": ("Cy", "Empty", "  \n"),
}
with_each_database = pytest.mark.parametrize(
    "course_template", ["SQLite", "PostgreSQL"], indirect=True, scope="module"
)


@pytest.fixture(scope="module")
def course_template(request, with_study2, tmp_path_factory) -> CourseFolder:
    """A course in which three students' answers wait for marks, shared and never modified."""
    folder = CourseFolder.open(
        shutil.copytree(with_study2.root, tmp_path_factory.mktemp("released") / "course")
    )
    if getattr(request, "param", "SQLite") == "PostgreSQL":
        move_to(folder, request.getfixturevalue("postgres").new_url())
        generate_assignment(folder, STUDY)
    add_students(folder, [(student, first, last) for student, (first, last, _) in CLASS.items()])
    with (
        Gradebook(folder.config().CourseDirectory.db_url) as book,
        book.db.no_autoflush,
    ):  # otherwise SQLAlchemy warns about nbgrader
        for student in CLASS:
            book.add_submission(NAME, student)
    for student, (_, _, text) in CLASS.items():
        write(folder, student, text)
    return folder


@pytest.fixture
def course(request, course_template, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    folder = CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))
    if sqlite_path(url := db_url(folder)) is None:
        move_to(folder, request.getfixturevalue("postgres").new_url(like=url))
    return folder


@pytest.fixture
def page(course):
    """The widget, and the messages it has sent in addition to its state."""
    return opened(course)


def move_to(folder: CourseFolder, url: str) -> None:
    """Move a course's gradebook to another database."""
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def write(folder: CourseFolder, student: str, text: str) -> None:
    """Write a text into every answer of a student's graded notebook."""
    target = folder.root / "autograded" / student / NAME
    target.mkdir(parents=True, exist_ok=True)
    data = json.loads((folder.release(NAME) / f"{NOTEBOOK}.ipynb").read_text("utf-8"))
    for cell in data["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = text
    (target / f"{NOTEBOOK}.ipynb").write_text(json.dumps(data), "utf-8")


def booked(folder: CourseFolder, student: str) -> tuple:
    """The record of an answer in nbgrader's own gradebook, as formgrader reads it."""
    where = (CELL[1], NOTEBOOK, NAME, student)
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        grade = book.find_grade(*where)
        return (
            grade.manual_score,
            grade.needs_manual_grade,
            book.find_comment(*where).manual_comment,
        )


def by_formgrader(folder: CourseFolder, student: str, points: float, comment: str) -> None:
    """Mark an answer with the two requests that formgrader handles."""
    where = (CELL[1], NOTEBOOK, NAME, student)
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        grade = book.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment(*where).manual_comment = comment
        book.db.commit()


# ---- Questions


def test_every_question_of_the_kit_has_its_parts():
    """Each has a model answer, a rubric with one line per point, and sample answers at three marks."""
    for study in map(load_study, studies()):
        found = answers(study)
        assert list(found) == list(map(answer_id, study.written))
        for name, points in study.written.items():
            parts = found[answer_id(name)]
            assert parts["model"]
            lines = [line for line in parts["rubric"].splitlines() if line.startswith("* ")]
            assert len(lines) == points, name
            assert parts["samples"].count("\n* ") == 2, name


def test_a_question_is_what_students_read(course):
    """The question is taken from the released notebook, and the model answer is not."""
    found = question(course, STUDY, CELL)
    released = (course.release(NAME) / f"{NOTEBOOK}.ipynb").read_text("utf-8")
    first = found.text.splitlines()[0]
    assert json.dumps(first)[1:-1] in released
    assert json.dumps(found.model.splitlines()[0])[1:-1] not in released


@pytest.mark.parametrize(
    ("points", "step", "marks_"),
    [
        (2, 1, [0, 1, 2]),
        (1.5, 0.5, [0, 0.5, 1, 1.5]),
        (2.25, 0.5, [0, 0.5, 1, 1.5, 2, 2.25]),
        (0, 1, [0]),
    ],
)
def test_marks_go_up_to_the_questions_points(points, step, marks_):
    """Marks have the steps of the rubric's whole points or half points, up to the full marks."""
    assert list(allowed(points, step)) == marks_


# ---- Marks


@with_each_database
def test_a_mark_is_in_nbgraders_gradebook_at_once(course, page):
    """Points and comments are written individually, and the answer no longer waits."""
    assert booked(course, "ada") == (None, True, None)
    read(page)
    assert ask(page, "grade", "ada", points=1)[-1]["wrong"] is False
    assert booked(course, "ada") == (1, False, None)
    ask(page, "comment", "ada", text="  Which bound? \n")
    assert booked(course, "ada") == (1, False, "Which bound?")
    line = next(line for line in page.view["answers"] if line["id"] == key(page, "ada"))
    assert (line["points"], line["waits"], line["comment"]) == (1, False, "Which bound?")
    assert page.view["comments"] == ["Which bound?"]
    assert opened(course).view["questions"][0]["waiting"] == 2  # as after a restart of the kernel


@with_each_database
def test_a_late_students_penalty_follows_the_points(course):
    """The penalty is a share of the score, so it is recalculated with each mark."""
    set_penalty_rule(course, 10, 100)
    with Gradebook(course.config().CourseDirectory.db_url) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-02 10:00:00 UTC")
        book.find_submission(NAME, "ada").timestamp = parse_utc("2026-03-02 12:00:00 UTC")
        book.db.commit()
    page = opened(course)
    read(page)
    ask(page, "grade", "ada", points=5)
    with open_gradebook(course) as gradebook:
        marks_now = marks_of(gradebook, NAME)["ada"]
    assert (marks_now.manual, marks_now.penalty, marks_now.score) == (5, 0.5, 4.5)


@with_each_database
def test_points_can_be_taken_back(course, page):
    """The answer then waits again, as in formgrader."""
    read(page)
    ask(page, "grade", "ada", points=2)
    ask(page, "grade", "ada", points=None)
    assert booked(course, "ada") == (None, True, None)


@pytest.mark.parametrize("points", [-1, 0.5, 6, float("nan"), "2", [1], True])
def test_points_that_the_question_does_not_have_are_refused(course, page, points):
    """Fractions of a rubric's points and points above the maximum are refused; nothing is written."""
    read(page)
    told = ask(page, "grade", "ada", points=points)[-1]
    assert told["wrong"] is True
    assert "which gives 0, 1, 2, 3, 4 or 5" in told["message"]
    assert booked(course, "ada") == (None, True, None)


@with_each_database
def test_what_formgrader_writes_is_shown(course, page):
    """The page and formgrader show the same marks."""
    by_formgrader(course, "ben", 2, "Well said.")
    ask(page, "read")
    line = next(line for line in page.view["answers"] if line["id"] == key(page, "ben"))
    assert (line["points"], line["marked"], line["comment"]) == (2, True, "Well said.")
    assert page.view["answers"][-1] == line  # waiting answers come first


@with_each_database
def test_of_two_graders_the_later_is_warned(course):
    """The later grader is warned and sees the first mark before replacing it."""
    one, other = opened(course), opened(course)
    read(one)
    read(other)
    ask(one, "grade", "ada", points=2)
    told = ask(other, "grade", "ada", points=0)[-1]
    assert told["wrong"] is True
    assert "it has 2 now; yours was not saved" in told["message"]
    assert booked(course, "ada")[0] == 2
    assert ask(other, "grade", "ada", points=0)[-1]["wrong"] is False
    assert booked(course, "ada")[0] == 0


@with_each_database
def test_of_two_comments_the_later_writer_is_warned(course):
    """The later comment is handled like points; an identical comment is no conflict."""
    one, other = opened(course), opened(course)
    ask(one, "comment", "ada", text="Good.")
    told = ask(other, "comment", "ada", text="Bad.")[-1]
    assert "the comment is now “Good.”" in told["message"]
    assert booked(course, "ada")[2] == "Good."
    ask(one, "comment", "ben", text="Good.")
    assert ask(other, "comment", "ben", text="Good.")[-1]["wrong"] is False


def test_an_answer_that_was_submitted_again_is_not_marked_unread(course, page):
    """The new text is shown, and it does not receive the points for the old one."""
    read(page)
    write(course, "ada", "A second thought.")
    shown, told = ask(page, "grade", "ada", points=2)
    assert "A second thought." in shown["html"]
    assert told["message"] == AGAIN
    assert booked(course, "ada")[0] is None
    assert ask(page, "grade", "ada", points=2)[-1]["wrong"] is False


@with_each_database
def test_a_removed_student_is_reported(course, page):
    """A submission may be removed while others are being marked."""
    read(page)
    seen = page._answers[key(page, "ada")]
    with Gradebook(course.config().CourseDirectory.db_url) as book:
        book.remove_submission(NAME, "ada")
    with pytest.raises(UserError, match="no longer in the gradebook"):
        marks.save_points(course, seen, 1, 2, 1)


@with_each_database
def test_a_mark_that_is_already_there_is_no_quarrel(course):
    """Two graders giving the same mark is no conflict."""
    (seen,) = (a for a in marks.answers(course, STUDY, CELL) if a.student == "ada")
    marks.save_points(course, seen, 1, 2, 1)
    assert marks.save_points(course, seen, 1, 2, 1).points == 1
    with pytest.raises(StaleMarkError):
        marks.save_points(course, seen, 2, 2, 1)


# ---- The page


def test_what_students_wrote_is_harmless(page):
    """Everything that a browser would run or load is removed before sending; the words stay."""
    page.sent.clear()
    read(page)
    html = {sent["id"]: sent["html"] for sent in page.sent}
    hostile = html[key(page, "ben")]
    assert "<strong>bold</strong>" in hostile
    for word in ("<script", "onerror", "javascript:", "<style", "src="):
        assert word not in hostile
    assert html[key(page, "cy")] == NOTHING


def test_pictures_of_an_answer_are_shown(course, page):
    """Shown are a picture next to the notebook and a long embedded one, which does not count
    towards the text length; a missing picture is replaced by the reason.
    """
    long = base64.b64encode(DOT + bytes(60_000)).decode("ascii")
    write(
        course, "ada", f"![t](img/my tree.png) ![l](data:image/png;base64,{long}) ![](no.png) end"
    )
    place = course.root / "autograded" / "ada" / NAME / "img"
    place.mkdir()
    (place / "my tree.png").write_bytes(DOT)
    read(page, "ada")
    html = page.sent[-1]["html"]
    assert f'src="data:image/png;base64,{DATA}" alt="t"' in html
    assert f'src="data:image/png;base64,{long}" alt="l"' in html
    assert "[The picture no.png is not shown: there is no such file" in html and "end" in html


@pytest.mark.parametrize(
    "text",
    [
        "> " * 15_000,
        "[" * 19_000,
        "* a\n" + "  " * 9_000 + "* b",
        "`" * 19_999,
        "<" * 19_999,
        "**a " * 4_000,
        "x" * 10**6,
    ],
    ids=["quotes", "brackets", "lists", "ticks", "tags", "stars", "letters"],
)
def test_whatever_was_written_is_shown_in_time(course, page, text):
    """Deeply nested or endless text affects only its own page."""
    write(course, "ada", text)
    read(page, "ada")
    (sent,) = page.sent
    assert len(sent["html"]) < 500_000


def test_names_are_hidden_by_default(page):
    """Names and ids are not sent, and the order does not reveal them."""
    read(page)
    for told in (page.view, page.sent):
        text = json.dumps(told)
        for secret in page._answers:  # hexadecimal digits, which may contain "ada"
            text = text.replace(secret, "")
        assert not any(word in text for word in ("Ada", "ada", "Lovelace", "Ben"))
    assert [line["id"] for line in page.view["answers"]] == sorted(page._answers)
    ask(page, "anonymous", on=False)
    assert [line["who"] for line in page.view["answers"]] == [
        "Ada Lovelace",
        "Ben Hostile",
        "Cy Empty",
    ]


def test_one_can_go_from_question_to_question(course, page):
    """Each question has its own answers, and the first one with a waiting answer is opened."""
    others = [q["cell"] for q in page.view["questions"] if q["cell"] != list(CELL)]
    assert page.view["cell"] == list(CELL)
    ask(page, "question", cell=others[0])
    assert page.view["cell"] == others[0]
    assert key(page, "ada") != key(opened(course), "ada")
    assert "there is no question" in ask(page, "question", cell=["x", "y"])[-1]["message"]


def test_an_assignment_without_questions_is_refused(course_template, monkeypatch):
    """The message is a single sentence."""
    monkeypatch.setattr(marks, "questions", lambda folder, study: [])
    with pytest.raises(UserError, match="no questions that are marked by hand"):
        Marking(course_template, STUDY)
