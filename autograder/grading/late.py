"""Late submissions: a share of the score for each day begun, worked out again whenever one asks.

nbgrader works a penalty out when a submission is graded. Points that people give afterwards, and
another due date, change what it should be: `work_out` brings it up to date, by the course's plugin.
"""

import math
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from traitlets import Float

from autograder.course_folder import LATE_FILE, CourseFolder
from autograder.database import db_url, patiently, refused_in_words
from autograder.errors import Refused
from autograder.grading.booked import require_gradebook
from autograder.grading.ledger import write_json
from course.probes import Study

DAY = timedelta(days=1).total_seconds()


class ShareADay(LateSubmissionPlugin):
    """Takes off a share of the score for each day begun; of every notebook, so of the whole."""

    percent_a_day = Float(0, min=0, max=100, help="of the score, a day begun").tag(config=True)
    at_most = Float(100, min=0, max=100, help="percent of the score").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float,
                                total_seconds_late: float) -> float:
        """The points that a notebook with this score loses."""
        days = math.ceil(total_seconds_late / DAY)
        return round(score * min(self.at_most, days * self.percent_a_day) / 100, 2)


class Late(NamedTuple):
    """A submission that came late: by how many seconds, and the points that it loses."""

    student: str
    seconds: float
    penalty: float


def set_rule(folder: CourseFolder, percent_a_day: float, at_most: float) -> None:
    """Keep the course's rule, for every assignment. Raises `Refused` for no percentage."""
    require_percentages(percent_a_day, at_most)
    write_json(folder.root / LATE_FILE, {"percent_a_day": percent_a_day, "at_most": at_most})


def require_percentages(*percents: float) -> None:
    """Raise `Refused` unless all of them are percentages."""
    for percent in percents:
        if not 0 <= percent <= 100:
            raise Refused(f"{percent:g} is no percentage: it must be from 0 to 100")


def set_due(folder: CourseFolder, study: Study, due: str) -> str:
    """Set an assignment's due date; returns it in UTC. Raises `Refused` for no time."""
    require_gradebook(folder, study.assignment)
    try:
        when = parse_utc(due)
    except (ValueError, OverflowError):
        when = None
    if when is None:
        raise Refused(f"{due!r} is no time; write it like '2026-03-02 10:00 UTC'")

    def write() -> None:
        with Gradebook(db_url(folder)) as book:
            book.update_or_create_assignment(study.assignment, duedate=when)

    with refused_in_words(folder):
        patiently(folder, write)
    return f"{when:%Y-%m-%d %H:%M} UTC"


def work_out(folder: CourseFolder, study: Study,
             students: Iterable[str] | None = None) -> list[Late]:
    """Bring the penalties of an assignment up to date, of everybody or of some; returns who is
    late. Marks are left as they are."""
    require_gradebook(folder, study.assignment)
    wanted = None if students is None else set(students)
    step = AssignLatePenalties(config=folder.config())
    step.init_plugin()

    def write() -> list[Late]:
        with Gradebook(db_url(folder)) as book:
            found = [_penalise(step, submission)
                     for submission in book.assignment_submissions(study.assignment)
                     if wanted is None or submission.student.id in wanted]
            book.db.commit()
        return sorted(late for late in found if late.seconds > 0)

    return patiently(folder, write)


def _penalise(step: Any, submission: SubmittedAssignment) -> Late:
    """As nbgrader's own step does when it grades: never more than a notebook's score."""
    seconds, total = submission.total_seconds_late, 0.0
    for notebook in submission.notebooks:
        penalty = step.plugin_inst.late_submission_penalty(
            submission.student.id, notebook.score, seconds) if seconds > 0 else None
        if penalty is not None:
            penalty = min(max(0, penalty), notebook.score)
        notebook.late_submission_penalty = penalty
        total += penalty or 0
    return Late(submission.student.id, seconds, total)
