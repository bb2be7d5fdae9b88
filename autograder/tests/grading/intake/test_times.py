"""Times that decide a penalty: each accepted text has its documented meaning; others are refused."""

import calendar
import locale
import re
import shutil
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import dateutil.tz
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.database import db_url
from autograder.grading.records import late
from autograder.grading.run.nbgrader_steps import LatePenalties
from autograder.release.assignments import add_students
from autograder.times import TimeError, course_zone, end_of_day, find_zone, format_due, parse_due

ZONES = (
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Dubai",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "Pacific/Kiritimati",
    "Africa/Casablanca",
)
ABBREVIATIONS = {  # the zones accepted in every course, with their offsets in hours
    "UTC": 0,
    "GMT": 0,
    "WET": 0,
    "CET": 1,
    "MET": 1,
    "EET": 2,
    "EST": -5,
    "MST": -7,
    "HST": -10,
}
instants = st.datetimes(datetime(2000, 1, 3), datetime(2099, 12, 29)).map(
    lambda when: when.replace(tzinfo=UTC)
)
# Half of them are within two hours of a clock change in some of the zones.
CHANGES = [
    datetime(2026, 3, 29, 1),
    datetime(2026, 10, 25, 1),
    datetime(2026, 3, 8, 10),
    datetime(2026, 11, 1, 9),
    datetime(2026, 4, 4, 15),
    datetime(2026, 10, 3, 15, 30),
    datetime(2018, 2, 18, 2),
    datetime(2026, 4, 5, 3),
    datetime(2026, 9, 26, 14),
]
near_changes = st.builds(
    lambda change, seconds: (change + timedelta(seconds=seconds)).replace(tzinfo=UTC),
    st.sampled_from(CHANGES),
    st.integers(-7200, 7200),
)
zones = st.sampled_from(ZONES)


def offset_of(local: datetime, style: str) -> str:
    """The offset of an aware time, as +01:00, +0100 or, for whole hours, +01."""
    text = f"{local:%z}"
    return {
        ":": f"{text[:3]}:{text[3:5]}",
        "": text[:5],
        "h": text[:3] if text[3:5] == "00" else text[:5],
    }[style]


@given(
    st.one_of(instants, near_changes),
    zones,
    zones,
    st.sampled_from("T "),
    st.sampled_from(["", " "]),
    st.sampled_from([":", "", "h"]),
)
def test_a_known_instant_is_read_from_every_form(when, course, other, between, blank, style):
    """It is read with an offset always, and without one unless the clocks show the time twice."""
    course, there = ZoneInfo(course), ZoneInfo(other)
    local = when.astimezone(there)
    plain = local.replace(tzinfo=None)
    clock = f"{plain.isoformat(between)}"
    assert parse_due(f"{clock}{blank}{offset_of(local, style)}", course) == when
    assert parse_due(f"{when.replace(tzinfo=None).isoformat()}Z", course) == when
    if not plain.microsecond:
        basic = f"{plain:%Y%m%dT%H%M%S}{offset_of(local, '')}"
        assert parse_due(basic, course) == when
    # dateutil has its own implementation of the zones.
    oracle = dateutil.tz.gettz(other)
    twice = dateutil.tz.datetime_ambiguous(plain, oracle)
    for text, zone in ((f"{clock} {other}", course), (clock, there)):
        if twice:
            with pytest.raises(TimeError, match="occurs twice"):
                parse_due(text, zone)
        else:
            assert parse_due(text, zone) == when
    name = local.tzname()  # written by nbgrader if this is the zone
    if name[0] in "+-" or not twice or any(other.tzname() != name for other in both(plain, there)):
        assert parse_due(f"{clock} {name}", there) == when


def both(plain: datetime, zone: ZoneInfo) -> list[datetime]:
    """A local time that occurs both before and after the clocks are put back."""
    return [plain.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]


@given(st.datetimes(datetime(2026, 1, 1), datetime(2031, 1, 1)), zones)
@example(datetime(2026, 3, 29, 2, 30), "Europe/Berlin")
@example(datetime(2026, 3, 8, 2, 0), "America/Los_Angeles")
def test_a_local_time_that_the_clocks_skip_is_refused(plain, zone):
    """Exactly the times that dateutil considers non-existent are refused."""
    if dateutil.tz.datetime_exists(plain, dateutil.tz.gettz(zone)):
        return
    for text, course in ((f"{plain} {zone}", ZoneInfo("UTC")), (str(plain), ZoneInfo(zone))):
        with pytest.raises(TimeError, match="skip"):
            parse_due(text, course)


