"""The rules for late submissions and for attempts in `course.toml`.

```
[late]
percent = 10            # of the score, per day or part of a day
per = "day"             # or "hour"
grace_minutes = 15      # a submission that is at most this late counts as on time
at_most = 50            # the maximum penalty, in percent
free_days = 3           # in the whole term; used automatically

[attempts]
counts = "best"         # or "last" (default), or "average"
```
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.checks import table_error

SECONDS_PER_DAY, SECONDS_PER_HOUR = 86400.0, 3600.0
LATE_KEYS = ("percent", "per", "grace_minutes", "at_most", "free_days")
PERIODS = {"day": "percent_a_day", "hour": "percent_an_hour"}
COUNTS = ("last", "best", "average")


@dataclass(frozen=True)
class LateRule:
    """The late penalty of a course."""

    percent_a_day: float = 0
    percent_an_hour: float = 0
    at_most: float = 100
    grace_minutes: float = 0
    free_days: int = 0

    def percent(self, seconds: float) -> float:
        """Return the percentage of the score that a submission loses which is late by `seconds`.

        >>> LateRule(percent_a_day=10, grace_minutes=5).percent(300), LateRule(10).percent(301)
        (0, 10.0)
        """
        if seconds <= 60 * self.grace_minutes:
            return 0
        days, hours = (math.ceil(seconds / unit) for unit in (SECONDS_PER_DAY, SECONDS_PER_HOUR))
        return min(self.at_most, float(days * self.percent_a_day + hours * self.percent_an_hour))

    def days_needed(self, seconds: float, left: int) -> int:
        """Return the smallest number of free days, at most `left`, that gives the lowest penalty.

        >>> LateRule(percent_a_day=10, at_most=20).days_needed(6 * 86400, 2)
        0
        """
        days = range(min(left, math.ceil(seconds / SECONDS_PER_DAY)) + 1)
        return min(days, key=lambda used: (self.percent(seconds - used * SECONDS_PER_DAY), used))


def late_options(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return the options of `LateRule` that a table [late] sets. Raises `StudyTableError`."""
    for key in table.keys() - {*LATE_KEYS}:
        raise table_error(
            file, "late", f"there is no key {key!r}; the keys are {', '.join(LATE_KEYS)}"
        )
    for key in ("percent", "at_most"):
        if not _is_number(table.get(key, 0), 100):
            raise table_error(file, f"late.{key}", f"{table[key]!r} is not a percentage")
    if not _is_number(table.get("grace_minutes", 0), math.inf):
        raise table_error(
            file, "late.grace_minutes", f"{table['grace_minutes']!r} is not a number of minutes"
        )
    days = table.get("free_days", 0)
    if type(days) is not int or days < 0:
        raise table_error(file, "late.free_days", f"{days!r} is not a whole number of days")
    if (per := table.get("per", "day")) not in PERIODS:
        raise table_error(file, "late.per", f'{per!r} is neither "day" nor "hour"')
    if "per" in table and "percent" not in table:
        raise table_error(file, "late", f'percent is required, as a percentage per "{per}"')
    options = {key: value for key, value in table.items() if key not in ("percent", "per")}
    return options | ({PERIODS[per]: table["percent"]} if "percent" in table else {})


def attempts_count(table: Mapping[str, Any], file: Path) -> str:
    """Return which attempt counts, one of `COUNTS`. Raises `StudyTableError`."""
    for key in table.keys() - {"counts"}:
        raise table_error(file, "attempts", f"there is no key {key!r}; the only key is counts")
    if (counts := table.get("counts", COUNTS[0])) not in COUNTS:
        raise table_error(
            file, "attempts.counts", f"{counts!r} is not one of {', '.join(map(repr, COUNTS))}"
        )
    return counts


def _is_number(value: object, most: float) -> bool:
    return type(value) in (int, float) and 0 <= value <= most  # type: ignore[operator]
