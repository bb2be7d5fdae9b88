"""Collects from nbgrader's exchange: from each student their own, and what is there as it is.

nbgrader copies with the rights of whoever collects, and follows links: one to an answer would come
back as a file that the student had written. And whoever makes a folder under a classmate's name
would hand in for them. One odd folder is no reason to stop the others.
"""

import os
import pwd
import re
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.exchange.default.exchange import ExchangeError
from nbgrader.utils import ignore_patterns

from autograder.course_folder import nfc
from autograder.grading.handed_in import MAX_NAME, shown
from autograder.times import TimeError, course_zone, parse_due

LEFT = "was not collected"  # in the log, of a submission or of a file in one
LIKE_NBGRADER = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")  # how a time in a name begins
LONG_AGO = datetime(2000, 1, 1)
UNKNOWN = "has an unknown time of submission"  # in the log, of a submission that is collected


class CarefulCollect(ExchangeCollect):
    """nbgrader's own step, but for what it takes from where, and how it copies."""

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Who handed in what when, by a name in the exchange; nobody where that cannot be."""
        try:
            record = self._record(path)
            why = self._why_not(path, record["username"])
        except (ExchangeError, TimeError, ValueError):
            why = "nbgrader gives no such names"
        except OSError as error:
            why = str(error.strerror)
        except RecursionError:  # nbgrader's, as it looks for the size
            why = "there are too many folders in folders"
        if not why:
            return record
        self.log.error("%s %s: %s", shown(Path(path).name), LEFT, why)
        return {"username": None, "filename": Path(path).name, "timestamp": LONG_AGO}

    def _record(self, path: str) -> dict[str, Any]:
        """Read a name like STUDENT+ASSIGNMENT+TIME, perhaps with +RANDOM after it.

        The time may end with an offset, +03, at which nbgrader would split. If it cannot be read,
        that of the folder decides which submission is the newest.
        """
        name = Path(path).name
        student, found, rest = name.rpartition(f"+{self.coursedir.assignment_id}+")
        if not found:
            return super()._path_to_record(path)
        zone, time = course_zone(self.config), rest.rpartition("+")[0] or rest
        try:
            try:
                when = parse_due(rest, zone)
            except TimeError:
                when = parse_due(time, zone)
        except TimeError as error:
            if not LIKE_NBGRADER.match(time):
                raise
            self.log.error("%s %s: %s", shown(name), UNKNOWN, error)
            when = datetime.fromtimestamp(Path(path).lstat().st_mtime, UTC)
        return {"username": nfc(student), "filename": name, "timestamp": when.replace(tzinfo=None)}

    def _why_not(self, path: str, student: str) -> str:
        """Why a folder of the exchange is not what this student handed in; empty if it is.

        Whoever collects may hand in for others, as when a class is tried out.
        """
        found = Path(path).lstat()
        if not stat.S_ISDIR(found.st_mode):
            return "it is no folder"
        most = self.coursedir.max_dir_size  # kB
        if self.get_size(path) > 1000 * most:
            return f"it has more than {most} kB (c.CourseDirectory.max_dir_size)"
        if not self.check_owner or found.st_uid == os.geteuid():
            return ""
        try:
            owner = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            owner = f"user {found.st_uid}"
        return (
            ""
            if owner == student
            else (
                f"it belongs to {owner}, not to {shown(student)} (where students have other names in "
                "the system than in the gradebook, set c.ExchangeCollect.check_owner = False)"
            )
        )

    def copy_files(self) -> None:
        """Copy the newest of each student."""
        self.src_records = [found for found in self.src_records if found["username"] is not None]
        super().copy_files()

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a folder without following a link in it, whatever becomes of it meanwhile."""
        owner = Path(src).lstat().st_uid
        leave_out = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        for place, folders, files, at in os.fwalk(src):
            name = os.path.relpath(place, src)
            if len(os.fsencode(name)) > MAX_NAME:
                self.log.error("%s %s: its name is too long", shown(name), LEFT)
                folders.clear()
                continue
            here = Path(dest, name)
            here.mkdir(parents=True, exist_ok=True)
            if self.coursedir.groupshared:
                here.chmod(0o2770)
            ignored = leave_out(place, folders + files)
            folders[:] = [name for name in folders if name not in ignored]
            for name in [*folders, *files]:
                if name not in ignored:
                    self._copy(name, at, here / name, owner)

    def _copy(self, name: str, at: int, to: Path, owner: int) -> None:
        """Copy a file of the folder that is open at `at`; a link stays one, which is told later.

        A file with several names is copied only if it belongs to the student, the `owner` of the
        submission: another one could be a classmate's or the staff's.
        """
        try:
            found = os.stat(name, dir_fd=at, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                to.symlink_to(os.readlink(name, dir_fd=at))
            if not stat.S_ISREG(found.st_mode):
                return
            source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        except OSError as error:
            self.log.error("%s %s: %s", shown(to), LEFT, error.strerror)
            return
        with os.fdopen(source, "rb") as file:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode):
                return
            if found.st_nlink > 1 and (found.st_uid != owner or owner == os.geteuid()):
                self.log.error(
                    "%s %s: it is a hard link to a file that may not be the student's",
                    shown(to),
                    LEFT,
                )
                return
            with to.open("xb") as copy:
                shutil.copyfileobj(file, copy)
                if self.coursedir.groupshared:
                    os.fchmod(copy.fileno(), 0o660)
        os.utime(to, ns=(found.st_atime_ns, found.st_mtime_ns))