STRICT = re.compile(
    r"(20\d\d)-?(\d\d)-?(\d\d)[T ](\d\d):?(\d\d):?(?:(\d\d)(?:[.,](\d+))?)? ?(.*)", re.ASCII
)


def oracle(text: str, course: str) -> datetime:
    """The meaning of an accepted text, calculated with dateutil's zones."""
    *numbers, part, zone = STRICT.fullmatch(text.strip(" \t\r\n")).groups()
    year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
    assert 1 <= day <= calendar.monthrange(year, month)[1] and hour < 24 and minute < 60 > second
    local = datetime(year, month, day) + timedelta(
        hours=hour, minutes=minute, seconds=second, microseconds=int(f"{part or 0:0<6}")
    )
    if zone == "Z" or zone in ABBREVIATIONS:
        return (local - timedelta(hours=ABBREVIATIONS.get(zone, 0))).replace(tzinfo=UTC)
    if offset := re.fullmatch(r"([+-])(\d\d):?(\d\d)?", zone):
        minutes = 60 * int(offset[2]) + int(offset[3] or 0)
        return (local - timedelta(minutes=int(f"{offset[1]}{minutes}"))).replace(tzinfo=UTC)
    there = dateutil.tz.gettz(zone if "/" in zone else course)
    found = {
        when.astimezone(UTC)
        for fold in (0, 1)
        for when in [dateutil.tz.enfold(local.replace(tzinfo=there), fold)]
        if when.astimezone(UTC).astimezone(there).replace(tzinfo=None) == local
        and zone in ("", when.tzname(), zone if "/" in zone else "")
    }
    assert len(found) == 1
    return found.pop()


TEXTS = st.builds(
    "{}{}".format,
    st.sampled_from(
        [
            "2026-07-02 23:59",
            "2026-03-29 02:30",
            "2026-10-25T02:30:00",
            "20260702T2359",
            "2026-07-02 11:59:30.25",
            "2026-01-02 09:00",
        ]
    ),
    st.sampled_from(
        [
            "",
            " UTC",
            "Z",
            "+02:00",
            " +0200",
            " -07",
            " CET",
            " CEST",
            " PDT",
            " EST",
            " BST",
            " Europe/Berlin",
            " America/Los_Angeles",
            " PM",
            " Berlin",
            " UTC+2",
            " Etc/GMT+2",
        ]
    ),
)


@st.composite
def mutated(draw) -> str:
    """A text in one of the forms, with up to three of its characters changed."""
    text = list(draw(TEXTS))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text) - 1))
        new = draw(st.one_of(st.sampled_from(" 0123456789:+-.,/TZUCEaPM"), st.characters()))
        text[place : place + draw(st.integers(0, 1))] = draw(st.sampled_from(["", new]))
        text = text or [" "]
    return "".join(text)


@given(mutated(), zones)
@example("2026-07-02 23:59 EST", "America/Los_Angeles")
@example("٢٠٢٦-07-02 23:59", "UTC")
@example("2026-07-02 23:59 \N{MINUS SIGN}0200", "UTC")
def test_a_text_is_refused_or_means_what_is_documented(text, zone):
    """Unknown text is never interpreted on a guess."""
    try:
        when = parse_due(text, ZoneInfo(zone))
    except TimeError as error:
        assert (
            "write it like" in str(error) or "write a name" in str(error) or "if that" in str(error)
        )
    else:
        assert when == oracle(text, zone)


@given(st.one_of(instants, near_changes), zones)
def test_what_is_shown_is_the_time(when, zone):
    """The output has both the local time with its offset and UTC, to the microsecond."""
    shown = format_due(when, ZoneInfo(zone))
    assert parse_due(shown.rpartition(", ")[2], ZoneInfo("Asia/Dubai")) == when
    if zone != "UTC":
        assert parse_due(shown.partition(" (")[0], ZoneInfo("Asia/Dubai")) == when


