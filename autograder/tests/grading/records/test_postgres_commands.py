"""A term with PostgreSQL: every command that opens the gradebook behaves as it does with SQLite.

The commands of a term run in turn, along with the actions of users: students submit, and a grader
marks in the dashboard. In PostgreSQL one role owns the tables and another one grades, with the
GRANTs from the guide.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from nbgrader.exchange.default import ExchangeSubmit
from sqlalchemy import text
from typer.main import get_command
from typer.testing import CliRunner

from autograder import doctor, workspace
from autograder.benchmarks.support.postgres import PASSWORD
from autograder.commands import plan
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.dashboard.overview import overview
from autograder.reporting.export import read_marks
from autograder.reporting.gradebook import open_gradebook, students_of
from autograder.tests.support.commands import is_one_sentence
from autograder.tests.support.courses.classes import config, graded_by
from autograder.tests.support.courses.exchange import (
    STUDY,
    fetch_feedback,
    ignore_exchange_warnings,
    make_student_folder,
    submit,
)
from autograder.tests.support.courses.marking import ask, opened, read
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.postgres import files_with_password

pytestmark = [pytest.mark.xdist_group("postgres"), ignore_exchange_warnings]
GUIDE = Path(__file__).parents[4] / "docs" / "scale.md"
CLASS = "username,first,last\nada,Ada,Lovelace\nBob,Bob,Zuse\n"
SHOWN_BEFORE = ("due date of ", "added: ", "changed: ")  # before anything is written
POLICIES = '[late]\nfree_days = 1\n[attempts]\ncounts = "best"\n'
WITHOUT_GRADEBOOK = {  # they work on the kit, or on files of the course, alone
    "adapt",
    "new-study",
    "next-year",
    "publish",
    "similarity",
    "upgrade",
    "build",
    "draw-positions",
    "book",
    "site",
    "slides",
    "demo",
}  # creates its own course folder, with a gradebook in SQLite
PLAN = "plan 6 --first-day 2020-01-06 --percent-a-day 1 --at-most 10"
OWNERS = ("roster CLASS", PLAN)  # the first creates the tables, the second releases
GRADERS = (
    "roster CLASS",
    PLAN,
    "generate study3",
    "release study3",
    "collect study3",
    "grade study3",
    "feedback study3",
    "report study3",
)
AFTER_MARKING = (
    "late-penalties study3 --due 2020-02-02T10:00Z",
    "extend study3 --student ada --days 0.5",
    "regrade study3 --student ada --request why",
    "regrade study3 --student ada --answer because",
    "history study3",
    "grade-all study3",
    "release-feedback study3",
    "export",
    "export --format canvas",
    "export --format moodle",
    "solutions study3",
    "doctor study3",
)
WITH_WORKERS = ("grade", "feedback", "grade-all")
HANDED_IN = "2020-02-03 10:00:00.000000 UTC"  # a day after the new due date
ANSWER = "The lane is open for both."


def test_every_command_is_run_or_needs_no_gradebook():
    """A new command must be added to one of the lists."""
    run = {line.split()[0] for line in (*OWNERS, *GRADERS, *AFTER_MARKING)}
    assert run | WITHOUT_GRADEBOOK == set(get_command(app).commands)
    assert not run & WITHOUT_GRADEBOOK


# ---- A term


def command(folder: CourseFolder, line: str) -> tuple[int, str]:
    """The exit status and output of one of the lines above for a course.

    Commands that start workers run in a separate process, because the server that forks this
    process's workers may have another environment.
    """
    arguments = [
        str(folder.root.parent / "class.csv") if word == "CLASS" else word for word in line.split()
    ] + ["--course", str(folder.root)]
    if line.startswith(WITH_WORKERS):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder", *arguments],
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "COLUMNS": "500"},
        )
        return done.returncode, done.stdout
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "500"}, catch_exceptions=False)
    return done.exit_code, done.output


def commands(folder: CourseFolder, lines: Iterable[str]) -> str:
    """Run commands for a course; return their output without paths, times and measured time limits."""
    said = []
    for line in lines:
        status, output = command(folder, line)
        assert status == 0, (line, output)
        said.append(f"{line}\n{output}")
    told = re.sub(r"the CPU time limit is .*", "LIMITS", "\n".join(said))
    told = re.sub(r".*times the usual computing time.*\n", "", told)  # the machine was busy
    told = re.sub(r"[-\d]{10} \d\d:\d\d\+00:00", "NOW", told)
    return re.sub(r"\d+(\.\d+)? (s|hours)\b", r"N \2", told.replace(str(folder.root), "COURSE"))


def first_half(folder: CourseFolder) -> str:
    """Run up to the grading of the class; two students submit through the exchange."""
    collect = GRADERS.index("collect study3")
    said = commands(folder, GRADERS[:collect])
    texts = workspace.module_texts(STUDY)
    for student, module in (("ada", "reference"), ("Bob", min(texts.keys() - {"reference"}))):
        student_folder = make_student_folder(folder.root.parent / student, folder)
        submit(folder, student_folder, student, texts[module], ANSWER)
    return said + commands(folder, GRADERS[collect:])


def second_half(folder: CourseFolder) -> str:
    """Mark in the dashboard and release feedback; the students fetch it."""
    page = opened(folder, STUDY.name)
    read(page, "ada", "Bob")
    for student, points in (("ada", 1), ("Bob", 0)):
        assert ask(page, "grade", student, points=points)[-1]["message"] == "saved"
        assert ask(page, "comment", student, text=f"To {student}.")[-1]["message"] == "saved"
    assert ask(page, "grade", "Bob", points=None)[-1]["message"] == "saved"
    said = commands(folder, AFTER_MARKING)
    for student in ("ada", "Bob"):
        assert len(fetch_feedback(folder, folder.root.parent / student, student)) == 3
    return said


def new_course(root: Path) -> CourseFolder:
    """An empty course folder, with the class list next to it."""
    root.mkdir()
    (root / "class.csv").write_text(CLASS, "utf-8")
    folder = CourseFolder.create(root / "course")
    (folder.root / "course.toml").write_text(POLICIES, "utf-8")
    return folder


# ---- The guide's roles


def granted(owner: str, database: str) -> list[str]:
    """The guide's SQL for an administrator, with other names for the owner and the database, and
    the password that psql would prompt for.
    """
    (block,) = re.findall(r"```sql\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    lines = re.sub(r"\\password (\w+)", rf"ALTER ROLE \1 PASSWORD '{PASSWORD}';", block)
    lines = re.sub(r"\bgrader\b", owner, lines.replace("adversarial_search", database))
    assert lines.count(owner) == 2
    return lines.splitlines()


@pytest.fixture
def shared(postgres, tmp_path, monkeypatch) -> Iterator[tuple[CourseFolder, str]]:
    """A course whose gradebook is in a database owned by `head`, at an address without a user name;
    and the name of that database.
    """
    url = postgres.new_url()
    database = url.rpartition("/")[2]
    postgres.sql(f"CREATE ROLE head LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql(f"ALTER DATABASE {database} OWNER TO head")
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:*:{PASSWORD}\n", "ascii")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    folder = new_course(tmp_path / "postgres")
    config(folder, f"\nc.CourseDirectory.db_url = {re.sub('//.*@', '//', url)!r}\n")
    yield folder, database
    postgres.sql(f"DROP DATABASE {database} WITH (FORCE)")
    postgres.sql("DROP ROLE head, graders, grace")


@pytest.mark.slow
def test_a_term_is_the_same_for_a_role_that_owns_nothing(postgres, shared, tmp_path, monkeypatch):
    """The output and files of the commands and the overview are the same; formgrader is tested
    elsewhere.
    """
    need_isolation()
    monkeypatch.setattr(plan, "PLANS", {6: {STUDY.name: 1}})
    monkeypatch.setattr(doctor, "examine", lambda *arguments: [])  # runs the kit's own modules
    monkeypatch.setattr(
        ExchangeSubmit, "set_timestamp", lambda submit: setattr(submit, "timestamp", HANDED_IN)
    )
    lite, (served, database) = new_course(tmp_path / "sqlite"), shared
    monkeypatch.setenv("PGUSER", "head")
    said = {folder: commands(folder, OWNERS) for folder in (lite, served)}
    for line in granted("head", database):
        postgres.sql(line, database)
    postgres.sql("ALTER ROLE head NOLOGIN")
    monkeypatch.setenv("PGUSER", "grace")
    for folder in (lite, served):
        said[folder] += first_half(folder) + second_half(folder)
    assert said[served] == said[lite]
    assert seen(served) == seen(lite)
    for what, found in graded_by(lite, STUDY).items():
        assert graded_by(served, STUDY)[what] == found, what
    ada = read_marks(served).columns[0].marks["ada"]
    assert (ada.manual, ada.comments) == (1, ["To ada."])
    assert not (served.root / "gradebook.db").exists()
    assert not files_with_password(served)


def seen(folder: CourseFolder) -> list[str]:
    """The overview, in a notebook and as text, and the staff-only pages."""
    shown = overview(folder.root)
    pages = [path.read_text("utf-8") for path in folder.root.glob("solutions/*.html")]
    assert len(pages) == 1
    return [
        page.replace(str(folder.root), "COURSE")
        for page in (shown._repr_html_(), repr(shown), *pages)
    ]


@pytest.mark.slow
def test_a_role_may_use_what_is_made_after_the_grants(postgres, shared, monkeypatch):
    """These are the tables of the first release and those of a later nbgrader."""
    folder, database = shared
    for line in granted("head", database):
        postgres.sql(line, database)
    monkeypatch.setenv("PGUSER", "head")
    commands(folder, OWNERS[:1])
    monkeypatch.setenv("PGUSER", "grace")
    commands(folder, OWNERS[:1])
    with open_gradebook(folder) as gradebook:
        assert [student.id for student in students_of(gradebook)] == ["Bob", "ada"]
        assert gradebook.execute(text("SELECT current_user")).scalar() == "grace"


@pytest.mark.slow
def test_a_missing_right_is_reported(postgres, shared, monkeypatch, capfd):
    """The message contains the server's error, without a traceback; it never claims that data is
    missing.
    """
    folder, database = shared
    for line in granted("head", database):
        postgres.sql(line, database)
    monkeypatch.setattr(plan, "PLANS", {6: {STUDY.name: 1}})
    monkeypatch.setenv("PGUSER", "head")
    commands(folder, OWNERS)
    monkeypatch.setenv("PGUSER", "grace")
    (folder.root.parent / "class.csv").write_text(f"{CLASS}cy,Cy,Young\n", "utf-8")
    for taken, lines in (
        ("INSERT, UPDATE", ["roster CLASS", "late-penalties study3 --due 2020-02-02T10:00Z"]),
        ("ALL", ["late-penalties study3", "grade study3", "export"]),
    ):
        postgres.sql(f"REVOKE {taken} ON ALL TABLES IN SCHEMA public FROM graders", database)
        for line in lines:
            status, said = command(folder, line)
            assert status == 2, line
            *shown, problem = said.splitlines(keepends=True)
            assert all(each.startswith(SHOWN_BEFORE) for each in shown), line
            assert is_one_sentence(problem), line
            assert "permission denied for table" in problem, line
    assert capfd.readouterr() == ("", "")
