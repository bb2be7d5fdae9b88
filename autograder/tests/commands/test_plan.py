"""A teaching plan sets a course up: what its page says is released, and is due when it says."""

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
from autograder.commands.plan import EARLIEST, PLANS, due_dates
from autograder.course_folder import CourseFolder, rule_of
from autograder.database import db_url
from autograder.release.teaching import page_of
from course.probes import load_study, studies

DOCS = Path(__file__).parents[3] / "docs" / "teaching"
FIRST = date(2027, 1, 11)
ROW = re.compile(r"^\| (\d+) \|[^|]*\| ([^|]*) \|", re.MULTILINE)
LINK = re.compile(r"\]\((\w+\.md)\)")
BERLIN = "Europe/Berlin"
ZONES = ("UTC", BERLIN, "America/New_York", "Asia/Kolkata", "Pacific/Auckland")


def test_the_plans_are_those_of_their_pages():
    """Each page's table names the studies that are due, and the weeks; there is no other page."""
    named = {page_of(load_study(name)).name: name for name in studies()}
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
    """In every time zone, and across the change to summer time: 23:59 of the clock on the wall."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        found = due_dates(weeks, first)
    assert found == due_dates(weeks, first, ZoneInfo(zone))
    local = {study: when.astimezone(ZoneInfo(zone)) for study, when in found.items()}
    assert all(when.tzinfo is UTC for when in found.values())
    for study, when in local.items():
        assert when.replace(tzinfo=None) == datetime.combine(
            first + timedelta(days=7 * PLANS[weeks][study] - 1), datetime.min.time()
        ) + timedelta(hours=23, minutes=59)


def test_a_plan_makes_the_course(tmp_path, monkeypatch):
    """Its studies are released and have their dates, the class is on the roster, the rule is kept;
    run again, it moves the dates and releases nothing anew."""
    monkeypatch.setenv("TZ", BERLIN)
    time.tzset()
    try:
        roster = tmp_path / "class.csv"
        roster.write_text("id\nada\n", "utf-8")
        root = tmp_path / "course"
        told = planned(root, FIRST, "--roster", str(roster), "--percent-a-day", "10")
        assert "put on the roster" in told
        assert (
            "study6_evaluator is due 2027-02-21 23:59 +01:00 (Europe/Berlin), 2027-02-21 22:59 UTC"
        ) in told
        folder = CourseFolder.open(root)
        assert {load_study(name).assignment for name in PLANS[6]} == {
            path.name for path in (root / "release").iterdir()
        }
        assert rule_of(folder) == {"percent_a_day": 10, "at_most": 100}
        released = folder.release("study1_minimax").stat().st_mtime_ns
        assert "released" not in planned(root, FIRST + timedelta(weeks=20))
        assert folder.release("study1_minimax").stat().st_mtime_ns == released
        with Gradebook(db_url(folder)) as book:
            assert [student.id for student in book.students] == ["ada"]
            due = book.find_assignment("study1_minimax").duedate
        assert due == datetime(2027, 6, 13, 21, 59)  # two weeks later than the day, in summer
    finally:
        monkeypatch.undo()
        time.tzset()


def planned(root: Path, first: date, *more: str) -> str:
    """What the command says that sets up six weeks."""
    done = CliRunner().invoke(app, ["plan", "6", "--first-day", str(first), "-c", str(root), *more])
    assert done.exit_code == 0, done.output
    return done.output