@pytest.mark.parametrize("name", ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "ar_SA.UTF-8"])
@pytest.mark.parametrize("machine", ["UTC", "Asia/Kathmandu", "EST5EDT"])
def test_neither_locale_nor_machine_matters(monkeypatch, name, machine):
    """A text means the same time in every locale and on every machine."""
    monkeypatch.setenv("TZ", machine)
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        pytest.skip(f"this machine has no locale {name}")
    try:
        assert parse_due("2026-07-02 23:59", ZoneInfo("Europe/Berlin")) == datetime(
            2026, 7, 2, 21, 59, tzinfo=UTC
        )
    finally:
        locale.setlocale(locale.LC_ALL, before)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2026-07-02 11:59 PM", "24 hours"),
        ("02.07.2026 23:59", "year-month-day"),
        ("03/02/2026 10:00", "year-month-day"),
        ("2026-07-02", "time of day is missing"),
        ("2026-07-02 23:59 PDT", "PDT"),
        ("2026-07-02 23:59 CEST", "CEST"),
        ("2026-07-02 23:59 Berlin", "Berlin"),
        ("2026-07-02 23:59 UTC+2", "without UTC"),
        ("2026-07-02 24:00", "hour"),
        ("2026-02-30 10:00", "day"),
        ("1026-07-02 10:00", "year"),
        ("2026-07-02 23:59 europe/berlin", "did you mean Europe/Berlin"),
        ("2026-07-02 23:59 CET", "CET"),
        ("2026-07-02 23:59 +0200", "2026-07-02 21:59 UTC"),
        ("2026-07-02 23:59 -0700", "2026-07-03 06:59 UTC"),
        ("2026-07-02 23:59 UTC", "2026-07-02 23:59 UTC"),
        ("2026-01-02 23:59 CET", "2026-01-02 22:59 UTC"),
        ("2026-07-02 23:59 EST", "2026-07-03 04:59 UTC"),
        ("2026-07-02 23:59 Europe/Berlin", "2026-07-02 21:59 UTC"),
        ("2026-07-02T23:59+02:00", "2026-07-02 21:59 UTC"),
    ],
)
def test_in_a_course_in_utc(text, due):
    """The texts are ones that instructors are known to type."""
    zone = ZoneInfo("UTC")
    if due.endswith("UTC") and due[0] == "2":
        assert format_due(parse_due(text, zone), zone) == due
    else:
        with pytest.raises(TimeError, match=re.escape(due)):
            parse_due(text, zone)


def test_the_end_of_a_day_where_the_clocks_change_at_midnight():
    """The end is the later of two 23:59; or an hour earlier if the clocks skip it."""
    santiago, greenland = ZoneInfo("America/Santiago"), ZoneInfo("America/Scoresbysund")
    assert end_of_day(datetime(2026, 4, 4).date(), santiago) == datetime(
        2026, 4, 5, 3, 59, tzinfo=UTC
    )
    skipped = end_of_day(datetime(2026, 3, 28).date(), greenland)
    assert skipped.astimezone(greenland).date() == datetime(2026, 3, 28).date()


@pytest.mark.parametrize(
    "name",
    [
        "Berlin",
        "",
        "Etc/GMT+2",
        "right/Europe/Berlin",
        "localtime",
        "../etc/passwd",
        "europe/berlin",
    ],
)
def test_what_is_no_time_zone_is_refused(name):
    """This also applies to the configuration."""
    with pytest.raises(TimeError, match="is not the name of a time zone"):
        find_zone(name)


# ---- In a course

