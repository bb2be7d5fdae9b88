"""Written questions as those who mark have them: the question, the model answer, the rubric.

The question comes from the released notebook, so an instructor's own assignment has one, too; the
rest comes from the study's `written.md`, where there is one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.grading.ledger import read_object
from autograder.release.notebooks import answer_id
from autograder.telling.gradebook import CellName
from autograder.telling.pictures import attached_to
from autograder.workspace import answer_path
from course.probes import Study

HALF = 0.5  # the smallest step of points where no rubric says what one point is for
BEGINNINGS = {
    "**Model answer.**": "model",
    "**Points.**": "rubric",
    "**Sample answers.**": "samples",
    "For the grader:": "notes",
}


@dataclass(frozen=True)
class Question:
    """A question and what belongs to it, as Markdown; what there is not is empty."""

    asked: str = ""
    model: str = ""
    rubric: str = ""  # a line for each point
    samples: str = ""  # what students might write for a full, a middle and a low mark
    notes: str = ""  # for the grader alone
    attached: Mapping[str, Any] = field(default_factory=dict)  # pictures of the question's cell

    @property
    def step(self) -> float:
        """The smallest difference between two marks: a line of a rubric is worth a point, the
        whole point or none."""
        return 1 if self.rubric else HALF


def question(folder: CourseFolder, study: Study, cell: CellName) -> Question:
    """What is known of the question that a cell answers."""
    notebook, grade_id = cell
    cells = cells_of(folder.release(study.assignment) / f"{notebook}.ipynb")
    asked, attached = asked_in(cells, grade_id)
    return Question(asked, attached=attached, **answers(study).get(grade_id, {}))


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells of a released notebook; none if its file is missing or damaged."""
    return (read_object(path, {"cells": list}) or {"cells": []})["cells"]


def answers(study: Study) -> dict[str, dict[str, str]]:
    """The parts of each section of a study's `written.md`, by the cell that answers it."""
    return {answer_id(name): _parts(section) for name, section in sections(study).items()}


def sections(study: Study) -> dict[str, str]:
    """What a study's `written.md` says of each question, by its name."""
    if not study.written:
        return {}
    text = answer_path(study).with_name("written.md").read_text("utf-8")
    return dict(re.findall(r"(?ms)^## (.+?)\n(.+?)(?=^## |\Z)", text))


def _parts(section: str) -> dict[str, str]:
    """The paragraphs of a section under the words that begin a part."""
    found: dict[str, list[str]] = {}
    part = "model"
    for paragraph in re.split(r"\n\n(?=\S)", section.strip()):
        words = next(filter(paragraph.startswith, BEGINNINGS), "")
        part = BEGINNINGS.get(words, part)
        if rest := paragraph.removeprefix(words).strip():
            found.setdefault(part, []).append(rest)
    return {name: "\n\n".join(paragraphs) for name, paragraphs in found.items()}


def asked_in(cells: Iterable[dict[str, Any]], grade_id: str) -> tuple[str, Mapping[str, Any]]:
    """The question in the cell before its answer, and the pictures attached to that cell.

    A task's cell is its own question.
    """
    before: dict[str, Any] = {}
    for cell in cells:
        marked = cell["metadata"].get("nbgrader", {})
        if marked.get("grade_id") == grade_id:
            if marked.get("task"):
                return source_of(cell), attached_to(cell)
            return question_in(source_of(before)), attached_to(before)
        before = cell if cell["cell_type"] == "markdown" else {}
    return "", {}


def question_in(text: str) -> str:
    """The question in the cell before its answer: what follows the bold words that begin it, or
    else the last heading."""
    found = re.search(r"(?ms)^\*\*(?:Question|\d+)\..*", text)
    return found[0] if found else re.split(r"(?m)^#+ .*$", text)[-1].strip()


def source_of(cell: dict[str, Any]) -> str:
    """The text of a cell as a file has it, in one piece or in lines."""
    lines = cell.get("source", "")
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)


def allowed(points: float, step: float) -> Iterator[float]:
    """The marks that a question of so many points may get, from 0 up.

    >>> list(allowed(2, 1)), list(allowed(1.5, 0.5))
    ([0, 1, 2], [0.0, 0.5, 1.0, 1.5])
    """
    steps = int(points / step)
    yield from (number * step for number in range(steps + 1))
    if steps * step < points:
        yield points
