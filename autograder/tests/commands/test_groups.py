"""Groups and sections: one submission counts for all members, and commands select a section."""

import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands import grade_all
from autograder.commands.cli import app
from autograder.commands.people.selection import submitters
from autograder.course_folder import CourseFolder
from autograder.course_folder.people import People, Person, write_people
from autograder.dashboard.marking import marks
from autograder.dashboard.marking.page import Marking
from autograder.dashboard.overview import overview
from autograder.database import db_url
from autograder.errors import UserError
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.grading.records.group_marks import share_marks
from autograder.grading.run.batch import grade
from autograder.release.assignments import generate_assignment
from autograder.reporting import export
from autograder.reporting.report import write_report
from autograder.tests.support.needs import need_isolation
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("groups")

WEEK, CELL = "week7", ("one", "test")
PEOPLE = People(
    {"ada": Person("A", "1"), "ben": Person("B", "1"), "cy": Person("A"), "dan": Person("A", "2")},
    roster=True,
)


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """A course in which ada, a member of group 1, and cy have submitted and were graded."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(WEEK).mkdir(parents=True)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(WEEK, duedate="2026-03-02 10:00:00 UTC")
        book.add_notebook("one", WEEK)
        book.add_grade_cell("test", "one", WEEK, max_score=10, cell_type="code")
        book.add_solution_cell("test", "one", WEEK)
        for student in PEOPLE.students:
            book.add_student(student, first_name=student.title())
        for student in ("ada", "cy"):
            book.add_submission(WEEK, student)
            book.find_grade("test", "one", WEEK, student).auto_score = 4
        book.db.commit()
    for student in ("ada", "cy"):
        submit(folder, student, "2026-03-03 10:00 UTC")
        results = folder.results(WEEK, student)
        results.mkdir(parents=True)
        autograded = folder.root / "autograded" / student / WEEK
        autograded.mkdir(parents=True)
        (autograded / "one.ipynb").write_text(
            '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "utf-8"
        )
        (results / "one.json").write_text('{"outcomes": [], "inside": [], "booked": {}}', "utf-8")
        entry = {
            "student": student,
            "status": "graded",
            "state": {"code": "0"},
            "problems": [],
            "seconds": 1,
            "marks": read_automatic_marks(db_url(folder), WEEK)[student],
            "notebooks": ["one"],
        }
        (results / "submission.json").write_text(json.dumps(entry), "utf-8")
    write_people(folder.root, PEOPLE)
    return folder


def submit(folder: CourseFolder, student: str, time: str) -> None:
    """Put a submission with this time into the student's own folder."""
    path = folder.own_submission(WEEK, student)
    path.mkdir(parents=True, exist_ok=True)
    (path / "timestamp.txt").write_text(time, "utf-8")


def scores(folder: CourseFolder) -> dict[str, float]:
    """The score of each student with marks."""
    (column,) = export.read_marks(folder).columns
    return {student: own.score for student, own in sorted(column.marks.items())}


def give(folder: CourseFolder, student: str, points: float) -> None:
    """Give a student points by hand."""
    with Gradebook(db_url(folder)) as book:
        book.find_grade("test", "one", WEEK, student).manual_score = points
        book.db.commit()


def test_a_submission_counts_for_all_members(course):
    """The other member gets the marks; a member of a group without a submission has none."""
    assert course.owners(WEEK) == {"ada": "ada", "ben": "ada", "cy": "cy"}
    assert course.submission(WEEK, "ben") == course.own_submission(WEEK, "ada")
    study = course.assignment(WEEK)
    for _ in range(2):
        assert share_marks(course, study) == ["ben"]
        assert scores(course) == {"ada": 4, "ben": 4, "cy": 4}
    give(course, "ada", 7)
    share_marks(course, study)
    assert scores(course) == {"ada": 7, "ben": 7, "cy": 4}
    give(course, "ben", 6)  # only for ben
    give(course, "ada", 8)
    share_marks(course, study)
    assert scores(course) == {"ada": 8, "ben": 6, "cy": 4}


