"""Deducts penalties for late submissions, which are a share of the score per day or hour begun.

nbgrader computes a penalty when a submission is graded. Manual marks that are given later, a new due
date and extensions change the penalty, so `update_penalties` computes it again with the course's
plugin. If the course has free late days, a submission can change the penalties of the same student's
other assignments, so these are computed again as well.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from nbgrader.api import Student
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float, Integer

from autograder.course_folder import LATE_FILE, CourseFolder, fixed_penalty
from autograder.course_folder.people import read_people
from autograder.course_folder.policies import SECONDS_PER_DAY, LateRule
from autograder.course_folder.table import FILE as COURSE_TABLE
from autograder.database import database_errors_as_user_errors, db_url, with_retry
from autograder.errors import UserError
from autograder.gradebook import Gradebook, SubmittedAssignment
from autograder.grading.records.extensions import apply_extension
from autograder.grading.records.free_days import Account, accounts, rule_of
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.grading.records.ledger import write_json
from autograder.nbgrader_times import submission_time
from autograder.times import TimeError, course_zone
from course.checks import Study


class ShareADay(LateSubmissionPlugin):
    """Deducts a share of the score of every notebook per day or hour, or part of one."""

    percent_a_day = Float(
        0, min=0, max=100, help="Percentage of the score deducted per day or part of a day."
    ).tag(config=True)
    percent_an_hour = Float(
        0, min=0, max=100, help="Percentage of the score deducted per hour or part of an hour."
    ).tag(config=True)
    grace_minutes = Float(
        0, min=0, help="A submission that is at most this many minutes late counts as on time."
    ).tag(config=True)
    free_days = Integer(
        0, min=0, help="Number of days in the term by which students may be late without a penalty."
    ).tag(config=True)
    at_most = Float(100, min=0, max=100, help="Maximum penalty, in percent of the score.").tag(
        config=True
    )

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
        """Return the points that a notebook with this score loses."""
        rule = LateRule(self.percent_a_day, self.percent_an_hour, self.at_most, self.grace_minutes)
        return round(score * rule.percent(total_seconds_late) / 100, 2)


class LateSubmission(NamedTuple):
    """A late submission: the number of seconds by which it is late, and the points that it loses."""

    student: str
    seconds: float
    penalty: float
    account: Account | None = None  # of the student's free days, if the course has them


def describe_late(assignment: str, late: LateSubmission) -> str:
    """Return a line about a late submission, with the account of the student's free days."""
    return (
        f"{assignment}/{late.student}: {late.seconds / 3600:.1f} hours late, "
        f"{late.penalty:g} points deducted"
        + (f"; {late.account.describe()}" if late.account else "")
    )


def set_penalty_rule(folder: CourseFolder, percent_a_day: float, at_most: float) -> None:
    """Save the course's rule, which applies to every assignment. Raises the same errors as
    `require_percentages`, and `UserError` if `course.toml` contains the rule.
    """
    require_percentages(percent_a_day, at_most)
    if fixed_penalty(folder):
        raise UserError(
            f"the late penalty is in the table [late] of {folder.root / COURSE_TABLE}: change it there"
        )
    write_json(folder.root / LATE_FILE, {"percent_a_day": percent_a_day, "at_most": at_most})


def require_percentages(*percents: float) -> None:
    """Raise `UserError` unless all arguments are percentages."""
    for percent in percents:
        if not 0 <= percent <= 100:
            raise UserError(f"{percent:g} is not a percentage: it must be from 0 to 100")


def set_due_date(folder: CourseFolder, study: Study, when: datetime) -> None:
    """Set an assignment's due date, given as an aware time like the times that `parse_due` returns."""
    require_gradebook(folder, study.assignment)

    def write() -> None:
        with Gradebook(db_url(folder)) as book:
            book.update_or_create_assignment(
                study.assignment, duedate=when.astimezone(UTC).replace(tzinfo=None)
            )

    with database_errors_as_user_errors(folder):
        with_retry(folder, write)


