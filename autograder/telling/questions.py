"""Written questions as those who mark have them: the question, the model answer, the rubric.

The question comes from the released notebook, so an instructor's own assignment has one, too; the
rest comes from the study's `written.md`, where there is one.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.release.notebooks import answer_id
from autograder.telling.gradebook import CellName
from autograder.workspace import answer_path
from course.probes import Study

HALF = 0.5  # the smallest step of points where no rubric says what one point is for
BEGINNINGS = {"**Model answer.**": "model", "**Points.**": "rubric",
              "**Sample answers.**": "samples", "For the grader:": "notes"}


@dataclass(frozen=True)
class Question:
    """A question and what belongs to it, as Markdown; what there is not is empty."""

    asked: str = ""
    model: str = ""
    rubric: str = ""  # a line for each point
    samples: str = ""  # what students might write for a full, a middle and a low mark
    notes: str = ""  # for the grader alone

    @property
    def step(self) -> float:
        """The smallest difference between two marks: a line of a rubric is worth a point, the
        whole point or none."""
        return 1 if self.rubric else HALF


def question(folder: CourseFolder, study: Study, cell: CellName) -> Question:
    """What is known of the question that a cell answers."""
    notebook, grade_id = cell
    path = folder.release(study.assignment) / f"{notebook}.ipynb"
    asked = _asked(json.loads(path.read_text("utf-8"))["cells"], grade_id) if path.is_file() else ""
    return Question(asked, **answers(study).get(grade_id, {}))


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


def _asked(cells: list[dict[str, Any]], grade_id: str) -> str:
    """The question in the cell before its answer. A task's cell is its own question."""
    before = ""
    for cell in cells:
        marked = cell["metadata"].get("nbgrader", {})
        if marked.get("grade_id") == grade_id:
            return source_of(cell) if marked.get("task") else question_in(before)
        before = source_of(cell) if cell["cell_type"] == "markdown" else ""
    return ""


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