def test_each_member_has_a_penalty(course):
    """Extensions of one member do not apply to the other."""
    (course.root / "course.toml").write_text("[late]\npercent = 10\n", "utf-8")
    runner = CliRunner()
    runner.invoke(app, ["extend", WEEK, "--student", "ben", "--days", "1", "-c", str(course.root)])
    done = runner.invoke(app, ["late-penalties", WEEK, "-c", str(course.root)])
    assert done.exit_code == 0, done.output
    assert scores(course) == {"ada": 3.6, "ben": 4, "cy": 3.6}


def test_the_last_of_two_submissions_counts(course):
    """The rivals are named; a submission without a time counts as the earlier one."""
    assert course.rival_submissions(WEEK) == {}
    submit(course, "ben", "2026-03-02 10:00 UTC")
    assert course.owners(WEEK)["ben"] == "ada"
    submit(course, "ben", "2026-03-03 11:00 UTC")
    assert course.owners(WEEK)["ada"] == "ben"
    (sentence,) = course.rival_submissions(WEEK).values()
    assert sentence == (
        "several members of group 1 have submitted (ada, ben); the last submission is ben's"
    )
    (course.own_submission(WEEK, "ben") / "timestamp.txt").unlink()
    assert course.owners(WEEK)["ben"] == "ada"


def test_a_group_keeps_the_work_of_a_student_who_drops(course):
    """The submission still counts for the others."""
    write_people(course.root, PEOPLE.with_person("ada", dropped=True))
    study = course.assignment(WEEK)
    share_marks(course, study)
    assert scores(course) == {"ben": 4, "cy": 4}
    assert [a.student for a in sorted_answers(course)] == ["ada", "cy"]


def sorted_answers(folder: CourseFolder) -> list[marks.Answer]:
    """The answers that are marked, by student."""
    study = folder.assignment(WEEK)
    return sorted(marks.answers(folder, study, CELL), key=lambda answer: answer.student)


def test_a_group_is_marked_once(course):
    """The marking page shows one answer for a group, filters by section, and shares the mark."""
    study = course.assignment(WEEK)
    share_marks(course, study)
    page = Marking(course, study)
    page._hide({"on": False})
    assert [line["who"] for line in page.view["answers"]] == [
        "Ada (section A) (group 1, with ben)",
        "Cy (section A)",
    ]
    page._filter({"name": "B"})
    assert page.view["answers"] == []
    page._filter({"name": "A"})
    (ada, _) = page._answers.values()
    page._texts[ada.id] = page._html(ada)
    page._grade({"id": ada.id, "points": 9})
    assert scores(course) == {"ada": 9, "ben": 9, "cy": 4}


