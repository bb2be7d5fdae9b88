"""Writes the submissions in a system's archive to `submitted/`, for students on the roster only.

A submission is replaced only by a complete new one, and nothing outside of `submitted/` is written.
Files that cannot be copied and submissions of unknown students are reported.
"""

import os
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path, PurePosixPath

from autograder.course_folder import CourseFolder, nfc
from autograder.errors import UserError, is_fatal
from autograder.grading.intake.submission_files import (
    MAX_ALL,
    MAX_ENTRIES,
    MAX_LISTED,
    MAX_NOTEBOOK,
    printable_name,
)
from autograder.grading.records.attempts import keep_version
from autograder.lms import canvas, github, gradescope, moodle
from autograder.lms.sources import (
    is_hidden,
    name_problem,
    open_source,
    size_limit,
    without_root,
)
from autograder.lms.uploads import Directory, FilePart, Owner, Upload
from autograder.nbgrader_times import TIMESTAMP, submission_time
from autograder.times import TimeError
from common.command_lines import advice
from course.checks import Study

SYSTEMS = {
    "canvas": "Canvas",
    "moodle": "Moodle",
    "github": "GitHub Classroom",
    "gradescope": "Gradescope",
}
WRITTEN_BY_EXCHANGE = (TIMESTAMP, "submission_secret.txt")  # of nbgrader, and not of students
MAX_SUBMISSION = MAX_ALL + MAX_NOTEBOOK  # bytes
MAX_TOTAL = 20_000_000_000  # bytes of all submissions of an archive
CHUNK = 1 << 16
UNREADABLE = (  # what zipfile raises for damaged archives
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OSError,
    LookupError,
)
JUST_LATE = timedelta(minutes=1)
NEW, REPLACED, UNCHANGED, OLDER = "new", "replaced", "unchanged", "older"
SAME_FILES = "same files"
EXPLANATIONS = {
    OLDER: "the submission is older than the collected one, which stays",
    SAME_FILES: "the same files were submitted again later, so the collected submission keeps its "
    "time; --times FILE sets another one",
}
TIME_LOST = (
    "the archive has no time for this submission, which replaces one with a time and counts as on "
    "time; --times FILE sets the time"
)


class RefusedError(Exception):
    """A submission cannot be collected; the message is a reason that follows a colon."""


@dataclass(frozen=True)
class Times:
    """Times that the instructor provides, the due date, and the course's time zone."""

    listed: Sequence[tuple[Owner, datetime]] = ()
    due: datetime | None = None
    zone: tzinfo = UTC


@dataclass
class Collected:
    """The result of collecting an archive: a status per student, and sentences about the rest."""

    system: str
    statuses: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def summary(self, assignment: str) -> str:
        """Return one line about the submissions."""
        count = Counter(self.statuses.values())
        older = f", older than the collected ones: {count[OLDER]}" if count[OLDER] else ""
        return (
            f"collected {assignment} from {SYSTEMS[self.system]}; submissions: "
            f"{len(self.statuses)}, new: {count[NEW]}, replaced: {count[REPLACED]}, unchanged: "
            f"{count[UNCHANGED] + count[SAME_FILES]}{older}; not collected: {len(self.refused)}"
        )


def collect_from(
    folder: CourseFolder,
    study: Study,
    path: Path,
    directory: Directory,
    times: Times,
    system: str = "",
) -> Collected:
    """Collect the submissions to a study from an archive or folder of a system (default: detected).

    Listed times replace those of the system. A submission that the system only calls late gets a time
    shortly after the due date. Raises `UserError` if the archive contains no submissions.
    """
    if not directory.students:
        raise UserError(
            f"the roster is empty: import it with {advice('roster', 'FILE', course=folder.root)}"
        )
    listed = {student: when for owner, when in times.listed if (student := directory.find(owner))}
    wanted = {each.name for each in folder.release(study.assignment).glob("*.ipynb")}
    wanted |= {study.module} - {""}
    writer = _Writer(folder, study.assignment, times.zone)
    with open_source(path) as parts:
        name, uploads = _read(parts, directory, wanted, system, path)
        result = Collected(name)
        result.refused += _unassigned(parts, uploads)
        for student, upload in _by_student(uploads, directory, result).items():
            when = listed.get(student, upload.time)
            is_estimate = when is None and upload.late
            if is_estimate:
                when = times.due and times.due + JUST_LATE
                result.notes.append(_late_note(student, name, when))
            had_time = writer.time(student) is not None
            try:
                status = writer.write(student, upload, when, is_estimate, student in listed)
                result.statuses[student] = status
            except RefusedError as error:
                result.refused.append(f"{student}: {error}")
                continue
            finally:
                result.notes += _limited(student, upload.problems)
            if status in EXPLANATIONS:
                result.notes.append(f"{student}: {EXPLANATIONS[status]}")
            elif when is None and status == REPLACED and had_time:
                result.notes.append(f"{student}: {TIME_LOST}")
    return result


