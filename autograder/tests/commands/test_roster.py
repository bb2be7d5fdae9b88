"""Rosters exported from Canvas and Moodle, and names in both Unicode normal forms."""

import csv
import io
import unicodedata

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.roster import add_roster, load_roster, read_roster
from autograder.course_folder import CourseFolder
from autograder.database import db_url
from autograder.errors import UserError
from autograder.grading.run.batch import GradingError, grade

NFD = unicodedata.normalize("NFD", "Zoë")
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (12),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,10,(read only)
"Byron, Ada",4711,S-1,ada,Tuesday and Friday,8,80
Grace Brewster Hopper,4712,,grace@example.org,"Group ""A"", late",,
"Õunapuu, Zoë",4713,S-3,Zoë,Friday,,
"Student, Test",4799,,0123456789abcdef0123456789abcdef01234567,Friday,,
"""


def rows(text: str) -> list[list[str]]:
    """The cells of a CSV."""
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize(
    "text",
    [
        CANVAS,
        "\ufeff" + CANVAS,
        CANVAS.replace("\n", "\r\n"),
        unicodedata.normalize("NFD", CANVAS),
        CANVAS.replace('"Student, Test"', "Test Student"),
    ],
)
def test_canvas_gradebook(text):
    """The roster takes the ids, names and Canvas ids, but no points, notes or test student."""
    found = [
        {key: value for key, value in student.items() if key != "canvas"}
        for student in read_roster(text)
    ]
    assert found == [
        {
            "id": "ada",
            "first_name": "Ada",
            "last_name": "Byron",
            "lms_user_id": "4711",
            "section": "Tuesday and Friday",
        },
        {
            "id": "grace@example.org",
            "first_name": "Grace Brewster",
            "last_name": "Hopper",
            "lms_user_id": "4712",
            "section": 'Group "A", late',
        },
        {
            "id": "Zoë",
            "first_name": "Zoë",
            "last_name": "Õunapuu",
            "lms_user_id": "4713",
            "section": "Friday",
        },
    ]


def test_canvas_without_logins():
    """Canvas hides logins from some teachers; its own id is then the only one."""
    (found,) = read_roster('Student,ID,Section\n"Byron, Ada",4711,Friday\n')
    assert (found["id"], found["lms_user_id"], found["last_name"]) == ("4711", "4711", "Byron")


@pytest.fixture(scope="module")
def canvas_course(tmp_path_factory) -> CourseFolder:
    """A course whose roster came from Canvas, with marks for Ada."""
    place = tmp_path_factory.mktemp("canvas")
    (place / "canvas.csv").write_text(CANVAS, "utf-8")
    root = place / "course"
    done = CliRunner().invoke(app, ["roster", str(place / "canvas.csv"), "-c", str(root)])
    assert done.exit_code == 0, done.output
    folder = CourseFolder.open(root)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment("week7")
        book.add_notebook("one", "week7")
        book.add_grade_cell("test", "one", "week7", max_score=10, cell_type="code")
        book.add_submission("week7", "ada")
        book.find_grade("test", "one", "week7", "ada").manual_score = 7
        book.add_student("new", first_name="Neo", last_name="New")
        book.db.commit()
    folder.results("week7", "ada").mkdir(parents=True)
    (folder.results("week7", "ada") / "nbgrader.txt").touch()
    return folder


def test_what_canvas_exported_comes_back(canvas_course):
    """The identifying columns are unchanged in each row, so that the import finds all students."""
    done = CliRunner().invoke(
        app, ["export", "-c", str(canvas_course.root), "--format", "canvas", "--output", "-"]
    )
    assert done.exit_code == 0, done.output
    head, points, *lines = rows(done.stdout)
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "week7"]
    assert points[0].strip() == "Points Possible" and points[-1] == "10.0"
    exported = {line[3]: line for line in lines}
    original = {line[3]: line[:5] for line in rows(CANVAS)[3:6]}
    assert {login: exported[login][:5] for login in original} == original
    assert exported["ada"][5] == "7.0" and exported["Zoë"][5] == ""
    assert exported["new"][:4] == ["New, Neo", "", "", "new"]
    again = {student["id"]: student["canvas"] for student in read_roster(done.stdout)}
    assert {login: list(again[login].values()) for login in original} == original


def test_more_columns_of_canvas_are_kept_in_their_order(tmp_path):
    """Some schools have another id and several accounts."""
    folder = CourseFolder.create(tmp_path / "course")
    head = "Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section"
    add_roster(folder, read_roster(f'{head},HW\n"Byron, Ada",1,2,ada,3,x.edu,A,5\n'))
    from autograder.reporting import export

    text = export.export(
        export.Roster(
            folder,
            [
                type(
                    "Row",
                    (),
                    {"id": "ada", "first_name": "Ada", "last_name": "Byron", "lms_user_id": "1"},
                )()
            ],
        ),
        "canvas",
    )
    assert text.splitlines()[0] == head
    assert text.splitlines()[2] == '"Byron, Ada",1,2,ada,3,x.edu,A'


MOODLE = "First name;Last name;Username;ID number;Email address\nZoë;Ada;zoe;12;z@x.org\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("text", [MOODLE, MOODLE.replace(";", "\t"), "sep=;\r\n" + MOODLE])
def test_moodles_separators_and_encodings(tmp_path, encoding, text):
    """Encodings with a byte order mark are accepted; UTF-16 without one is refused."""
    (tmp_path / "class.csv").write_bytes(text.encode(encoding))
    if encoding == "utf-16-le":
        with pytest.raises(UserError):
            load_roster(tmp_path / "class.csv")
        return
    assert load_roster(tmp_path / "class.csv") == [
        {
            "first_name": "Zoë",
            "last_name": "Ada",
            "id": "zoe",
            "lms_user_id": "12",
            "email": "z@x.org",
        }
    ]


@pytest.mark.parametrize(
    "head",
    [
        "First name,Last name,ID number,Institution,Department,Email address,Quiz",
        "Vorname,Nachname,ID-Nummer,Institution,Abteilung,E-Mail-Adresse,Quiz",
    ],
)
def test_moodle_without_usernames_is_refused_with_what_to_do(head):
    """The instructor must choose the column that names the students' folders."""
    with pytest.raises(UserError, match=r"has no column id in its head.*call the column id"):
        read_roster(f"{head}\nAda,Byron,12,,,ada@example.org,3\n")


