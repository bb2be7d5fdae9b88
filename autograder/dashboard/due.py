"""Reads the due date of an assignment from the gradebook or from a field, and shows it in two time
zones.
"""

from datetime import UTC, datetime

from sqlalchemy import DateTime, column, text

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.reporting.gradebook import read_gradebook
from autograder.times import course_zone, format_due, parse_due

EXAMPLE = "2026-03-02 10:00 UTC"
DUE = text("SELECT duedate FROM assignment WHERE name = :name").columns(column("duedate", DateTime))


def due_of(folder: CourseFolder, assignment: str) -> datetime | None:
    """Return the due date of an assignment; None if it has none or has not been generated yet."""
    try:
        due = read_gradebook(folder, lambda book: book.execute(DUE, {"name": assignment}).scalar())
    except CourseFolderError:  # no gradebook yet
        return None
    return due and due.replace(tzinfo=UTC)


def parse(typed: str, folder: CourseFolder) -> datetime:
    """Return the time that was entered for a course. Raises `TimeError` if the time is ambiguous."""
    return parse_due(typed, course_zone(folder.config()))


def in_utc(due: datetime) -> str:
    """Return a due date in the form that the field and the command accept."""
    seconds = ":%S" if due.second else ""
    return f"{due.astimezone(UTC):%Y-%m-%d %H:%M{seconds}} UTC"


def in_both(due: datetime, folder: CourseFolder) -> str:
    """Return a due date in the course's time zone and in UTC."""
    return format_due(due, course_zone(folder.config()))
