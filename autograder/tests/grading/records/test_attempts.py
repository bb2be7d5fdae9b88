"""Every version of a submission is kept, and the last, best or average mark counts."""

import shutil

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.course_folder.people import People, Person, write_people
from autograder.database import db_url
from autograder.grading.records.attempts import FOLDER, keep_version, record_marks
from autograder.grading.run.batch import grade
from autograder.release.assignments import generate_assignment
from autograder.reporting import export
from autograder.reporting.report import read_class
from autograder.tests.support.courses.own_assignments import OWN, own_assignment, solve
from autograder.tests.support.needs import need_isolation
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("attempts")

WEEK = "week7"


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """ada has submitted in time with 8 points, and again two days late with 6."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(WEEK).mkdir(parents=True)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(WEEK, duedate="2026-03-02 10:00:00 UTC")
        book.add_notebook("one", WEEK)
        book.add_grade_cell("test", "one", WEEK, max_score=10, cell_type="code")
        book.add_student("ada")
        book.add_submission(WEEK, "ada", timestamp="2026-03-04 10:00:00 UTC")
        book.db.commit()
    for points, time in ((8, "2026-03-02 09:00 UTC"), (6, "2026-03-04 10:00 UTC")):
        work = folder.own_submission(WEEK, "ada")
        work.mkdir(parents=True, exist_ok=True)
        (work / "timestamp.txt").write_text(time, "utf-8")
        keep_version(folder, folder.assignment(WEEK), "ada")
        with Gradebook(db_url(folder)) as book:
            book.find_grade("test", "one", WEEK, "ada").manual_score = points
            book.db.commit()
        if points == 8:
            (version,) = (folder.root / FOLDER / WEEK / "ada").iterdir()
            entry = {"status": "graded", "state": {"submission": version.name}}
            for _ in range(2):
                record_marks(folder, folder.assignment(WEEK), "ada", entry, "another")
    folder.results(WEEK, "ada").mkdir(parents=True)
    (folder.results(WEEK, "ada") / "nbgrader.txt").touch()
    return folder


def score(folder: CourseFolder, table: str) -> float:
    """The score of ada that counts with this table of the course."""
    (folder.root / "course.toml").write_text(table, "utf-8")
    done = CliRunner().invoke(app, ["late-penalties", WEEK, "-c", str(folder.root)])
    assert done.exit_code == 0, done.output
    (column,) = export.read_marks(folder).columns
    (row,) = read_class(folder, folder.assignment(WEEK)).rows
    assert row.score == column.marks["ada"].score
    return column.marks["ada"].score


def test_every_version_is_kept(course):
    """A version that is kept already is not copied again."""
    keep_version(course, course.assignment(WEEK), "ada")
    versions = sorted((course.root / FOLDER / WEEK / "ada").glob("*/"))
    assert len(versions) == 2
    assert {(version / "timestamp.txt").read_text("utf-8") for version in versions} == {
        "2026-03-02 09:00 UTC",
        "2026-03-04 10:00 UTC",
    }


@pytest.mark.parametrize(("counts", "mark"), [("last", 6), ("best", 8), ("average", 7)])
def test_the_course_decides_which_mark_counts(course, counts, mark):
    """The default is the last one."""
    assert score(course, "") == 6
    assert score(course, f'[attempts]\ncounts = "{counts}"\n') == mark


def test_penalties_of_attempts(course):
    """Each attempt has its own penalty, which follows the due date."""
    late = "[late]\npercent = 10\n[attempts]\ncounts = "
    assert score(course, late + '"average"') == pytest.approx((8 + 6 * 0.8) / 2)
    CliRunner().invoke(
        app, ["late-penalties", WEEK, "--due", "2026-03-01 10:00 UTC", "-c", str(course.root)]
    )
    assert score(course, late + '"average"') == pytest.approx((8 * 0.9 + 6 * 0.7) / 2)
    assert score(course, late + '"best"') == pytest.approx(8 * 0.9)


def test_a_mistake_in_the_table_is_reported(course):
    """The message names the file and the values."""
    (course.root / "course.toml").write_text('[attempts]\ncounts = "first"\n', "utf-8")
    done = CliRunner().invoke(app, ["export", "-c", str(course.root)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "'first' is not one of 'last', 'best', 'average'" in done.stderr


ANSWER = new_markdown_cell(
    "answer",
    metadata={
        "nbgrader": {
            "grade_id": "why", "schema_version": 3, "grade": True, "locked": False,
            "solution": True, "task": False, "points": 4,
        }
    },
)  # fmt: skip


def submit(
    folder: CourseFolder, solution: str, answer: str, time: str, student: str = "ada"
) -> None:
    """Collect a submission, as `collect` does: the replaced version is kept.

    The submitted record of marks must not count.
    """
    study, work = folder.assignment(OWN), folder.own_submission(OWN, student)
    keep_version(folder, study, student)
    shutil.rmtree(work, ignore_errors=True)
    solve(folder, student, solution)
    (work / "attempt.json").write_text('{"points": {"numbers": 99}, "penalty": 0}', "utf-8")
    (work / "timestamp.txt").write_text(time, "utf-8")
    path = work / "numbers.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = answer
    nbformat.write(notebook, path)


@pytest.fixture
def generated(tmp_path) -> CourseFolder:
    """An assignment with a due date, for code with 10 points and an answer with 4."""
    need_isolation()
    folder = CourseFolder.create(tmp_path / "course")
    own_assignment(folder, more=[ANSWER])
    with Gradebook(db_url(folder)) as book:
        book.update_or_create_assignment(OWN, duedate="2026-03-02 10:00:00 UTC")
    return folder


@pytest.fixture
def replaced(generated) -> CourseFolder:
    """ada has submitted three times before anything was graded: right, right and late, wrong."""
    submit(generated, "return 2 * x", "first", "2026-03-02 09:00 UTC")
    submit(generated, "return x + x", "same", "2026-03-03 09:00 UTC")
    submit(generated, "return x", "same", "2026-03-03 10:00 UTC")
    return generated


def rules(folder: CourseFolder, counts: str) -> None:
    """Let an attempt count; late work loses a tenth per day."""
    table = f'[late]\npercent = 10\n[attempts]\ncounts = "{counts}"\n'
    (folder.root / "course.toml").write_text(table, "utf-8")


def mark_answer(folder: CourseFolder, points: float, student: str = "ada") -> None:
    """Mark the written answer of the last attempt as a grader does."""
    with Gradebook(db_url(folder)) as book:
        grade = book.find_grade("why", "numbers", OWN, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()
    done = CliRunner().invoke(app, ["late-penalties", OWN, "-c", str(folder.root)])
    assert done.exit_code == 0, done.output


def scores(folder: CourseFolder) -> dict[str, float]:
    """The score of each student that counts."""
    (column,) = export.read_marks(folder).columns
    return {student: marks.score for student, marks in column.marks.items()}


def saved(folder: CourseFolder) -> dict:
    """What grading has stored about the last attempt."""
    places = (folder.results(OWN, "ada"), folder.root / "autograded" / "ada")
    return {
        path: path.read_bytes()
        for place in places
        for path in place.rglob("*")
        if path.suffix in (".json", ".ipynb", ".py")
    }


def test_attempts_that_were_replaced_before_grading(replaced):
    """The next grading run marks them, each with its own penalty; an unmarked answer has the
    points of the same answer in another attempt.
    """
    rules(replaced, "best")
    (result,) = grade(replaced, replaced.assignment(OWN), jobs=1)
    assert (result.status, result.problems) == ("graded", ())
    assert scores(replaced)["ada"] == 10
    mark_answer(replaced, 4)
    assert scores(replaced)["ada"] == pytest.approx(0.9 * 14)  # the second attempt
    rules(replaced, "average")
    assert scores(replaced)["ada"] == pytest.approx((10 + 0.9 * 14 + 0.9 * 4) / 3)
    before = saved(replaced)
    (result,) = grade(replaced, replaced.assignment(OWN), jobs=1)
    assert result.status == "unchanged" and saved(replaced) == before
    for minute in (1, 2):
        submit(replaced, "return x", "other", f"2026-03-03 09:0{minute} UTC")
    grade(replaced, replaced.assignment(OWN), jobs=1)
    mark_answer(replaced, 1)
    assert scores(replaced)["ada"] == pytest.approx((10 + 0.9 * (14 + 4 + 1 + 1)) / 5)


@pytest.mark.slow
def test_a_course_that_begins_to_count_earlier_attempts(replaced):
    """Attempts without marks are reported until they are graded, and the last attempt is not
    graded again.
    """
    rules(replaced, "last")
    (result,) = grade(replaced, replaced.assignment(OWN), jobs=1)
    mark_answer(replaced, 4)
    assert scores(replaced)["ada"] == pytest.approx(0.9 * 4)
    before = saved(replaced)
    rules(replaced, "best")
    (row,) = read_class(replaced, replaced.assignment(OWN)).rows
    (problem,) = row.problems
    assert "no marks yet" in problem and "the attempt of 2026-03-0" in problem
    assert any(problem in line for line in export.warnings(export.read_marks(replaced)))
    (replaced.root / FOLDER / OWN / "ada" / "empty").mkdir()
    notes = []
    (result,) = grade(replaced, replaced.assignment(OWN), jobs=1, note=notes.append)
    assert "1 submission is graded again (earlier attempts have no marks yet: 1)" in notes[0]
    (problem,) = result.problems
    assert result.status == "unchanged" and "ada/empty) was not graded: " in problem
    assert scores(replaced)["ada"] == pytest.approx(0.9 * 14)
    assert saved(replaced) == before
    with Gradebook(db_url(replaced)) as book:
        assert not book.find_grade("why", "numbers", OWN, "ada").needs_manual_grade
    (row,) = read_class(replaced, replaced.assignment(OWN)).rows
    assert row.problems == [
        f"no marks yet, so they do not count: the attempt ({FOLDER}/{OWN}/ada/empty); grade again"
    ]


@pytest.mark.parametrize(
    "between",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["graded once", "graded in between"],
)
def test_attempts_of_a_group(generated, between):
    """The attempts of the present members count for each of them, with the member's own extension
    and manual marks.
    """
    study, in_group = generated.assignment(OWN), Person(group="1")
    write_people(generated.root, People({"ada": in_group, "bob": in_group}))
    rules(generated, "best")
    submit(generated, "return 2 * x", "first", "2026-03-03 09:00 UTC")
    if between:
        grade(generated, study, jobs=1)
        assert scores(generated) == {"ada": 9, "bob": 9}
        mark_answer(generated, 4)
        mark_answer(generated, 2, "bob")
    submit(generated, "return x", "second", "2026-03-03 10:00 UTC", "bob")
    grade(generated, study, jobs=1)
    first, last = (
        ({"ada": 14, "bob": 12}, {"ada": 4, "bob": 2})
        if between
        else (
            dict.fromkeys(("ada", "bob"), 10),
            dict.fromkeys(("ada", "bob"), 0),
        )
    )
    assert scores(generated) == pytest.approx({name: 0.9 * first[name] for name in first})
    extend = ["extend", OWN, "--student", "bob", "--days", "1", "-c", str(generated.root)]
    done = CliRunner().invoke(app, extend)
    assert done.exit_code == 0, done.output
    best = {"ada": 0.9 * first["ada"], "bob": first["bob"]}
    assert scores(generated) == pytest.approx(best)
    rules(generated, "average")
    means = {"ada": 0.9 * (first["ada"] + last["ada"]) / 2, "bob": (first["bob"] + last["bob"]) / 2}
    assert scores(generated) == pytest.approx(means)
    assert {g.status for g in grade(generated, study, jobs=1)} == {"unchanged"}
    write_people(generated.root, People({"ada": Person(), "bob": in_group}))
    assert scores(generated)["bob"] == last["bob"]  # ada has left the group


@pytest.mark.slow
@pytest.mark.parametrize("group", [False, True], ids=["alone", "in a group"])
def test_a_corrected_time_is_no_other_attempt(generated, group):
    """The files are the same, so only the corrected time counts."""
    study = generated.assignment(OWN)
    if group:
        in_group = Person(group="1")
        write_people(generated.root, People({"ada": in_group, "bob": in_group}))
    rules(generated, "best")
    submit(generated, "return x", "", "2026-03-02 08:00 UTC")
    grade(generated, study, jobs=1)
    submit(generated, "return 2 * x", "", "2026-03-02 09:00 UTC")
    grade(generated, study, jobs=1)
    mark_answer(generated, 4)
    assert set(scores(generated).values()) == {14}
    time = generated.own_submission(OWN, "ada") / "timestamp.txt"
    time.write_text("2026-03-03 09:00 UTC", "utf-8")
    grade(generated, study, jobs=1)
    assert {round(each, 3) for each in scores(generated).values()} == {12.6}  # 0.9 * 14
    assert len([*(generated.root / FOLDER / OWN / "ada").glob("*/")]) == 2
    rules(generated, "average")
    # The first attempt has no points but those of the same answer: (0.9 * 14 + 4) / 2.
    assert {round(each, 3) for each in scores(generated).values()} == {8.3}


@pytest.mark.slow
def test_an_older_submission_of_another_member(generated):
    """It is collected after the last one was graded, and counts from the next grading run on."""
    study, in_group = generated.assignment(OWN), Person(group="1")
    write_people(generated.root, People({"ada": in_group, "bob": in_group}))
    rules(generated, "best")
    submit(generated, "return x", "", "2026-03-02 09:30 UTC", "bob")
    grade(generated, study, jobs=1)
    submit(generated, "return 2 * x", "", "2026-03-02 09:00 UTC")
    assert {g.status for g in grade(generated, study, jobs=1)} == {"unchanged"}
    assert scores(generated) == {"ada": 10, "bob": 10}


@pytest.mark.slow
def test_the_better_of_two_graded_attempts(tmp_path):
    """A resubmission without the answer does not lower the mark, however often it is graded."""
    need_isolation()
    study = load_study("study2")
    folder = CourseFolder.create(tmp_path / "course")
    generate_assignment(folder, study)
    (folder.root / "course.toml").write_text('[attempts]\ncounts = "best"\n', "utf-8")
    work = folder.own_submission(study.assignment, "ada")
    shutil.copytree(folder.release(study.assignment), work)
    shutil.copy(study.staff_folder / study.module, work)
    grade(folder, study, jobs=1)
    (before,) = export.read_marks(folder).columns
    assert before.marks["ada"].score > 0
    shutil.copy(folder.release(study.assignment) / study.module, work)
    for _ in range(2):
        grade(folder, study, jobs=1)
        (after,) = export.read_marks(folder).columns
        assert after.marks["ada"].last_score == 0
        assert after.marks["ada"].score == before.marks["ada"].score
    done = CliRunner().invoke(app, ["feedback", "study2", "-c", str(folder.root)])
    assert done.exit_code == 0, done.output
    page = next((folder.root / "feedback" / "ada" / study.assignment).glob("*.html"))
    assert "Attempts: 2, with" in page.read_text("utf-8")
    assert len(list((folder.root / FOLDER / study.assignment / "ada").glob("*/"))) == 2