def update_penalties(
    folder: CourseFolder, study: Study, students: Iterable[str] | None = None
) -> list[LateSubmission]:
    """Read timestamp.txt, apply extensions, and update the penalties of all submissions to an
    assignment, or only those of `students`. Returns the late submissions. Marks are left unchanged.

    A submission without a known time has no penalty (see `unknown_times`).
    """
    require_gradebook(folder, study.assignment)
    wanted = None if students is None else set(students)
    config, people = folder.config(), read_people(folder.root)
    zone, step = course_zone(config), AssignLatePenalties(config=config)
    rule = rule_of(config)
    step.init_plugin()

    def write() -> list[LateSubmission]:
        with Gradebook(db_url(folder)) as book:
            submissions = [
                submission
                for submission in book.assignment_submissions(study.assignment)
                if wanted is None or submission.student.id in wanted
            ]
            for submission in submissions:
                student = submission.student.id
                update_time(submission, zone, folder.submission(study.assignment, student))
                apply_extension(folder, people, submission)
            late = [
                update_student(book, step, rule, submission.student.id)[study.assignment]
                if has_free_days(config)
                else _penalise(step, submission)
                for submission in submissions
            ]
            book.db.commit()
        late = [each for each in late if each.seconds > 0 and people.is_active(each.student)]
        return sorted(late, key=lambda each: each.student)

    return with_retry(folder, write)


def has_free_days(config: Any) -> bool:
    """Whether the penalty of one assignment can depend on a student's other assignments."""
    rule = rule_of(config)
    return rule is not None and rule.free_days > 0


def update_student(
    book: Gradebook, step: Any, rule: LateRule | None, student: str
) -> dict[str, LateSubmission]:
    """Update the penalties of all submissions of one student, and return them by assignment.

    On a server, the student's row is locked, so that two runs cannot overwrite each other's result.
    """
    book.db.flush()
    locked = book.db.query(Student).filter(Student.id == student).with_for_update()
    account = accounts(book.db, rule, locked.one().id).get(student)
    return {
        submission.assignment.name: _penalise(step, submission, account)
        for submission in book.student_submissions(student)
    }


def unknown_times(folder: CourseFolder, study: Study) -> dict[str, str]:
    """Return, by student, why the time of a submission is unknown, if timestamp.txt cannot be read."""
    zone, reasons = course_zone(folder.config()), {}
    for student, submission in folder.submitted(study.assignment).items():
        try:
            submission_time(submission, zone)
        except TimeError as error:
            reasons[student] = str(error)
    return reasons


def update_time(submission: SubmittedAssignment, zone: ZoneInfo, *folders: Path) -> None:
    """Set the time of a submission in the gradebook to the one in the first timestamp.txt in
    `folders`.

    The time is set to None if that file cannot be read or if the submission has no such file. It is
    left unchanged if none of the folders exists.
    """
    if not any(folder.is_dir() for folder in folders):
        return
    try:
        time = next(filter(None, (submission_time(folder, zone) for folder in folders)), None)
        when = time.replace(tzinfo=None) if time else None
    except TimeError:
        when = None
    if submission.timestamp != when:
        submission.timestamp = when


def _penalise(
    step: Any, submission: SubmittedAssignment, account: Account | None = None
) -> LateSubmission:
    """Set the penalty as nbgrader's own step does. It is at most the notebook's score."""
    name, seconds, total = submission.assignment.name, submission.total_seconds_late, 0.0
    free = account.used.get(name, 0) * SECONDS_PER_DAY if account else 0
    for notebook in submission.notebooks:
        penalty = (
            step.plugin_inst.late_submission_penalty(
                submission.student.id, notebook.score, seconds - free
            )
            if seconds > free
            else None
        )
        if penalty is not None:
            penalty = min(max(0, penalty), notebook.score)
        notebook.late_submission_penalty = penalty
        total += penalty or 0
    return LateSubmission(submission.student.id, seconds, total, account)
