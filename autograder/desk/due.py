"""The due date of an assignment, from the gradebook and from a field, shown in two time zones."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, column, text

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.telling.gradebook import read_gradebook
from autograder.times import course_zone, parse_due, show_due

EXAMPLE = "2026-03-02 10:00 UTC"
DUE = text("SELECT duedate FROM assignment WHERE name = :name").columns(column("duedate", DateTime))


def due_of(folder: CourseFolder, assignment: str) -> datetime | None:
    """When an assignment is due; None without a due date, or before it has been generated."""
    try:
        found = read_gradebook(
            folder, lambda book: book.execute(DUE, {"name": assignment}).scalar()
        )
    except CourseFolderError:  # no gradebook yet
        return None
    return found and found.replace(tzinfo=UTC)


def parse(typed: str, folder: CourseFolder) -> datetime:
    """The time that was typed for a course. Raises `TimeError` if it has no single meaning."""
    return parse_due(typed, course_zone(folder.config()))


def in_utc(due: datetime) -> str:
    """A due date as the field and the command take it."""
    seconds = ":%S" if due.second else ""
    return f"{due.astimezone(UTC):%Y-%m-%d %H:%M{seconds}} UTC"


def in_both(due: datetime, folder: CourseFolder) -> str:
    """A due date in the course's time zone and in UTC."""
    return show_due(due, course_zone(folder.config()))
