"""Keeps every version of a submission, and decides which attempt's mark counts.

```
attempts/{assignment}/{student}/{version}/      the files that the student submitted
attempts/{assignment}/{student}/{version}.json  the student's marks, if the version was replaced
```

A version is named after the digest of its files. nbgrader's gradebook has one record per student, so
it contains the marks of the last version. When another version is graded, the marks that the
previous one had, including manual ones, are recorded. A version that was replaced before it was
graded gets its marks from the next grading run, if they can count. Penalties of earlier attempts
follow the present rule, due date and extensions. A graded version whose time alone is corrected
remains the same attempt.

The versions that the present members of a group have submitted are attempts of each member. Their
marks are recorded for each member; for a member without a record, those of the submitter count.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
from autograder.grading.records.ledger import read_object, read_results, write_json
from autograder.nbgrader_times import TIMESTAMP, submission_time
from autograder.times import TimeError, course_zone
from common.messages import english
from course.checks import Study

FOLDER = "attempts"
FORM = {"points": dict, "penalty": int | float}  # required keys of a record
COUNTED = {"last": english("last"), "best": english("best"), "average": english("average")}
LENGTH = 16  # characters of a version's name
# "notebook/cell" -> digest of what a student wrote there, and the manual mark
Answers = Mapping[str, tuple[str, float | None]]


@dataclass(frozen=True)
class Attempt:
    """An earlier version of a submission that has been graded."""

    version: str
    points: Mapping[str, float]  # by notebook, before the penalty
    penalty: float  # when it was replaced
    time: datetime | None
    answers: Answers = field(default_factory=dict)  # those that graders mark

    def score(
        self,
        rule: LateRule | None,
        times: SubmissionTime | None,
        free_days: int,
        marked: Mapping[tuple[str, str], float],
    ) -> float:
        """Return the points after the penalty; a course's own plugin is not called again.

        An unmarked answer has the points of the same answer in another version, which are in
        `marked`.
        """
        points = dict(self.points)
        for cell, (answer, mark) in self.answers.items():
            if mark is None:
                points[cell.partition("/")[0]] += marked.get((cell, answer), 0)
        total = sum(points.values())
        if rule is None:
            return max(0.0, total - self.penalty)
        if times is None or times.due is None or self.time is None:
            return total
        due = times.due.replace(tzinfo=UTC) + times.extension
        percent = rule.percent((self.time - due).total_seconds() - free_days * SECONDS_PER_DAY)
        return total - sum(round(each * percent / 100, 2) for each in points.values())


def keep_version(folder: CourseFolder, study: Study, student: str) -> None:
    """Keep the files that a student has submitted, unless this version is kept already."""
    submission = folder.own_submission(study.assignment, student)
    if submission.is_dir():
        files = list_submission(submission, study, folder.release(study.assignment))
        keep_files(folder, study.assignment, student, files, fingerprint(files))


def keep_versions_of_others(folder: CourseFolder, study: Study, student: str) -> None:
    """Keep the files that the other members of a student's group have submitted."""
    for member in folder.people().members(student):
        if member != student:
            keep_version(folder, study, member)


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
    """Record the marks in the gradebook for the version to which they belong, according to the
    ledger's `entry`, if a version with another digest is about to be graded.

    If the two differ only in the time, the former one is removed: its time was wrong.
    """
    if entry is None or entry["status"] != "graded":
        return
    version = str(entry["state"].get("submission", ""))[:LENGTH]
    if not version or version == digest[:LENGTH]:
        return
    path = _versions(folder, study.assignment, student) / version
    if _is_time_corrected(folder, study, student, path):
        shutil.rmtree(path)
        _record(path).unlink(missing_ok=True)
        return
    if "owner" not in entry:  # otherwise, another member of the group has submitted the version
        path.mkdir(parents=True, exist_ok=True)
    results = folder.results(study.assignment, student)
    write_record(path, study, student, folder.config().CourseDirectory.db_url, results)


def _is_time_corrected(folder: CourseFolder, study: Study, student: str, version: Path) -> bool:
    """Whether a kept version differs from the submission of a student or group only in its time."""
    submission = folder.submission(study.assignment, student)
    files = list_submission(submission, study, folder.release(study.assignment))
    if not version.is_dir() or fingerprint(files)[:LENGTH] == version.name:
        return False
    kept = list_submission(version, study, folder.release(study.assignment))
    now, before = ({e for e in _contents(each) if e[0] != TIMESTAMP} for each in (files, kept))
    return bool(now) and now == before


def _contents(files: SubmissionFiles) -> Iterator[tuple[str, bytes]]:
    """Yield the files that count, with their names in the submission."""
    for path in files.files:
        yield path.relative_to(files.folder).as_posix(), path.read_bytes()


def write_record(version: Path, study: Study, student: str, db_url: str, results: Path) -> None:
    """Record the marks that a student has in a gradebook, if any, for the version in a folder.

    `results` is the folder of the version's outcomes.
    """
    points: dict[str, float] = {}
    answers: dict[str, tuple[str, float | None]] = {}
    digests = dict(_digests(results))
    with engine(db_url).connect() as gradebook:
        for grade in query_rows(gradebook, GRADES, study.assignment, student):
            cell = f"{grade.notebook}/{grade.cell}"
            score = grade.automatic if grade.manual is None else grade.manual
            own = 0 if score is None else score + (grade.extra or 0)
            points[grade.notebook] = points.get(grade.notebook, 0) + own
            if grade.automatic is None and cell in digests:
                answers[cell] = digests[cell], grade.manual
        rows = query_rows(gradebook, PENALTIES, study.assignment, student)
        penalty = sum(row[2] or 0 for row in rows)
    if points:
        version.parent.mkdir(parents=True, exist_ok=True)
        write_json(_record(version), {"points": points, "penalty": penalty, "answers": answers})


