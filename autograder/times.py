"""Parses and formats the times that decide late penalties. Ambiguous times are rejected.

Accepted, with nothing else before or after:

    2026-03-02 10:00                  in the course's time zone
    2026-03-02 10:00 UTC              also Z, and seconds: 10:00:30, 10:00:30.25
    2026-03-02T10:00+01:00            ISO 8601, also +0100 and +01, with or without a space
    20260302T100000Z                  ISO 8601's basic format
    2026-03-02 10:00 Europe/Berlin    a name of the IANA time zone database
    2026-03-02 10:00 CET              an abbreviation: see `_by_abbreviation`

A local time that a clock change skips is rejected, and so is one that occurs twice, unless an offset
or an abbreviation selects one of the two. Nothing depends on the locale, on the time zone of the
machine, or on today's date.
"""

import os
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from traitlets.config import Config

from autograder.errors import UserError

YEARS = range(2000, 2100)  # other years are mistakes, and old time zone offsets include seconds
MAX_OFFSET = timedelta(hours=14)
NOT_ZONES = ("Factory", "localtime", "posixrules")  # files of the database that are not zones
ODD_REGIONS = (
    "Etc",
    "SystemV",
    "posix",
    "right",
)  # Etc/GMT+2 is UTC-02:00; "right" has leap seconds
CLOCK = r"(?P<hour>\d\d){0}(?P<minute>\d\d)(?:{0}(?P<second>\d\d)(?:[.,](?P<part>\d{{1,6}}))?)?"
EXTENDED = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ]"
    + CLOCK.format(":")
    + r"(?: ?(?P<offset>Z|[+-]\d\d(?::?\d\d)?)| (?P<zone>[A-Za-z][A-Za-z0-9_+/-]*))?",
    re.ASCII,
)
BASIC = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)T"
    + CLOCK.format("")
    + r"(?P<offset>Z|[+-]\d\d(?:\d\d)?)?(?P<zone>(?!))?",
    re.ASCII,
)
MACHINE_ZONE = Path("/etc/localtime")


class TimeError(UserError):
    """A text is not an unambiguous time; the message shows valid forms."""


def parse_due(text: str, zone: tzinfo) -> datetime:
    """Return the instant, in UTC, that a text denotes in a course whose time zone is `zone`.

    Raises `TimeError` for a text that is not in one of the forms above.

    >>> parse_due("2026-03-02 10:00 +0100", ZoneInfo("UTC")).isoformat()
    '2026-03-02T09:00:00+00:00'
    """
    text = text.strip(" \t\r\n")
    match = EXTENDED.fullmatch(text) or BASIC.fullmatch(text)
    if match is None:
        raise _time_error(text, zone, _hint(text))
    year, month, day, hour, minute, second = (
        int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")
    )
    microsecond = int((match["part"] or "").ljust(6, "0"))
    try:
        local = datetime(year, month, day, hour, minute, second, microsecond)
    except ValueError as error:  # such as the 30th of February
        raise _time_error(text, zone, str(error)) from None
    if local.year not in YEARS:
        raise _time_error(text, zone, f"the year is not from {YEARS[0]} to {YEARS[-1]}")
    if match["offset"]:
        return _at_offset(local, match["offset"], text, zone)
    if not match["zone"] or "/" in match["zone"]:
        return _in_zone(local, find_zone(match["zone"]) if match["zone"] else zone, text, zone)
    return _by_abbreviation(local, match["zone"], text, zone)


def format_due(when: datetime, zone: tzinfo) -> str:
    """Format an aware time in the course's time zone and in UTC, or only in UTC if that is the
    zone.

    >>> format_due(datetime(2026, 3, 2, 9, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '2026-03-02 10:00 +01:00 (Europe/Berlin), 2026-03-02 09:00 UTC'
    """
    in_utc = f"{_minutes(when.astimezone(UTC))} UTC"
    if str(zone) in ("UTC", "Etc/UTC"):
        return in_utc
    local = when.astimezone(zone)
    return f"{_minutes(local)} {_offset_text(local)} ({zone}), {in_utc}"


def end_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the last 23:59 of a day in a time zone, in UTC; an hour earlier if the clocks skip
    that time.
    """
    return datetime.combine(day, time(23, 59), zone).replace(fold=1).astimezone(UTC)


def find_zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name, such as Europe/Berlin. Raises `TimeError`."""
    if name in _names():
        return ZoneInfo(name)
    similar = [
        other
        for other in sorted(_names())
        if name.lower() in (other.lower(), other.lower().rpartition("/")[2])
    ]
    hint = f"did you mean {similar[0]}?" if similar else "write a name like Europe/Berlin"
    raise TimeError(f"{name!r} is not the name of a time zone: {hint}")


