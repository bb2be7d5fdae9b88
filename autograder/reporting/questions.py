"""Reads written questions for graders: the question, the model answer and the rubric.

The question is read from the released notebook, so instructors' own assignments have one as well.
The other parts are read from the study's `written.md`, if it exists.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import read_object
from autograder.release.notebooks import answer_id
from autograder.reporting.gradebook import CellName
from autograder.reporting.pages.pictures import attached_to
from autograder.workspace import answer_path
from course.checks import Study

DEFAULT_STEP = 0.5  # the smallest step between two marks without a rubric
PART_HEADINGS = {
    "**Model answer.**": "model",
    "**Points.**": "rubric",
    "**Sample answers.**": "samples",
    "For the grader:": "notes",
}


@dataclass(frozen=True)
class WrittenQuestion:
    """A question and its parts, as Markdown; missing parts are empty."""

    text: str = ""
    model: str = ""
    rubric: str = ""  # one line per point
    samples: str = ""  # sample answers for full, medium and low marks
    notes: str = ""  # for graders only
    attached: Mapping[str, Any] = field(default_factory=dict)  # pictures of the question's cell

    @property
    def step(self) -> float:
        """The smallest difference between two marks. It is one point if there is a rubric,
        because each line of a rubric is worth exactly one point.
        """
        return 1 if self.rubric else DEFAULT_STEP


def question(folder: CourseFolder, study: Study, cell: CellName) -> WrittenQuestion:
    """Return the question that a cell answers, with its other parts."""
    notebook, grade_id = cell
    cells = cells_of(folder.release(study.assignment) / f"{notebook}.ipynb")
    text, attached = question_for(cells, grade_id)
    return WrittenQuestion(text, attached=attached, **answers(study).get(grade_id, {}))


def cells_of(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a released notebook; none if its file is missing or damaged."""
    return (read_object(path, {"cells": list}) or {"cells": []})["cells"]


def answers(study: Study) -> dict[str, dict[str, str]]:
    """Return the parts of each section of a study's `written.md`, by the cell that answers the
    question.
    """
    return {answer_id(name): _parts(section) for name, section in sections(study).items()}


def sections(study: Study) -> dict[str, str]:
    """Return the sections of a study's `written.md`, by the name of the question."""
    if not study.written:
        return {}
    text = answer_path(study).with_name("written.md").read_text("utf-8")
    return dict(re.findall(r"(?ms)^## (.+?)\n(.+?)(?=^## |\Z)", text))


def _parts(section: str) -> dict[str, str]:
    """Return the paragraphs of a section, grouped by part."""
    parts: dict[str, list[str]] = {}
    part = "model"
    for paragraph in re.split(r"\n\n(?=\S)", section.strip()):
        heading = next(filter(paragraph.startswith, PART_HEADINGS), "")
        part = PART_HEADINGS.get(heading, part)
        if rest := paragraph.removeprefix(heading).strip():
            parts.setdefault(part, []).append(rest)
    return {name: "\n\n".join(paragraphs) for name, paragraphs in parts.items()}


def question_for(cells: Iterable[dict[str, Any]], grade_id: str) -> tuple[str, Mapping[str, Any]]:
    """Return the question in the cell before the answer, and the pictures attached to that cell.

    The cell of a task contains its own question.
    """
    before: dict[str, Any] = {}
    for cell in cells:
        marked = cell["metadata"].get("nbgrader", {})
        if marked.get("grade_id") == grade_id:
            if marked.get("task"):
                return source_of(cell), attached_to(cell)
            return extract_question(source_of(before)), attached_to(before)
        before = cell if cell["cell_type"] == "markdown" else {}
    return "", {}


def extract_question(text: str) -> str:
    """Return the question in a text cell: the part from "**Question." on, or after the last
    heading.
    """
    match = re.search(r"(?ms)^\*\*(?:Question|\d+)\..*", text)
    return match[0] if match else re.split(r"(?m)^#+ .*$", text)[-1].strip()


def source_of(cell: dict[str, Any]) -> str:
    """Return the text of a cell, which a file stores as one string or as a list of lines."""
    lines = cell.get("source", "")
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)


def allowed(points: float, step: float) -> Iterator[float]:
    """Yield the marks that are possible for a question with this many points, in ascending order.

    >>> list(allowed(2, 1)), list(allowed(1.5, 0.5))
    ([0, 1, 2], [0.0, 0.5, 1.0, 1.5])
    """
    steps = int(points / step)
    yield from (number * step for number in range(steps + 1))
    if steps * step < points:
        yield points
