"""The commands `history` and `regrade`: every change of a mark, and students' regrade requests."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Annotated

import typer

from autograder.commands.console import print_line
from autograder.commands.options import CoursePath, Students, StudyName, report_errors
from autograder.commands.people.roster_changes import students_by_id
from autograder.commands.people.selection import update_groups
from autograder.course_folder import CourseFolder, nfc
from autograder.errors import UserError
from autograder.grading.mark_history.changes import (
    Change,
    read_changes,
    record_outside_changes,
)
from autograder.grading.mark_history.requests import (
    RegradeRequest,
    answer_request,
    enter_request,
    read_requests,
)
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.times import course_zone
from common.command_lines import advice
from course.checks import Study


def history(
    study: StudyName,
    course: CoursePath,
    *,
    student: Students = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """List every change of the marks of an assignment: when, by whom, from, to and why.

    Example: autograder history study3 --student ada --course my_course. Marks that another program
    has changed are found and listed without a name.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        if student:
            require_gradebook(folder, wanted.assignment)
            _require_known(folder, wanted, student)
        _update(folder, wanted)
        changes = [
            change
            for change in read_changes(folder, wanted.assignment)
            if student is None or change.student in student
        ]
        if as_json:
            print_line(json.dumps([asdict(change) for change in changes], indent=1))
            return
        zone = course_zone(folder.config())
        for change in changes:
            for line in describe_change(change, zone):
                print_line(line)
        if not changes:
            print_line(f"{wanted.assignment}: no mark has been given yet")


def _require_known(folder: CourseFolder, study: Study, students: Iterable[str]) -> None:
    """Raise `UserError` for a student who is not in the gradebook and was never marked."""
    marked = {change.student for change in read_changes(folder, study.assignment)}
    if unknown := sorted(set(students) - marked - students_by_id(folder).keys()):
        raise UserError(f"not in the gradebook: {', '.join(unknown)}; check the spelling")


def describe_change(change: Change, zone: tzinfo) -> Iterator[str]:
    """Yield a line about a change, and one about each item of the mark if there was a mark before."""
    yield (
        f"{local_time(change.when, zone)}  {change.student}: {_points(change.before)} -> "
        f"{_points(change.after)} points, by {change.who}: {change.why}"
    )
    if change.before is not None:
        for item, (before, after) in change.items.items():
            yield f"    {item}: {_points(before)} -> {_points(after)}"


def local_time(when: str, zone: tzinfo) -> str:
    """Return a recorded time in the course's time zone, to the minute."""
    return datetime.fromisoformat(when).astimezone(zone).isoformat(" ", "minutes")


def regrade(
    course: CoursePath,
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="A study, for example study3.", show_default=False),
    ] = None,
    *,
    student: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=lambda name: name and nfc(name),
            help="The student who asks.",
            show_default=False,
        ),
    ] = None,
    request: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Enter the student's request.", show_default=False),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Answer the student's request.", show_default=False),
    ] = None,
) -> None:
    """Enter or answer a student's regrade request, or list all requests, open ones first.

    Example: autograder regrade study3 --student ada --request "Question 2 is right." Change the mark
    first, then answer: the answer, and the mark before and after, are shown on the feedback page.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study) if study else None
        if student is None and request is None and answer is None:
            _list(folder, wanted)
            return
        if wanted is None or student is None or (request is None) == (answer is None):
            raise UserError(
                "a regrade request needs a study, --student and one of --request and --answer, for "
                "example " + advice("regrade", "study3", "--student", "ada", "--request", "TEXT")
            )
        _update(folder, wanted)
        if request is not None:
            _print(folder, enter_request(folder, wanted.assignment, student, request))
        else:
            _print(folder, answer_request(folder, wanted.assignment, student, answer or ""))
            command = advice("feedback", wanted.name, "--student", student, course=folder.root)
            print_line(f"to show the student the answer, run {command}")


def _update(folder: CourseFolder, study: Study) -> None:
    """Record changes that the history does not have yet."""
    require_gradebook(folder, study.assignment)
    update_groups(folder, study)
    record_outside_changes(folder, study.assignment)


def _list(folder: CourseFolder, study: Study | None) -> None:
    requests = read_requests(folder, study.assignment if study else None)
    for each in sorted(requests, key=lambda each: bool(each.answered)):
        _print(folder, each)
    if not requests:
        print_line(f"there are no regrade requests{f' for {study.assignment}' if study else ''}")


def _print(folder: CourseFolder, request: RegradeRequest) -> None:
    zone = course_zone(folder.config())
    print_line(
        f"{request.assignment}/{request.student} ({local_time(request.entered, zone)}): "
        f"{request.describe()}"
    )


def _points(points: float | None) -> str:
    return "none" if points is None else f"{round(points, 2):g}"
