"""Lists the files of any submission in bounded time, without following links."""

import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from autograder.course_folder import CONFIG_FILE
from autograder.nbgrader_times import TIMESTAMP
from autograder.sandbox.limits import MAX_BYTES
from common.messages import english
from course.checks import Study

MAX_ALL = 20_000_000  # bytes of all files that count
MAX_NOTEBOOK = 20_000_000  # bytes of a notebook with its outputs, which are dropped
MAX_ENTRIES = 2_000  # files, folders and links; with more, only the required files count
MAX_NAME = 500  # bytes of a name with its folders; copies have longer paths
MAX_PRINTED = 200  # characters of a name
# Staff files in a course folder that a student could submit through a hard link. Backups of
# submissions, as made by `cp -al`, are not staff files.
STAFF_PATHS = (
    "source",
    "autograded",
    "feedback",
    "results",
    "reports",
    "gradebook.db",
    "secret",
    CONFIG_FILE,
)
MAX_LISTED = 3  # ignored files with the same reason
IGNORE_REASONS = {
    "link": english("{name} is a link and was ignored: only real files count"),
    "staff's": english(
        "{name} is a hard link to a file of the course, not the student's own, and was "
        "ignored: replace it with the file that the student submitted"
    ),
    "odd": english("{name} is neither a file nor a folder and was ignored"),
    "large": english("{name} has {size} bytes and was ignored: at most {limit} are allowed"),
    "too much": english("{name} was ignored: all files together may have at most {total} bytes"),
    "deep": english(
        "{name} and its contents were ignored: the name, with those of its folders, has more "
        "than {longest} bytes"
    ),
    "hidden": "",
    "folder": "",  # not worth a message
}


@dataclass(frozen=True)
class Entry:
    """A file, folder or link in a submission; `ignored` is the reason if it does not count."""

    path: Path
    name: Path  # relative to the submission
    kind: str  # file, folder, link or other
    size: int
    ignored: str  # a key of IGNORE_REASONS, or "" for a file that counts
    inode: tuple[int, int] = (0, 0)  # device and inode, which identify a file with several names
    shared: bool = False  # whether the file has another name as well (a hard link)


@dataclass(frozen=True)
class SubmittedFile:
    """A file that counts: its path, and its name relative to the submission."""

    path: Path
    name: PurePath


@dataclass(frozen=True)
class SubmissionFiles:
    """The entries of a submission, sorted by name; `problem` explains why some are missing."""

    folder: Path
    entries: tuple[Entry, ...]
    problem: str = ""

    @property
    def files(self) -> list[Path]:
        """The files that count."""
        return [entry.path for entry in self.entries if not entry.ignored]

    def problems(self) -> Iterator[str]:
        """Yield sentences that explain what was ignored and why; their number is limited."""
        if self.problem:
            yield self.problem
        sentences = defaultdict(list)
        for entry in self.entries:
            if why := IGNORE_REASONS.get(entry.ignored):
                sentences[why].append(
                    why.format(
                        name=printable_name(entry.name),
                        size=f"{entry.size:,}",
                        limit=f"{_max_bytes(entry.name):,}",
                        total=f"{MAX_ALL:,}",
                        longest=MAX_NAME,
                    )
                )
        for messages in sentences.values():
            yield from messages[:MAX_LISTED]
            if messages[MAX_LISTED:]:
                yield english(
                    f"{len(messages[MAX_LISTED:]):,} more were ignored for the same reason"
                )


def list_submission(submission: Path, study: Study, release: Path) -> SubmissionFiles:
    """Return the files of a submission; the required notebooks and module are always included.

    A file counts even if it has several names, because a backup may contain hard links to it. Only
    hard links to files of the course, such as a solution, do not count.
    """
    notebooks = {path.name for path in release.glob("*.ipynb")}
    files = list_files(submission, notebooks | {study.module, TIMESTAMP} - {""})
    if not any(entry.shared for entry in files.entries):
        return files
    staff_inodes = _staff_inodes(release.parents[1], study.staff_folder.parent)
    return replace(
        files,
        entries=tuple(
            replace(entry, ignored="staff's")
            if entry.shared and entry.inode in staff_inodes
            else entry
            for entry in files.entries
        ),
    )


