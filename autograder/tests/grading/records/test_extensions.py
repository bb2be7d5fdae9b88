"""Extensions in advance, and late rules of `course.toml` with free days."""

import shutil
from datetime import timedelta

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.course_folder.people import FILE, People, Person, read_people, write_people
from autograder.course_folder.policies import LateRule
from autograder.database import db_url
from autograder.grading.records.late import update_penalties
from autograder.release.assignments import add_students
from autograder.reporting.gradebook import marks_of, open_gradebook

pytestmark = pytest.mark.xdist_group("late")

WEEKS = ("week7", "week8")
LATE = "[late]\npercent = 10\nfree_days = 3\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """Two assignments with 10 points, due on the 2nd and the 9th of March; ada is two and four days
    late, ben is 30 hours late with the second.
    """
    folder = CourseFolder.create(tmp_path_factory.mktemp("people") / "course")
    add_students(folder, [(student, student, "") for student in ("ada", "ben")])
    times = {"ada": ("04 10", "13 10"), "ben": ("02 10", "10 16")}
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        for number, (name, due) in enumerate(zip(WEEKS, ("02", "09"), strict=True)):
            folder.release(name).mkdir(parents=True)
            book.add_assignment(name, duedate=f"2026-03-{due} 10:00:00 UTC")
            book.add_notebook("one", name)
            book.add_grade_cell("test", "one", name, max_score=10, cell_type="code")
            for student, days in times.items():
                book.add_submission(name, student, timestamp=f"2026-03-{days[number]}:00:00 UTC")
                book.find_grade("test", "one", name, student).manual_score = 10
        book.db.commit()
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


def run(folder: CourseFolder, *arguments: str):
    """Run a command in this process."""
    return CliRunner().invoke(app, [*arguments, "--course", str(folder.root)])


def scores(folder: CourseFolder, week: str) -> list[float]:
    """The final scores of ada and ben."""
    with open_gradebook(folder) as book:
        return [round(marks.score, 2) for _, marks in sorted(marks_of(book, week).items())]


def rule(folder: CourseFolder, text: str = "[late]\npercent = 10\n") -> None:
    """Write the table of the course, and update all penalties."""
    (folder.root / "course.toml").write_text(text, "utf-8")
    for week in WEEKS:
        update_penalties(folder, folder.assignment(week))


def test_an_extension_waits_for_a_due_date(course):
    """Without one, nothing is late; once it is set, the extension counts."""
    rule(course)
    with Gradebook(db_url(course)) as book:
        book.find_assignment("week7").duedate = None
        book.db.commit()
    done = run(course, "extend", "week7", "--student", "ada", "--days", "1")
    assert done.exit_code == 0, done.output
    assert scores(course, "week7") == [10, 10]
    done = run(course, "late-penalties", "week7", "--due", "2026-03-02 10:00 UTC")
    assert done.exit_code == 0, done.output
    assert scores(course, "week7") == [9, 10]


def test_an_extension_moves_the_due_date(course):
    """It counts immediately, a second one replaces it, and without it the penalty is back."""
    rule(course)
    assert scores(course, "week7") == [8, 10]
    done = run(course, "extend", "week7", "--student", "ada", "--days", "1")
    assert done.stdout.splitlines() == [
        "week7: student ada has 1 more day, until 2026-03-03 10:00 UTC",
        "week7/ada: 24.0 hours late, 1 points deducted",
    ]
    for _ in range(2):
        update_penalties(course, course.assignment("week7"))
        assert scores(course, "week7") == [9, 10]
    done = run(course, "extend", "week7", "--student", "ada", "--until", "2026-03-04 10:00 UTC")
    assert done.stdout.endswith("week7/ada: not late\n")
    assert scores(course, "week7") == [10, 10]
    assert run(course, "extend", "--remove", "week7", "--student", "ada").exit_code == 0
    assert scores(course, "week7") == [8, 10]
    assert read_people(course.root).extensions == []


def test_an_extension_until_a_time_follows_the_due_date(course):
    """A later due date makes the extension shorter, not the student's own due date later."""
    rule(course)
    run(course, "extend", "week7", "--student", "ada", "--until", "2026-03-03 10:00 UTC")
    run(course, "late-penalties", "week7", "--due", "2026-03-02 22:00 UTC")
    assert scores(course, "week7") == [9, 10]


def test_the_most_generous_extension_counts(course):
    """Extensions of a section and a group apply to their students, and to no others."""
    write_people(course.root, People({"ada": Person("A", "1"), "ben": Person("B")}, roster=True))
    rule(course)
    run(course, "extend", "week8", "--section", "A", "--days", "1")
    assert scores(course, "week8") == [7, 8]
    run(course, "extend", "week8", "--group", "1", "--days", "3.5")
    assert scores(course, "week8") == [9, 8]
    run(course, "extend", "week8", "--student", "ada", "--days", "0.5")
    assert scores(course, "week8") == [9, 8]
    done = run(course, "extend")
    assert [line.partition(" has ")[0] for line in done.stdout.splitlines()] == [
        "week8: group 1",
        "week8: section A",
        "week8: student ada",
    ]


