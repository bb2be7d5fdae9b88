"""A teaching plan sets up a course with the studies and due dates of its page."""

import re
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.plan import EARLIEST, OWN, PLANS, due_dates
from autograder.course_folder import CourseFolder, late_rule
from autograder.course_folder.table import FILE
from autograder.database import db_url
from autograder.times import course_zone
from course.checks import load_study, studies

DOCS = Path(__file__).parents[3] / "docs" / "teaching"
FIRST = date(2027, 1, 11)
ROW = re.compile(r"^\| (\d+) \|[^|]*\| ([^|]*) \|", re.MULTILINE)
LINK = re.compile(r"\]\(\S*/(study\w+)/teaching\.md\)")
BERLIN = "Europe/Berlin"
ZONES = ("UTC", BERLIN, "America/New_York", "Asia/Kolkata", "Pacific/Auckland")


def test_the_plans_are_those_of_their_pages():
    """Each page's table lists the studies and weeks of its plan; there is no other page."""
    named = {load_study(name).assignment: name for name in studies()}
    pages = {weeks: (DOCS / f"plan_{weeks}_weeks.md").read_text("utf-8") for weeks in PLANS}
    assert {path.name for path in DOCS.glob("plan_*")} == {f"plan_{n}_weeks.md" for n in PLANS}
    for weeks, text in pages.items():
        rows = ROW.findall(text)
        assert [int(week) for week, _ in rows] == list(range(1, weeks + 1))
        assert PLANS[weeks] == {
            named[page]: int(week) for week, due in rows for page in LINK.findall(due)
        }


@pytest.mark.parametrize("zone", ZONES)
@given(first=st.dates(date(EARLIEST, 1, 1), date(2037, 1, 1)), weeks=st.sampled_from(list(PLANS)))
def test_a_week_ends_late_on_its_seventh_day_whatever_the_clock(zone, first, weeks):
    """The deadline is 23:59 local time in every time zone, also across daylight-saving changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        found = due_dates(PLANS[weeks], first)
    assert found == due_dates(PLANS[weeks], first, ZoneInfo(zone))
    local = {study: when.astimezone(ZoneInfo(zone)) for study, when in found.items()}
    assert all(when.tzinfo is UTC for when in found.values())
    for study, when in local.items():
        assert when.replace(tzinfo=None) == datetime.combine(
            first + timedelta(days=7 * PLANS[weeks][study] - 1), datetime.min.time()
        ) + timedelta(hours=23, minutes=59)


def test_a_plan_makes_the_course(tmp_path, monkeypatch):
    """The plan releases its studies, sets their dates, imports the roster and keeps the late rule;
    a second run moves the dates and releases nothing again.
    """
    monkeypatch.setenv("TZ", BERLIN)
    time.tzset()
    try:
        roster = tmp_path / "class.csv"
        roster.write_text("id\nada\n", "utf-8")
        root = tmp_path / "course"
        told = planned(root, FIRST, "--roster", str(roster), "--percent-a-day", "10")
        assert "added to or updated on the roster" in told
        assert (
            "study6_evaluator is due 2027-02-21 23:59 +01:00 (Europe/Berlin), 2027-02-21 22:59 UTC"
        ) in told
        folder = CourseFolder.open(root)
        assert {load_study(name).assignment for name in PLANS[6]} == {
            path.name for path in (root / "release").iterdir()
        }
        assert late_rule(folder) == {"percent_a_day": 10, "at_most": 100}
        released = folder.release("study1_minimax").stat().st_mtime_ns
        assert "released" not in planned(root, FIRST + timedelta(weeks=20))
        assert folder.release("study1_minimax").stat().st_mtime_ns == released
        with Gradebook(db_url(folder)) as book:
            assert [student.id for student in book.students] == ["ada"]
            due = book.find_assignment("study1_minimax").duedate
        assert due == datetime(2027, 6, 13, 21, 59)  # two weeks after that day, in summer
    finally:
        monkeypatch.undo()
        time.tzset()


def planned(root: Path, first: date, *more: str) -> str:
    """The output of the command that sets up six weeks."""
    done = CliRunner().invoke(app, ["plan", "6", "--first-day", str(first), "-c", str(root), *more])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_course_has_a_plan_of_its_own(tmp_path):
    """Its table gives the weeks or the times; the studies are generated and are due then. The folder
    contains only the table before.
    """
    root = tmp_path / "course"
    root.mkdir()
    (root / FILE).write_text('[plan]\nstudy1 = 3\nstudy4 = "2027-03-01 18:00"\n', "utf-8")
    done = CliRunner().invoke(app, ["plan", OWN, "--first-day", str(FIRST), "-c", str(root)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in (root / "release").iterdir()} == {
        "study1_minimax",
        "study4_deepening",
    }
    folder = CourseFolder.open(root)
    zone = course_zone(folder.config())
    with Gradebook(db_url(folder)) as book:
        due = {a.name: a.duedate.replace(tzinfo=UTC).astimezone(zone) for a in book.assignments}
    assert due["study1_minimax"].date() == FIRST + timedelta(days=20)
    assert f"{due['study4_deepening']:%Y-%m-%d %H:%M}" == "2027-03-01 18:00"


@pytest.mark.parametrize(
    ("plan", "table", "message"),
    [
        ("7", "", "there is no plan for 7 weeks, only for 6, 10, 14"),
        (OWN, "", "there is no table [plan] in"),
        (OWN, "[plan]\nstudy1 = 0", "plan: study1 = 0 must be a study with a number of weeks"),
        (OWN, "[plan]\nminimax = 1", "plan: minimax = 1 must be a study"),
        (OWN, "[plan]\nstudy1 = 'soon'", "soon"),
    ],
)
def test_a_plan_that_cannot_be_used_changes_nothing(tmp_path, plan, table, message):
    """The message is one sentence, and no assignment is generated."""
    root = tmp_path / "course"
    CourseFolder.create(root)
    (root / FILE).write_text(table, "utf-8")
    done = CliRunner().invoke(app, ["plan", plan, "--first-day", str(FIRST), "-c", str(root)])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (root / "release").exists()
