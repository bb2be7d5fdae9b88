"""Sets up a course according to a teaching plan: generates its studies and sets their due dates."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.commands.console import print_line
from autograder.commands.progress import generate_studies
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import FILE, read_course_table
from autograder.errors import UserError
from autograder.grading.records.late import set_due_date
from autograder.times import course_zone, end_of_day, find_zone, format_due, machine_zone, parse_due
from course.checks import load_study

Plan = Mapping[str, int | str]  # study -> week, or the due date as a text
# Weeks -> study -> the week at whose end it is due, as in docs/teaching/plan_*_weeks.md.
PLANS: Mapping[int, Plan] = {
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
OWN = "own"  # the name of the plan in the course's own table
EARLIEST = 2000  # nbgrader reads earlier years as two digits of this century


def day_of(text: str) -> date:
    """Return the day in a text such as 2027-01-11; raises `UserError` if the text is not a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text!r} is not a date: write it like 2027-01-11") from None


def find_plan(name: str, root: Path) -> Plan:
    """Return the plan with this number of weeks, or the course's own one in its `course.toml`.

    Raises `UserError` if there is no such plan.
    """
    if name == OWN:
        plan = read_course_table(root).plan
        if not plan:
            raise UserError(f"there is no table [plan] in {root / FILE}")
        return plan
    if name.isdecimal() and int(name) in PLANS:
        return PLANS[int(name)]
    raise UserError(
        f"there is no plan for {name} weeks, only for {', '.join(map(str, PLANS))} (see "
        f"docs/teaching) and the course's own one, {OWN!r}, in its {FILE}"
    )


def due_dates(plan: Plan, first_day: date, zone: ZoneInfo | None = None) -> dict[str, datetime]:
    """Return the due date of each study of a plan, in UTC.

    A week ends on its seventh day at 23:59 in the course's time zone, by default the zone that a
    new course gets on this machine. Raises `UserError` for an impossible date.
    """
    zone = zone or find_zone(machine_zone())
    if first_day.year < EARLIEST:
        raise UserError(
            f"the year {first_day.year} is too early: write the first day like 2027-01-11"
        )
    try:
        return {
            study: end_of_day(first_day + timedelta(weeks=due, days=-1), zone)
            if isinstance(due, int)
            else parse_due(due, zone)
            for study, due in plan.items()
        }
    except OverflowError as error:  # the date is beyond the end of the calendar
        raise UserError(f"a course cannot begin on {first_day}: {error}") from None


def apply_plan(folder: CourseFolder, plan: Plan, first_day: date) -> None:
    """Generate the plan's studies that are not yet generated, and set all due dates.

    Raises `UserError` in the same cases as `due_dates`, and if a study cannot be generated.
    """
    zone = course_zone(folder.config())
    due = due_dates(plan, first_day, zone)
    wanted = [load_study(name) for name in due]
    missing = [study for study in wanted if not folder.release(study.assignment).is_dir()]
    if missing:
        generate_studies(folder.root, missing)
    for study in wanted:
        print_line(f"{study.assignment} is due {format_due(due[study.name], zone)}")
        set_due_date(folder, study, due[study.name])
