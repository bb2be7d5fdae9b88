"""Canvas's gradebook: the import of our export is the identity.

The fixtures follow `lib/gradebook_exporter.rb` of Canvas, which `autograder/lms/canvas.py` cites.
"""

import csv
import io
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.commands.roster import read_roster
from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.lms import canvas
from autograder.lms.rosters import remember_roster
from autograder.lms.tables import read_table
from autograder.reporting import export as exporting
from autograder.reporting.gradebook import Marks
from autograder.tests.support.commands import autograder, is_one_sentence
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NAMES,
    NEWLINES,
    WORDS,
    student,
    written,
)

# As lib/gradebook_exporter.rb writes it: identity, a custom column, assignments, totals; a row about
# posting, the possible points, the students, and the test student at the end.
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,"Study 3: Type A, Shannon (8801)",Essay (8802),\
Study 30 (8803),Homework Current Score,Current Score,Final Grade,Override Score
,,,,,,Manual Posting,,,,,,
    Points Possible,,,,,,20.00,10.00,5.00,(read only),(read only),(read only),
"Byron, Ada",4711,S-1,ada,"Monday and Friday",,7.00,,N/A,35,35,F,
"Õunapuu, Zoë",4713,S-3,zoe@example.org,Friday,late,EX,5.00,,50,50,F,
"=""=1+1"" ",4714,+4,bob,"-1",,,,,,,,
"Student, Test",4799,,0123456789abcdef0123456789abcdef01234567,Friday,,,,,,,,
"""
EXPORT_HEAD = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]


def rows(text: str) -> list[list[str]]:
    """The cells of a CSV."""
    return list(csv.reader(io.StringIO(text)))


def exported(folder: CourseFolder, students, marks=None) -> str:
    """The export of study3, with marks by student."""
    column = exporting.Column(
        "study3_type_a",
        20,
        {name: Marks(automatic=score) for name, score in (marks or {}).items()},
        {},
    )
    return exporting.export(exporting.Roster(folder, students, [column]), "canvas")


def people(found: list[dict]) -> list[SimpleNamespace]:
    """The students as rows of the gradebook."""
    return [student(s["id"], s["first_name"], s["last_name"], "", s["lms_user_id"]) for s in found]


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A course whose roster was imported from Canvas."""
    (tmp_path / "canvas.csv").write_text(GRADEBOOK, "utf-8")
    done = autograder("roster", str(tmp_path / "canvas.csv"), "-c", str(tmp_path / "course"))
    assert done.exit_code == 0, done.output
    return CourseFolder.open(tmp_path / "course")


def test_columns_of_assignments_are_kept_and_totals_are_left_out():
    """The name with its id is remembered; totals and custom columns are not assignments."""
    assert canvas.assignment_columns(read_table(GRADEBOOK, "it")) == {
        "Study 3: Type A, Shannon (8801)": "20.00",
        "Essay (8802)": "10.00",
        "Study 30 (8803)": "5.00",
    }


def test_the_export_fills_canvas_own_column(folder):
    """The columns by which Canvas matches students and the assignment are unchanged."""
    found = read_roster(GRADEBOOK)
    text = exported(folder, people(found), {"ada": 12.5})
    head, points, *lines = rows(text)
    assert head == [*EXPORT_HEAD, "Study 3: Type A, Shannon (8801)"]
    assert points == ["    Points Possible", "", "", "", "", "20.00"]
    assert [line[:5] for line in lines] == [line[:5] for line in rows(GRADEBOOK)[3:6]]
    assert [line[5] for line in lines] == ["12.5", "", ""]
    assert read_roster(text) == found
    (warning,) = exporting.canvas_warnings(
        exporting.Roster(folder, people(found), [exporting.Column("study3_type_a", 20, {}, {})])
    )
    assert "formula" in warning and warning.endswith("students: bob")


def test_a_column_is_chosen_by_name_or_id_and_remembered(folder):
    """A choice is valid for later exports; an unknown column is refused in one sentence."""
    canvas.choose_column(folder, "study3_type_a", "8802")
    assert canvas.column_of(folder, "study3_type_a") == "Essay (8802)"
    canvas.choose_column(folder, "study3_type_a", "Study 30 (8803)")
    assert canvas.column_of(folder, "study3_type_a") == "Study 30 (8803)"
    with pytest.raises(UserError, match="no column 'Nothing'"):
        canvas.choose_column(folder, "study3_type_a", "Nothing")
    done = autograder("export", "-c", str(folder.root), "--column", "study3")
    assert done.exit_code == 2 and is_one_sentence(done.stderr)


