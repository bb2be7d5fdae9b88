"""Marks as CSV, from real gradebooks: all columns, and the formats for Canvas and Moodle."""

import csv
import io
import shutil
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder import workspace
from autograder.commands.roster import read_roster
from autograder.course_folder import CONFIG_FILE, CourseFolder, CourseFolderError
from autograder.course_folder.people import People, Person, write_people
from autograder.errors import UserError
from autograder.grading.records.ledger import Graded, record_fault
from autograder.grading.run.batch import grade
from autograder.release.assignments import add_students, generate_assignment
from autograder.release.notebooks import answer_id
from autograder.reporting import export as exporting
from autograder.reporting.gradebook import marks_of, open_gradebook
from autograder.tests.support.commands import autograder
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NAMES,
    NEWLINES,
    student,
    written,
)
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("export")

STUDY = load_study("study2")
OTHER = load_study("study1")
CHECK = STUDY.checks["alpha_beta"]
FULL = CHECK.max_points
NAME = STUDY.assignment
MODULES = workspace.module_texts(STUDY)
WRITTEN = next(iter(STUDY.written))
WHERE = (answer_id(WRITTEN), "02_alpha_beta", NAME)
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
EVIL = '=HYPERLINK("http://x","y")'
LATE_PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class PointAnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late // 3600


c.AssignLatePenalties.plugin_class = PointAnHour
"""


def submit(folder: CourseFolder, student: str, module: str, time: str = "09:00") -> None:
    """Submit a module and the released notebook, with every question answered."""
    target = folder.root / "submitted" / student / NAME
    shutil.copytree(folder.release(NAME), target)
    (target / STUDY.module).write_text(module, "utf-8")
    (target / "timestamp.txt").write_text(f"2026-03-02 {time}:00 UTC", "utf-8")


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> CourseFolder:
    """Two assignments; one of them has late, marked, waiting and faulty submissions."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("school") / "course")
    for study in (OTHER, STUDY):
        generate_assignment(folder, study)
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(LATE_PLUGIN)
    add_students(
        folder,
        [
            ("ada", "Ada", "Byron"),
            ("ben", EVIL, "@home"),
            ("cy", "Cy", "Öz"),
            ("dan", "Dan", "Absent"),
            ("eve", "Eve", "Broken"),
        ],
    )
    place = folder.config().CourseDirectory
    with Gradebook(place.db_url, place.course_id) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-02 10:00:00 UTC")
        book.update_or_create_student("ada", email="ada@example.org", lms_user_id="4711")
    submit(folder, "ada", MODULES["reference"])
    submit(folder, "ben", MODULES["reference"], "12:30")
    submit(folder, "cy", MODULES["root_not_counted"])
    submit(folder, "eve", MODULES["reference"])
    grade(folder, STUDY)
    with Gradebook(place.db_url, place.course_id) as book:
        given = book.find_grade(*WHERE, "ada")
        given.manual_score, given.extra_credit, given.needs_manual_grade = 2, 1, False
        book.find_comment(*WHERE, "ada").manual_comment = "Nearly."
        book.find_grade(*WHERE, "cy").needs_manual_grade = True
        book.db.commit()
    results = folder.results(NAME, "eve")
    (results / "submission.json").unlink()
    record_fault(results, Graded("eve", "fault", ("why",)))
    return folder


def exported(folder: CourseFolder, kind: str) -> list[list[str]]:
    """The lines of an export."""
    text = exporting.export(exporting.read_marks(folder), kind)
    return list(csv.reader(io.StringIO(text)))


# ---- Numbers


def test_the_gradebooks_columns_add_up(school):
    """For every student, automatic, manual and extra marks minus the penalty are the score."""
    head, *lines = exported(school, "gradebook")
    assert head[:5] == ["student", "last_name", "first_name", "email", "lms_user_id"]
    rows = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
    assert list(rows) == ["ada", "ben", "cy", "dan", "eve"]

    def numbers(student: str) -> list[float]:
        return [
            float(rows[student][f"{NAME}.{part}"])
            for part in ("score", "auto", "manual", "extra", "late_penalty", "max")
        ]

    mistake = FULL - CHECK.points["nodes"]
    assert numbers("ada") == [FULL + 3, FULL, 2, 1, 0, STUDY.max_points]
    assert numbers("ben") == [FULL - 2, FULL, 0, 0, 2, STUDY.max_points]
    assert numbers("cy") == [mistake, mistake, 0, 0, 0, STUDY.max_points]