def test_a_name_is_the_same_in_both_forms(tmp_path):
    """Both forms are equal on the roster, as a folder name and as a command argument."""
    assert read_roster(f"id,first_name\n{NFD},{NFD}\n") == [{"id": "Zoë", "first_name": "Zoë"}]
    with pytest.raises(UserError, match="twice"):
        read_roster(f"id\n{NFD}\nZoë\n")
    folder = CourseFolder.create(tmp_path / "course")
    submitted = folder.root / "submitted" / NFD / "week7"
    submitted.mkdir(parents=True)
    assert list(folder.submitted("week7")) == ["Zoë"]
    for name in ("Zoë", NFD):
        assert folder.submission("week7", name).samefile(submitted)
    assert folder.misnamed("week7") == {}
    if submitted.parent.with_name("Zoë").exists():
        return  # this file system has only one form
    twin = folder.root / "submitted" / "Zoë" / "week7"
    twin.mkdir(parents=True)
    assert folder.submitted("week7") == {"Zoë": twin}
    (why,) = folder.misnamed("week7").values()
    assert "another Unicode form" in why


def test_a_student_is_graded_by_either_name(tmp_path):
    """If the command refuses, the reason is not the name."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release("week7").mkdir(parents=True)
    with Gradebook(db_url(folder)) as book:
        book.add_assignment("week7")
    (folder.root / "submitted" / NFD / "week7").mkdir(parents=True)
    study = folder.assignment("week7")
    for name in ("Zoë", NFD):
        with pytest.raises(GradingError) as error:
            grade(folder, study, [name], jobs=1)
        assert "no submission" not in str(error.value)
    with pytest.raises(GradingError, match="no submission"):
        grade(folder, study, ["Zoe"], jobs=1)
