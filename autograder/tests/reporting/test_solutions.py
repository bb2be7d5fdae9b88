"""The discussion of solutions: complete, anonymous, after the deadline, and without hidden cases."""

import json
import re
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.reporting import solutions
from autograder.reporting.solutions import MIN_STUDENTS, SolutionsError, write_solutions
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from autograder.workspace.strip import BEGIN
from course.checks import load_study, studies
from course.checks.question import texts_of

pytestmark = pytest.mark.xdist_group("solutions")

STUDY = load_study("study2")
COMMON, RARE = [mutant.sentence for mutant in load_mutants(STUDY.name)[:2]]


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course folder with study 2 released, shared and never modified."""
    return make_course(tmp_path_factory.mktemp("released") / "course", STUDY)


@pytest.fixture
def course(course_template, tmp_path) -> CourseFolder:
    """A copy of that folder."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


def with_time(folder: CourseFolder, due: timedelta, extension: timedelta | None = None) -> None:
    """Make the assignment due after this interval, and give ada an extension."""
    place = folder.config().CourseDirectory
    with Gradebook(place.db_url, place.course_id) as book:
        book.update_or_create_assignment(STUDY.assignment, duedate=str(datetime.now(UTC) + due))
        if extension:
            book.update_or_create_student("ada")
            with book.db.no_autoflush:  # otherwise nbgrader's own lines warn
                book.update_or_create_submission(STUDY.assignment, "ada")
            book.grant_extension(STUDY.assignment, "ada", hours=extension.total_seconds() // 3600)


def graded(folder: CourseFolder, student: str, *causes: str) -> None:
    """A graded submission with these causes in its checks."""
    folder.submission(STUDY.assignment, student).mkdir(parents=True)
    place = folder.results(STUDY.assignment, student)
    place.mkdir(parents=True)
    (place / "02_alpha_beta.json").write_text(
        json.dumps(
            {
                "outcomes": [
                    {
                        "check": "study2.alpha_beta",
                        "earned": 0,
                        "points": 1,
                        "aspects": [],
                        "problem": None,
                        "cause": cause,
                    }
                    for cause in causes
                ],
                "inside": [],
                "booked": {},
            }
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_every_study_has_its_solutions(name, tmp_path):
    """The page has the code without markers, public cases, known mistakes and questions, and
    nothing hidden or for staff only.
    """
    study, page = load_study(name), tmp_path / "page.html"
    write_solutions(study, page)
    text = page.read_text("utf-8")
    assert BEGIN not in text
    assert "For the grader" not in text
    assert "Sample answers" not in text
    assert all(f"<h3>{check}</h3>" in text for check in study.checks)
    assert all(f"<h3>{question}</h3>" in text for question in study.written)
    assert text.count("Model answer.") == len(study.written)
    assert len(re.findall(r"<blockquote><p>\S", text)) == len(study.written)  # without a heading
    assert "https:" not in text.partition("<main>")[0]
    public = {t for c in study.checks.values() for case in c.cases for t in texts_of(case)}
    hidden = {
        t
        for c in hidden_cases.hidden_study(name).checks.values()
        for case in c.cases
        for t in texts_of(case)
    } - public
    assert not [position for position in hidden if position in text]
    assert page.stat().st_mode & 0o777 == 0o600


def test_a_page_with_a_hidden_position_is_refused(tmp_path, monkeypatch):
    """The position may come from any source; the earlier page stays."""
    public = {t for c in STUDY.checks.values() for case in c.cases for t in texts_of(case)}
    hidden = next(
        t
        for c in hidden_cases.hidden_study(STUDY.name).checks.values()
        for case in c.cases
        for t in texts_of(case)
        if t not in public
    )
    page = tmp_path / "page.html"
    page.write_text("earlier")
    monkeypatch.setattr(solutions, "render", lambda *_: f"<p>{hidden[:3]}<b>{hidden[3:]}</b></p>")
    with pytest.raises(SolutionsError, match=r"page\.html contains the hidden position"):
        write_solutions(STUDY, page)
    assert page.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [page]


def test_a_class_is_counted_without_names(course, tmp_path):
    """A mistake made by at least three students is counted; rarer and unnamed ones are not."""
    for number in range(MIN_STUDENTS):
        graded(course, f"student{number}", COMMON, COMMON, "made of a student's own reply")
    graded(course, "zoe", RARE)
    page = tmp_path / "page.html"
    write_solutions(STUDY, page, course)
    text = page.read_text("utf-8")
    made = text.partition('<h2 id="mistakes">')[2].partition("<h2")[0]
    assert f"in {MIN_STUDENTS + 1} submissions" in made
    assert f"({MIN_STUDENTS} times)" in made
    assert made.count("<li>") == 1
    assert "(1 more)" in made
    assert not [word for word in ("student0", "zoe", "own reply") if word in text]


@pytest.mark.parametrize(
    ("due", "extension", "refused"),
    [
        (timedelta(days=1), None, True),
        (timedelta(days=-1), None, False),
        (timedelta(days=-1), timedelta(days=2), True),
        (None, None, False),
    ],
    ids=["before", "after", "extended", "never due"],
)
def test_not_before_the_deadline(course, due, extension, refused):
    """Until all deadlines have passed, the command refuses unless forced."""
    if due:
        with_time(course, due, extension)
    run = CliRunner()
    arguments = ["solutions", "alpha_beta", "--course", str(course.root)]
    done = run.invoke(app, arguments, prog_name="autograder")
    assert done.exit_code == (2 if refused else 0), done.output
    page = course.root / "solutions" / f"{STUDY.assignment}.html"
    assert page.exists() != refused
    if refused:
        assert done.stderr.startswith("autograder: study2_alpha_beta may be submitted until ")
        assert done.stderr.count("\n") == 1
        assert run.invoke(app, [*arguments, "--before-deadline"]).exit_code == 0
        assert page.exists()


def test_a_course_shared_by_graders_shares_the_page(course):
    """The folder's group can read the page if it can read the folder; others never can."""
    course.root.chmod(0o750)
    page = course.root / "page.html"
    write_solutions(STUDY, page, course)
    assert page.stat().st_mode & 0o777 == 0o640