def test_unmatched_and_differing_columns_are_reported(folder):
    """A new assignment would be created, or the points differ."""
    columns = [exporting.Column(name, 12, {}, {}) for name in ("study3_type_a", "study9_mcts")]
    warnings = list(exporting.canvas_warnings(exporting.Roster(folder, [], columns)))
    assert "20 possible points in Canvas, but 12 here" in warnings[0]
    assert "creates a new assignment" in warnings[1]


@pytest.mark.parametrize(
    ("names", "columns", "expected"),
    [
        (["study3_type_a"], ["Study3 type-A (1)", "Study 3 (2)"], "Study3 type-A (1)"),
        (["study3_type_a", "study3"], ["Study 3a (1)", "Study 3b (2)"], ""),
        (["study1"], ["Study 10 (1)", "Study 1. Minimax (2)"], "Study 1. Minimax (2)"),
        (["study1"], [], ""),
    ],
)
def test_a_title_matches_only_if_it_is_unique(names, columns, expected):
    """Study 1 is not study 10, and two candidates are none."""
    assert canvas.matching_column(names, columns) == expected


def test_first_and_last_names_in_two_columns():
    """Canvas can export LastName and FirstName instead of Student."""
    (found,) = read_roster(
        "LastName,FirstName,ID,SIS Login ID,Section,HW (1)\n"
        "    Points Possible,,,,,3\nByron,Ada,4711,ada,A,\n"
    )
    assert (found["first_name"], found["last_name"], found["id"]) == ("Ada", "Byron", "ada")
    assert found["canvas"]["LastName"] == "Byron"


@st.composite
def gradebooks(draw):
    """A gradebook with odd students and columns, and the columns of identity in it."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID"]
    head += [*draw(st.sampled_from([[], ["Integration ID"], ["Root Account"]])), "Section"]
    titles = draw(st.lists(WORDS, max_size=3, unique=True))
    columns = [f"{title} ({number})" for number, title in enumerate(titles, 100)]
    logins = draw(st.lists(LOGINS, min_size=1, max_size=5, unique=True))
    lines = []
    for number, login in enumerate(logins, 1):
        values = {"ID": str(number), "SIS Login ID": login}
        lines.append(
            [values[name] if name in values else draw(NAMES) for name in head]
            + [draw(st.sampled_from(["", "7,50", "7.50", "EX", "N/A"])) for _ in columns]
        )
    points = ["    Points Possible", *[""] * (len(head) - 1), *["10,00"] * len(columns)]
    return [[*head, *columns], points, *lines], len(head)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(gradebooks(), BOMS, DELIMITERS, NEWLINES)
def test_the_import_of_the_export_is_the_identity(tmp_path, gradebook, bom, delimiter, newline):
    """Ids, names and sections are the same after a round trip, and so are assignments' columns."""
    table, width = gradebook
    path = tmp_path / "canvas.csv"
    path.write_text(written(table, delimiter, newline, bom), "utf-8", newline="")
    folder = CourseFolder(tmp_path)
    for name in ("canvas.json", "lms.json"):
        (tmp_path / name).unlink(missing_ok=True)
    try:
        found = read_roster(path.read_bytes().decode())
    except UserError as error:  # names with line breaks cannot be on a roster
        assert "line break" in str(error)
        return
    canvas.store_identities(folder, {s["id"]: s["canvas"] for s in found})
    remember_roster(folder, path)
    text = exported(folder, people(found))
    assert read_roster(text) == found
    assert [line[:width] for line in rows(text)[2:]] == [row[:width] for row in table[2:]]


@given(
    st.lists(st.lists(NAMES | st.just(""), min_size=3, max_size=3), min_size=2, max_size=5),
    BOMS,
    DELIMITERS,
    NEWLINES,
)
def test_a_table_is_the_same_after_reading_and_writing(cells, bom, delimiter, newline):
    """The form of the file and every cell are kept."""
    cells = [["head", "of", "table"], *cells, ["last", "1", "x"]]
    table = read_table(written(cells, delimiter, newline, bom), "it")
    assert [list(table.header), *map(list, table.rows)] == cells
    assert (table.delimiter, table.bom) == (delimiter, bool(bom))
    assert read_table(table.text(), "it") == table
