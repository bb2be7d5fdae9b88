"""Marking written answers: what the page is sent, and what nbgrader's gradebook then holds."""

import base64
import json
import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc

from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.database import db_url, file_of
from autograder.desk import marks
from autograder.desk.marking import AGAIN, NOTHING, Marking
from autograder.desk.marks import Overtaken
from autograder.errors import Refused
from autograder.grading.late import set_rule
from autograder.release.assignments import add_students, release
from autograder.release.notebooks import answer_id
from autograder.telling.gradebook import marks_of, open_gradebook
from autograder.telling.questions import allowed, answers, question
from autograder.tests.support.images import DATA, DOT
from autograder.tests.support.marking import ask, key, opened, read
from course.probes import load_study, studies

pytestmark = pytest.mark.xdist_group("desk")

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
    "released", ["SQLite", "PostgreSQL"], indirect=True, scope="module"
)


@pytest.fixture(scope="module")
def released(request, with_study2, tmp_path_factory) -> CourseFolder:
    """A course in which three students' answers wait for a mark; nobody changes it."""
    folder = CourseFolder.open(
        shutil.copytree(with_study2.root, tmp_path_factory.mktemp("released") / "course")
    )
    if getattr(request, "param", "SQLite") == "PostgreSQL":
        move_to(folder, request.getfixturevalue("postgres").new_url())
        release(folder, STUDY)
    add_students(folder, [(student, first, last) for student, (first, last, _) in CLASS.items()])
    with (
        Gradebook(folder.config().CourseDirectory.db_url) as book,
        book.db.no_autoflush,
    ):  # else SQLAlchemy warns of what nbgrader does
        for student in CLASS:
            book.add_submission(NAME, student)
    for student, (_, _, text) in CLASS.items():
        write(folder, student, text)
    return folder


@pytest.fixture
def course(request, released, tmp_path) -> CourseFolder:
    """The same course for one test alone."""
    folder = CourseFolder.open(shutil.copytree(released.root, tmp_path / "course"))
    if file_of(url := db_url(folder)) is None:
        move_to(folder, request.getfixturevalue("postgres").new_url(like=url))
    return folder


@pytest.fixture
def page(course):
    """The widget, and what it has sent beside its state."""
    return opened(course)


