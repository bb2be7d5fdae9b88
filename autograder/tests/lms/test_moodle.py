"""Moodle's archives and worksheets, with the commands that read and write them.

The fixtures follow the source code of Moodle 4.5 (`gradingtable.php`, `grade_export_txt.php`,
`action_redir.php`, `downloader.php`), which `autograder/lms/moodle.py` cites.
"""

import shutil
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.commands.roster import add_roster, read_roster
from autograder.course_folder import CourseFolder, nfc
from autograder.database import db_url
from autograder.errors import UserError
from autograder.lms import moodle
from autograder.lms.tables import read_table
from autograder.reporting.export import FORMULA, Column, Roster, original_text
from autograder.reporting.gradebook import Marks
from autograder.reporting.worksheet import fill_worksheet
from autograder.tests.support.commands import autograder, is_one_sentence
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NAMES,
    NEWLINES,
    STUDY,
    archive,
    collected,
    course,
    student,
    submissions,
    written,
)

MODULE = STUDY.module
HOME = STUDY.assignment
CLASS_LIST = """\
Username,First name,Last name,ID number,Email address
ada,Ada,Byron,4711,ada@example.org
ben,Ben,Li,4712,ben@example.org
zoe,Zoë,Õunapuu,4713,zoe@example.org
"""
# The columns of user/action_redir.php with ID numbers, and Roles as on the page of participants.
PARTICIPANTS = """\
\ufeff"First name","Last name","ID number","Email address",Groups,Roles
Ada,Byron,4711,ada@example.org,"Lab A",Student
Ben,Li,4712,ben@example.org,"Lab B, Team 3",Student
Zoë,Õunapuu,4713,zoe@example.org,,"Student, Non-editing teacher"
Grace,Hopper,,grace@example.org,"Lab A, Lab B","Teacher, Manager"
Tim,Tutor,,tim@example.org,,"Non-editing teacher"
"""
# The columns of mod/assign/gradingtable.php, with a byte order mark and Moodle's own times.
WORKSHEET = """\
\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 21","Ada Byron",ada@example.org,"Submitted for grading - 1 day late",,"20,00",Yes,\
"Tuesday, 3 March 2026, 12:30 PM",-,
"Participant 22","Ben Li",ben@example.org,"Submitted for grading",,"20,00",Yes,\
"Monday, 2 March 2026, 9:59 AM",-,"<p>Old</p>"
"Participant 23","Zoë Õunapuu",zoe@example.org,"No submission",,"20,00",No,-,-,
"Participant 24","=1+1",x@example.org,"No submission",,"20,00",Yes,-,-,
"""

# The export of grades of a course, as plain text file.
GRADES = """\
First name,Last name,ID number,Institution,Department,Email address,\
Assignment: Study 3: Type A (Real),Assignment: Essay 1 (Real),Course total (Real),\
Last downloaded from this course
Ada,Byron,,,,ada@example.org,-,8,8,1772445600
Zoë,Õunapuu,4713,,,other@example.org,-,-,-,1772445600
"""


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> CourseFolder:
    """A course with a class, an assignment with a due date, and a mark for Ada."""
    folder = course(tmp_path_factory.mktemp("moodle") / "course")
    add_roster(folder, read_roster(CLASS_LIST))
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(HOME, duedate="2026-03-02 10:00:00 UTC")
        book.add_notebook("one", HOME)
        book.add_grade_cell("test", "one", HOME, max_score=20, cell_type="code")
        book.db.commit()
    return folder


@pytest.fixture
def folder(school, tmp_path) -> CourseFolder:
    """A copy of the course, for one test."""
    folder = CourseFolder.open(shutil.copytree(school.root, tmp_path / "course"))
    config = folder.root / "nbgrader_config.py"
    config.write_text(
        config.read_text("utf-8") + '\nc.Exchange.timezone = "Europe/Berlin"\n', "utf-8"
    )
    return folder


