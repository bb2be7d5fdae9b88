"""Keeps every version of a submission, and decides which attempt's mark counts.

```
attempts/{assignment}/{student}/{version}/   the files, and attempt.json if the version was replaced
```

A version is named after the digest of its files. nbgrader's gradebook has one record per student, so
it contains the marks of the last version. When another version is graded, the marks that the
previous one had, including manual ones, are recorded with it. Penalties of earlier attempts follow
the present rule, due date and extensions.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from statistics import mean
from typing import Any

from sqlalchemy import Connection

from autograder.course_folder import CourseFolder
from autograder.course_folder.policies import SECONDS_PER_DAY, LateRule
from autograder.course_folder.table import read_course_table
from autograder.database import engine
from autograder.grading.intake.submission_files import (
    SubmissionFiles,
    fingerprint,
    list_submission,
)
from autograder.grading.records.free_days import accounts, rule_of
from autograder.grading.records.gradebook_reader import (
    GRADES,
    PENALTIES,
    SubmissionTime,
    query_rows,
    read_times,
)
from autograder.grading.records.ledger import read_object, write_json
from autograder.nbgrader_times import submission_time
from autograder.times import TimeError, course_zone
from common.messages import english
from course.checks import Study

FOLDER, RECORD = "attempts", "attempt.json"
COUNTED = {"last": english("last"), "best": english("best"), "average": english("average")}
LENGTH = 16  # characters of a version's name


@dataclass(frozen=True)
class Attempt:
    """An earlier version of a submission that has been graded."""

    version: str
    points: Mapping[str, float]  # by notebook, before the penalty
    penalty: float  # when it was replaced
    time: datetime | None

    def score(self, rule: LateRule | None, times: SubmissionTime | None, free_days: int) -> float:
        """Return the points after the penalty; a course's own plugin is not called again."""
        total = sum(self.points.values())
        if rule is None:
            return max(0.0, total - self.penalty)
        if times is None or times.due is None or self.time is None:
            return total
        due = times.due.replace(tzinfo=UTC) + times.extension
        percent = rule.percent((self.time - due).total_seconds() - free_days * SECONDS_PER_DAY)
        return total - sum(round(points * percent / 100, 2) for points in self.points.values())


def keep_version(folder: CourseFolder, study: Study, student: str) -> None:
    """Keep the files that a student has submitted, unless this version is kept already."""
    submission = folder.own_submission(study.assignment, student)
    if submission.is_dir():
        files = list_submission(submission, study, folder.release(study.assignment))
        keep_files(folder, study.assignment, student, files, fingerprint(files))


def keep_files(
    folder: CourseFolder, assignment: str, student: str, files: SubmissionFiles, digest: str
) -> None:
    """Keep the files of a version with this digest; links and ignored files are left out."""
    target = _versions(folder, assignment, student) / digest[:LENGTH]
    if target.exists() or not files.files:
        return
    part = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for path in files.files:
        if path.is_file() and not path.is_symlink():
            copy = part / path.relative_to(files.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    part.replace(target)


def record_marks(
    folder: CourseFolder, study: Study, student: str, entry: Mapping[str, Any] | None, digest: str
) -> None:
    """Record the marks in the gradebook with the version to which they belong, according to the
    ledger's `entry`, if a version with another digest is about to be graded.
    """
    if entry is None or entry["status"] != "graded":
        return
    version = str(entry["state"].get("submission", ""))[:LENGTH]
    if not version or version == digest[:LENGTH]:
        return
    points: dict[str, float] = {}
    with engine(folder.config().CourseDirectory.db_url).connect() as gradebook:
        for grade in query_rows(gradebook, GRADES, study.assignment, student):
            score = grade.automatic if grade.manual is None else grade.manual
            own = 0 if score is None else score + (grade.extra or 0)
            points[grade.notebook] = points.get(grade.notebook, 0) + own
        rows = query_rows(gradebook, PENALTIES, study.assignment, student)
        penalty = sum(row[2] or 0 for row in rows)
    if points:
        path = _versions(folder, study.assignment, student) / version
        path.mkdir(parents=True, exist_ok=True)
        write_json(path / RECORD, {"points": points, "penalty": penalty})


def earlier_attempts(
    folder: CourseFolder, assignment: str, student: str, entry: Mapping[str, Any], zone: tzinfo
) -> list[Attempt]:
    """Return the graded versions before the one with this entry in the ledger, in order of time."""
    attempts = []
    present = str(entry.get("state", {}).get("submission", ""))[:LENGTH]
    for path in sorted(_versions(folder, assignment, student).glob(f"*/{RECORD}")):
        record = read_object(path, {"points": dict, "penalty": int | float})
        if record is None or path.parent.name == present:
            continue
        try:
            time = submission_time(path.parent, zone)
        except TimeError:
            time = None
        attempts.append(Attempt(path.parent.name, record["points"], record["penalty"], time))
    return sorted(
        attempts, key=lambda each: (each.time.timestamp() if each.time else 0, each.version)
    )


class AttemptRule:
    """Which attempt counts in a course, for the submissions to one assignment."""

    def __init__(self, folder: CourseFolder, assignment: str, gradebook: Connection) -> None:
        self.folder, self.assignment = folder, assignment
        self.counts = read_course_table(folder.root).attempts
        if self.counts == "last":
            return
        config = folder.config()
        self._rule, self._zone = rule_of(config), course_zone(config)
        self._accounts = accounts(gradebook, self._rule)
        self._owners = folder.owners(assignment)
        self._times = {
            time.student: time for time in read_times(gradebook) if time.assignment == assignment
        }

    def earlier(self, student: str, entry: Mapping[str, Any]) -> list[float]:
        """Return the scores of a student's earlier attempts; none if only the last one counts."""
        if self.counts == "last":
            return []
        account = self._accounts.get(student)
        free = account.used.get(self.assignment, 0) if account else 0
        owner = self._owners.get(student, student)
        return [
            attempt.score(self._rule, self._times.get(student), free)
            for attempt in earlier_attempts(self.folder, self.assignment, owner, entry, self._zone)
        ]

    def decide(self, earlier: Iterable[float], last: float) -> float:
        """Return the score that counts."""
        scores = [*earlier, last]
        return {"last": last, "best": max(scores), "average": mean(scores)}[self.counts]

    def describe(self, earlier: Iterable[float], last: float) -> str:
        """Return a sentence about the attempts, or "" if there is only one."""
        scores = [*earlier, last]
        if len(scores) == 1:
            return ""
        listed = ", ".join(f"{round(score, 2):g}" for score in scores)
        return english(
            f"attempts: {len(scores)}, with {listed} points; the {COUNTED[self.counts]} counts, "
            f"{round(self.decide(scores[:-1], last), 2):g}"
        )


def _versions(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.root / FOLDER / assignment / student
