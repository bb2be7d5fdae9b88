"""Replaces nbgrader's `SaveAutoGrades`, which asks for every mark that a person gave once more.

After each regrade nbgrader lets them wait for a person again. Here a mark stays settled while what
it was given for is unchanged: the text of an answer, or the automatic score that a person replaced.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Grade, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_task

from autograder.gradebook import Gradebook
from autograder.grading.ledger import read_object


class SaveGrades(SaveAutoGrades):
    """Saves automatic scores, and leaves settled what a person has marked and nobody changed."""

    def preprocess(self, nb, resources):
        """Save the scores; `resources` gets "answers", the digest of each cell that has points."""
        where = resources["nbgrader"]
        answers = {
            cell.metadata.nbgrader.grade_id: _digest(cell)
            for cell in nb.cells
            if is_grade(cell) or is_task(cell)
        }
        kept = _kept_answers(
            Path("results", where["assignment"], where["student"], f"{where['notebook']}.json")
        )
        with Gradebook(where["db_url"]) as gradebook:
            settled = {
                grade.name: grade.auto_score
                for grade in _grades(gradebook, where)
                if grade.manual_score is not None
                and not grade.needs_manual_grade
                and kept.get(grade.name) == answers.get(grade.name)
            }
        nb, resources = super().preprocess(nb, resources)
        if settled:
            with Gradebook(where["db_url"]) as gradebook:
                for grade in _grades(gradebook, where):
                    if grade.name in settled and grade.auto_score == settled[grade.name]:
                        grade.needs_manual_grade = False
                gradebook.db.commit()
        resources["answers"] = answers
        return nb, resources


def _grades(gradebook: Gradebook, where: dict[str, str]) -> Iterator[Grade]:
    """The grades of one submitted notebook; none before it is graded for the first time."""
    try:
        submitted = gradebook.find_submission_notebook(
            where["notebook"], where["assignment"], where["student"]
        )
    except MissingEntry:
        return
    yield from submitted.grades


def _kept_answers(path: Path) -> dict[str, Any]:
    """The digests of the answers that were graded last; none if they are not known."""
    return (read_object(path, {"answers": dict}) or {"answers": {}})["answers"]


def _digest(cell: NotebookNode) -> str:
    """A digest of what a student wrote and attached."""
    text = json.dumps([cell.source, cell.get("attachments", {})], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
