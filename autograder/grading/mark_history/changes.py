"""Records every change of a mark: who made it, when, from which value to which one, and why.

```
marks/{assignment}.jsonl   one line per change of a student's mark, oldest first
```

A line has the items of the mark that differ, so all lines together give the present mark. Every
command that may change marks does so within `recording`, which records the difference between this
mark and the one in the gradebook. Changes that another program has made, such as nbgrader itself,
are recorded by the next command.
"""

import getpass
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from autograder.course_folder import CourseFolder, folder_lock
from autograder.database import db_url, engine, with_retry
from autograder.errors import UserError, format_error
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.gradebook_reader import GRADES, PENALTIES, query_rows
from autograder.grading.records.ledger import LEDGER, read_ledger

FOLDER = "marks"
OUTSIDE = (
    "changed by another program, such as nbgrader, by an edit of course.toml, or by a run that was "
    "killed"
)
EARLIER = "a mark from before this history was kept"
BY_HAND, PENALTY_CHANGED = "marked by hand", "late penalty calculated again"
UNKNOWN = "unknown"  # who has used another program
DECIMALS = 6  # of recorded points
PENALTY, ATTEMPTS = "late penalty", "earlier attempts"

Items = dict[str, float]  # "notebook/cell", or one of the names above -> points; they add up


@dataclass(frozen=True)
class Change:
    """A change of one student's mark for an assignment; `before` is None if there was no mark, and
    `after` if there is none any more.
    """

    when: str  # in UTC, in ISO format
    who: str
    why: str
    student: str
    before: float | None
    after: float | None
    items: Mapping[str, tuple[float | None, float | None]]  # those that differ: before and after


@contextmanager
def recording(
    folder: CourseFolder,
    assignment: str,
    why: str | Callable[[str], str],
    students: Iterable[str] | None = None,
) -> Iterator[None]:
    """Record the changes of marks that are made in a `with` block, even if Ctrl-C ends it.

    The arguments and the error are those of `record_changes`.
    """
    record_outside_changes(folder, assignment, students)
    try:
        yield
    except KeyboardInterrupt:
        record_changes(folder, assignment, why, students)
        raise
    record_changes(folder, assignment, why, students)


def record_changes(
    folder: CourseFolder,
    assignment: str,
    why: str | Callable[[str], str],
    students: Iterable[str] | None = None,
    *,
    who: str | None = None,
) -> list[Change]:
    """Record how marks differ from those recorded last, and return the changes.

    `why` is the reason, or gives a student's. If `students` is given, only their marks are compared.
    `who` is the present user by default. Raises `UserError` if the file of earlier changes is damaged.
    """
    wanted = None if students is None else set(students)
    path, now = folder.root / FOLDER / f"{assignment}.jsonl", datetime.now(UTC)
    with folder_lock(path.parent):
        recorded = _last_marks(read_changes(folder, assignment))
        present = _read_marks(folder, assignment, wanted)
        changes = [
            Change(
                now.isoformat(timespec="seconds"),
                who or user_name(),
                why if isinstance(why, str) else why(student),
                student,
                _total(recorded.get(student)),
                _total(present.get(student)),
                differences,
            )
            for student in sorted(recorded.keys() | present.keys())
            if wanted is None or student in wanted
            if (differences := _differences(recorded.get(student), present.get(student)))
            or (student in recorded) != (student in present)
        ]
        try:
            _append(path, changes)
        except OSError as error:  # such as a full disk; the next command records the changes
            raise UserError(format_error(error, folder.root)) from error
    return changes


def record_outside_changes(
    folder: CourseFolder, assignment: str, students: Iterable[str] | None = None
) -> list[Change]:
    """Record changes that other programs have made; raises the same error as `record_changes`."""
    begun = (folder.root / FOLDER / f"{assignment}.jsonl").exists()
    return record_changes(folder, assignment, OUTSIDE if begun else EARLIER, students, who=UNKNOWN)


def read_changes(folder: CourseFolder, assignment: str) -> list[Change]:
    """Return all changes of an assignment's marks, oldest first. Raises `UserError` for a damaged
    file; a last line that was not written completely is ignored.
    """
    path = folder.root / FOLDER / f"{assignment}.jsonl"
    if not path.exists():
        return []
    *lines, _incomplete = path.read_bytes().split(b"\n")
    changes = []
    for number, line in enumerate(lines, start=1):
        try:
            data = json.loads(line)
            items = {name: (before, after) for name, (before, after) in data["items"].items()}
            changes.append(Change(**data | {"items": items}))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise UserError(
                f"line {number} of {path} is damaged: restore the file from a backup, or rename it "
                "to begin a new one"
            ) from None
    return changes


def user_name() -> str:
    """Return the name of the person who works: on a hub, the hub's user."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container may run a user that has no name
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"


def _append(path: Path, changes: Iterable[Change]) -> None:
    lines = b"".join(
        json.dumps(asdict(change), ensure_ascii=False).encode() + b"\n" for change in changes
    )
    if not lines:
        return
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)  # an incomplete line of a run that was killed
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def _last_marks(changes: Iterable[Change]) -> dict[str, Items]:
    """Return every student's mark after all changes."""
    marks: dict[str, Items] = defaultdict(dict)
    for change in changes:
        items = marks[change.student]
        for name, (_, after) in change.items.items():
            if after is None:
                items.pop(name, None)
            else:
                items[name] = after
        if change.after is None:
            del marks[change.student]
    return dict(marks)


def _read_marks(
    folder: CourseFolder, assignment: str, students: set[str] | None
) -> dict[str, Items]:
    """Return the items of the marks in the gradebook."""
    one = next(iter(students)) if students and len(students) == 1 else None
    return with_retry(folder, partial(_query_marks, folder, assignment, one))


def _query_marks(folder: CourseFolder, assignment: str, student: str | None) -> dict[str, Items]:
    marks: dict[str, Items] = defaultdict(dict)
    with engine(db_url(folder)).connect() as gradebook:
        for grade in query_rows(gradebook, GRADES, assignment, student):
            score = grade.automatic if grade.manual is None else grade.manual
            if score is not None:  # nbgrader counts extra credit only if there is a mark
                name = f"{grade.notebook}/{grade.cell}"
                marks[grade.student][name] = score + (grade.extra or 0)
        for name, _, penalty in query_rows(gradebook, PENALTIES, assignment, student):
            if penalty and name in marks:
                marks[name][PENALTY] = marks[name].get(PENALTY, 0) - penalty
        _add_attempts(folder, assignment, gradebook, marks)
    # A database may return the notebooks in any order, and sums of floats depend on it.
    return {
        student: {name: round(points, DECIMALS) for name, points in items.items()}
        for student, items in marks.items()
    }


def _add_attempts(
    folder: CourseFolder, assignment: str, gradebook: Connection, marks: Mapping[str, Items]
) -> None:
    """Add the difference that earlier attempts make."""
    rule = AttemptRule(folder, assignment, gradebook)
    if rule.counts == "last":
        return
    for student, items in marks.items():
        entry = read_ledger(folder.results(assignment, student) / LEDGER) or {}
        last = max(0.0, _total(items) or 0)
        if difference := rule.decide(rule.earlier(student, entry), last) - last:
            items[ATTEMPTS] = difference


def _total(items: Items | None) -> float | None:
    return None if items is None else max(0.0, round(sum(items.values()), DECIMALS))


def _differences(
    before: Items | None, now: Items | None
) -> dict[str, tuple[float | None, float | None]]:
    old, new = before or {}, now or {}
    return {
        name: (old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
