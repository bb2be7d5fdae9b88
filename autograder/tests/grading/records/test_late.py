"""Late penalties: the course's rule, and recalculation after changes of marks or dates."""

import shutil

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.errors import UserError
from autograder.grading.records import late
from autograder.release.assignments import add_students
from autograder.reporting.gradebook import marks_of, open_gradebook
from course.checks import Study

pytestmark = pytest.mark.xdist_group("late")

WEEK = "week7"
PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class Everything(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score + 1


c.AssignLatePenalties.plugin_class = Everything
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """A gradebook with an assignment of two notebooks; ben is two hours late, cy two days."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("late") / "course")
    folder.release(WEEK).mkdir(parents=True)
    add_students(folder, [(student, student, "") for student in ("ada", "ben", "cy")])
    with (
        Gradebook(folder.config().CourseDirectory.db_url) as book,
        book.db.no_autoflush,
    ):  # otherwise SQLAlchemy warns about nbgrader
        book.add_assignment(WEEK, duedate="2026-03-02 10:00:00 UTC")
        for notebook, points in (("one", 10), ("two", 4)):
            book.add_notebook(notebook, WEEK)
            book.add_grade_cell("test", notebook, WEEK, max_score=points, cell_type="code")
        for student, day in (("ada", "02 09"), ("ben", "02 12"), ("cy", "04 09")):
            book.add_submission(WEEK, student, timestamp=f"2026-03-{day}:00:00 UTC")
    give(folder, 10)
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


def give(folder: CourseFolder, points: float) -> None:
    """Give every student these points for the first notebook."""
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        for student in ("ada", "ben", "cy"):
            book.find_grade("test", "one", WEEK, student).manual_score = points
        book.db.commit()


def scores(folder: CourseFolder) -> list[float]:
    """The final score of each student."""
    with open_gradebook(folder) as book:
        return [round(marks.score, 2) for _, marks in sorted(marks_of(book, WEEK).items())]


def study(folder: CourseFolder) -> Study:
    """The assignment."""
    return folder.assignment(WEEK)


def command(folder: CourseFolder, *arguments: str):
    """Run `late` in this process."""
    return CliRunner().invoke(
        app, ["late-penalties", WEEK, "--course", str(folder.root), *arguments]
    )


def test_a_day_begun_costs_its_share(course):
    """The command applies the penalty to all late students, up to the maximum."""
    done = command(course, "--percent-a-day", "10")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{WEEK}/ben: 2.0 hours late, 1 points deducted",
        f"{WEEK}/cy: 47.0 hours late, 2 points deducted",
        f"late submissions of {WEEK}: 2",
    ]
    assert scores(course) == [10, 9, 8]
    command(course, "--percent-a-day", "60", "--at-most", "75")
    assert scores(course) == [10, 4, 2.5]


def test_without_a_rule_nothing_is_taken_off(course):
    """There is no penalty unless a rule is configured."""
    assert [late.penalty for late in late.update_penalties(course, study(course))] == [0, 0]
    assert scores(course) == [10, 10, 10]


def test_points_that_people_give_later_count_too(course):
    """The penalty is a share of the current score; running it again changes nothing."""
    late.set_penalty_rule(course, 10, 100)
    late.update_penalties(course, study(course))
    give(course, 5)
    late.update_penalties(course, study(course), ["ben"])
    assert scores(course) == [5, 4.5, 3]  # cy's is still that of 10 points
    for _ in range(2):
        late.update_penalties(course, study(course))
        assert scores(course) == [5, 4.5, 4]


def test_another_due_date_counts_at_once(course):
    """A student who is no longer late gets all points back."""
    late.set_penalty_rule(course, 10, 100)
    late.update_penalties(course, study(course))
    done = command(course, "--due", "2026-03-03 10:00 UTC")
    assert f"due date of {WEEK}: 2026-03-03 10:00 UTC" in done.stdout
    assert scores(course) == [10, 10, 9]


def test_the_courses_own_plugin_counts(course):
    """A plugin named in the configuration replaces the rule, within the score."""
    late.set_penalty_rule(course, 10, 100)
    with (course.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(PLUGIN)
    assert [found.penalty for found in late.update_penalties(course, study(course))] == [10, 10]
    assert scores(course) == [10, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--due", "tomorrow-ish"], "'tomorrow-ish' is not a valid time"),
        (["--percent-a-day", "-1"], "-1 is not a percentage"),
        (["--percent-a-day", "10", "--at-most", "101"], "101 is not a percentage"),
        (["--percent-a-day", "nan"], "nan is not a percentage"),
    ],
)
def test_what_makes_no_sense_is_refused(course, arguments, said):
    """The message is one sentence, and nothing changes."""
    done = command(course, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (course.root / "late.json").exists()


def test_an_unknown_assignment_is_refused(tmp_path):
    """The error is raised before nbgrader is called."""
    folder = CourseFolder.create(tmp_path / "course")
    with pytest.raises(UserError, match="no gradebook"):
        late.update_penalties(folder, Study(WEEK, WEEK, WEEK, "", {}, {}, folder.root))
