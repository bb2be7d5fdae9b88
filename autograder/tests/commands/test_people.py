"""The roster as the authority: changes before they are written, dropped and unknown students."""

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.course_folder.people import FILE, Person, read_people
from autograder.dashboard.marking import marks
from autograder.dashboard.overview import overview
from autograder.database import db_url
from autograder.grading.run.batch import GradingError, selected
from autograder.reporting import export
from autograder.reporting.report import read_class, write_report

WEEK = "week7"
CLASS = "id,first_name,last_name,section,team\nada,Ada,Byron,A,1\nben,Ben,Ox,B,2\n"


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """A course with an assignment that ada and zed have submitted and that was graded."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(WEEK).mkdir(parents=True)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(WEEK)
        book.add_notebook("one", WEEK)
        book.add_grade_cell("test", "one", WEEK, max_score=10, cell_type="code")
        book.add_solution_cell("test", "one", WEEK)
        book.add_student("ada", first_name="Ada", last_name="B")
        book.add_submission(WEEK, "ada")
        book.find_grade("test", "one", WEEK, "ada").manual_score = 7
        book.db.commit()
    for student in ("ada", "zed"):
        folder.submission(WEEK, student).mkdir(parents=True)
    folder.results(WEEK, "ada").mkdir(parents=True)
    (folder.results(WEEK, "ada") / "nbgrader.txt").touch()
    return folder


def roster(folder: CourseFolder, *arguments: str, text: str = ""):
    """Run the command in this process, on a file with this text."""
    if text:
        path = folder.root.parent / "class.csv"
        path.write_text(text, "utf-8")
        arguments = (str(path), *arguments)
    return CliRunner().invoke(app, ["roster", *arguments, "--course", str(folder.root)])


def test_changes_are_shown_before_they_are_written(course):
    """A dry run writes nothing; afterwards, the same file changes nothing."""
    lines = [
        "added: 1 (ben)",
        "changed: ada: last_name Byron (before: B), section A (before: none), group 1 (before: none)",
        "folders in submitted/ of unknown students: 1 (zed)",
        "groups: 2; students in the largest: 1",
    ]
    done = roster(course, "--dry-run", text=CLASS)
    assert done.stdout.splitlines() == [*lines, "nothing was written"]
    assert not (course.root / FILE).exists()
    done = roster(course, text=CLASS)
    assert done.stdout.splitlines()[:-1] == lines
    assert read_people(course.root).students == {"ada": Person("A", "1"), "ben": Person("B", "2")}
    done = roster(course, text=CLASS)
    assert done.stdout.splitlines()[:3] == ["added: none", *lines[2:]]


def test_students_who_are_missing_are_dropped_only_on_request(course):
    """They keep everything, are not listed again, and stay dropped if a later file lists them."""
    roster(course, text=CLASS)
    only_ada = "id,section\nada,B\n"
    assert "missing from the file: 1 (ben)" in roster(course, text=only_ada).stdout
    assert read_people(course.root).students == {"ada": Person("B", "1"), "ben": Person("B", "2")}
    assert "dropped: ben" in roster(course, "--drop-missing", text=only_ada).stdout
    assert "missing from" not in roster(course, text=only_ada).stdout
    assert "in the file, but dropped before: 1 (ben)" in roster(course, text=CLASS).stdout
    assert read_people(course.root).person("ben").dropped
    assert "no longer dropped: ben" in roster(course, "--restore", "ben").stdout
    assert roster(course).stdout.splitlines() == [
        "ada, Ada Byron, section A, group 1",
        "ben, Ben Ox, section B, group 2",
    ]


def test_unknown_students_are_reported_and_not_graded(course):
    """Without a roster, every folder counts; with one, folders of unknown students are named."""
    assert list(course.submitted(WEEK)) == ["ada", "zed"]
    roster(course, text=CLASS)
    assert list(course.submitted(WEEK)) == ["ada"]
    (why,) = course.skipped(WEEK).values()
    assert why.startswith("the folder submitted/zed was skipped: zed is not on the roster")
    study = course.assignment(WEEK)
    with pytest.raises(GradingError, match="zed is not on the roster"):
        selected(course, study, ["zed"])
    report = read_class(course, study)
    assert ([row.student for row in report.rows], report.not_on_roster) == (["ada"], {"zed": why})
    assert why in overview(course.root).problems
    (column,) = export.read_marks(course).columns
    assert column.unmarked == {"zed": "not on the roster"}
    assert course.config().Autograde.create_student is False


def test_the_report_lists_unknown_students_separately(course):
    """They are under their own heading, without a row, and in neither the CSV nor the export."""
    heading = "<h2>Not on the roster</h2>"
    page, _ = write_report(course, course.assignment(WEEK))
    assert heading not in page.read_text("utf-8")
    roster(course, text=CLASS)
    (why,) = course.skipped(WEEK).values()
    page, table = write_report(course, course.assignment(WEEK))
    shown = page.read_text("utf-8")
    assert heading in shown
    assert f"<li>{why}</li>" in shown
    assert "All students</a> (1)" in shown
    assert shown.count("zed") == why.count("zed")
    assert "zed" not in table.read_text("utf-8")
    for kind in export.FORMATS:
        assert "zed" not in export.export(export.read_marks(course), kind)
    page, _ = write_report(course, course.assignment(WEEK), "A")
    assert heading not in page.read_text("utf-8")


def test_students_of_the_gradebook_stay_known(course):
    """A first roster without a student whose work was graded does not hide the marks."""
    roster(course, text="id\nben\n")
    assert list(course.submitted(WEEK)) == ["ada"]


def test_dropped_students_are_not_counted(course):
    """They are not in the export, the report, the overview and the marking page."""
    roster(course, text=CLASS)
    study, cell = course.assignment(WEEK), ("one", "test")
    assert [answer.student for answer in marks.answers(course, study, cell)] == ["ada"]
    assert roster(course, "--drop", "ada").stdout == "dropped: ada\n"
    assert "ada" not in export.export(export.read_marks(course), "gradebook")
    assert overview(course.root).lines[0].graded == 0
    assert marks.answers(course, study, cell) == []
    assert marks.questions(course, study)[0].answers == 0
    page, table = write_report(course, study)
    assert "Dropped students, who are not counted: ada." in page.read_text("utf-8")
    assert "ada" not in table.read_text("utf-8")
    with pytest.raises(GradingError, match="ada is marked as dropped"):
        selected(course, study, ["ada"])
    done = CliRunner().invoke(app, ["feedback", WEEK, "--student", "ada", "-c", str(course.root)])
    assert done.exit_code == 2 and "ada: marked as dropped" in done.stderr
    roster(course, "--restore", "ada")
    assert "ada,Byron,Ada,,,A,7.0" in export.export(export.read_marks(course), "gradebook")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--dry-run"], "need a roster file"),
        (["--drop", "bea"], "there is no student 'bea'"),
        (["nowhere.csv"], "there is no file nowhere.csv"),
    ],
)
def test_mistakes_are_reported(course, arguments, problem):
    """The message is one sentence, and nothing is written."""
    done = roster(course, *arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert problem in done.stderr
    assert not (course.root / FILE).exists()
