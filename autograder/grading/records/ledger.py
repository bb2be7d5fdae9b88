"""The ledger records the result of each submission, so that an interrupted run can be resumed.

An entry is written last and atomically, and a submission without an entry counts as not graded. It
contains digests of the submitted files and of everything else that decides the marks
(`autograder.grading.records.deciding`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar

from autograder.course_folder import CourseFolder
from autograder.grading.intake.submission_files import SubmissionFiles, fingerprint
from autograder.grading.records.gradebook_reader import AutomaticMarks, has_claimed_marks
from common.messages import english
from course.checks.marking.outcome import with_present_keys

LEDGER = "submission.json"
EARLIER = f"{LEDGER}.earlier"  # the previous entry, while its submission is graded again
FAULT = "fault.txt"  # written instead of an entry; explains why grading failed
LOG = "grade.log"
EXTERNAL_GRADING = "nbgrader.txt"  # graded by nbgrader's own command or by formgrader's button
ENTRY = {
    "status": str,
    "state": dict,
    "problems": list,
    "seconds": int | float,
    "marks": dict,
}  # the required keys of an entry, and their types
RESULT = {"outcomes": list, "inside": list, "booked": dict}  # and the result of a notebook
NOTEBOOK = {"cells": list, "nbformat": int}  # an autograded notebook
OUTCOME = {"check", "earned", "points", "aspects", "cause", "problem"}  # and each outcome in it
NOTHING = "nothing to grade"
DAMAGED = english("stored results of its grading are damaged ({files}): grade again")
PREVIOUS_MARKS_STAND = english(
    "the last submission contains nothing that can be graded, so the marks of the "
    "previous submission are kept"
)


@dataclass(frozen=True)
class Graded:
    """The result of grading one submission.

    `status` is "graded"; "unchanged" (graded before, and nothing has changed since); "nothing to
    grade"; "fault" (grading failed, and no marks were given); or "left" (not begun, because of a
    fatal error). `problems` are sentences about the submitted files, and about why a check or a
    cell was stopped.
    """

    fatal: ClassVar[bool] = False

    student: str
    status: str
    problems: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at the submission or find out why grading failed."""
        return bool(self.problems) or self.status in ("nothing to grade", "fault", "left")


class FatalError(Graded):
    """A fault that would affect all other submissions as well, such as a full disk."""

    fatal = True


