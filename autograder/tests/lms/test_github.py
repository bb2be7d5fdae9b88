"""GitHub Classroom: the roster, cloned repositories, and times from the grades.

The fixtures follow `student-repos.go` and `assignment_grades.go` of gh-classroom, and the public
script that reads `classroom_roster.csv`; `autograder/lms/github.py` cites all three.
"""

import shutil
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.commands.roster import read_roster
from autograder.course_folder import CourseFolder, nfc
from autograder.errors import UserError
from autograder.lms import github
from autograder.lms.rosters import directory, remember_roster
from autograder.lms.tables import read_table
from autograder.lms.times import read_times
from autograder.lms.uploads import Hint, plain_id
from autograder.reporting.gradebook import read_gradebook, students_of
from autograder.tests.support.commands import autograder
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NAMES,
    NEWLINES,
    STUDY,
    WORDS,
    archive,
    collected,
    course,
    student,
    submissions,
    written,
)

MODULE = STUDY.module
HOME = STUDY.assignment
# The columns of classroom_roster.csv; a student who has not linked an account has no username.
ROSTER = """\
"identifier","github_username","github_id","name"
"ada","Countess","1001","Ada Byron"
"ben@example.org","ada-b","1002",""
"zoe","","",""
"""
# The columns of cmd/gh-classroom/assignment-grades.
GRADES = """\
assignment_name,assignment_url,starter_code_url,github_username,roster_identifier,\
student_repository_name,student_repository_url,submission_timestamp,points_awarded,points_available
hw-1,u,s,Countess,ada,hw-1-Countess,r,2026-03-03T11:30:00Z,0,0
hw-1,u,s,ada-b,ben@example.org,hw-1-ada-b,r,,0,0
"""


@pytest.fixture
def folder(tmp_path):
    """A course that knows the students' names on GitHub."""
    folder = course(tmp_path / "course")
    (tmp_path / "classroom_roster.csv").write_text(ROSTER, "utf-8")
    remember_roster(folder, tmp_path / "classroom_roster.csv")
    return folder


def test_the_identifier_is_the_students_id():
    """Names are optional."""
    assert read_roster(ROSTER) == [
        {"id": "ada", "first_name": "Ada", "last_name": "Byron"},
        {"id": "ben@example.org", "first_name": "", "last_name": ""},
        {"id": "zoe", "first_name": "", "last_name": ""},
    ]
    names = github.usernames(read_table(ROSTER, "it"))
    assert names == {"countess": "ada", "ada-b": "ben@example.org"}


def test_cloned_repositories(folder, tmp_path):
    """Hyphens in both names; git's own files, hidden ones and other folders are left out."""
    for name in ("hw-1-Countess", "hw-1-ada-b", "hw-1-stranger"):
        place = tmp_path / "hw-1-submissions" / name
        (place / ".git").mkdir(parents=True)
        (place / ".git" / "config").write_text("[core]\n", "utf-8")
        (place / ".gitignore").write_text("*.pyc\n", "utf-8")
        (place / "notes").mkdir()
        (place / "notes" / "a.txt").write_text(name, "utf-8")
        (place / MODULE).write_text(name, "utf-8")
    result = collected(folder, tmp_path / "hw-1-submissions")
    assert result.system == "github"
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "hw-1-Countess",
        f"ada/{HOME}/notes/a.txt": "hw-1-Countess",
        f"ben/{HOME}/{MODULE}": "hw-1-ada-b",
        f"ben/{HOME}/notes/a.txt": "hw-1-ada-b",
    }
    assert result.refused == ["hw-1-stranger: no student on the roster has this name or number"]


def test_an_archive_of_repositories_with_times(folder, tmp_path):
    """The folder around the repositories does not matter; times are GitHub's."""
    path = archive(
        tmp_path / "s.zip",
        {
            f"hw-1-submissions/hw-1-Countess/{MODULE}": "ada",
            f"hw-1-submissions/hw-1-ada-b/{MODULE}": "ben",
        },
    )
    times = read_times(read_table(GRADES, "it"), UTC)
    assert [when for _, when in times] == [datetime(2026, 3, 3, 11, 30, tzinfo=UTC)]
    collected(folder, path, *times)
    assert submissions(folder)[f"ada/{HOME}/timestamp.txt"] == "2026-03-03 11:30:00 UTC"
    assert f"ben/{HOME}/timestamp.txt" not in submissions(folder)


