"""The command `extend`: gives students, groups or sections more time for an assignment."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from sqlalchemy import Connection, DateTime, column, text

from autograder.commands.console import print_error, print_line
from autograder.commands.options import CoursePath, report_errors
from autograder.course_folder import CourseFolder, CourseFolderError, folder_lock, nfc
from autograder.course_folder.people import (
    KINDS,
    Extension,
    People,
    read_people,
    write_people,
)
from autograder.errors import UserError
from autograder.grading.mark_history.changes import recording
from autograder.grading.records.gradebook_reader import read_times
from autograder.reporting.gradebook import read_gradebook, students_of
from autograder.times import course_zone, format_due, parse_due
from common.command_lines import advice
from course.checks import Study

DUE = text("SELECT duedate FROM assignment WHERE name = :name").columns(column("duedate", DateTime))
MAX_DAYS = 1000


def _names(kind: str) -> typer.models.OptionInfo:
    return typer.Option(
        f"--{kind}",
        metavar="NAME",
        callback=lambda names: names and [nfc(name) for name in names],
        help=f"For this {kind} (may be repeated).",
        show_default=False,
    )


def extend(  # noqa: PLR0913
    course: CoursePath,
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="A study, for example study3.", show_default=False),
    ] = None,
    *,
    student: Annotated[list[str] | None, _names("student")] = None,
    group: Annotated[list[str] | None, _names("group")] = None,
    section: Annotated[list[str] | None, _names("section")] = None,
    days: Annotated[
        float | None,
        typer.Option(metavar="D", help="Number of days, for example 2 or 0.5.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="An individual due date, for example '2027-03-05 23:59'.",
            show_default=False,
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the extension.")] = False,
) -> None:
    """Give students, groups or sections more time for an assignment, or list all extensions.

    Example: autograder extend study2 --student ada --days 2 --course my_course. It may be given
    before anything is submitted. If several extensions apply to a student, the most generous one
    counts; a second one for the same name replaces the first. Penalties are updated.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study) if study else None
        names = {"student": student or [], "group": group or [], "section": section or []}
        amounts = sum((days is not None, until is not None, remove))
        if not amounts and not any(names.values()):
            _list(folder, wanted)
            return
        if wanted is None or amounts != 1 or not any(names.values()):
            raise UserError(
                "an extension needs a study, at least one --student, --group or --section, and one "
                "of --days, --until and --remove, for example "
                + advice("extend", "study2", "--student", "ada", "--days", "2")
            )
        due = due_of(folder, wanted.assignment)
        extensions = [
            Extension(wanted.assignment, kind, name, *_amount(folder, due, days, until))
            for kind in KINDS
            for name in names[kind]
        ]
        _change(folder, wanted, due, extensions, remove=remove)


def due_of(folder: CourseFolder, assignment: str) -> datetime | None:
    """Return the due date of an assignment, in UTC; None if it has none or was not generated yet."""
    try:
        due = read_gradebook(folder, lambda book: book.execute(DUE, {"name": assignment}).scalar())
    except CourseFolderError:  # no gradebook yet
        return None
    return due and due.replace(tzinfo=UTC)


def _amount(
    folder: CourseFolder, due: datetime | None, days: float | None, until: str | None
) -> tuple[float, datetime | None]:
    """Return the days and the time of an extension. Raises `UserError` if it gives no time."""
    if until is not None:
        zone = course_zone(folder.config())
        when = parse_due(until, zone)
        if due and when <= due:
            raise UserError(f"--until must be after the due date, which is {format_due(due, zone)}")
        return 0, when
    if days is not None and not 0 < days <= MAX_DAYS:
        raise UserError(f"--days must be more than 0 and at most {MAX_DAYS}, not {days:g}")
    return days or 0, None


def _change(
    folder: CourseFolder,
    study: Study,
    due: datetime | None,
    extensions: Sequence[Extension],
    *,
    remove: bool,
) -> None:
    """Add or remove extensions, and update the penalties of the students to whom they apply."""
    with folder_lock(folder.root):
        people = read_people(folder.root)
        for extension in extensions:
            _require_name(folder, people, extension, remove=remove)
            people = people.without(extension) if remove else people.with_extension(extension)
        write_people(folder.root, people)
    for extension in extensions:
        if remove:
            print_line(f"{study.assignment}: no extension for {extension.kind} {extension.name}")
        else:
            print_line(describe(folder, extension, due))
    _update_penalties(folder, study, people, extensions)


def _require_name(
    folder: CourseFolder, people: People, extension: Extension, *, remove: bool
) -> None:
    """Raise `UserError` for a name that does not exist, or, without a roster, print that it may be
    misspelled.
    """
    kind, name = extension.kind, extension.name
    if remove:
        if len(people.without(extension).extensions) == len(people.extensions):
            raise UserError(f"{extension.assignment}: {kind} {name} has no extension")
    elif name in people.names(kind):
        return
    elif kind != "student":
        listed = ", ".join(people.names(kind))
        raise UserError(
            f"there is no {kind} {name!r} on the roster"
            + (f", only {listed}" if listed else f": import one with a column {kind}")
        )
    elif people.roster:
        raise UserError(f"there is no student {name!r} on the roster")
    elif name not in _known(folder):
        print_error(f"{name} is not in the gradebook yet: check the spelling")


def _known(folder: CourseFolder) -> set[str]:
    try:
        return {row.id for row in read_gradebook(folder, students_of)}
    except CourseFolderError:
        return set()


def describe(folder: CourseFolder, extension: Extension, due: datetime | None) -> str:
    """Return a sentence about an extension, with the due date that results if `due` is known."""
    zone = course_zone(folder.config())
    who = f"{extension.assignment}: {extension.kind} {extension.name} has"
    end = due + extension.granted(due) if due else extension.until
    when = f"until {format_due(end, zone)}" if end else ""
    if extension.until:
        return f"{who} {when}"
    more = f"{extension.days:g} more {'day' if extension.days == 1 else 'days'}"
    return f"{who} {more}" + (f", {when}" if when else "")


def _update_penalties(
    folder: CourseFolder, study: Study, people: People, extensions: Iterable[Extension]
) -> None:
    """Update the penalties of the submissions to which the extensions apply, and print them."""

    def submitters(book: Connection) -> set[str]:
        return {time.student for time in read_times(book) if time.assignment == study.assignment}

    try:
        submitted = read_gradebook(folder, submitters)
    except CourseFolderError:
        return
    affected = {name for each in extensions for name in people.students_of(each, submitted)}
    if affected:
        from autograder.grading.records.late import (
            describe_late,
            update_penalties,
        )  # slow to import

        with recording(folder, study.assignment, "extension granted or removed"):
            late = update_penalties(folder, study, affected)
        for each in late:
            print_line(describe_late(study.assignment, each))
        for name in sorted(affected - {each.student for each in late}):
            print_line(f"{study.assignment}/{name}: not late")


def _list(folder: CourseFolder, study: Study | None) -> None:
    """Print the extensions of an assignment, or of all."""
    extensions = [
        each
        for each in read_people(folder.root).extensions
        if study is None or each.assignment == study.assignment
    ]
    for each in sorted(extensions, key=lambda each: (each.assignment, each.kind, each.name)):
        print_line(describe(folder, each, due_of(folder, each.assignment)))
    if not extensions:
        print_line(f"there are no extensions{f' for {study.assignment}' if study else ''}")