def collect(folder: CourseFolder, *options) -> object:
    """Run the command."""
    return autograder("collect", "study3", "-c", str(folder.root), *map(str, options))


def test_participants_have_sections_and_no_staff():
    """The first of several groups is the section; students who also teach are kept."""
    found = read_roster(PARTICIPANTS, "email address")
    assert [(row["id"], row["section"], row.get("groups")) for row in found] == [
        ("ada@example.org", "Lab A", None),
        ("ben@example.org", "Lab B", "Lab B, Team 3"),
        ("zoe@example.org", "", None),
    ]
    assert found[2] == {
        "id": "zoe@example.org",
        "first_name": "Zoë",
        "last_name": "Õunapuu",
        "email": "zoe@example.org",
        "lms_user_id": "4713",
        "section": "",
    }
    assert [row["id"] for row in read_roster(PARTICIPANTS, "ID number")] == ["4711", "4712", "4713"]
    with_username = PARTICIPANTS.replace("ID number", "Username")
    assert [row["id"] for row in read_roster(with_username)] == ["4711", "4712", "4713"]
    own_section = PARTICIPANTS.replace("ID number", "Section")
    assert read_roster(own_section, "Email address")[0]["section"] == "4711"
    with pytest.raises(UserError, match=r"no column id.*--id 'Email address'"):
        read_roster(PARTICIPANTS)
    with pytest.raises(UserError, match="--id 'Login' must be one of the columns"):
        read_roster(PARTICIPANTS, "Login")
    with pytest.raises(UserError, match="--id is not for"):
        read_roster("identifier,github_username\nada,a\n", "identifier")


def test_the_command_imports_participants(folder, tmp_path):
    """Addresses of known students add no second student; several groups are reported."""
    (tmp_path / "participants.csv").write_text(
        PARTICIPANTS + "New,One,,new@example.org,Lab A,Student\n", "utf-8"
    )
    command = ["roster", str(tmp_path / "participants.csv"), "-c", str(folder.root)]
    done = autograder(*command)
    assert done.exit_code == 2 and is_one_sentence(done.stderr)
    done = autograder(*command, "--id", "Email address")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:-1] == [
        "added: 1 (new@example.org)",
        "changed: ada: section Lab A (before: none)",
        "changed: ben: section Lab B (before: none)",
        "in several groups in Moodle, the first of which is the section: 1 (ben: Lab B, Team 3)",
    ]
    sections = {name: person.section for name, person in folder.people().students.items()}
    assert sections == {"ada": "Lab A", "ben": "Lab B", "zoe": "", "new@example.org": "Lab A"}


@given(
    st.lists(st.tuples(LOGINS, NAMES, NAMES), min_size=1, max_size=5, unique_by=lambda row: row[0]),
    BOMS,
    DELIMITERS,
    NEWLINES,
)
def test_participants_keep_ids_names_and_sections(rows, bom, delimiter, newline):
    """They are unchanged, whatever the form of the file; a group's name without commas is kept."""
    head = ["First name", "Last name", "Email address", "Groups", "Roles"]
    lines = [[first, last, login, last, "Student"] for login, first, last in rows]
    try:
        found = read_roster(written([head, *lines], delimiter, newline, bom), "Email address")
    except UserError as error:
        assert "line break" in str(error)
        return
    assert [(s["id"], s["first_name"], s["last_name"], s["email"]) for s in found] == [
        (login, nfc(first).strip(), nfc(last).strip(), login) for login, first, last in rows
    ]
    for each in found:
        assert "," in each["last_name"] or each["section"] == each["last_name"]