def test_without_a_roster_of_github_the_ids_are_the_names(tmp_path):
    """A roster whose ids are names on GitHub needs nothing else."""
    folder = course(tmp_path / "course")
    path = archive(tmp_path / "s.zip", {f"a/hw-ada/{MODULE}": "ada", f"a/hw-ben/{MODULE}": "ben"})
    assert list(collected(folder, path).statuses) == ["ada", "ben"]


# A teacher may choose any text as an identifier, except what cannot be the name of a folder.
IDENTIFIERS = st.one_of(
    st.sampled_from(["=1+1", "'=x", "@ada", "-1", "+49 30", '"Ada", B', "Byron, Ada", "Li; Ben"]),
    st.sampled_from(["Zoë", unicodedata.normalize("NFD", "Zoë"), "李雷", " ada ", "İ", "straße"]),
    WORDS,
).filter(
    lambda text: text.isprintable() and text.strip(" .") and not set("/\\*?[").intersection(text)
)
CLASSES = st.lists(
    st.tuples(IDENTIFIERS, st.booleans(), NAMES.filter(str.isprintable) | st.just("")),
    min_size=1,
    max_size=5,
    unique_by=lambda row: plain_id(row[0]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CLASSES, BOMS, DELIMITERS, NEWLINES)
def test_a_roster_is_the_same_after_reading_and_writing(
    tmp_path, students, bom, delimiter, newline
):
    """Identifiers, names and names on GitHub are kept, whatever the form of the file."""
    (tmp_path / "lms.json").unlink(missing_ok=True)
    users = [f"User-{n}" if has_linked else "" for n, (_, has_linked, _) in enumerate(students)]
    cells = [["identifier", "github_username", "github_id", "name"]]
    cells += [
        [row[0], user, f"={len(user)}", row[2]] for row, user in zip(students, users, strict=True)
    ]
    table = read_table(written(cells, delimiter, newline, bom), "it")
    text = table.text()
    assert text == written(cells, delimiter, newline, bom)
    assert [list(table.header), *map(list, table.rows)] == cells
    found = read_roster(text)
    ids = [nfc(identifier).strip() for identifier, _, _ in students]
    assert [each["id"] for each in found] == ids
    names = [f"{each['first_name']} {each['last_name']}".split() for each in found]
    assert names == [nfc(name).split() for _, _, name in students]
    (tmp_path / "roster.csv").write_text(text, "utf-8", newline="")
    remember_roster(CourseFolder(tmp_path), tmp_path / "roster.csv")
    rows = [student(each["id"], each["first_name"], each["last_name"]) for each in found]
    known = directory(CourseFolder(tmp_path), rows, HOME)
    assert [known.find((Hint("github", user.upper()),)) for user in users] == [
        name if user else None for name, user in zip(ids, users, strict=True)
    ]


@given(
    CLASSES,
    st.lists(st.none() | st.datetimes(datetime(2001, 1, 1), datetime(2098, 1, 1)), min_size=5),
    BOMS,
    DELIMITERS,
    NEWLINES,
)
def test_times_in_the_grades_belong_to_their_students(students, times, bom, delimiter, newline):
    """Names and identifiers with quotation marks, delimiters and formulas move no cell."""
    head = GRADES.partition("\n")[0].split(",")
    cells, expected = [head], []
    for number, ((identifier, _, name), when) in enumerate(zip(students, times, strict=False)):
        user, time = f"User-{number}", when.strftime("%Y-%m-%dT%H:%M:%SZ") if when else ""
        cells.append([name, "u", "=s", user, identifier, f"hw-{user}", "r", time, "0", "20"])
        if when:
            moment = when.replace(microsecond=0, tzinfo=UTC)
            expected.append(((Hint("github", user),), moment))
    assert read_times(read_table(written(cells, delimiter, newline, bom), "it"), UTC) == expected


PIECES = st.lists(st.sampled_from(["a", "B", "hw"]), min_size=1, max_size=3).map("-".join)
STUDENTS = st.tuples(
    LOGINS | st.sampled_from(["'=x", "Zoë", unicodedata.normalize("NFD", "Zoë")]),
    PIECES,
    NAMES | st.just(""),
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        STUDENTS,
        min_size=1,
        max_size=5,
        unique_by=(
            lambda row: unicodedata.normalize("NFC", row[0]),
            lambda row: row[1].casefold(),
        ),
    ),
    PIECES,
    st.data(),
)
def test_each_repository_reaches_its_student_or_is_reported(
    folder, tmp_path, students, assignment, data
):
    """Odd identifiers and names, and hyphens that allow several readings."""
    for path in (folder.root / "submitted", tmp_path / "repositories"):
        shutil.rmtree(path, ignore_errors=True)
    (folder.root / "lms.json").unlink(missing_ok=True)
    rows = [[name, user, str(number), full] for number, (name, user, full) in enumerate(students)]
    head = ["identifier", "github_username", "github_id", "name"]
    (tmp_path / "roster.csv").write_text(written([head, *rows]), "utf-8", newline="")
    try:
        found = read_roster((tmp_path / "roster.csv").read_text("utf-8"))
    except UserError as error:
        assert "line break" in str(error)
        return
    remember_roster(folder, tmp_path / "roster.csv")
    submitted = data.draw(st.lists(st.sampled_from(students), min_size=1, unique=True))
    for name, user, _ in submitted:
        place = tmp_path / "repositories" / f"{assignment}-{user}"
        place.mkdir(parents=True)
        (place / MODULE).write_text(unicodedata.normalize("NFC", name), "utf-8")
    known = [student(each["id"], each["first_name"], each["last_name"]) for each in found]
    result = collected(folder, tmp_path / "repositories", students=known, system="github")
    assert len(result.statuses) + len(result.refused) == len(submitted)
    assert submissions(folder) == {f"{name}/{HOME}/{MODULE}": name for name in result.statuses}
    assert len(result.refused) in (0, len(submitted))


