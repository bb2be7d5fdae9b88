"""Replaces nbgrader's `SaveAutoGrades`, which asks for every manual mark again after each grading run.

Here a manual mark remains final as long as its basis is unchanged: the text of an answer, or the
automatic score that a person replaced.
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
from traitlets import Unicode

from autograder.gradebook import Gradebook
from autograder.grading.records.ledger import read_object


class SaveGrades(SaveAutoGrades):
    """Saves automatic scores, and keeps manual marks if their answers are unchanged."""

    results = Unicode("results", help="The folder of all results.").tag(config=True)

    def preprocess(self, nb, resources):
        """Save the scores, and add "answers", the digest of each cell that has points, to
        `resources`.
        """
        where = resources["nbgrader"]
        answers = {
            cell.metadata.nbgrader.grade_id: _digest(cell)
            for cell in nb.cells
            if is_grade(cell) or is_task(cell)
        }
        kept = _kept_answers(
            Path(self.results, where["assignment"], where["student"], f"{where['notebook']}.json")
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
    """Yield the grades of one submitted notebook; none before it is first graded."""
    try:
        submitted = gradebook.find_submission_notebook(
            where["notebook"], where["assignment"], where["student"]
        )
    except MissingEntry:
        return
    yield from submitted.grades


def _kept_answers(path: Path) -> dict[str, Any]:
    """Return the digests of the answers that were graded last; none if they are unknown."""
    return (read_object(path, {"answers": dict}) or {"answers": {}})["answers"]


def _digest(cell: NotebookNode) -> str:
    """Return a digest of what a student wrote in a cell and attached to it."""
    text = json.dumps([cell.source, cell.get("attachments", {})], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
