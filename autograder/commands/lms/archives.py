"""Collects submissions from an archive of a learning management system: `collect --from`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, DateTime, column, text

from autograder.commands.console import print_error, print_line
from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.lms import moodle
from autograder.lms.collect import SYSTEMS, Times, collect_from
from autograder.lms.rosters import MOODLE, directory
from autograder.lms.store import update_section
from autograder.lms.tables import load_table
from autograder.lms.times import read_times
from autograder.reporting.gradebook import read_gradebook, students_of
from autograder.times import course_zone
from course.checks import Study

DUE = text("SELECT duedate FROM assignment WHERE name = :name").columns(column("duedate", DateTime))


def collect_archive(
    folder: CourseFolder, study: Study, source: Path, system: str, times: Path | None
) -> bool:
    """Collect the submissions in an archive, and print the result; return whether all were collected.

    `times` is a table with the times of submission. Raises `UserError`.
    """
    if system and system not in SYSTEMS:
        raise UserError(f"--format {system!r} must be one of {', '.join(SYSTEMS)}")
    folder.require_release(study)
    require_gradebook(folder, study.assignment)
    students, due = read_gradebook(folder, lambda book: _class_and_due_date(book, study.assignment))
    zone = course_zone(folder.config())
    listed = []
    if times:
        table = load_table(times, "the table of times")
        listed = read_times(table, zone)
        if moodle.is_worksheet(table.header):
            known = directory(folder, students, study.assignment)
            update_section(folder, MOODLE, {study.assignment: moodle.participants(table, known)})
    result = collect_from(
        folder,
        study,
        source,
        directory(folder, students, study.assignment),
        Times(listed, due, zone),
        system,
    )
    print_line(result.summary(study.assignment))
    if dropped := folder.people().dropped(result.statuses):
        print_error(
            f"dropped the course, so their submissions are not graded: {', '.join(dropped)}"
        )
    for note in result.notes:
        print_error(note)
    for reason in result.refused:
        print_error(f"not collected: {reason}")
    return not result.refused


def _class_and_due_date(book: Connection, assignment: str) -> tuple[Any, datetime | None]:
    """Return all students in the gradebook, and the due date of an assignment."""
    due = book.execute(DUE, {"name": assignment}).scalar()
    return students_of(book), due and due.replace(tzinfo=UTC)
