"""What a feedback page says first: each check with its points and its cause, then written answers.

It is put together of the gradebook and of the outcomes that grading saved, which also say, in the
notebook below, all that this says.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.ledger import LEDGER, OF_BEFORE, read_ledger, read_results, stands
from autograder.release.notebooks import check_id
from autograder.telling.gradebook import noted
from course.probes.explain import causes, of_search, sentence_of
from course.probes.outcome import Outcome


class Line(NamedTuple):
    """A cell with points: what it is called and where it is, its points, what is to be said."""

    name: str
    anchor: str
    score: float
    points: float
    extra: bool = False
    look: tuple[str, ...] = ()
    causes: tuple[tuple[str, str], ...] = ()  # titles and sentences
    waits: bool = False  # for a person
    comment: str = ""  # by a person, in Markdown


class Summarise(NbGraderPreprocessor):
    """Puts the summary into the resources, and into each cell what nbgrader's templates show."""

    def preprocess(self, nb, resources):
        """Read marks and comments in two queries; nbgrader's own step makes two a cell."""
        where = resources["nbgrader"]
        name, student = where["notebook"], where["student"]
        book = noted(where["db_url"], where["assignment"], student)[student][name]
        results = Path("results", where["assignment"], student)
        saved = read_results(results).get(name, {}).get("outcomes", ())
        outcomes = {data["check"]: Outcome.from_json(data) for data in saved}
        lines = [(cell, line) for cell in nb.cells if (line := _line(cell, book, outcomes))]
        for cell, line in lines:
            cell.metadata.nbgrader |= {"score": line.score, "points": line.points,
                                       "comment": line.comment}
        where["late_penalty"] = book["penalty"]
        where["score"] = sum(m["score"] for m in book["marks"].values()) - book["penalty"]
        where["max_score"] = sum(m["points"] for m in book["marks"].values())
        entry = read_ledger(results / LEDGER)
        resources["note"] = OF_BEFORE if entry and stands(entry) else ""
        resources["checks"] = [line for cell, line in lines if not _is_written(cell)]
        resources["written"] = [line for cell, line in lines if _is_written(cell)]
        return nb, resources


def _is_written(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("solution") or cell.metadata.nbgrader.get("task"))


def _line(cell: NotebookNode, book: Mapping[str, Any],
          outcomes: Mapping[str, Outcome]) -> Line | None:
    """What is said of a cell with points or a comment; None of any other."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id")
    marks, comment = book["marks"].get(name), book["comments"].get(name, "")
    if marks is None and not comment:
        return None
    marks = marks or {"score": 0, "points": 0, "waits": False}
    line = Line(name, f"cell-{name}", marks["score"], marks["points"], waits=marks["waits"],
                comment=comment)
    outcome = outcomes.get(check_id(cell) or "")
    if outcome is None:
        failed = not _is_written(cell) and line.score < line.points
        return line._replace(look=("not all right",) if failed else ())
    return line._replace(
        name=outcome.check, points=outcome.points, extra=outcome.extra_credit,
        look=tuple(_look(outcome)), causes=tuple(_causes(outcome)))


def _look(outcome: Outcome) -> Iterator[str]:
    """What went wrong, in a few words each."""
    if outcome.given:
        yield f"right, given your {' and '.join(outcome.given)}"
    elif outcome.full:
        yield "all right"
    if outcome.problem:
        yield sentence_of(outcome.problem)
    if outcome.is_match and not outcome.unwritten:
        yield from map(sentence_of, outcome.said)
    elif not outcome.problem:
        yield from (f"{a.name}: {a.right:g} of {a.asked} right" for a in outcome.aspects
                    if a.right < a.asked)


def _causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield from causes(outcome)
    if outcome.divergence:
        yield of_search(outcome), outcome.divergence["sentence"]
