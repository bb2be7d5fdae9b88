"""Reads and shows the times that decide late penalties. A text has one meaning, or is refused.

Accepted, with nothing else before or after:

    2026-03-02 10:00                  in the course's time zone
    2026-03-02 10:00 UTC              also Z, and seconds: 10:00:30, 10:00:30.25
    2026-03-02T10:00+01:00            ISO 8601, also +0100 and +01, with or without a space
    20260302T100000Z                  ISO 8601's basic format
    2026-03-02 10:00 Europe/Berlin    a name of the IANA time zone database
    2026-03-02 10:00 CET              an abbreviation: see `_by_abbreviation`

A local time that a change of the clocks skips is refused, and so is one that occurs twice, unless
an offset or an abbreviation selects one of the two. Nothing depends on the locale, on the time zone
of the machine, or on today's date.
"""

import os
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from traitlets.config import Config

from autograder.errors import Refused

YEARS = range(2000, 2100)  # others are mistakes, and old offsets have odd seconds
MAX_OFFSET = timedelta(hours=14)
NO_ZONES = ("Factory", "localtime", "posixrules")  # files of the database that name no zone
ODD_REGIONS = ("Etc", "SystemV", "posix", "right")  # Etc/GMT+2 is UTC-02:00; "right" counts leaps
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


class TimeError(Refused):
    """A text has no single meaning as a time; the message shows what to write."""


def parse_due(text: str, zone: tzinfo) -> datetime:
    """The instant that a text means in a course whose time zone is `zone`, in UTC.

    Raises `TimeError` for a text that is not in one of the forms above.

    >>> parse_due("2026-03-02 10:00 +0100", ZoneInfo("UTC")).isoformat()
    '2026-03-02T09:00:00+00:00'
    """
    text = text.strip(" \t\r\n")
    found = EXTENDED.fullmatch(text) or BASIC.fullmatch(text)
    if found is None:
        raise _refusal(text, zone, _hint(text))
    numbers = [
        int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")
    ]
    try:
        local = datetime(*numbers, int((found["part"] or "").ljust(6, "0")))
    except ValueError as error:  # such as the 30th of February
        raise _refusal(text, zone, str(error)) from None
    if local.year not in YEARS:
        raise _refusal(text, zone, f"the year is not from {YEARS[0]} to {YEARS[-1]}")
    if found["offset"]:
        return _at_offset(local, found["offset"], text, zone)
    if not found["zone"] or "/" in found["zone"]:
        return _in_zone(local, zone_named(found["zone"]) if found["zone"] else zone, text, zone)
    return _by_abbreviation(local, found["zone"], text, zone)


def show_due(when: datetime, zone: tzinfo) -> str:
    """An aware time in the course's time zone and in UTC, or in UTC alone where that is the zone.

    >>> show_due(datetime(2026, 3, 2, 9, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '2026-03-02 10:00 +01:00 (Europe/Berlin), 2026-03-02 09:00 UTC'
    """
    in_utc = f"{_minutes(when.astimezone(UTC))} UTC"
    if str(zone) in ("UTC", "Etc/UTC"):
        return in_utc
    local = when.astimezone(zone)
    return f"{_minutes(local)} {_offset_text(local)} ({zone}), {in_utc}"


def end_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The last 23:59 of a day in a time zone, in UTC; an hour earlier where the clocks skip it."""
    return datetime.combine(day, time(23, 59), zone).replace(fold=1).astimezone(UTC)


def zone_named(name: str) -> ZoneInfo:
    """A time zone by its name in the IANA database, like Europe/Berlin. Raises `TimeError`."""
    if name in _names():
        return ZoneInfo(name)
    alike = [
        other
        for other in sorted(_names())
        if name.lower() in (other.lower(), other.lower().rpartition("/")[2])
    ]
    meant = f"{alike[0]}, if that is meant" if alike else "a name like Europe/Berlin"
    raise TimeError(f"{name!r} is not the name of a time zone: write {meant}")


def course_zone(config: Config) -> ZoneInfo:
    """The time zone of a course: `c.Exchange.timezone` in its configuration, by default UTC.

    Raises `TimeError` if the setting names none.
    """
    try:
        return zone_named(str(config.Exchange.get("timezone", "UTC")))
    except TimeError as error:
        raise TimeError(f"c.Exchange.timezone in nbgrader_config.py: {error}") from None


def machine_zone() -> str:
    """The name of this machine's time zone, for the configuration of a new course; UTC if it has
    no name."""
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
            if name not in NO_ZONES and name.partition("/")[0] not in ODD_REGIONS
        }
    )


def _at_offset(local: datetime, offset: str, text: str, zone: tzinfo) -> datetime:
    """A local time with `offset`, as in ISO 8601: Z, +01:00, +0100 or +01."""
    if offset == "Z":
        return local.replace(tzinfo=UTC)
    digits = offset[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if int(digits[2:]) > 59 or ahead > MAX_OFFSET or (offset[0] == "-" and not ahead):
        raise _refusal(text, zone, f"there is no offset {offset}")
    return local.replace(tzinfo=timezone(ahead if offset[0] == "+" else -ahead)).astimezone(UTC)


def _in_zone(local: datetime, there: tzinfo, text: str, zone: tzinfo) -> datetime:
    """A local time in a time zone, where it must occur exactly once."""
    found = _instants(local, there)
    if not found:
        raise _refusal(text, zone, f"the clocks skip this time in {there}")
    if len(found) > 1:
        offsets = " or ".join(_offset_text(when.astimezone(there)) for when in found)
        raise _refusal(
            text,
            zone,
            f"this time occurs twice in {there}, where the clocks are put back: add {offsets}",
        )
    return found[0]


def _by_abbreviation(local: datetime, name: str, text: str, zone: tzinfo) -> datetime:
    """A local time with an abbreviation, such as the one that nbgrader writes into timestamp.txt.

    It must be in use at that time, in the course's own time zone or in the zone that has this very
    name in the IANA database (UTC, GMT, EST, MST, HST, CET, MET, EET, WET), and mean one instant.
    Thus PDT is accepted in a course in America/Los_Angeles, and CET only in winter.
    """
    zones: list[tzinfo] = [zone]
    if name in _names():
        zones.append(ZoneInfo(name))
    found = {
        when
        for there in zones
        for when in _instants(local, there)
        if when.astimezone(there).tzname() == name
    }
    if len(found) == 1:
        return found.pop()
    if found:
        raise _refusal(text, zone, f"{name} has several meanings here")
    raise _refusal(
        text,
        zone,
        _hint(text)
        or (
            f"{name} is neither a time zone nor the abbreviation of one that is certain at that time"
        ),
    )


def _instants(local: datetime, there: tzinfo) -> list[datetime]:
    """The instants, in UTC and in order, at which the clocks of a zone show a local time."""
    found = {local.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(
        when for when in found if when.astimezone(there).replace(tzinfo=None, fold=0) == local
    )


def _hint(text: str) -> str:
    """What is wrong with a text in none of the forms, where that is easy to say."""
    if re.search(r"\d ?[AaPp]\.?[Mm]\b", text):
        return "the clock has 24 hours, so 11:59 PM is 23:59"
    if re.search(r"\d[./]\d", text):
        return "the date must be year-month-day, as 02.03. may be in February or in March"
    if re.fullmatch(r"\d{4}-?\d\d-?\d\d", text):
        return "the time of day is missing"
    if re.search(r"(UTC|GMT) ?[+-]\d", text):
        return "an offset is written without UTC or GMT"
    return ""


def _refusal(text: str, zone: tzinfo, why: str) -> TimeError:
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