@pytest.mark.parametrize(
    "form",
    [
        "{0}_{1}_assignsubmission_file/{2}",  # since Moodle 3.1
        "{0}_{1}_assignsubmission_file_/{2}",
        "{0}_{1}_assignsubmission_file_{2}",  # without folders
        "Course-Assignment-7/{0}_{1}_assignsubmission_file/{2}",  # unpacked and packed again
    ],
)
def test_forms_of_archives(tmp_path, form):
    """Folders or prefixes, with and without a folder around them."""
    folder = course(tmp_path / "course")
    path = archive(
        tmp_path / "s.zip",
        {
            form.format("Ada Byron", 21, MODULE): "ada",
            form.format("Zoë Õunapuu", 23, MODULE): "zoe",
            form.format("Team 7", 5, MODULE): "team",
        },
    )
    result = collected(folder, path)
    assert result.system == "moodle"
    assert submissions(folder) == {f"ada/{HOME}/{MODULE}": "ada", f"zoe/{HOME}/{MODULE}": "zoe"}
    assert result.refused == ["Team 7_5: no student on the roster has this name or number"]


def test_the_command_takes_times_and_participants_from_the_worksheet(folder, tmp_path):
    """Times are in the course's zone; numbers and names of participants must agree."""
    (tmp_path / "grades.csv").write_text(WORKSHEET, "utf-8")
    path = archive(
        tmp_path / "s.zip",
        {
            f"Ada Byron_21_assignsubmission_file/{MODULE}": "ada",
            f"Ben Li_22_assignsubmission_file/{MODULE}": "ben",
            f"Zoë Õunapuu_24_assignsubmission_file/{MODULE}": "not Zoë's number",
        },
    )
    done = collect(folder, "--from", path, "--times", tmp_path / "grades.csv")
    assert done.exit_code == 1
    assert done.stdout == (
        f"collected {HOME} from Moodle; submissions: 2, new: 2, replaced: 0, unchanged: 0; "
        "not collected: 1\n"
    )
    assert done.stderr.startswith("not collected: Zoë Õunapuu_24: no student on the roster")
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "ada",
        f"ada/{HOME}/timestamp.txt": "2026-03-03 11:30:00 UTC",
        f"ben/{HOME}/{MODULE}": "ben",
        f"ben/{HOME}/timestamp.txt": "2026-03-02 08:59:00 UTC",
    }
    again = collect(folder, "--from", path)
    assert "new: 0, replaced: 0, unchanged: 2; not collected: 1" in again.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--from", "missing.zip"],
        ["--from", "s.zip", "--format", "blackboard"],
        ["--from", "s.zip", "--times", "missing.csv"],
        ["--from", "s.zip", "--times", "bad.csv"],
        ["--times", "bad.csv"],
    ],
)
def test_mistakes_are_explained_in_one_sentence(folder, tmp_path, options):
    """The exit status is 2, and nothing is collected."""
    archive(tmp_path / "s.zip", {f"Ada Byron_21_assignsubmission_file/{MODULE}": "ada"})
    (tmp_path / "bad.csv").write_text("id,submitted_at\nada,2.3.2026\n", "utf-8")
    done = collect(
        folder, *(tmp_path / name if name.endswith(("zip", "csv")) else name for name in options)
    )
    assert done.exit_code == 2 and is_one_sentence(done.stderr)
    assert not submissions(folder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tuesday, 3 March 2026, 12:30 AM", datetime(2026, 3, 2, 23, 30, tzinfo=UTC)),
        ("Tuesday, March 3, 2026, 1:05 PM", datetime(2026, 3, 3, 12, 5, tzinfo=UTC)),
        ("3 March 2026, 13:05", datetime(2026, 3, 3, 12, 5, tzinfo=UTC)),
        ("-", None),
        ("Mittwoch, 3. März 2026, 13:05", None),
        ("31 February 2026, 13:05", None),
    ],
)
def test_times_of_moodle(text, expected):
    """Unknown forms are no times."""
    assert moodle.read_time(text, ZoneInfo("Europe/Berlin")) == expected


