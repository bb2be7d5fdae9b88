"""Applies the course's extensions, from `people.json`, to submissions in nbgrader's gradebook.

nbgrader stores an extension with a submission, so it cannot be granted before there is one. Ours are
stored in advance, and entered whenever a penalty is computed. Extensions that a person granted with
nbgrader's `grant_extension` are kept and count if they are more generous.
"""

from datetime import UTC, timedelta
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.course_folder.people import People
from autograder.grading.records.ledger import read_object, write_json

RECORD = "extension.json"  # in the results of a submission: what we entered, and what was there


def apply_extension(folder: CourseFolder, people: People, submission: Any) -> None:
    """Set the extension of a submission in the gradebook to the most generous one that applies.

    The record is written first, so that a run that is killed does not mistake our extension for one
    that a person granted.
    """
    assignment, student = submission.assignment.name, submission.student.id
    due = submission.assignment.duedate
    wanted = timedelta()  # without a due date, nbgrader cannot compute with an extension
    if due is not None:
        wanted = people.extension(assignment, student, due.replace(tzinfo=UTC))
    path = folder.results(assignment, student) / RECORD
    record = read_object(path, {"entered": list, "other": int | float})
    present = (submission.extension or timedelta()).total_seconds()
    if record is None and not wanted:
        return
    other = record["other"] if record and present in record["entered"] else present
    effective = max(other, wanted.total_seconds())
    if effective != present:
        write_json(path, {"entered": [present, effective], "other": other})
        submission.extension = timedelta(seconds=effective) if effective else None
    elif record is None or record != {"entered": [effective], "other": other}:
        write_json(path, {"entered": [effective], "other": other})
