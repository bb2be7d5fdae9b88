"""Makes nbgrader, including formgrader, read times in the same way as `autograder.times`.

nbgrader passes every text to dateutil, which ignores unknown time zones and reads +0200 as 200
seconds. These times decide who is late.
"""

import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from traitlets.config import Config

from autograder.times import TimeError, course_zone, parse_due
from common.messages import english

TIMESTAMP = "timestamp.txt"  # the submission time, written by nbgrader
MAX_SIZE = 1000  # bytes of timestamp.txt


def submission_time(folder: Path, zone: tzinfo) -> datetime | None:
    """Return the time of the submission in `folder`, in UTC; None if there is no timestamp.txt.

    Raises `TimeError` for a file that does not contain one time. Links are not followed.
    """
    path = folder / TIMESTAMP
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise TimeError(english("it is not a regular file"))
    if status.st_size > MAX_SIZE:
        raise TimeError(english(f"it has more than {MAX_SIZE} bytes"))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TimeError(english("it is not UTF-8 text")) from None
    return parse_due(text, zone)


@dataclass(frozen=True)
class _StrictParser:
    """Replaces nbgrader's `parse_utc`, which is `lenient`."""

    lenient: Callable[[datetime | None], datetime | None]
    config: Config

    def __call__(self, ts: datetime | str | None) -> datetime | None:
        if isinstance(ts, str):
            return parse_due(ts, course_zone(self.config)).replace(tzinfo=None)
        return self.lenient(ts)


def read_times_strictly(config: Config) -> None:
    """Make nbgrader, if it has been imported, read every time with `parse_due`, in the course's zone.

    A due date that cannot be read raises `TimeError`. A submission whose timestamp.txt cannot be
    read has no time, and a warning is logged. `config` is read again for each time, so it may
    change.
    """
    utils = sys.modules.get("nbgrader.utils")
    if utils is None:
        return
    before = utils.parse_utc
    strict = _StrictParser(before.lenient if isinstance(before, _StrictParser) else before, config)

    def existing(self: Any, dest_path: str) -> datetime | None:
        return _logged_time(Path(dest_path), config, self.log)

    def submitted(self: Any, assignment_id: str, student_id: str) -> datetime | None:
        place = self.coursedir
        return _logged_time(
            Path(place.format_path(place.submitted_directory, student_id, assignment_id)),
            config,
            self.log,
        )

    for name, module in list(sys.modules.items()):
        if name.startswith("nbgrader.") and getattr(module, "parse_utc", None) is before:
            vars(module)["parse_utc"] = strict
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