def read_object(path: Path, form: Mapping[str, type | UnionType]) -> dict | None:
    """Return the JSON object in a file if it has these keys, with values of these types.

    Returns None if there is no such file, or if the file is damaged, unreadable or contains
    something else.
    """
    try:
        data = json.loads(path.read_text("utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    right = isinstance(data, dict) and all(
        isinstance(data.get(key), kind) for key, kind in form.items()
    )
    return data if right else None


def read_ledger(path: Path) -> dict | None:
    """Return the ledger's entry for one submission, or None if grading it has not been completed.

    An unreadable entry counts as missing, so the submission is graded again.
    """
    return read_object(path, ENTRY)


def read_results(folder: Path) -> dict[str, dict]:
    """Return the saved results of a submission's notebooks, by the notebook's name, without damaged
    ones.
    """
    return {
        path.stem: result
        for path in sorted(folder.glob("*.json"))
        if path.name != LEDGER and (result := read_result(path))
    }


def read_result(path: Path) -> dict | None:
    """Return the saved result of one notebook, or None if it cannot be read."""
    result = read_object(path, RESULT)
    if result is None or not all(
        isinstance(outcome, dict) and outcome.keys() >= OUTCOME for outcome in result["outcomes"]
    ):
        return None
    try:
        outcomes = [with_present_keys(outcome) for outcome in result["outcomes"]]
    except (AttributeError, TypeError):  # damaged
        return None
    return result | {"outcomes": outcomes}


def unreadable_files(
    folder: CourseFolder, assignment: str, student: str, entry: Mapping[str, Any]
) -> list[str]:
    """Return the files of a graded submission that can no longer be read: the saved results of its
    notebooks and, if it has been autograded, the notebooks themselves.
    """
    names = {*entry.get("notebooks", ())}
    lost = names - read_results(folder.results(assignment, student)).keys()
    autograded = folder.root / "autograded" / student / assignment
    return sorted(
        [f"{name}.json" for name in lost]
        + [
            f"{name}.ipynb"
            for name in names
            if entry["status"] == "graded"
            and read_object(autograded / f"{name}.ipynb", NOTEBOOK) is None
        ]
    )


def previous_result(
    folder: CourseFolder,
    assignment: str,
    student: str,
    state: dict[str, str],
    marks: AutomaticMarks,
) -> Graded | None:
    """Return the result of a submission if the submission need not be graded again, because nothing
    has changed.

    This requires that it was graded in this `state`, that its result can be read, and that the
    `marks` in the gradebook are still those of the result.
    """
    old = read_ledger(folder.results(assignment, student) / LEDGER)
    if (
        old is None
        or old["state"] != state
        or unreadable_files(folder, assignment, student, old)
        or (old["status"] == "graded" and not has_claimed_marks(marks, old.get("marks", {})))
        or (old["status"] == NOTHING and marks and not old.get("marks"))
    ):
        return None
    return Graded(student, "unchanged", tuple(old["problems"]))


def state_of(submission: SubmissionFiles, grader: dict[str, str]) -> dict[str, str]:
    """Return what decides a result, that is, the submitted files and `deciding.grader_state`."""
    return {"submission": fingerprint(submission), **grader}


def has_kept_marks(entry: Mapping[str, Any]) -> bool:
    """Whether a submission cannot be graded, so that the marks of the previous submission are kept."""
    return entry["status"] == NOTHING and bool(entry.get("marks"))


def invalidate(ledger: Path) -> None:
    """Invalidate an entry, but keep a copy of it, because its marks remain until new ones are
    saved.
    """
    if ledger.is_file():
        ledger.replace(ledger.with_name(EARLIER))


def write_entry(ledger: Path, entry: dict) -> None:
    """Write the entry of a submission that has been graded."""
    write_json(ledger, entry)
    ledger.with_name(EARLIER).unlink(missing_ok=True)


def record_fault(results: Path, graded: Graded) -> None:
    """Record why grading a submission failed, until the submission is graded."""
    if graded.status == "fault":
        results.mkdir(parents=True, exist_ok=True)
        (results / FAULT).write_text("\n".join(graded.problems) + "\n", "utf-8")
    else:
        (results / FAULT).unlink(missing_ok=True)


def current_entry(folder: CourseFolder, assignment: str, student: str) -> dict:
    """Return the ledger's entry for a submission, or a similar entry if the ledger has none.

    "marks" are the marks that, according to this entry or the previous one, are in the gradebook.
    Damaged results count as not graded.
    """
    results = folder.results(assignment, student)
    if entry := read_ledger(results / LEDGER):
        lost = unreadable_files(folder, assignment, student, entry)
        return (
            entry
            if not lost
            else entry
            | {"status": "not graded", "problems": [DAMAGED.format(files=", ".join(lost))]}
        )
    marks = (read_ledger(results / EARLIER) or {}).get("marks", {})
    if (results / FAULT).is_file():
        return {
            "status": "fault",
            "seconds": 0,
            "marks": marks,
            "problems": (results / FAULT).read_text("utf-8", "replace").splitlines(),
        }
    by_nbgrader = (folder.root / "autograded" / student / assignment).is_dir() and not (
        results / LOG
    ).exists()  # `grade` has never started on it
    if by_nbgrader or (results / EXTERNAL_GRADING).exists():
        return {"status": "graded", "seconds": 0, "problems": []}
    return {
        "status": "not graded",
        "seconds": 0,
        "marks": marks,
        "problems": [
            DAMAGED.format(files=LEDGER)
            if (results / LEDGER).exists()
            else english("it has not been graded yet")
        ],
    }


def record_external_grading(results: Path) -> None:
    """Discard the entry of a submission because nbgrader itself has graded the submission since."""
    for name in (LEDGER, EARLIER, FAULT):
        (results / name).unlink(missing_ok=True)
    (results / EXTERNAL_GRADING).write_text("graded by nbgrader's command or formgrader\n", "utf-8")


def write_json(path: Path, data: object) -> None:
    """Write a JSON file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    part.replace(path)