def _late_note(student: str, system: str, when: datetime | None) -> str:
    effect = (
        "so it counts as one minute late"
        if when
        else "and the assignment has no due date, so it counts as on time"
    )
    return (
        f"{student}: {SYSTEMS[system]} calls the submission late, but does not export its time, "
        f"{effect}; --times FILE sets the time"
    )


def _limited(student: str, problems: Sequence[str]) -> list[str]:
    unique = list(dict.fromkeys(problems))
    more = len(unique) - MAX_LISTED
    return [f"{student}: {problem}" for problem in unique[:MAX_LISTED]] + (
        [f"{student}: {more:,} more problems"] if more > 0 else []
    )


# ---- Finding the submissions


def _read(
    parts: Sequence[FilePart], directory: Directory, wanted: Iterable[str], system: str, path: Path
) -> tuple[str, list[Upload]]:
    """Return the system and the submissions of an archive, with or without a folder around them."""
    readers: dict[str, Callable[[list[FilePart]], list[Upload]]] = {
        "gradescope": gradescope.read_uploads,
        "moodle": moodle.read_uploads,
        "canvas": partial(canvas.read_uploads, directory=directory, wanted=wanted),
        "github": partial(github.read_uploads, directory=directory),
    }
    best: tuple[str, list[Upload]] = ("", [])
    try:
        for name in [system] if system else readers:
            for listed in (list(parts), without_root(parts)):
                uploads = readers[name](listed)
                if _covered(uploads) > _covered(best[1]):
                    best = name, uploads
    except gradescope.MetadataError as error:
        raise UserError(f"{path}: {error}") from None
    if not best[0]:
        kind = SYSTEMS.get(system, "a known system")
        raise UserError(
            f"{path} contains no submissions in the form of {kind}; --format names the system, one "
            f"of {', '.join(SYSTEMS)}"
        )
    return best


def _covered(uploads: Iterable[Upload]) -> int:
    return sum(max(1, len(upload.files)) for upload in uploads)


def _unassigned(parts: Sequence[FilePart], uploads: Sequence[Upload]) -> list[str]:
    """Return sentences about files that belong to no submission, because of their names."""
    assigned = {id(part.open) for upload in uploads for part in upload.files.values()}
    names = [
        f"{printable_name(part.name)}: {part.problem}"
        for part in parts
        if part.problem and id(part.open) not in assigned
    ]
    more = len(names) - MAX_LISTED
    return names[:MAX_LISTED] + ([f"{more:,} more files with such problems"] if more > 0 else [])


def _by_student(
    uploads: Iterable[Upload], directory: Directory, result: Collected
) -> dict[str, Upload]:
    """Return one submission per student; the newest of several, if their times show it."""
    of_student: dict[str, list[Upload]] = defaultdict(list)
    for upload in uploads:
        students = {student for owner in upload.owners if (student := directory.find(owner))}
        label = printable_name(upload.label)
        if len(students) < max(1, len(upload.owners)):
            result.refused.append(f"{label}: no student on the roster has this name or number")
        if len(students) > 1:
            result.notes.append(
                f"{label}: a submission of several students, collected for each of them: "
                f"{', '.join(sorted(students))}"
            )
        for student in students:
            of_student[student].append(upload)
    chosen = {student: _newest(student, several, result) for student, several in of_student.items()}
    return {student: upload for student, upload in sorted(chosen.items()) if upload}


def _newest(student: str, several: Sequence[Upload], result: Collected) -> Upload | None:
    """Return the newest of a student's submissions; None if their times do not show it."""
    if len(several) == 1:
        return several[0]
    labels = ", ".join(printable_name(upload.label) for upload in several)
    times = {upload.time for upload in several}
    if None in times or len(times) < len(several):
        result.refused.append(
            f"{student}: there are several submissions ({labels}), and their times do not show "
            "which one is the newest"
        )
        return None
    newest = max(several, key=lambda upload: upload.time or datetime.min)
    result.notes.append(
        f"{student}: there are several submissions ({labels}); the newest one counts, "
        f"{printable_name(newest.label)}"
    )
    return newest


# ---- Writing a submission