def test_sections_in_exports_reports_and_the_overview(course):
    """Each has a column, or a table, and can be limited to a section."""
    command = ["export", "-c", str(course.root), "--output", "-"]
    lines = CliRunner().invoke(app, command).stdout.splitlines()
    assert lines[0].startswith("student,last_name,first_name,email,lms_user_id,section,week7.score")
    assert lines[2].startswith("ben,,Ben,,,B,4.0")
    lines = CliRunner().invoke(app, [*command, "--section", "B"]).stdout.splitlines()
    assert [line.partition(",")[0] for line in lines[1:]] == ["ben"]
    done = CliRunner().invoke(app, [*command, "--section", "C"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no section 'C' on the roster, only A, B" in done.stderr
    page, table = write_report(course, course.assignment(WEEK))
    assert "<td>B</td><td>1 (submitted by ada)</td>" in page.read_text("utf-8")
    assert table.read_text("utf-8").splitlines()[2].endswith(",B,1 (submitted by ada)")
    page, table = write_report(course, course.assignment(WEEK), "A")
    assert page.name == "week7_section_A.html"
    assert len(table.read_text("utf-8").splitlines()) == 3
    status = overview(course.root)
    assert [(s.section, s.submitted, s.graded) for s in status.sections] == [
        ("A", 2, 2),
        ("B", 1, 1),
    ]
    assert "By section" in status._repr_html_()


def test_the_students_of_a_section_are_graded(course):
    """The option cannot be combined with names, and an empty selection is reported."""
    study = course.assignment(WEEK)
    assert submitters(course, study, None, "A") == ["ada", "cy"]
    assert submitters(course, study, ["cy"], None) == ["cy"]
    with pytest.raises(UserError, match="use only one"):
        submitters(course, study, ["cy"], "A")
    shutil.rmtree(course.root / "submitted")
    with pytest.raises(UserError, match="no student of section A has submitted"):
        submitters(course, study, None, "A")


def test_feedback_for_a_section(course):
    """Only its graded students get pages; the option cannot be combined with names."""
    write_people(course.root, PEOPLE.with_person("cy", section="C"))
    submit(course, "dan", "2026-03-02 10:00 UTC")  # in section A, not graded
    command = ["feedback", WEEK, "-c", str(course.root), "--jobs", "1", "--section"]
    done = CliRunner().invoke(app, [*command, "A"])
    assert done.exit_code == 0, done.output
    assert f"feedback for 1 students on {WEEK}" in done.stdout
    assert [path.name for path in (course.root / "feedback").iterdir()] == ["ada"]
    for options, problem in (
        (["A", "--student", "ada"], "use only one of them"),
        (["B"], "not graded in week7 yet: all students of the section; run"),
        (["D"], "there is no section 'D' on the roster, only A, B, C"),
    ):
        done = CliRunner().invoke(app, [*command, *options])
        assert done.exit_code == 2
        assert problem in done.stderr
    (course.results(WEEK, "ada") / "submission.json").write_text("{", "utf-8")
    done = CliRunner().invoke(app, [*command, "C"])
    assert done.exit_code == 0, done.output  # ada's damaged results are not in this section
    assert f"feedback for 1 students on {WEEK}" in done.stdout


def test_grade_all_for_a_section(course, monkeypatch):
    """Its students are graded and get pages, and the report covers the section alone."""
    graded, pages = [], []
    monkeypatch.setattr(
        grade_all, "grade_study", lambda _f, _s, students, **_: graded.append(students) or []
    )
    monkeypatch.setattr(
        grade_all, "feedback_study", lambda _f, _s, students, *_: pages.append(students) or []
    )
    command = ["grade-all", WEEK, "-c", str(course.root)]
    done = CliRunner().invoke(app, [*command, "--section", "A", "--json"])
    assert done.exit_code == 0, done.output
    assert graded == pages == [["ada", "cy"]]
    assert {Path(path).stem for path in json.loads(done.stdout)["report"]} == {f"{WEEK}_section_A"}
    done = CliRunner().invoke(app, [*command, "--section", "A", "--student", "cy"])
    assert done.exit_code == 2
    assert "use only one of them" in done.stderr


@pytest.mark.slow
def test_grading_a_group(tmp_path):
    """The submission is graded once, all members get it, and a second run changes nothing."""
    need_isolation()
    study = load_study("study2")
    folder = CourseFolder.create(tmp_path / "course")
    generate_assignment(folder, study)
    shutil.copytree(
        folder.release(study.assignment), folder.own_submission(study.assignment, "ada")
    )
    write_people(folder.root, PEOPLE)
    first = grade(folder, study, jobs=1)
    assert [(g.student, g.status) for g in first] == [("ada", "graded"), ("ben", "graded")]
    second = grade(folder, study, ["ben"], jobs=1)
    assert [(g.student, g.status) for g in second] == [("ada", "unchanged"), ("ben", "unchanged")]
    done = CliRunner().invoke(app, ["feedback", "study2", "-c", str(folder.root)])
    assert done.exit_code == 0, done.output
    (page,) = (folder.root / "feedback" / "ben" / study.assignment).glob("*.html")
    assert "This is the submission of your group, handed in by ada." in page.read_text("utf-8")


@pytest.mark.parametrize("command", ["export", f"report {WEEK}", f"late-penalties {WEEK}"])
@pytest.mark.parametrize("people", [PEOPLE, People()], ids=["groups", "no groups"])
def test_a_missing_gradebook_is_reported_and_not_created(course, command, people):
    """The last line says what to do, with or without groups."""
    write_people(course.root, people)
    (course.root / "gradebook.db").unlink()
    done = CliRunner().invoke(app, [*command.split(), "-c", str(course.root)])
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert "there is no gradebook" in done.stderr.splitlines()[-1]
    assert not (course.root / "gradebook.db").exists()
