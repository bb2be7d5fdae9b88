"""What a feedback page says first: each check with its points and its cause, then written answers.

It is put together of the gradebook and of the outcomes that grading saved, which also say, in the
notebook below, all that this says.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course_folder import CourseFolder
from autograder.grading.ledger import LEDGER, OF_BEFORE, read_ledger, read_results, stands
from autograder.release.notebooks import check_id
from autograder.telling.gradebook import name_of, noted
from autograder.telling.page_names import page_names
from autograder.telling.pictures import Budget, attached_to
from autograder.telling.questions import asked_in, cells_of
from autograder.telling.safe_html import code_of, markdown_of
from course.probes import UnknownCheck
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
    question: str = ""  # of a written answer, as clean HTML
    answer: str = ""  # what was written, as clean HTML


class Notebook(NamedTuple):
    """A notebook of the assignment in the list of them: its points, and its page."""

    name: str
    score: float
    points: float
    link: str | None  # None if the student finds no page of it
    checks: tuple[Line, ...] = ()  # only if there is no page that would show them


class Summarise(NbGraderPreprocessor):
    """Puts the summary into the resources, and into each cell what nbgrader's templates show."""

    def preprocess(self, nb, resources):
        """Read marks and comments in two queries; nbgrader's own step makes two a cell."""
        where = resources["nbgrader"]
        name, student, assignment = where["notebook"], where["student"], where["assignment"]
        books = noted(where["db_url"], assignment, student)[student]
        results = Path("results", assignment, student)
        saved = read_results(results)
        lines = _lines(nb, books[name], saved.get(name, {}))
        for cell, line in lines:
            cell.metadata.nbgrader |= {
                "score": line.score,
                "points": line.points,
                "comment": line.comment,
            }
        where["late_penalty"] = books[name]["penalty"]
        where["score"], where["max_score"] = _points(books[name])
        entry = read_ledger(results / LEDGER) or {}
        resources["note"] = OF_BEFORE if entry and stands(entry) else ""
        resources["problems"] = of_the_files(entry, saved)
        resources["checks"] = [line for cell, line in lines if not _is_written(cell)]
        resources["written"] = [
            _with_texts(cell, line, resources) for cell, line in lines if _is_written(cell)
        ]
        resources["student"] = name_of(where["db_url"], student)
        resources["study"] = _title(assignment)
        resources["notebooks"] = _notebooks(where, books, saved, resources)
        return nb, resources


def of_the_files(entry: Mapping[str, Any], saved: Mapping[str, Any]) -> list[str]:
    """The sentences of a ledger's entry on what was handed in, without those on its checks, which
    the table of checks has."""
    checks = {outcome["check"] for result in saved.values() for outcome in result["outcomes"]}
    return [
        problem
        for problem in entry.get("problems", ())
        if not checks.intersection(problem.partition(": ")[0].split(", "))
    ]


def _title(assignment: str) -> str:
    try:
        return CourseFolder(Path()).assignment(assignment).title
    except UnknownCheck:  # the release has been removed
        return assignment


def _points(book: Mapping[str, Any]) -> tuple[float, float]:
    """The points of a notebook that count, and how many there are."""
    marks = book["marks"].values()
    return sum(m["score"] for m in marks) - book["penalty"], sum(m["points"] for m in marks)


def _notebooks(
    where: Mapping[str, str],
    books: Mapping[str, Mapping[str, Any]],
    saved: Mapping[str, Mapping[str, Any]],
    resources: Mapping[str, Any],
) -> list[Notebook]:
    """The assignment's notebooks; of one without a page what its page would say of the checks."""
    names = page_names(
        Path("submitted", where["student"], where["assignment"]),
        Path("release", where["assignment"]),
    )
    found = []
    for name, book in sorted(books.items()):
        page, checks = names.of(name), ()
        path = Path(resources["metadata"]["path"], f"{name}.ipynb")
        if page is None and path.is_file():
            lines = _lines(nbformat.read(path, as_version=4), book, saved.get(name, {}))
            checks = tuple(line for cell, line in lines if not _is_written(cell))
        link = page and f"{quote(os.fsencode(page))}.html"
        found.append(Notebook(name, *_points(book), link, checks))
    return found


def _with_texts(cell: NotebookNode, line: Line, resources: Any) -> Line:
    """The line of a written answer with its question, from the release, and with the answer."""
    where, budget = resources["nbgrader"], resources.setdefault("pictures", Budget())
    release = Path("release", where["assignment"])
    cells = cells_of(release / f"{where['notebook']}.ipynb")
    asked, attached = asked_in(cells, cell.metadata.nbgrader.grade_id)
    question = markdown_of(asked, attached, release, budget) if asked else ""
    if cell.cell_type == "code":
        return line._replace(question=question, answer=code_of(cell.source))
    answer = (
        markdown_of(cell.source, attached_to(cell), Path(resources["metadata"]["path"]), budget)
        if cell.source.strip()
        else ""
    )
    return line._replace(question=question, answer=answer)


def _lines(
    nb: NotebookNode, book: Mapping[str, Any], saved: Mapping[str, Any]
) -> list[tuple[NotebookNode, Line]]:
    """The cells of a notebook that have points or a comment, each with its line."""
    outcomes = {data["check"]: Outcome.from_json(data) for data in saved.get("outcomes", ())}
    return [(cell, line) for cell in nb.cells if (line := _line(cell, book, outcomes))]


def _is_written(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("solution") or cell.metadata.nbgrader.get("task"))


def _line(
    cell: NotebookNode, book: Mapping[str, Any], outcomes: Mapping[str, Outcome]
) -> Line | None:
    """What is said of a cell with points or a comment; None of any other."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id")
    marks, comment = book["marks"].get(name), book["comments"].get(name, "")
    if marks is None and not comment:
        return None
    marks = marks or {"score": 0, "points": 0, "waits": False}
    line = Line(
        name, f"cell-{name}", marks["score"], marks["points"], waits=marks["waits"], comment=comment
    )
    outcome = outcomes.get(check_id(cell) or "")
    if outcome is None:
        failed = not _is_written(cell) and line.score < line.points
        return line._replace(look=("not all right",) if failed else ())
    return line._replace(
        name=outcome.check,
        points=outcome.points,
        extra=outcome.extra_credit,
        look=tuple(_look(outcome)),
        causes=tuple(_causes(outcome)),
    )


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
        yield from (
            f"{a.name}: {a.right:g} of {a.asked} right"
            for a in outcome.aspects
            if a.right < a.asked
        )


def _causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield from causes(outcome)
    if outcome.divergence:
        yield of_search(outcome), outcome.divergence["sentence"]
