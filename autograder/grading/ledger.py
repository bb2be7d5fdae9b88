"""The ledger: the result of each submission, so that an interrupted run continues where it stopped.

An entry is written last, whole or not at all; a submission without one counts as not graded. It
holds digests of what was handed in and of everything else that decides the marks
(`autograder.grading.deciding`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar

from autograder.course_folder import CourseFolder
from autograder.grading.booked import Booked, holds
from autograder.grading.handed_in import HandedIn, fingerprint

LEDGER = "submission.json"
EARLIER = f"{LEDGER}.earlier"  # the last entry, from when its submission is graded again
FAULT = "fault.txt"  # instead of an entry: why the machinery failed
LOG = "grade.log"
OTHER_DOOR = "nbgrader.txt"  # graded by nbgrader's own command or by formgrader's button
ENTRY = {
    "status": str,
    "state": dict,
    "problems": list,
    "seconds": int | float,
    "marks": dict,
}  # what an entry holds at least, and the types
RESULT = {"outcomes": list, "inside": list, "booked": dict}  # and the result of a notebook
NOTEBOOK = {"cells": list, "nbformat": int}  # an autograded notebook
OUTCOME = {"check", "earned", "points", "aspects", "cause", "problem"}  # and each outcome in it
NOTHING = "nothing to grade"
DAMAGED = "what was kept of its grading is damaged ({}): grade again"
OF_BEFORE = (
    "what was handed in last is nothing that can be graded, so the marks of the "
    "submission before it stand"
)


@dataclass(frozen=True)
class Graded:
    """The result of grading one submission.

    `status`: "graded"; "unchanged" (graded before, and nothing has changed since); "nothing to
    grade"; "fault" (the machinery failed: no marks were given); "left" (not begun, after a fault
    that everybody would meet). `problems` are sentences about what was handed in, and why a check
    or a cell was stopped.
    """

    for_all: ClassVar[bool] = False

    student: str
    status: str
    problems: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at what was handed in, or at the machinery."""
        return bool(self.problems) or self.status in ("nothing to grade", "fault", "left")


class FaultForAll(Graded):
    """A fault that everybody else would meet as well, such as a full disk."""

    for_all = True


def read_object(path: Path, form: Mapping[str, type | UnionType]) -> dict | None:
    """A JSON object that has these keys, with values of these types.

    None if there is no such file, or it is damaged, cannot be read or holds something else.
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
    """The ledger's entry for one submission, or None if grading it has not been completed.

    An entry that cannot be read is none: the submission is graded again.
    """
    return read_object(path, ENTRY)


def read_results(folder: Path) -> dict[str, dict]:
    """The saved results of a submission's notebooks, by the notebook's name; damaged ones are left
    out."""
    return {
        path.stem: result
        for path in sorted(folder.glob("*.json"))
        if path.name != LEDGER and (result := read_result(path))
    }


def read_result(path: Path) -> dict | None:
    """The saved result of one notebook, or None if it cannot be read."""
    result = read_object(path, RESULT)
    whole = result and all(
        isinstance(outcome, dict) and outcome.keys() >= OUTCOME for outcome in result["outcomes"]
    )
    return result if whole else None


def unreadable(
    folder: CourseFolder, assignment: str, student: str, entry: Mapping[str, Any]
) -> list[str]:
    """The files of a graded submission that can no longer be read: saved results of its notebooks
    and, if it has been autograded, the notebooks themselves."""
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


def graded_before(
    folder: CourseFolder, assignment: str, student: str, state: dict[str, str], found: Booked
) -> Graded | None:
    """The result of a submission that was graded in just this state, if it can be read and the
    gradebook, which holds `found`, still has its marks: it is not graded again."""
    old = read_ledger(folder.results(assignment, student) / LEDGER)
    if (
        old is None
        or old["state"] != state
        or unreadable(folder, assignment, student, old)
        or (old["status"] == "graded" and not holds(found, old.get("marks", {})))
        or (old["status"] == NOTHING and found and not old.get("marks"))
    ):
        return None
    return Graded(student, "unchanged", tuple(old["problems"]))


def state_of(handed_in: HandedIn, grader: dict[str, str]) -> dict[str, str]:
    """What a result follows from: what was handed in, and `deciding.grader_state`."""
    return {"submission": fingerprint(handed_in), **grader}


def stands(entry: Mapping[str, Any]) -> bool:
    """Whether a submission that cannot be graded follows one whose marks stand."""
    return entry["status"] == NOTHING and bool(entry.get("marks"))


def set_aside(ledger: Path) -> None:
    """Take an entry away, yet remember it: the marks it claims stand until others are booked."""
    if ledger.is_file():
        ledger.replace(ledger.with_name(EARLIER))


def enter(ledger: Path, entry: dict) -> None:
    """Write the entry of a submission that has been graded."""
    write_json(ledger, entry)
    ledger.with_name(EARLIER).unlink(missing_ok=True)


def note_fault(results: Path, graded: Graded) -> None:
    """Record why the machinery failed on a submission, until the submission is graded."""
    if graded.status == "fault":
        results.mkdir(parents=True, exist_ok=True)
        (results / FAULT).write_text("\n".join(graded.problems) + "\n", "utf-8")
    else:
        (results / FAULT).unlink(missing_ok=True)


def standing(folder: CourseFolder, assignment: str, student: str) -> dict:
    """The ledger's entry for a submission, or one like it where the ledger has none.

    "marks" are those that are claimed to be in the gradebook, by this entry or the last one. What
    is damaged counts as not graded.
    """
    results = folder.results(assignment, student)
    if entry := read_ledger(results / LEDGER):
        lost = unreadable(folder, assignment, student, entry)
        return (
            entry
            if not lost
            else entry | {"status": "not graded", "problems": [DAMAGED.format(", ".join(lost))]}
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
    ).exists()  # we have never begun it
    if by_nbgrader or (results / OTHER_DOOR).exists():
        return {"status": "graded", "seconds": 0, "problems": []}
    return {
        "status": "not graded",
        "seconds": 0,
        "marks": marks,
        "problems": [
            DAMAGED.format(LEDGER) if (results / LEDGER).exists() else "it has not been graded yet"
        ],
    }


def note_other_door(results: Path) -> None:
    """Discard the entry of a submission that nbgrader itself has graded since."""
    for name in (LEDGER, EARLIER, FAULT):
        (results / name).unlink(missing_ok=True)
    (results / OTHER_DOOR).write_text("graded by nbgrader's command or formgrader\n", "utf-8")


def write_json(path: Path, data: object) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    part.replace(path)
