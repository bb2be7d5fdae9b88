"""Refuses to grade where the study's table, the release and the gradebook disagree about points.

The table says what a check earns, the release what students were promised, and the gradebook what
the maximum is: marks are right only if all three give the same points.
"""

from collections.abc import Mapping
from typing import Any

from autograder import verdicts
from autograder.course_folder import CourseFolder
from autograder.errors import Refused
from autograder.grading.booked import points_of
from autograder.grading.ledger import read_object
from course.probes import Study, load_expected

NAMES = ("the study's table", "the release", "the gradebook")


def require_same_points(folder: CourseFolder, study: Study, db_url: str) -> None:
    """Raise `Refused` for cells whose points are not the same in all places that have them.

    A check that is missing from the release is no disagreement: an instructor may leave it out, or
    add other cells. A cell that only the gradebook has was lost from the release.
    """
    places = (_in_table(study), _in_release(folder, study), points_of(db_url, study.assignment))
    differing = [
        cell
        for cell in sorted({*places[0], *places[1], *places[2]})
        if len({place[cell] for place in places if cell in place}) > 1
    ]
    table, release, gradebook = places
    command = (
        f"`autograder release {study.name}`"
        if study.checks
        else f"`nbgrader generate_assignment {study.assignment} --force`"
    )
    if lost := sorted(gradebook.keys() - release.keys()):
        raise Refused(
            f"nothing was graded, because notebooks of {study.assignment} are missing or "
            f"incomplete in {folder.release(study.assignment)} (no {', '.join(lost)}). "
            f"Run {command}, then grade again"
        )
    if not differing:
        return
    said = [
        f"{cell} has "
        + ", ".join(
            f"{place[cell]:g} in {name}"
            for name, place in zip(NAMES, places, strict=True)
            if cell in place
        )
        for cell in differing
    ]
    build = any(table.get(cell, release.get(cell)) != release.get(cell) for cell in differing)
    steps = [f"`autograder build {study.name}`"] if build else []
    steps.append(command)
    raise Refused(
        f"nothing was graded, as the points of {study.assignment} disagree: "
        f"{'; '.join(said)}. Run {' and '.join(steps)}, then grade again"
    )


def require_expected(study: Study) -> None:
    """Raise `StudyTableError` unless the expected replies belong to the present positions."""
    if study.checks:
        hidden = verdicts.hidden_study(study.name)
        load_expected(verdicts.expected_file(hidden), hidden.checks.values())


def _in_table(study: Study) -> dict[str, float]:
    """The points of each cell by its nbgrader id, as the study's table has them."""
    checks = {
        check.grade_id: 0.0 if check.extra_credit else check.max_points
        for check in study.checks.values()
    }
    return checks | {f"answer-{name}": float(points) for name, points in study.written.items()}


def _in_release(folder: CourseFolder, study: Study) -> dict[str, float]:
    """The points of each cell in the notebooks that students got."""
    found: dict[str, float] = {}
    for path in sorted(folder.release(study.assignment).glob("*.ipynb")):
        notebook = read_object(path, {"cells": list})
        if notebook is None:
            raise Refused(f"{path} cannot be read: run `autograder release {study.name}`")
        for cell in notebook["cells"]:
            marked: Mapping[str, Any] = cell.get("metadata", {}).get("nbgrader", {})
            if marked.get("grade") or marked.get("task"):
                found[marked["grade_id"]] = float(marked["points"])
    return found