def _staff_inodes(course: Path, answers: Path) -> set[tuple[int, int]]:
    """Return the device and inode of each staff file; a hard link to the file has the same ones."""
    inodes = set()
    for place in (*(course / name for name in STAFF_PATHS), answers):
        for path in (place, *place.rglob("*")):
            with suppress(FileNotFoundError):
                status = path.lstat()
                inodes.add((status.st_dev, status.st_ino))
    return inodes


def fingerprint(files: SubmissionFiles) -> str:
    """Return a digest of a submission, which changes if and only if the submission changes.

    Only the size of ignored files is included, because they may be huge.
    """
    digest = hashlib.sha256(files.problem.encode())
    for entry in files.entries:
        head = f"{entry.name}\0{entry.kind}\0{entry.ignored}\0"
        digest.update(head.encode("utf-8", "surrogateescape"))
        if entry.kind == "file" and entry.ignored:
            digest.update(str(entry.size).encode())
        elif entry.kind == "file":
            with entry.path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def list_files(submission: Path, wanted: Collection[str] = ()) -> SubmissionFiles:
    """Return the entries of a folder or, if it has too many, only those in `wanted`."""
    if submission.is_symlink() or not submission.is_dir():
        return SubmissionFiles(submission, (), "the submission is not a folder")
    entries: list[Entry] = []
    problem = ""
    for entry in _walk(submission, submission):
        if len(entries) == MAX_ENTRIES:
            problem = (
                f"there are more than {MAX_ENTRIES:,} files and folders: only "
                f"{', '.join(sorted(wanted)) or 'nothing'} counts"
            )
            entries = [
                _entry(submission / name, submission)
                for name in wanted
                if os.path.lexists(submission / name)
            ]
            break
        entries.append(entry)
    return SubmissionFiles(submission, tuple(_within_limits(entries, wanted)), problem)


def _walk(folder: Path, submission: Path) -> Iterator[Entry]:
    with os.scandir(folder) as entries:
        for each in entries:
            entry = _entry(Path(each.path), submission)
            yield entry
            if entry.kind == "folder" and entry.ignored != "deep":
                yield from _walk(entry.path, submission)


def _entry(path: Path, submission: Path) -> Entry:
    status, name = path.lstat(), path.relative_to(submission)
    kind = _kind(status.st_mode)
    hidden = any(part.startswith(".") for part in name.parts)
    if len(os.fsencode(name)) > MAX_NAME:
        ignored = "deep"
    elif kind in ("link", "folder"):
        ignored = kind
    elif kind == "other":
        ignored = "odd"
    elif status.st_size > _max_bytes(name):
        ignored = "large"
    else:
        ignored = "hidden" if hidden else ""
    return Entry(
        path,
        name,
        kind,
        status.st_size,
        ignored,
        (status.st_dev, status.st_ino),
        kind == "file" and status.st_nlink > 1,
    )


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def _max_bytes(name: Path) -> int:
    return MAX_NOTEBOOK if name.suffix.lower() == ".ipynb" else MAX_BYTES


def _within_limits(entries: list[Entry], wanted: Collection[str]) -> Iterator[Entry]:
    """Yield the entries in their order. Wanted files count towards the limit first, then modules,
    then the rest.
    """
    size, full = 0, set()
    for entry in sorted(
        entries, key=lambda e: (str(e.name) not in wanted, e.name.suffix != ".py", e.name)
    ):
        if not entry.ignored:
            size += min(entry.size, MAX_BYTES)  # a larger notebook is staged without its outputs
            if size > MAX_ALL:
                full.add(entry.name)
    for entry in sorted(entries, key=lambda e: e.name):
        yield replace(entry, ignored="too much") if entry.name in full else entry


def printable_name(name: PurePath | str) -> str:
    """Return a readable version of a name, which may be any bytes, on one line."""
    text = str(name).encode("utf-8", "backslashreplace").decode()
    if len(text) > MAX_PRINTED:
        text = f"{text[: MAX_PRINTED // 2]}...{text[-MAX_PRINTED // 2 :]}"
    return text if text.isprintable() else repr(text)
