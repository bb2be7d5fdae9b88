"""Collects submissions from nbgrader's exchange without following links, and only from their
owners.

nbgrader copies files with the rights of the person who collects, and it follows links. A link to a
file with answers would be collected as the student's own work. A student could also create a folder
in a classmate's name. A submission that cannot be collected does not prevent the others from being
collected.
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
from autograder.grading.intake.submission_files import MAX_NAME, printable_name
from autograder.times import TimeError, course_zone, parse_due

NOT_COLLECTED = "was not collected"  # in the log, about a submission or a file in it
NBGRADER_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")  # the start of a time in a name
LONG_AGO = datetime(2000, 1, 1)
UNKNOWN_TIME = "has an unknown time of submission"  # in the log, about a collected submission


class SafeCollect(ExchangeCollect):
    """nbgrader's own collect step, with safe rules for what is collected and how it is copied."""

    src_records: list[dict[str, Any]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Return the student and the time that are part of a name in the exchange; no student if
        the folder is not acceptable.
        """
        try:
            record = self._record(path)
            why = self._why_not(path, record["username"])
        except (ExchangeError, TimeError, ValueError):
            why = "nbgrader does not create such names"
        except OSError as error:
            why = str(error.strerror)
        except RecursionError:  # nbgrader raises it while it adds up sizes
            why = "there are too many folders in folders"
        if not why:
            return record
        self.log.error("%s %s: %s", printable_name(Path(path).name), NOT_COLLECTED, why)
        return {"username": None, "filename": Path(path).name, "timestamp": LONG_AGO}

    def _record(self, path: str) -> dict[str, Any]:
        """Read a name like STUDENT+ASSIGNMENT+TIME, with an optional +RANDOM at the end.

        The time may end with an offset such as +03, where nbgrader would split it. If the time
        cannot be read, the folder's own time decides which submission is the newest.
        """
        name = Path(path).name
        student, separator, rest = name.rpartition(f"+{self.coursedir.assignment_id}+")
        if not separator:
            return super()._path_to_record(path)
        zone, time = course_zone(self.config), rest.rpartition("+")[0] or rest
        try:
            try:
                when = parse_due(rest, zone)
            except TimeError:
                when = parse_due(time, zone)
        except TimeError as error:
            if not NBGRADER_TIME.match(time):
                raise
            self.log.error("%s %s: %s", printable_name(name), UNKNOWN_TIME, error)
            when = datetime.fromtimestamp(Path(path).lstat().st_mtime, UTC)
        return {"username": nfc(student), "filename": name, "timestamp": when.replace(tzinfo=None)}

    def _why_not(self, path: str, student: str) -> str:
        """Return the reason why a folder of the exchange is not this student's submission, or "" if
        it is.

        The person who collects may submit for others, for example to try out a class.
        """
        status = Path(path).lstat()
        if not stat.S_ISDIR(status.st_mode):
            return "it is not a folder"
        most = self.coursedir.max_dir_size  # kB
        if self.get_size(path) > 1000 * most:
            return f"it has more than {most} kB (c.CourseDirectory.max_dir_size)"
        if not self.check_owner or status.st_uid == os.geteuid():
            return ""
        try:
            owner = pwd.getpwuid(status.st_uid).pw_name
        except KeyError:
            owner = f"user {status.st_uid}"
        if owner == student:
            return ""
        return (
            f"it belongs to {owner}, not to {printable_name(student)} (if students' names in the "
            "system differ from those in the gradebook, set c.ExchangeCollect.check_owner = False)"
        )

    def copy_files(self) -> None:
        """Copy the newest submission of each student."""
        self.src_records = [each for each in self.src_records if each["username"] is not None]
        super().copy_files()

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a folder without following links, even if the folder changes meanwhile."""
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
                self.log.error("%s %s: its name is too long", printable_name(name), NOT_COLLECTED)
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
        """Copy a file of the folder whose descriptor is `at`. A link is copied as a link and
        reported later.

        A file with several names (hard links) is copied only if it belongs to the student, who is
        the `owner` of the submission. Otherwise it could be a classmate's or a staff file.
        """
        try:
            status = os.stat(name, dir_fd=at, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                to.symlink_to(os.readlink(name, dir_fd=at))
            if not stat.S_ISREG(status.st_mode):
                return
            source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        except OSError as error:
            self.log.error("%s %s: %s", printable_name(to), NOT_COLLECTED, error.strerror)
            return
        with os.fdopen(source, "rb") as file:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode):
                return
            if status.st_nlink > 1 and (status.st_uid != owner or owner == os.geteuid()):
                self.log.error(
                    "%s %s: it is a hard link to a file that may not be the student's",
                    printable_name(to),
                    NOT_COLLECTED,
                )
                return
            with to.open("xb") as copy:
                shutil.copyfileobj(file, copy)
                if self.coursedir.groupshared:
                    os.fchmod(copy.fileno(), 0o660)
        os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))