def test_a_worksheet_is_filled(folder):
    """Grades with a decimal comma as in the file; locked rows and all other cells are unchanged."""
    table = read_table(WORKSHEET, "it")
    filled = moodle.fill(table, "Grade", [(12.5, "Good; =1+1"), None, (1, "locked"), None])
    changed = [
        (old, new)
        for before, after in zip(table.rows, filled.rows, strict=True)
        for old, new in zip(before, after, strict=True)
        if old != new
    ]
    assert changed == [("", "12,50"), ("", "Good; =1+1")]
    assert filled.text().startswith("\ufeffIdentifier,")
    assert moodle.maximum(table) == 20


@st.composite
def worksheets(draw):
    """A worksheet with odd names, without some columns."""
    head = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]
    head += ["Last modified (grade)", *draw(st.sampled_from([[], ["Feedback comments"]]))]
    numbers = draw(st.lists(st.integers(1, 9**9), min_size=1, max_size=5, unique=True))
    point = draw(st.sampled_from(",."))
    rows = [
        [f"Participant {number}", draw(NAMES), draw(NAMES), f"1{point}00", f"20{point}00", "-"]
        + [draw(NAMES | st.just(""))] * (len(head) - 6)
        for number in numbers
    ]
    return [head, *rows]


@given(worksheets(), BOMS, DELIMITERS, NEWLINES, st.floats(0, 20), NAMES)
def test_the_import_of_a_filled_worksheet_is_the_identity(
    sheet, bom, delimiter, newline, grade, feedback
):
    """Participants, names and other cells are the same; the grade is the one that was filled in."""
    table = read_table(written(sheet, delimiter, newline, bom), "it")
    others = [None] * (len(table.rows) - 1)
    text = moodle.fill(table, "Grade", [(grade, feedback), *others]).text()
    again = read_table(text, "it")
    assert (again.header, again.delimiter, again.bom) == (table.header, delimiter, bool(bom))
    for number, ((_, before), (_, after)) in enumerate(
        zip(table.records(), again.records(), strict=True)
    ):
        filled = {"Grade", "Feedback comments"} if number == 0 else set()
        assert {k: v for k, v in after.items() if k not in filled} == {
            k: v for k, v in before.items() if k not in filled
        }
    (_, after), *_ = again.records()
    assert float(after["Grade"].replace(",", ".")) == round(grade, 2)
    assert moodle.fill(again, "Grade", [None, *others]) == again


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> CourseFolder:
    """A course without a roster."""
    return course(tmp_path_factory.mktemp("moodle") / "course")


TITLE = "Assignment: Study 3: Type A"
PREFIXES = st.sampled_from(["", "=1+1", "@", "-", "+49 30", 'a"b', "1,5;", "Ö\u0308", "李", "'=x"])


@st.composite
def grade_exports(draw):
    """An export of grades, and for each of its rows the student, the grade and the feedback, or None.

    Students are found by ID number or, without one, by address; a participant is not on the roster.
    """
    point, has_feedback = draw(st.sampled_from(",.")), draw(st.booleans())
    feedback = [f"{TITLE} (Feedback)"] if has_feedback else []
    head = ["First name", "Last name", "ID number", "Institution", "Email address"]
    head += [f"{TITLE} (Real)", *feedback, 'Quiz: "a, b"; =c (Real)', "Total (Real)"]
    rows, expected = [], []
    for n in range(draw(st.integers(1, 5))):
        identifier, address = (f"{draw(PREFIXES)}{kind}{n}" for kind in ("id", "mail"))
        has_number = draw(st.booleans())
        person = student(
            f"{draw(PREFIXES)}login{n}", draw(NAMES), draw(NAMES), address, identifier * has_number
        )
        own = [f"alias {person.first_name}", draw(NAMES), person.lms_user_id, draw(NAMES)]
        own.append(f"other{n}" if has_number else address.upper())
        grade = draw(st.sampled_from(["-", "", f"3{point}50"]))
        rows.append([*own, grade, *([draw(NAMES)] if feedback else []), f"7{point}00", "-"])
        marks = st.tuples(st.floats(0, 20), NAMES | st.sampled_from(["=1+1;@x", "ok\n-1", ""]))
        expected.append((person, draw(st.none() | marks)))
    rows.append(["=Not", "listed", "", "", "stranger", "-", *["-" for _ in feedback], "-", "-"])
    return [head, *rows], [*expected, (None, None)], point