@dataclass
class _Writer:
    """Writes submissions to one assignment; `left` is the number of bytes that may be written."""

    folder: CourseFolder
    assignment: str
    zone: tzinfo
    left: int = MAX_TOTAL

    def time(self, student: str) -> datetime | None:
        """Return the time of a student's collected submission; None if it is unknown."""
        try:
            return submission_time(self.folder.own_submission(self.assignment, student), self.zone)
        except TimeError:
            return None

    def write(
        self,
        student: str,
        upload: Upload,
        when: datetime | None,
        is_estimate: bool = False,
        is_listed: bool = False,
    ) -> str:
        """Write one submission, unless it is the same or older; return its status.

        If only the time of a submission differs, a time that the instructor has listed corrects it;
        otherwise, an earlier time remains. An estimated time shows no order.
        Raises `RefusedError`; the former submission is unchanged then.
        """
        target = self._target(student)
        before = self.time(student)
        is_older = bool(before and when and when < before and not is_estimate)
        if is_older and not is_listed:
            return OLDER
        target.parent.parent.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".collecting-", dir=target.parent.parent))
        try:
            new = temporary / "new"
            new.mkdir()
            self.left -= _unpack(upload, new, self.left)
            if when is not None:
                text = f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
                (new / TIMESTAMP).write_text(text, "ascii")
            if target.is_dir() and _is_same(target, new, when is None or is_estimate):
                return UNCHANGED
            if not target.is_dir() or not _is_same(target, new, True):
                if is_older:
                    return OLDER
                keep_version(self.folder, self.folder.assignment(self.assignment), student)
            elif before and not is_listed:
                return SAME_FILES
            return _replace(new, target, temporary / "old")
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _target(self, student: str) -> Path:
        """Return the folder of a submission. Raises `RefusedError` if it cannot be written."""
        home = self.folder.root / "submitted"
        target = self.folder.own_submission(self.assignment, student)
        if "/" in student or "\\" in student or student in ("", ".", ".."):
            raise RefusedError("the name cannot be a folder's")
        for place in (home, target.parent, target):
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise RefusedError(f"{place} is not a folder, so nothing is written there")
        return target


def _replace(new: Path, target: Path, old: Path) -> str:
    """Move a new submission to its place; if that fails, the former one stays there."""
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        new.rename(target)
        return NEW
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
    return REPLACED


def _is_same(old: Path, new: Path, without_time: bool) -> bool:
    """Whether two submissions have the same files, without what nbgrader adds.

    A time that is not exported again does not make a submission different.
    """
    ignored = WRITTEN_BY_EXCHANGE if without_time else WRITTEN_BY_EXCHANGE[1:]
    files = [
        {
            name: path
            for path in folder.rglob("*")
            if not path.is_dir() and (name := str(path.relative_to(folder))) not in ignored
        }
        for folder in (old, new)
    ]
    return files[0].keys() == files[1].keys() and all(
        path.is_file()
        and not path.is_symlink()
        and path.stat().st_size == files[1][name].stat().st_size
        and path.read_bytes() == files[1][name].read_bytes()
        for name, path in files[0].items()
    )


def _unpack(upload: Upload, target: Path, left: int) -> int:
    """Copy the files of a submission that can be copied; return their size. Raises `RefusedError`.

    Two names that differ only in letter case are one file in many systems; the first one counts.
    """
    if len(upload.files) > MAX_ENTRIES:
        raise RefusedError(f"it has more than {MAX_ENTRIES:,} files")
    names: set[str] = set()
    total = 0
    for name, part in upload.files.items():
        if name in WRITTEN_BY_EXCHANGE or is_hidden(PurePosixPath(name)):
            continue
        problem = part.problem or name_problem(name)
        if _clashes(name, names):
            problem = "another file has the same name"
        if problem:
            upload.problems.append(f"{printable_name(name)} was not copied: {problem}")
            continue
        limit = min(size_limit(part.name), MAX_SUBMISSION - total, left - total)
        try:
            total += _copy(part, target / name, limit)
        except UNREADABLE as error:
            if is_fatal(error):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise RefusedError(f"{printable_name(name)} cannot be unpacked ({reason})") from None
        names.add(nfc(name).casefold())
    if not names:
        raise RefusedError("it has no file that can be copied")
    return total


def _clashes(name: str, names: set[str]) -> bool:
    """Whether a file cannot exist next to the files with the other names."""
    plain = nfc(name).casefold()
    parents = {"/".join(plain.split("/")[:end]) for end in range(1, plain.count("/") + 1)}
    return (
        plain in names
        or bool(parents & names)
        or any(other.startswith(f"{plain}/") for other in names)
    )


def _copy(part: FilePart, target: Path, limit: int) -> int:
    """Copy a file of at most `limit` bytes; return its size. Raises `RefusedError`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(number, "wb") as copy, part.open() as source:
        for chunk in iter(partial(source.read, CHUNK), b""):
            size += len(chunk)
            if size > limit:
                raise RefusedError("it is too large")
            copy.write(chunk)
    return size