def test_an_extension_granted_with_nbgrader_is_kept(course):
    """Ours counts only while it is longer, and leaves the other one when it is removed."""
    rule(course)
    with Gradebook(db_url(course)) as book:
        book.grant_extension("week7", "ada", days=1)
    run(course, "extend", "week7", "--student", "ada", "--days", "2")
    assert scores(course, "week7") == [10, 10]
    run(course, "extend", "week7", "--student", "ada", "--remove")
    with Gradebook(db_url(course)) as book:
        assert book.find_submission("week7", "ada").extension == timedelta(days=1)
    assert scores(course, "week7") == [9, 10]


def test_an_extension_before_anything_is_generated(tmp_path):
    """The study needs no gradebook yet; an unknown student is mentioned."""
    folder = CourseFolder.create(tmp_path / "course")
    done = run(folder, "extend", "study2", "--student", "ada", "--days", "2")
    assert (done.exit_code, done.stdout) == (0, "study2_alpha_beta: student ada has 2 more days\n")
    assert done.stderr == "ada is not in the gradebook yet: check the spelling\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["week7", "--student", "ada"], "needs a study, at least one --student"),
        (["week7", "--days", "2"], "needs a study, at least one --student"),
        (["--student", "ada", "--days", "2"], "needs a study, at least one --student"),
        (["week7", "--student", "ada", "--days", "0"], "--days must be more than 0"),
        (["week7", "--student", "ada", "--days", "nan"], "--days must be more than 0"),
        (["week7", "--student", "ada", "--until", "soon"], "is not a valid time"),
        (["week7", "--student", "ada", "--until", "2026-03-02 10:00 UTC"], "after the due date"),
        (["week7", "--student", "ada", "--remove"], "student ada has no extension"),
        (["week7", "--section", "A", "--days", "1"], "there is no section 'A' on the roster"),
    ],
)
def test_mistakes_are_reported(course, arguments, problem):
    """The message is one sentence, and nothing is written."""
    done = run(course, "extend", *arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert problem in done.stderr
    assert not (course.root / FILE).exists()


def test_a_damaged_file_is_reported(course):
    """The command does not overwrite a file that it cannot read."""
    for text in ("{", '{"students": {"ada": {"colour": 1}}}', '{"extensions": [{"days": 1}]}'):
        (course.root / FILE).write_text(text, "utf-8")
        done = run(course, "extend")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert f"{course.root / FILE} " in done.stderr


def test_free_days_are_used_in_the_order_of_due_dates(course):
    """ada's two days of the first assignment leave one for the second; ben needs two of his."""
    rule(course, LATE)
    for _ in range(2):
        assert (scores(course, "week7"), scores(course, "week8")) == ([10, 10], [7, 10])
        done = run(course, "late-penalties", "week8")
    assert done.stdout.splitlines() == [
        "week8/ada: 96.0 hours late, 3 points deducted; free late days: 3 of 3 used (2 for week7, "
        "1 for week8), 0 left",
        "week8/ben: 30.0 hours late, 0 points deducted; free late days: 2 of 3 used (2 for week8), "
        "1 left",
        "late submissions of week8: 2",
    ]


def test_an_extension_gives_free_days_back(course):
    """A change of the first assignment changes the penalty of the second."""
    rule(course, LATE)
    run(course, "extend", "week7", "--student", "ada", "--days", "2")
    assert (scores(course, "week7"), scores(course, "week8")) == ([10, 10], [9, 10])


def test_the_rules_of_the_table():
    """Hours, the grace period and the maximum; free days are not spent without an effect."""
    hourly = LateRule(percent_an_hour=1, grace_minutes=10)
    assert [hourly.percent(seconds) for seconds in (600, 601, 3600, 3601)] == [0, 1, 1, 2]
    assert hourly.days_needed(30 * 3600, 5) == 2
    assert LateRule(percent_a_day=10).days_needed(86400, 5) == 1
    assert LateRule(percent_a_day=10, grace_minutes=10).days_needed(86401, 5) == 1
    assert LateRule(percent_a_day=10, at_most=20).days_needed(5 * 86400, 3) == 0
    assert LateRule(percent_a_day=10, at_most=20).days_needed(5 * 86400, 4) == 4
    assert LateRule(free_days=3).days_needed(86400, 3) == 0


def test_the_table_replaces_the_command(course):
    """A rule in the table cannot be changed by a command; other keys add to the command's rule."""
    run(course, "late-penalties", "week7", "--percent-a-day", "20")
    rule(course, "[late]\ngrace_minutes = 2881\n")
    assert scores(course, "week8") == [2, 10]
    rule(course, '[late]\npercent = 1\nper = "hour"\n')
    assert scores(course, "week8") == [0.4, 7]
    done = run(course, "late-penalties", "week7", "--percent-a-day", "20")
    assert done.exit_code == 2
    assert "course.toml: change it there" in done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("percent = 101", "late.percent: 101 is not a percentage"),
        ('percent = 1\nper = "week"', "late.per: 'week' is neither"),
        ('per = "day"', "percent is required"),
        ("free_days = 1.5", "late.free_days: 1.5 is not a whole number"),
        ("grace_minutes = -1", "late.grace_minutes: -1"),
        ("days = 1", "there is no key 'days'"),
    ],
)
def test_mistakes_in_the_table_are_reported(course, text, problem):
    """The message names the file, the key and the mistake."""
    with pytest.raises(CourseFolderError, match=problem):
        rule(course, f"[late]\n{text}\n")