@pytest.mark.parametrize("student", ["dan", "eve"])
def test_what_is_not_there_is_blank(school, student):
    """A missing submission or an internal error is not exported as a zero."""
    for kind, first in (("gradebook", 5), ("canvas", 5), ("moodle", 3)):
        line = next(line for line in exported(school, kind) if student in line)
        head = exported(school, kind)[0]
        assert {
            value
            for name, value in zip(head[first:], line[first:], strict=True)
            if not name.endswith(".max")
        } == {""}


def test_the_scores_are_nbgraders(school):
    """Scores equal those of nbgrader's own export, which are the gradebook's minus the penalties."""
    with open_gradebook(school) as book:
        found = marks_of(book, NAME)
    with Gradebook(school.config().CourseDirectory.db_url) as book:
        for student, marks in found.items():
            submission = book.find_submission(NAME, student)
            raw, penalty = submission.score, submission.late_submission_penalty
            assert marks.score == max(0, raw - penalty)
            assert marks.waiting == submission.needs_manual_grade
            assert marks.seconds_late == submission.total_seconds_late


def test_late_penalties_come_from_the_courses_plugin(school):
    """A plugin class in nbgrader_config.py decides: two and a half hours cost two points."""
    with open_gradebook(school) as book:
        found = marks_of(book, NAME)
    assert {s: (m.seconds_late, m.penalty) for s, m in found.items()} == {
        "ada": (0, 0),
        "ben": (9000, 2),
        "cy": (0, 0),
        "eve": (0, 0),
    }


# ---- Formats


def test_canvas(school):
    """The file has five columns for the student, one per assignment, and a row of points possible."""
    head, points, *lines = exported(school, "canvas")
    assert head == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        OTHER.assignment,
        NAME,
    ]
    assert points == [
        "    Points Possible",
        "",
        "",
        "",
        "",
        f"{OTHER.max_points:.1f}",
        f"{STUDY.max_points:.1f}",
    ]
    assert lines[0] == ["Byron, Ada", "4711", "", "ada", "", "", f"{FULL + 3:.1f}"]
    assert lines[2][0] == "Öz, Cy"


def test_moodle(school):
    """The file has the columns that identify students, and a grade and feedback per assignment."""
    head, *lines = exported(school, "moodle")
    assert head == [
        "username",
        "idnumber",
        "email",
        OTHER.assignment,
        f"{OTHER.assignment} feedback",
        NAME,
        f"{NAME} feedback",
    ]
    assert lines[0] == [
        "ada",
        "4711",
        "ada@example.org",
        "",
        "",
        f"{FULL + 3:.1f}",
        f"{CHECK.id}: {FULL:g} of {FULL:g}; Nearly.",
    ]
    assert lines[1][-1].endswith("; late: 2 points off")
    assert "(The root was not counted" in lines[2][-1]


@pytest.mark.parametrize("kind", exporting.FORMATS)
def test_names_are_no_formulas(school, kind):
    """An apostrophe precedes any text that a spreadsheet would read as a formula."""
    lines = exported(school, kind)
    assert not [cell for line in lines for cell in line if cell.startswith(SIGNS)]
    if kind == "gradebook":
        assert next(line for line in lines if line[0] == "ben")[1:3] == ["'@home", f"'{EVIL}"]


@pytest.mark.parametrize("sign", SIGNS)
def test_every_sign_that_begins_a_formula_is_guarded(sign):
    """The rest of the text is unchanged."""
    assert exporting.plain_cell(f"{sign}1") == f"'{sign}1"
    assert exporting.plain_cell(f" \ufeff{sign}1") == f"' \ufeff{sign}1"


