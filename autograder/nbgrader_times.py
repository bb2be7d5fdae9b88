"""Makes nbgrader read times as `autograder.times` does, in its own commands and formgrader too.

nbgrader passes every text to dateutil, which drops a time zone that it does not know and takes
+0200 for 200 seconds. These times decide who is late.
"""

import stat
import sys
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from traitlets.config import Config

from autograder.times import TimeError, course_zone, parse_due

TIMESTAMP = "timestamp.txt"  # when it was handed in, written by nbgrader
MAX_SIZE = 1000  # bytes of it


def submission_time(folder: Path, zone: tzinfo) -> datetime | None:
    """When the submission in `folder` was handed in, in UTC; None if there is no timestamp.txt.

    Raises `TimeError` for a file that does not hold one time. No link is followed.
    """
    path = folder / TIMESTAMP
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise TimeError("it is not a regular file")
    if found.st_size > MAX_SIZE:
        raise TimeError(f"it has more than {MAX_SIZE} bytes")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TimeError("it is not UTF-8 text") from None
    return parse_due(text, zone)


def read_times_strictly(config: Config) -> None:
    """Let nbgrader, if it has been imported, read every time by `parse_due`, in the course's zone.

    A due date that cannot be read raises `TimeError`. A submission whose timestamp.txt cannot be
    read has no time, which is logged. `config` may still change: it is read when a time is.
    """
    utils = sys.modules.get("nbgrader.utils")
    if utils is None:
        return
    before = utils.parse_utc
    lenient = getattr(before, "lenient", before)

    def parse_utc(ts: datetime | str | None) -> datetime | None:
        if isinstance(ts, str):
            return parse_due(ts, course_zone(config)).replace(tzinfo=None)
        return lenient(ts)

    def existing(self: Any, dest_path: str) -> datetime | None:
        return _logged_time(Path(dest_path), config, self.log)

    def submitted(self: Any, assignment_id: str, student_id: str) -> datetime | None:
        place = self.coursedir
        return _logged_time(
            Path(place.format_path(place.submitted_directory, student_id, assignment_id)),
            config,
            self.log,
        )

    parse_utc.lenient = lenient
    for name, module in list(sys.modules.items()):
        if name.startswith("nbgrader.") and getattr(module, "parse_utc", None) is before:
            module.parse_utc = parse_utc
    if course_folder := sys.modules.get("nbgrader.coursedir"):
        course_folder.CourseDirectory.get_existing_timestamp = existing
    if interface := sys.modules.get("nbgrader.apps.api"):
        interface.NbGraderAPI.get_submitted_timestamp = submitted


def _logged_time(folder: Path, config: Config, log: Any) -> datetime | None:
    try:
        when = submission_time(folder, course_zone(config))
    except TimeError as error:
        log.warning("%s: the time of submission is unknown: %s", folder / TIMESTAMP, error)
        return None
    return when and when.astimezone(UTC).replace(tzinfo=None)
