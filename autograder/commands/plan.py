"""Sets a course up by a teaching plan: its studies are released, and each has a due date."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from autograder.commands.console import say
from autograder.commands.progress import release_studies
from autograder.course_folder import CourseFolder
from autograder.errors import Refused
from autograder.grading.late import set_due
from course.probes import load_study

# Weeks -> a study -> the week at whose end it is due, as in docs/teaching/plan_6_weeks.md and on.
PLANS: Mapping[int, Mapping[str, int]] = {
    6: {"study1": 2, "study2": 3, "study3": 5, "study6": 6},
    10: {"study1": 2, "study2": 3, "study3": 5, "study6": 7, "study7": 9, "study10": 10},
    14: {"study1": 2, "study2": 3, "study3": 6, "study5": 8, "study6": 10, "study7": 12,
         "study9": 13, "study10": 14},
}
EARLIEST = 2000  # a year; nbgrader reads earlier ones as two digits of this century
END_OF_DAY = time(23, 59)


def day_of(text: str) -> date:
    """The day that is meant by a text like 2027-01-11; raises `Refused` for no day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no day: write it like 2027-01-11") from None


def due_dates(weeks: int, first_day: date) -> dict[str, datetime]:
    """When each study of the plan for so many weeks is due, in UTC.

    A week ends with the seventh day, at 23:59 in this machine's time zone. Raises `Refused` where
    there is no such plan.
    """
    if weeks not in PLANS:
        raise Refused(f"there is no plan for {weeks} weeks, only for "
                      f"{', '.join(map(str, PLANS))}: see docs/teaching")
    if first_day.year < EARLIEST:
        raise Refused(f"no course begins in the year {first_day.year}: write the first day like "
                      "2027-01-11")
    try:
        return {study: datetime.combine(first_day + timedelta(weeks=week, days=-1),
                                        END_OF_DAY).astimezone(UTC)
                for study, week in PLANS[weeks].items()}
    except (OverflowError, OSError) as error:  # at the end of the calendar, or of the clock's
        raise Refused(f"no course can begin on {first_day}: {error}") from None


def follow(folder: CourseFolder, weeks: int, first_day: date) -> None:
    """Release what the plan for so many weeks asks for, unless it has been, and set due dates.

    Raises `Refused`, as `due_dates` does, and where a study cannot be released.
    """
    due = due_dates(weeks, first_day)
    wanted = [load_study(name) for name in due]
    missing = [study for study in wanted if not folder.release(study.assignment).is_dir()]
    if missing:
        release_studies(folder.root, missing)
    for study in wanted:
        when = set_due(folder, study, f"{due[study.name]:%Y-%m-%d %H:%M} UTC")
        say(f"{study.assignment} is due {when}")