@given(
    st.lists(st.sampled_from([*SIGNS, *';\t|\r\n," a1\ufeff\u2028']), max_size=9),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_no_cell_is_a_formula_whatever_the_file_is_split_at(letters, separator):
    """A spreadsheet may split lines at another separator, and strip blanks and quotes."""
    file = io.StringIO()
    csv.writer(file).writerow(["ada", exporting.plain_cell("".join(letters)), 1])
    for line in csv.reader(file.getvalue().splitlines(), delimiter=separator):
        for cell in line:
            assert not cell.strip(' \t\r\n\v\f"\ufeff\u2028').startswith(SIGNS), cell


@given(st.lists(st.sampled_from([*SIGNS, *";\t|\r\n,' a1\ufeff\u2028\x1c"]), max_size=9))
def test_the_text_of_a_prefixed_cell_can_be_restored(letters):
    """Also of text that has apostrophes already."""
    text = "".join(letters)
    assert exporting.original_text(exporting.plain_cell(text)) == text


FIELDS = ("id", "first_name", "last_name", "email", "section", "lms_user_id")
ODD_IDS = st.sampled_from(["'=x", "''-1", "Zoë", unicodedata.normalize("NFD", "Zoë"), "a;=b"])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(LOGINS | ODD_IDS, *[NAMES | st.just("")] * (len(FIELDS) - 1)),
        min_size=1,
        max_size=5,
        unique_by=lambda row: unicodedata.normalize("NFC", row[0]),
    ),
    BOMS,
    DELIMITERS,
    NEWLINES,
)
def test_the_import_of_an_export_is_the_identity(tmp_path, rows, bom, delimiter, newline):
    """Ids, names and sections are the same, also if a spreadsheet saved the file in another form.

    The columns for Moodle's import have no names and sections, so importing them changes neither.
    """
    try:
        found = read_roster(written([FIELDS, *rows], delimiter, newline, bom))
    except UserError as error:  # names with line breaks cannot be on a roster
        assert "line break" in str(error)
        return
    sections = {row["id"]: Person(row["section"]) for row in found}
    write_people(tmp_path, People(sections, roster=True))
    people = [
        student(row["id"], *(row[name] for name in (*FIELDS[1:4], "lms_user_id"))) for row in found
    ]
    column = exporting.Column(NAME, 20, {}, {})
    roster = exporting.Roster(CourseFolder(tmp_path), people, [column])
    has_sections = any(row["section"] for row in found)  # otherwise there is no column for them
    for kind, lost in (
        ("gradebook", () if has_sections else ("section",)),
        ("moodle", ("first_name", "last_name", "section")),
    ):
        cells = csv.reader(io.StringIO(exporting.export(roster, kind)))
        again = read_roster(written(cells, delimiter, newline, bom))
        assert again == [
            {name: value for name, value in row.items() if name not in lost} for row in found
        ]


@pytest.mark.parametrize("value", ["Ada", "a=b", "4711", "", -1.5, 0, 3])
def test_other_cells_stay(value):
    """Numbers, including negative ones, are unchanged."""
    assert exporting.plain_cell(value) == value


# ---- The command


def test_the_command_says_what_is_missing(school):
    """The file is in reports/; waiting and unmarked students are listed on stderr."""
    done = autograder("export", "-c", str(school.root))
    path = school.root / "reports" / "gradebook.csv"
    assert (done.exit_code, done.stdout) == (0, f"marks for gradebook: {path}\n")
    assert done.stderr == (
        f"{NAME}: written answers are not marked yet and count 0 until then: "
        f"cy\n{NAME}: left blank, because there are no marks yet: eve (fault)\n"
    )
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == exported(school, "gradebook")


@pytest.mark.parametrize("kind", exporting.FORMATS)
def test_the_command_prints(school, kind):
    """With `-`, stdout has the table and nothing else."""
    done = autograder("export", "-c", str(school.root), "--format", kind, "--output", "-")
    assert done.exit_code == 0
    assert list(csv.reader(io.StringIO(done.stdout))) == exported(school, kind)


def test_the_command_writes_to_the_given_path(school, tmp_path, monkeypatch):
    """A relative path refers to the caller's folder."""
    monkeypatch.chdir(tmp_path)
    done = autograder("export", "-c", str(school.root), "--format", "canvas", "--output", "c.csv")
    assert (done.exit_code, done.stdout) == (0, "marks for canvas: c.csv\n")
    assert Path("c.csv").read_text("utf-8").startswith("Student,ID,")


def test_nbgraders_own_marks_count(school, tmp_path):
    """Submissions graded by nbgrader's own command have marks, although the ledger lacks them."""
    folder = CourseFolder.open(shutil.copytree(school.root, tmp_path / "course"))
    shutil.rmtree(folder.root / "results" / NAME / "cy")
    (column,) = (c for c in exporting.read_marks(folder).columns if c.assignment == NAME)
    assert "cy" in column.marks


def test_assignments_come_in_the_order_of_their_numbers(tmp_path):
    """Assignment 10 comes after assignment 9, not after 1, in every format."""
    folder = CourseFolder.create(tmp_path / "course")
    names = [f"study{number}_x" for number in range(1, 12)]
    with Gradebook(f"sqlite:///{folder.root}/gradebook.db") as gradebook:
        gradebook.add_student("ada")
        for name in sorted(names):
            gradebook.add_assignment(name)
    roster = exporting.read_marks(folder)
    assert [column.assignment for column in roster.columns] == names
    for kind in exporting.FORMATS:
        first = exporting.export(roster, kind).splitlines()[0]
        assert sorted(names, key=first.index) == names


def test_a_gradebook_without_assignments_is_refused(tmp_path):
    """The message explains what to do."""
    folder = CourseFolder.create(tmp_path / "course")
    add_students(folder, [("ada", "Ada", "Byron")])
    with pytest.raises(CourseFolderError, match=r"there are no assignments .* run `auto"):
        exporting.read_marks(folder)
