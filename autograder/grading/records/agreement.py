"""Refuses to grade if the study's table, the release and the gradebook disagree about points.

The table contains the points that a check earns, the release contains the points that students saw,
and the gradebook contains the maximum. Marks are right only if all three give the same points.
"""

from collections.abc import Mapping
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.records.gradebook_reader import read_max_points
from autograder.grading.records.ledger import read_object
from autograder.studies import hidden_cases
from common.command_lines import advice
from course.checks import Study, load_expected

PLACES = ("the study's table", "the release", "the gradebook")


def require_same_points(folder: CourseFolder, study: Study, db_url: str) -> None:
    """Raise `UserError` if a cell's points differ between the places that state them.

    A check may be missing from the release, because instructors can remove checks and add other
    cells. A cell that exists only in the gradebook has been lost from the release.
    """
    places = (
        _in_table(study),
        _in_release(folder, study),
        read_max_points(db_url, study.assignment),
    )
    differing = [
        cell
        for cell in sorted({*places[0], *places[1], *places[2]})
        if len({place[cell] for place in places if cell in place}) > 1
    ]
    table, release, gradebook = places
    command = (
        advice("generate", study.name, course=folder.root)
        if study.checks
        else f"`nbgrader generate_assignment {study.assignment} --force`"
    )
    if lost := sorted(gradebook.keys() - release.keys()):
        raise UserError(
            f"nothing was graded, because notebooks of {study.assignment} are missing or "
            f"incomplete in {folder.release(study.assignment)} (no {', '.join(lost)}). "
            f"Run {command}, then grade again"
        )
    if not differing:
        return
    disagreements = [
        f"{cell} has "
        + ", ".join(
            f"{place[cell]:g} in {name}"
            for name, place in zip(PLACES, places, strict=True)
            if cell in place
        )
        for cell in differing
    ]
    build = any(table.get(cell, release.get(cell)) != release.get(cell) for cell in differing)
    steps = [advice("build", study.name)] if build else []
    steps.append(command)
    raise UserError(
        f"nothing was graded, because the points of {study.assignment} disagree: "
        f"{'; '.join(disagreements)}. Run {' and '.join(steps)}, then grade again"
    )


def require_expected(study: Study) -> None:
    """Raise `StudyTableError` unless the expected replies belong to the current positions."""
    if study.checks:
        hidden = hidden_cases.hidden_study(study.name)
        load_expected(hidden_cases.expected_file(hidden), hidden.checks.values())


def _in_table(study: Study) -> dict[str, float]:
    """Return the points of each cell in the study's table, by its nbgrader id."""
    checks = {
        check.grade_id: 0.0 if check.extra_credit else check.max_points
        for check in study.checks.values()
    }
    return checks | {f"answer-{name}": float(points) for name, points in study.written.items()}


def _in_release(folder: CourseFolder, study: Study) -> dict[str, float]:
    """Return the points of each cell in the notebooks that students received."""
    points: dict[str, float] = {}
    for path in sorted(folder.release(study.assignment).glob("*.ipynb")):
        notebook = read_object(path, {"cells": list})
        if notebook is None:
            raise UserError(
                f"{path} cannot be read: run {advice('generate', study.name, course=folder.root)}"
            )
        for cell in notebook["cells"]:
            marked: Mapping[str, Any] = cell.get("metadata", {}).get("nbgrader", {})
            if marked.get("grade") or marked.get("task"):
                points[marked["grade_id"]] = float(marked["points"])
    return points
