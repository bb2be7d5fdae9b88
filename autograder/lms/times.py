"""Times of submission from a table: Moodle's worksheet, GitHub Classroom's grades, or a plain one."""

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from autograder.errors import UserError
from autograder.lms import moodle
from autograder.lms.tables import Table
from autograder.lms.uploads import Hint, Owner
from autograder.times import TimeError, parse_due

GITHUB = ("github_username", "submission_timestamp")
IDS = {  # names of columns -> the kind of identifier
    "id": "id",
    "student": "id",
    "student_id": "id",
    "username": "id",
    "login": "id",
    "sis_login_id": "id",
    "email": "email",
    "canvas_id": "canvas",
    "user_id": "canvas",
}
TIMES = ("time", "submitted_at", "timestamp", "submission_time", "submitted")


def read_times(table: Table, zone: tzinfo) -> list[tuple[Owner, datetime]]:
    """Return the times in a table, in UTC, with the identifiers of their students.

    `zone` is the course's time zone. Raises `UserError` for a table without identifiers or times, and
    for a time that cannot be read.
    """
    if moodle.is_worksheet(table.header):
        return list(moodle.submission_times(table, zone))
    if {*GITHUB} <= {*table.header}:
        return list(_times(table, {"github_username": "github"}, GITHUB[1], zone))
    names = {name: _normalised(name) for name in table.header}
    ids = {name: IDS[plain] for name, plain in names.items() if plain in IDS}
    times = [name for name, plain in names.items() if plain in TIMES]
    if not ids or len(times) != 1:
        raise UserError(
            "the table of times needs a column of students, for example id or email, and a column "
            "submitted_at; or it is Moodle's grading worksheet or GitHub Classroom's grades"
        )
    return list(_times(table, ids, times[0], zone))


def _times(
    table: Table, ids: dict[str, str], column: str, zone: tzinfo
) -> Iterator[tuple[Owner, datetime]]:
    for line, row in table.records():
        text = row[column].strip()
        if text in ("", "-"):
            continue
        try:
            when = parse_due(text, zone)
        except TimeError as error:
            raise UserError(f"line {line} of the table of times: {error}") from None
        yield tuple(Hint(kind, row[name].strip()) for name, kind in ids.items()), when


def _normalised(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def names_of(owners: Iterable[Owner]) -> str:
    """Return the first identifiers of students, for a message."""
    return ", ".join(next((hint.value for hint in owner if hint.value), "?") for owner in owners)
