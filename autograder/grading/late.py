"""Late submissions: a share of the score for each day begun, worked out again whenever one asks.

nbgrader works a penalty out when a submission is graded. Points that people give afterwards, and
another due date, change what it should be: `work_out` brings it up to date, by the course's plugin.
"""

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float

from autograder.course_folder import LATE_FILE, CourseFolder
from autograder.database import db_url, patiently, refused_in_words
from autograder.errors import Refused
from autograder.gradebook import Gradebook, SubmittedAssignment
from autograder.grading.booked import require_gradebook
from autograder.grading.ledger import write_json
from autograder.nbgrader_times import submission_time
from autograder.times import TimeError, course_zone
from course.probes import Study

DAY = timedelta(days=1).total_seconds()


class ShareADay(LateSubmissionPlugin):
    """Takes off a share of the score for each day begun; of every notebook, so of the whole."""

    percent_a_day = Float(0, min=0, max=100, help="of the score, a day begun").tag(config=True)
    at_most = Float(100, min=0, max=100, help="percent of the score").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
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


def set_due(folder: CourseFolder, study: Study, when: datetime) -> None:
    """Set an assignment's due date, an aware time such as `parse_due` gives."""
    require_gradebook(folder, study.assignment)

    def write() -> None:
        with Gradebook(db_url(folder)) as book:
            book.update_or_create_assignment(
                study.assignment, duedate=when.astimezone(UTC).replace(tzinfo=None)
            )

    with refused_in_words(folder):
        patiently(folder, write)


def work_out(
    folder: CourseFolder, study: Study, students: Iterable[str] | None = None
) -> list[Late]:
    """Read timestamp.txt and update the penalties of all submissions to an assignment, or of those
    of some `students`; returns the late ones. Marks are left unchanged.

    A submission whose time is unknown has no penalty: see `unknown_times`.
    """
    require_gradebook(folder, study.assignment)
    wanted = None if students is None else set(students)
    config = folder.config()
    zone, step = course_zone(config), AssignLatePenalties(config=config)
    step.init_plugin()

    def write() -> list[Late]:
        found = []
        with Gradebook(db_url(folder)) as book:
            for submission in book.assignment_submissions(study.assignment):
                student = submission.student.id
                if wanted is None or student in wanted:
                    update_time(submission, zone, folder.submission(study.assignment, student))
                    found.append(_penalise(step, submission))
            book.db.commit()
        return sorted(late for late in found if late.seconds > 0)

    return patiently(folder, write)


def unknown_times(folder: CourseFolder, study: Study) -> dict[str, str]:
    """Why the time of a submission is unknown, by student, where timestamp.txt cannot be read."""
    zone, found = course_zone(folder.config()), {}
    for student, submission in folder.submitted(study.assignment).items():
        try:
            submission_time(submission, zone)
        except TimeError as error:
            found[student] = str(error)
    return found


def update_time(submission: SubmittedAssignment, zone: ZoneInfo, *folders: Path) -> None:
    """Set the time of a submission in the gradebook by the first timestamp.txt in `folders`: to
    None where that cannot be read, and not at all where there is none."""
    try:
        found = next(filter(None, (submission_time(folder, zone) for folder in folders)), None)
        if found is None:
            return
        when = found.replace(tzinfo=None)
    except TimeError:
        when = None
    if submission.timestamp != when:
        submission.timestamp = when


def _penalise(step: Any, submission: SubmittedAssignment) -> Late:
    """As nbgrader's own step does when it grades: never more than a notebook's score."""
    seconds, total = submission.total_seconds_late, 0.0
    for notebook in submission.notebooks:
        penalty = (
            step.plugin_inst.late_submission_penalty(submission.student.id, notebook.score, seconds)
            if seconds > 0
            else None
        )
        if penalty is not None:
            penalty = min(max(0, penalty), notebook.score)
        notebook.late_submission_penalty = penalty
        total += penalty or 0
    return Late(submission.student.id, seconds, total)
