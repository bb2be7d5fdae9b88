"""Lists what was handed in, in bounded time, whatever that is, and follows no link."""

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
from course.probes import Study

MAX_ALL = 20_000_000  # bytes of all files that count
MAX_NOTEBOOK = 20_000_000  # bytes of a notebook with its outputs, which are left out
MAX_ENTRIES = 2_000  # files, folders and links; of more only what is asked for by name counts
MAX_NAME = 500  # bytes of a name with its folders: it is copied to where paths are longer
MAX_SHOWN = 200  # characters of a name
# What in a course folder is not students': a hard link would hand it in. Backups of submissions, as
# `cp -al` makes them, are elsewhere.
STAFFS = (
    "source",
    "autograded",
    "feedback",
    "results",
    "reports",
    "gradebook.db",
    "secret",
    CONFIG_FILE,
)
ANSWERS = Path("autograder", "answers")  # in the home of a study
TOLD = 3  # of those that are ignored for one reason
WHY = {
    "link": "{name} is a link and was ignored: only real files count",
    "staff's": "{name} is a hard link to a file of the course, not the student's own, and was "
    "ignored: replace it with the file that the student handed in",
    "odd": "{name} is neither a file nor a folder and was ignored",
    "large": "{name} has {size:,} bytes and was ignored: at most {limit:,} are allowed",
    "too much": f"{{name}} was ignored: all files together may have at most {MAX_ALL:,} bytes",
    "deep": "{name} was ignored, with what is in it: its name and those of its folders have more "
    f"than {MAX_NAME} bytes",
    "hidden": "",
    "folder": "",  # nothing that a person wants to hear of
}


@dataclass(frozen=True)
class Entry:
    """A file, folder or link in a submission: `ignored` says why it does not count, if not."""

    path: Path
    name: Path  # relative to the submission
    kind: str  # file, folder, link or other
    size: int
    ignored: str  # a key of WHY, or "" for a file that counts
    inode: tuple[int, int] = (0, 0)  # with the device: what identifies a file of several names
    shared: bool = False  # whether it is a file that has another name


@dataclass(frozen=True)
class Submitted:
    """A file that counts: where it can be read, and its name relative to the submission."""

    path: Path
    name: PurePath


@dataclass(frozen=True)
class HandedIn:
    """What lies in a submission, in order of names; `problem` where that is not everything."""

    folder: Path
    entries: tuple[Entry, ...]
    problem: str = ""

    @property
    def files(self) -> list[Path]:
        """The files that count."""
        return [entry.path for entry in self.entries if not entry.ignored]

    def problems(self) -> Iterator[str]:
        """What was ignored and why, in sentences, of which there are never many."""
        if self.problem:
            yield self.problem
        sentences = defaultdict(list)
        for entry in self.entries:
            if why := WHY.get(entry.ignored):
                sentences[why].append(
                    why.format(
                        name=shown(entry.name), size=entry.size, limit=_max_bytes(entry.name)
                    )
                )
        for alike in sentences.values():
            yield from alike[:TOLD]
            if alike[TOLD:]:
                yield f"{len(alike[TOLD:]):,} more were ignored for the same reason"


def look_at(submission: Path, study: Study, release: Path) -> HandedIn:
    """What was handed in; notebooks and module are found whatever lies beside them.

    A file counts however many names it has, as a backup may share it. Only hard links to files of
    the course, such as a solution, do not count.
    """
    notebooks = {path.name for path in release.glob("*.ipynb")}
    found = look_through(submission, notebooks | {study.module, TIMESTAMP} - {""})
    if not any(entry.shared for entry in found.entries):
        return found
    staffs = _staff_files(release.parents[1], study.home / ANSWERS)
    return replace(
        found,
        entries=tuple(
            replace(entry, ignored="staff's") if entry.shared and entry.inode in staffs else entry
            for entry in found.entries
        ),
    )


def _staff_files(course: Path, answers: Path) -> set[tuple[int, int]]:
    """The device and inode of each file of the staff's, by which a hard link to it is known."""
    found = set()
    for place in (*(course / name for name in STAFFS), answers):
        for path in (place, *place.rglob("*")):
            with suppress(FileNotFoundError):
                status = path.lstat()
                found.add((status.st_dev, status.st_ino))
    return found


def fingerprint(handed_in: HandedIn) -> str:
    """A digest of what was handed in: it changes when, and only when, that does.

    Of a file that does not count only the size is looked at, as it may be without end.
    """
    digest = hashlib.sha256(handed_in.problem.encode())
    for entry in handed_in.entries:
        head = f"{entry.name}\0{entry.kind}\0{entry.ignored}\0"
        digest.update(head.encode("utf-8", "surrogateescape"))
        if entry.kind == "file" and entry.ignored:
            digest.update(str(entry.size).encode())
        elif entry.kind == "file":
            with entry.path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def look_through(submission: Path, wanted: Collection[str] = ()) -> HandedIn:
    """What lies in `submission`; of too much, only the files in `wanted` are looked at."""
    if submission.is_symlink() or not submission.is_dir():
        return HandedIn(submission, (), "the submission is not a folder")
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
    return HandedIn(submission, tuple(_within_limits(entries, wanted)), problem)


def _walk(folder: Path, submission: Path) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        for each in found:
            entry = _entry(Path(each.path), submission)
            yield entry
            if entry.kind == "folder" and entry.ignored != "deep":
                yield from _walk(entry.path, submission)


def _entry(path: Path, submission: Path) -> Entry:
    status, name = path.lstat(), path.relative_to(submission)
    kind = (
        "link"
        if stat.S_ISLNK(status.st_mode)
        else "folder"
        if stat.S_ISDIR(status.st_mode)
        else "file"
        if stat.S_ISREG(status.st_mode)
        else "other"
    )
    ignored = (
        "deep"
        if len(os.fsencode(name)) > MAX_NAME
        else "link"
        if kind == "link"
        else "folder"
        if kind == "folder"
        else "odd"
        if kind == "other"
        else "large"
        if status.st_size > _max_bytes(name)
        else "hidden"
        if any(part.startswith(".") for part in name.parts)
        else ""
    )
    return Entry(
        path,
        name,
        kind,
        status.st_size,
        ignored,
        (status.st_dev, status.st_ino),
        kind == "file" and status.st_nlink > 1,
    )


def _max_bytes(name: Path) -> int:
    return MAX_NOTEBOOK if name.suffix.lower() == ".ipynb" else MAX_BYTES


def _within_limits(entries: list[Entry], wanted: Collection[str]) -> Iterator[Entry]:
    """The entries in order; what is wanted, then modules, are the first to have a place."""
    size, full = 0, set()
    for entry in sorted(
        entries, key=lambda e: (str(e.name) not in wanted, e.name.suffix != ".py", e.name)
    ):
        if not entry.ignored:
            size += min(entry.size, MAX_BYTES)  # a larger notebook is without its outputs
            if size > MAX_ALL:
                full.add(entry.name)
    for entry in sorted(entries, key=lambda e: e.name):
        yield replace(entry, ignored="too much") if entry.name in full else entry


def shown(name: Path | str) -> str:
    """A name, which may be any bytes, as a person can read it on one line."""
    text = str(name).encode("utf-8", "backslashreplace").decode()
    if len(text) > MAX_SHOWN:
        text = f"{text[: MAX_SHOWN // 2]}...{text[-MAX_SHOWN // 2 :]}"
    return text if text.isprintable() else repr(text)