WEEK = "week7"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """A course in Los Angeles with an assignment submitted by ada and ben."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("times") / "course")
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write('c.Exchange.timezone = "America/Los_Angeles"\n')
    folder.release(WEEK).mkdir(parents=True)
    add_students(folder, [(student, student, "") for student in ("ada", "ben")])
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_assignment(WEEK)
        book.add_notebook("one", WEEK)
        book.add_grade_cell("test", "one", WEEK, max_score=10, cell_type="code")
        for student in ("ada", "ben"):
            book.add_submission(WEEK, student, timestamp=datetime(2020, 1, 1))
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


def submit(folder: CourseFolder, student: str, time: str) -> None:
    """Write a timestamp.txt into a submission."""
    place = folder.submission(WEEK, student)
    place.mkdir(parents=True, exist_ok=True)
    (place / "timestamp.txt").write_text(time, "utf-8")


def test_late_reads_the_times_and_names_unknown_ones(course):
    """nbgrader's PDT is valid in Los Angeles; an unknown time has no penalty and replaces the old
    time.
    """
    late.set_penalty_rule(course, 10, 100)
    submit(course, "ada", "2026-07-03 01:59:00.000000 PDT")
    submit(course, "ben", "2026-07-03 01:59:00.000000 CEST")
    done = CliRunner().invoke(
        app, ["late-penalties", WEEK, "--course", str(course.root), "--due", "2026-07-02 23:59"]
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"due date of {WEEK}: 2026-07-02 23:59 -07:00 (America/Los_Angeles), 2026-07-03 06:59 UTC",
        f"{WEEK}/ada: 2.0 hours late, 0 points deducted",
        f"late submissions of {WEEK}: 1",
    ]
    assert f"{WEEK}/ben: the time of submission is unknown" in done.stderr
    with Gradebook(db_url(course)) as book:
        assert book.find_submission(WEEK, "ada").timestamp == datetime(2026, 7, 3, 8, 59)
        assert book.find_submission(WEEK, "ben").timestamp is None


def test_a_submission_without_a_time_is_on_time(course):
    """The time of the submission that it replaces is removed. If the files of a submission are
    missing, the gradebook keeps its time.
    """
    submit(course, "ada", "2026-07-03 01:59:00 PDT")
    arguments = ["late-penalties", WEEK, "--due", "2026-07-02 23:59", "-c", str(course.root)]
    assert "ada: 2.0 hours late" in CliRunner().invoke(app, arguments).stdout
    shutil.rmtree(course.submission(WEEK, "ben"), ignore_errors=True)
    (course.submission(WEEK, "ada") / "timestamp.txt").unlink()
    assert "ada" not in CliRunner().invoke(app, arguments).stdout
    with Gradebook(db_url(course)) as book:
        assert book.find_submission(WEEK, "ada").timestamp is None
        assert book.find_submission(WEEK, "ben").timestamp == datetime(2020, 1, 1)


def test_nbgraders_own_commands_read_as_strictly(course):
    """This covers due dates set by the API, as formgrader and `nbgrader db` set them, and folder
    times.
    """
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = course.config()
    assert course_zone(config).key == "America/Los_Angeles"
    with Gradebook(db_url(course)) as book:
        with pytest.raises(TimeError, match="CEST"):
            book.update_or_create_assignment(WEEK, duedate="2026-07-02 23:59 CEST")
        book.update_or_create_assignment(WEEK, duedate="2026-07-02 23:59 +0200")
        assert book.find_assignment(WEEK).duedate == datetime(2026, 7, 2, 21, 59)
    place = CourseDirectory(config=config)
    for time, found in (
        ("2026-07-03 01:59:00 PDT", datetime(2026, 7, 3, 8, 59)),
        ("2026-07-03 01:59:00 CEST", None),
    ):
        submit(course, "ada", time)
        assert place.get_existing_timestamp(str(course.submission(WEEK, "ada"))) == found
        assert NbGraderAPI(config=config).get_submitted_timestamp(WEEK, "ada") == found


def test_a_setting_that_names_no_zone_is_refused(course):
    """The message names the setting, and nothing is changed."""
    with (course.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write('c.Exchange.timezone = "Berlin"\n')
    done = CliRunner().invoke(app, ["late-penalties", WEEK, "--course", str(course.root)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "c.Exchange.timezone" in done.stderr and "Europe/Berlin" in done.stderr


def test_the_grading_step_sets_the_time_strictly(course, monkeypatch):
    """The time is set before the penalty; an unknown time replaces an earlier submission's."""
    monkeypatch.chdir(course.root)
    place = course.submission(WEEK, "ada")
    for time, found in (
        ("2026-07-03 01:59:00 +0200", datetime(2026, 7, 2, 23, 59)),
        ("2026-07-03 01:59:00 CEST", None),
    ):
        submit(course, "ada", time)
        LatePenalties(config=course.config()).preprocess(
            new_notebook(),
            {
                "metadata": {"path": str(place)},
                "nbgrader": {
                    "notebook": "one",
                    "assignment": WEEK,
                    "student": "ada",
                    "db_url": db_url(course),
                },
            },
        )
        with Gradebook(db_url(course)) as book:
            assert book.find_submission(WEEK, "ada").timestamp == found