def test_a_repository_with_several_readings_is_not_collected(tmp_path):
    """hw-ada-b may be Ada-B's, or B's in the assignment hw-ada; another repository decides."""
    folder = course(tmp_path / "course")
    students = [student("ada-b"), student("b"), student("zoe")]
    path = archive(tmp_path / "s.zip", {f"r/hw-ada-b/{MODULE}": "x"})
    result = collected(folder, path, students=students)
    assert result.refused == ["hw-ada-b: no student on the roster has this name or number"]
    path = archive(tmp_path / "s.zip", {f"r/hw-{s}/{MODULE}": s for s in ("ada-b", "zoe")})
    assert list(collected(folder, path, students=students).statuses) == ["ada-b", "zoe"]


def test_a_roster_of_github_adds_names_to_known_students(tmp_path):
    """Identifiers that the course already knows, such as addresses, add no second student."""
    for name, text in [
        ("class.csv", "id,email\nada,ada@x.org\nben,ben@x.org\n"),
        (
            "github.csv",
            "identifier,github_username,github_id,name\nBEN@x.org,b-li,1,Ben Li\nnew,,,\n",
        ),
    ]:
        (tmp_path / name).write_text(text, "utf-8")
        done = autograder("roster", str(tmp_path / name), "-c", str(tmp_path / "course"))
        assert done.exit_code == 0, done.output
    folder = CourseFolder.open(tmp_path / "course")
    students = read_gradebook(folder, students_of)
    assert [(row.id, row.last_name) for row in students] == [
        ("ada", None),
        ("ben", "Li"),
        ("new", None),
    ]
    known = directory(folder, students, HOME)
    assert known.find((Hint("github", "B-Li"),)) == "ben"