@given(grade_exports(), BOMS, DELIMITERS, NEWLINES)
def test_the_import_of_filled_grades_is_the_identity(bare, case, bom, delimiter, newline):
    """Each student gets the grade; other cells are unchanged, and no feedback is a formula."""
    cells, expected, point = case
    people = [person for person, _ in expected if person]
    marks = {
        person.id: Marks(manual=mark[0], comments=[mark[1]])
        for person, mark in expected
        if person and mark
    }
    roster = Roster(bare, people, [Column(HOME, 20, marks, {})])
    table = read_table(written(cells, delimiter, newline, bom), "it")
    filled = fill_worksheet(roster, STUDY, table)
    assert f"unchanged: {table.lines[-1]}" in filled.warnings[0]
    again = read_table(filled.text, "it")
    assert (again.header, again.delimiter, again.bom) == (table.header, delimiter, bool(bom))
    for (_, before), (_, after), (_, mark) in zip(
        table.records(), again.records(), expected, strict=True
    ):
        changed = {}
        if mark:
            changed[f"{TITLE} (Real)"] = f"{mark[0]:.2f}".replace(".", point)
            if f"{TITLE} (Feedback)" in before:
                changed[f"{TITLE} (Feedback)"] = after[f"{TITLE} (Feedback)"]
                assert not FORMULA.search(after[f"{TITLE} (Feedback)"])
                assert original_text(after[f"{TITLE} (Feedback)"]) == mark[1]
        assert after == before | changed
    assert fill_worksheet(roster, STUDY, again).text == filled.text


def test_two_activities_with_the_same_title_are_ambiguous():
    """Moodle allows them, and their columns have the same name, so no grade is filled in."""
    column = f"{TITLE} (Real)"
    one = read_table(f"Email address,{column}\n", "it")
    assert moodle.grade_column(one, ["study3"]) == column
    two = read_table(f"Email address,{column},{column}\n", "it")
    assert moodle.grade_column(two, ["study3"]) == ""


def test_the_command_fills_a_worksheet(folder, tmp_path):
    """Only the student with marks gets a grade; what is unusual is reported."""
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_submission(HOME, "ada")
        book.find_grade("test", "one", HOME, "ada").manual_score = 12.5
        book.db.commit()
    folder.results(HOME, "ada").mkdir(parents=True)
    (folder.results(HOME, "ada") / "nbgrader.txt").touch()
    (tmp_path / "grades.csv").write_text(WORKSHEET, "utf-8")
    command = ["export", "-c", str(folder.root), "--worksheet", str(tmp_path / "grades.csv")]
    done = autograder(*command, "--study", "study3", "--output", "-")
    assert done.exit_code == 0, done.output
    before = read_table(WORKSHEET, "it")
    after = read_table(done.stdout, "it")
    assert after == moodle.fill(before, "Grade", [(12.5, ""), None, None, None])
    assert "no student on the roster matches these lines of the file" in done.stderr
    (tmp_path / "grades.csv").write_text(GRADES, "utf-8")
    done = autograder(*command, "--study", "study3", "--output", "-")
    assert done.stdout == GRADES.replace(",-,8,", ",12.50,8,", 1)
    (tmp_path / "grades.csv").write_text(GRADES.replace("Study 3:", "Essay"), "utf-8")
    done = autograder(*command, "--study", "study3")
    assert done.exit_code == 2 and is_one_sentence(done.stderr)
    done = autograder(*command)
    assert done.exit_code == 2 and is_one_sentence(done.stderr)
    (tmp_path / "grades.csv").write_text(CLASS_LIST, "utf-8")
    done = autograder(*command, "--study", "study3")
    assert done.exit_code == 2 and is_one_sentence(done.stderr)