def course_zone(config: Config) -> ZoneInfo:
    """Return the time zone of a course, which is `c.Exchange.timezone` in its configuration
    (default: UTC).

    Raises `TimeError` if the setting is not a time zone.
    """
    try:
        return find_zone(str(config.Exchange.get("timezone", "UTC")))
    except TimeError as error:
        raise TimeError(f"c.Exchange.timezone in nbgrader_config.py: {error}") from None


def machine_zone() -> str:
    """Return the name of this machine's time zone, for the configuration of a new course.

    Returns UTC if the time zone has no name.
    """
    linked = os.path.realpath(MACHINE_ZONE).partition("/zoneinfo/")[2]
    for name in (os.environ.get("TZ", "").removeprefix(":"), linked):
        if name:
            return name if name in _names() else "UTC"
    return "UTC"


@cache
def _names() -> frozenset[str]:
    return frozenset(
        {"UTC"}
        | {
            name
            for name in available_timezones()
            if name not in NOT_ZONES and name.partition("/")[0] not in ODD_REGIONS
        }
    )


def _at_offset(local: datetime, offset: str, text: str, zone: tzinfo) -> datetime:
    """Return a local time with an ISO 8601 offset (Z, +01:00, +0100 or +01) as an instant."""
    if offset == "Z":
        return local.replace(tzinfo=UTC)
    digits = offset[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if int(digits[2:]) > 59 or ahead > MAX_OFFSET or (offset[0] == "-" and not ahead):
        raise _time_error(text, zone, f"there is no offset {offset}")
    return local.replace(tzinfo=timezone(ahead if offset[0] == "+" else -ahead)).astimezone(UTC)


def _in_zone(local: datetime, there: tzinfo, text: str, zone: tzinfo) -> datetime:
    """Return a local time in a time zone, where it must occur exactly once, as an instant."""
    instants = _instants(local, there)
    if not instants:
        raise _time_error(text, zone, f"the clocks skip this time in {there}")
    if len(instants) > 1:
        offsets = " or ".join(_offset_text(when.astimezone(there)) for when in instants)
        raise _time_error(
            text,
            zone,
            f"this time occurs twice in {there}, where the clocks are put back: add {offsets}",
        )
    return instants[0]


def _by_abbreviation(local: datetime, name: str, text: str, zone: tzinfo) -> datetime:
    """Return a local time with an abbreviation, such as nbgrader writes to timestamp.txt, as an
    instant.

    The abbreviation must be in use at that time, either in the course's time zone or in the zone
    with this exact name in the IANA database (UTC, GMT, EST, MST, HST, CET, MET, EET, WET), and it
    must denote one instant. For example, PDT is accepted in a course in America/Los_Angeles, and
    CET only in winter.
    """
    zones: list[tzinfo] = [zone]
    if name in _names():
        zones.append(ZoneInfo(name))
    instants = {
        when
        for there in zones
        for when in _instants(local, there)
        if when.astimezone(there).tzname() == name
    }
    if len(instants) == 1:
        return instants.pop()
    if instants:
        raise _time_error(text, zone, f"{name} has several meanings here")
    raise _time_error(
        text,
        zone,
        _hint(text)
        or (f"{name} is neither a time zone nor an unambiguous abbreviation of one at that time"),
    )


def _instants(local: datetime, there: tzinfo) -> list[datetime]:
    """Return the instants, in UTC and in order, at which the clocks of a zone show a local time."""
    candidates = {local.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(
        when for when in candidates if when.astimezone(there).replace(tzinfo=None, fold=0) == local
    )


def _hint(text: str) -> str:
    """Return a hint about a common mistake in a text that has none of the accepted forms, or ""."""
    if re.search(r"\d ?[AaPp]\.?[Mm]\b", text):
        return "the clock has 24 hours, so 11:59 PM is 23:59"
    if re.search(r"\d[./]\d", text):
        return "the date must be year-month-day, because 02.03. may be in February or in March"
    if re.fullmatch(r"\d{4}-?\d\d-?\d\d", text):
        return "the time of day is missing"
    if re.search(r"(UTC|GMT) ?[+-]\d", text):
        return "an offset is written without UTC or GMT"
    return ""


def _time_error(text: str, zone: tzinfo, why: str) -> TimeError:
    return TimeError(
        f"{text[:60]!r} is not a valid time{f' ({why})' if why else ''}: write it like "
        f"'2026-03-02 10:00' ({zone}, the course's time zone), "
        "'2026-03-02 10:00 Europe/Berlin', '2026-03-02 10:00 UTC' or '2026-03-02T10:00+01:00'"
    )


def _minutes(when: datetime) -> str:
    exact = "microseconds" if when.microsecond else "seconds" if when.second else "minutes"
    return when.replace(tzinfo=None).isoformat(" ", exact)


def _offset_text(when: datetime) -> str:
    text = f"{when:%z}"
    return f"{text[:3]}:{text[3:5]}"
