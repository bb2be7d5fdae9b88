"""Sets a course up by a teaching plan: its studies are released, and each has a due date."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from autograder.commands.console import say
from autograder.commands.progress import release_studies
from autograder.course_folder import CourseFolder
from autograder.errors import Refused
from autograder.grading.late import set_due
from autograder.times import course_zone, end_of_day, machine_zone, show_due, zone_named
from course.probes import load_study

# Weeks -> a study -> the week at whose end it is due, as in docs/teaching/plan_6_weeks.md and on.
PLANS: Mapping[int, Mapping[str, int]] = {
    6: {"study1": 2, "study2": 3, "study3": 5, "study6": 6},
    10: {"study1": 2, "study2": 3, "study3": 5, "study6": 7, "study7": 9, "study10": 10},
    14: {
        "study1": 2,
        "study2": 3,
        "study3": 6,
        "study5": 8,
        "study6": 10,
        "study7": 12,
        "study9": 13,
        "study10": 14,
    },
}
EARLIEST = 2000  # a year; nbgrader reads earlier ones as two digits of this century


def day_of(text: str) -> date:
    """The day that is meant by a text like 2027-01-11; raises `Refused` for no day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no day: write it like 2027-01-11") from None


def due_dates(weeks: int, first_day: date, zone: ZoneInfo | None = None) -> dict[str, datetime]:
    """When each study of the plan for so many weeks is due, in UTC.

    A week ends with the seventh day, at 23:59 in the course's time zone, by default that which a
    new course has on this machine. Raises `Refused` if there is no such plan.
    """
    zone = zone or zone_named(machine_zone())
    if weeks not in PLANS:
        raise Refused(
            f"there is no plan for {weeks} weeks, only for "
            f"{', '.join(map(str, PLANS))}: see docs/teaching"
        )
    if first_day.year < EARLIEST:
        raise Refused(
            f"no course begins in the year {first_day.year}: write the first day like 2027-01-11"
        )
    try:
        return {
            study: end_of_day(first_day + timedelta(weeks=week, days=-1), zone)
            for study, week in PLANS[weeks].items()
        }
    except OverflowError as error:  # at the end of the calendar
        raise Refused(f"no course can begin on {first_day}: {error}") from None


def follow(folder: CourseFolder, weeks: int, first_day: date) -> None:
    """Release what the plan for so many weeks asks for, unless it has been, and set due dates.

    Raises `Refused`, as `due_dates` does, and where a study cannot be released.
    """
    zone = course_zone(folder.config())
    due = due_dates(weeks, first_day, zone)
    wanted = [load_study(name) for name in due]
    missing = [study for study in wanted if not folder.release(study.assignment).is_dir()]
    if missing:
        release_studies(folder.root, missing)
    for study in wanted:
        say(f"{study.assignment} is due {show_due(due[study.name], zone)}")
        set_due(folder, study, due[study.name])