def unmarked_versions(
    folder: CourseFolder, assignment: str, student: str, present: str, zone: tzinfo
) -> list[Path]:
    """Return the folders of a student's or group's versions without marks, in order of time; none
    if only the last attempt counts. `present` is the digest of the last version.
    """
    if read_course_table(folder.root).attempts == "last":
        return []
    versions = _replaced(folder, assignment, student, present, zone)
    return [path for path in versions if read_object(_record(path), FORM) is None]


def earlier_attempts(
    folder: CourseFolder, assignment: str, student: str, entry: Mapping[str, Any], zone: tzinfo
) -> list[Attempt]:
    """Return the graded versions before the one with this entry in the ledger, in order of time."""
    present = str(entry.get("state", {}).get("submission", ""))
    own = _versions(folder, assignment, student)
    return [
        Attempt(
            path.name,
            record["points"],
            record["penalty"],
            _time(path, zone),
            record.get("answers", {}),
        )
        for path in _replaced(folder, assignment, student, present, zone)
        if (
            record := read_object(_record(own / path.name), FORM)
            or read_object(_record(path), FORM)
        )
    ]


class AttemptRule:
    """Which attempt counts in a course, for the submissions to one assignment."""

    def __init__(
        self,
        folder: CourseFolder,
        assignment: str,
        gradebook: Connection,
        student: str | None = None,
    ) -> None:
        """Read the gradebook for all students, or for one."""
        self.folder, self.assignment = folder, assignment
        self.counts = read_course_table(folder.root).attempts
        if self.counts == "last":
            return
        config = folder.config()
        self._rule, self._zone = rule_of(config), course_zone(config)
        self._accounts = accounts(gradebook, self._rule, student)
        self._times = {
            time.student: time
            for time in read_times(gradebook, student)
            if time.assignment == assignment
        }
        self._manual = defaultdict[str, dict[str, float]](dict)
        for grade in query_rows(gradebook, GRADES, assignment, student):
            if grade.manual is not None:
                self._manual[grade.student][f"{grade.notebook}/{grade.cell}"] = grade.manual

    def earlier(self, student: str, entry: Mapping[str, Any]) -> list[float]:
        """Return the scores of a student's earlier attempts; none if only the last one counts."""
        if self.counts == "last":
            return []
        account = self._accounts.get(student)
        free = account.used.get(self.assignment, 0) if account else 0
        attempts = earlier_attempts(self.folder, self.assignment, student, entry, self._zone)
        marked = {
            (cell, answer): mark
            for each in attempts
            for cell, (answer, mark) in each.answers.items()
            if mark is not None
        } | self._marked(student)
        times = self._times.get(student)
        return [attempt.score(self._rule, times, free, marked) for attempt in attempts]

    def _marked(self, student: str) -> dict[tuple[str, str], float]:
        """Return the manual marks of the last version, by cell and digest of the answer."""
        manual = self._manual.get(student, {})
        digests = dict(_digests(self.folder.results(self.assignment, student)))
        return {(cell, digests[cell]): manual[cell] for cell in manual.keys() & digests.keys()}

    def problem(self, student: str, entry: Mapping[str, Any]) -> str:
        """Return a sentence about attempts that have no marks yet, or ""."""
        present = entry.get("state", {}).get("submission")
        if self.counts == "last" or present is None:
            return ""
        versions = unmarked_versions(self.folder, self.assignment, student, present, self._zone)
        names = ", ".join(describe_version(version, self._zone) for version in versions)
        return names and f"no marks yet, so they do not count: {names}; grade again"

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


def describe_version(version: Path, zone: tzinfo) -> str:
    """Return the name of an attempt in messages, which contains its time, if it is known."""
    time = _time(version, zone)
    when = f" of {time.astimezone(zone):%Y-%m-%d %H:%M}" if time else ""
    return f"the attempt{when} ({version.relative_to(version.parents[3]).as_posix()})"


def _versions(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.root / FOLDER / assignment / student


def _record(version: Path) -> Path:
    """Return the file with the marks of a version. It is outside the version's folder, where a
    student could submit a file with the same name.
    """
    return version.with_name(f"{version.name}.json")


def _replaced(
    folder: CourseFolder, assignment: str, student: str, present: str, zone: tzinfo
) -> Iterable[Path]:
    """Return the folders of the versions that the members of a student's group have submitted, in
    order of time, without the one with the digest `present`.

    If several members have submitted the same version, the first submission counts.
    """
    versions = [
        path
        for member in folder.people().members(student)
        for path in _versions(folder, assignment, member).glob("*/")
        if path.name != present[:LENGTH] and not path.name.startswith(".")  # a copy in progress
    ]
    first: dict[str, Path] = {}
    for path in sorted(versions, key=lambda path: _order(path, zone)):
        first.setdefault(path.name, path)
    return first.values()


def _time(version: Path, zone: tzinfo) -> datetime | None:
    try:
        return submission_time(version, zone)
    except TimeError:
        return None


def _order(version: Path, zone: tzinfo) -> tuple[float, str]:
    time = _time(version, zone)
    return time.timestamp() if time else 0, version.name


def _digests(results: Path) -> Iterator[tuple[str, str]]:
    """Yield the digest of each answer, by notebook and cell, in the outcomes of a submission."""
    for notebook, result in read_results(results).items():
        for cell, digest in result.get("answers", {}).items():
            yield f"{notebook}/{cell}", digest