def move_to(folder: CourseFolder, url: str) -> None:
    """Let a course's gradebook be in another database."""
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def write(folder: CourseFolder, student: str, text: str) -> None:
    """Put a text into every answer of a student's graded notebook."""
    target = folder.root / "autograded" / student / NAME
    target.mkdir(parents=True, exist_ok=True)
    data = json.loads((folder.release(NAME) / f"{NOTEBOOK}.ipynb").read_text("utf-8"))
    for cell in data["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = text
    (target / f"{NOTEBOOK}.ipynb").write_text(json.dumps(data), "utf-8")


def booked(folder: CourseFolder, student: str) -> tuple:
    """What nbgrader's own gradebook says of an answer, as formgrader reads it."""
    where = (CELL[1], NOTEBOOK, NAME, student)
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        grade = book.find_grade(*where)
        return (
            grade.manual_score,
            grade.needs_manual_grade,
            book.find_comment(*where).manual_comment,
        )


def by_formgrader(folder: CourseFolder, student: str, points: float, comment: str) -> None:
    """Mark an answer as formgrader's two handlers do."""
    where = (CELL[1], NOTEBOOK, NAME, student)
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        grade = book.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment(*where).manual_comment = comment
        book.db.commit()


# ---- Questions


def test_every_question_of_the_kit_has_its_parts():
    """A model answer, a rubric with a line for each point, and sample answers at three marks."""
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
    """It comes from the released notebook, and the model answer does not."""
    found = question(course, STUDY, CELL)
    released = (course.release(NAME) / f"{NOTEBOOK}.ipynb").read_text("utf-8")
    first = found.asked.splitlines()[0]
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
    """In steps of a rubric's whole points, or of halves; the full marks are always among them."""
    assert list(allowed(points, step)) == marks_


# ---- Marks


@with_each_database
def test_a_mark_is_in_nbgraders_gradebook_at_once(course, page):
    """Points and comment are written one by one, and the answer waits no longer."""
    assert booked(course, "ada") == (None, True, None)
    read(page)
    assert ask(page, "give", "ada", points=1)[-1]["wrong"] is False
    assert booked(course, "ada") == (1, False, None)
    ask(page, "say", "ada", text="  Which bound? \n")
    assert booked(course, "ada") == (1, False, "Which bound?")
    line = next(line for line in page.shown["answers"] if line["id"] == key(page, "ada"))
    assert (line["points"], line["waits"], line["comment"]) == (1, False, "Which bound?")
    assert page.shown["comments"] == ["Which bound?"]
    assert opened(course).shown["questions"][0]["waiting"] == 2  # as after a restart of the kernel


@with_each_database
def test_a_late_students_penalty_follows_the_points(course):
    """It is a share of the score, so it is worked out again with each mark."""
    set_rule(course, 10, 100)
    with Gradebook(course.config().CourseDirectory.db_url) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-02 10:00:00 UTC")
        book.find_submission(NAME, "ada").timestamp = parse_utc("2026-03-02 12:00:00 UTC")
        book.db.commit()
    page = opened(course)
    read(page)
    ask(page, "give", "ada", points=5)
    with open_gradebook(course) as gradebook:
        marks_now = marks_of(gradebook, NAME)["ada"]
    assert (marks_now.manual, marks_now.penalty, marks_now.score) == (5, 0.5, 4.5)


@with_each_database
def test_points_can_be_taken_back(course, page):
    """Then the answer waits again, as it does in formgrader."""
    read(page)
    ask(page, "give", "ada", points=2)
    ask(page, "give", "ada", points=None)
    assert booked(course, "ada") == (None, True, None)


@pytest.mark.parametrize("points", [-1, 0.5, 6, float("nan"), "2", [1], True])
def test_points_that_the_question_does_not_have_are_refused(course, page, points):
    """In a sentence, and nothing is written: a rubric's points are whole, and end somewhere."""
    read(page)
    told = ask(page, "give", "ada", points=points)[-1]
    assert told["wrong"] is True
    assert "it gives 0, 1, 2, 3, 4 or 5" in told["told"]
    assert booked(course, "ada") == (None, True, None)


@with_each_database
def test_what_formgrader_writes_is_shown(course, page):
    """Marks of both are the same marks."""
    by_formgrader(course, "ben", 2, "Well said.")
    ask(page, "read")
    line = next(line for line in page.shown["answers"] if line["id"] == key(page, "ben"))
    assert (line["points"], line["given"], line["comment"]) == (2, True, "Well said.")
    assert page.shown["answers"][-1] == line  # those that wait come first


@with_each_database
def test_of_two_graders_the_later_is_told(course):
    """Nothing is overwritten silently; who gives it again has seen what was there."""
    one, other = opened(course), opened(course)
    read(one)
    read(other)
    ask(one, "give", "ada", points=2)
    told = ask(other, "give", "ada", points=0)[-1]
    assert told["wrong"] is True
    assert "it has 2 now; yours was not written" in told["told"]
    assert booked(course, "ada")[0] == 2
    assert ask(other, "give", "ada", points=0)[-1]["wrong"] is False
    assert booked(course, "ada")[0] == 0


@with_each_database
def test_of_two_comments_the_later_is_told(course):
    """As with points; the same words twice are no quarrel."""
    one, other = opened(course), opened(course)
    ask(one, "say", "ada", text="Good.")
    told = ask(other, "say", "ada", text="Bad.")[-1]
    assert "the comment is now “Good.”" in told["told"]
    assert booked(course, "ada")[2] == "Good."
    ask(one, "say", "ben", text="Good.")
    assert ask(other, "say", "ben", text="Good.")[-1]["wrong"] is False


def test_an_answer_that_was_handed_in_again_is_not_marked_unread(course, page):
    """The new text is shown, and the old one's points are not given to it."""
    read(page)
    write(course, "ada", "A second thought.")
    shown, told = ask(page, "give", "ada", points=2)
    assert "A second thought." in shown["html"]
    assert told["told"] == AGAIN
    assert booked(course, "ada")[0] is None
    assert ask(page, "give", "ada", points=2)[-1]["wrong"] is False


@with_each_database
def test_a_student_who_left_is_told_of(course, page):
    """Somebody may remove a submission while others mark."""
    read(page)
    seen = page._answers[key(page, "ada")]
    with Gradebook(course.config().CourseDirectory.db_url) as book:
        book.remove_submission(NAME, "ada")
    with pytest.raises(Refused, match="no longer in the gradebook"):
        marks.give(course, seen, 1, 2, 1)


@with_each_database
def test_a_mark_that_is_already_there_is_no_quarrel(course):
    """Two graders of one mind."""
    (seen,) = (a for a in marks.answers(course, STUDY, CELL) if a.student == "ada")
    marks.give(course, seen, 1, 2, 1)
    assert marks.give(course, seen, 1, 2, 1).points == 1
    with pytest.raises(Overtaken):
        marks.give(course, seen, 2, 2, 1)


# ---- The page


def test_what_students_wrote_is_harmless(page):
    """Whatever the browser would run or fetch is gone before it is sent; the words stay."""
    page.sent.clear()
    read(page)
    html = {sent["id"]: sent["html"] for sent in page.sent}
    hostile = html[key(page, "ben")]
    assert "<strong>bold</strong>" in hostile
    for word in ("<script", "onerror", "javascript:", "<style", "src="):
        assert word not in hostile
    assert html[key(page, "cy")] == NOTHING


def test_pictures_of_an_answer_are_shown(course, page):
    """One alongside the notebook; a long one that is written out, which is no part of the text's
    length; and for one that is missing the reason."""
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
    """Text that is nested beyond reason, or endless, costs its own page and no more."""
    write(course, "ada", text)
    read(page, "ada")
    (sent,) = page.sent
    assert len(sent["html"]) < 500_000


def test_names_are_hidden_until_they_are_asked_for(page):
    """Neither names nor ids are sent, and the order does not give them away."""
    read(page)
    for told in (page.shown, page.sent):
        assert not any(word in json.dumps(told) for word in ("Ada", "ada", "Lovelace", "Ben"))
    assert [line["id"] for line in page.shown["answers"]] == sorted(page._answers)
    ask(page, "anonymous", on=False)
    assert [line["who"] for line in page.shown["answers"]] == [
        "Ada Lovelace",
        "Ben Hostile",
        "Cy Empty",
    ]


def test_one_can_go_from_question_to_question(course, page):
    """Each has its own answers; the first that waits is opened."""
    others = [q["cell"] for q in page.shown["questions"] if q["cell"] != list(CELL)]
    assert page.shown["cell"] == list(CELL)
    ask(page, "question", cell=others[0])
    assert page.shown["cell"] == others[0]
    assert key(page, "ada") != key(opened(course), "ada")
    assert "there is no question" in ask(page, "question", cell=["x", "y"])[-1]["told"]


def test_an_assignment_without_questions_is_refused(released, monkeypatch):
    """In one sentence."""
    monkeypatch.setattr(marks, "questions", lambda folder, study: [])
    with pytest.raises(Refused, match="no questions that people mark"):
        Marking(released, STUDY)
