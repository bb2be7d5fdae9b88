"""Makes the summary at the top of a feedback page: checks with points and causes, then written
answers.

It is derived from the gradebook and from the outcomes that grading saved. The notebook below the
summary contains the same information.
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
from autograder.database import engine
from autograder.grading.mark_history.requests import read_requests
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.free_days import accounts, rule_of
from autograder.grading.records.ledger import (
    LEDGER,
    PREVIOUS_MARKS_STAND,
    has_kept_marks,
    read_ledger,
    read_results,
)
from autograder.release.notebooks import check_id
from autograder.reporting.gradebook import notebook_records, student_name
from autograder.reporting.pages.page_names import page_names
from autograder.reporting.pages.pictures import Budget, attached_to
from autograder.reporting.pages.safe_html import code_of, markdown_of
from autograder.reporting.questions import cells_of, question_for
from common.messages import (
    english,
    joined,
    language,
    translate,
    translate_name,
)
from course.checks import UnknownCheck
from course.checks.marking.explain import as_html, as_text, capitalized, causes, divergence_title
from course.checks.marking.outcome import Outcome


class Line(NamedTuple):
    """A cell with points: its name and anchor, its points, and remarks."""

    name: str
    anchor: str
    score: float
    points: float
    extra: bool = False
    remarks: tuple[str, ...] = ()
    causes: tuple[tuple[str, str], ...] = ()  # titles and sentences
    waits: bool = False  # not marked yet
    comment: str = ""  # written by a grader in Markdown
    question: str = ""  # the question of a written answer, as sanitised HTML
    answer: str = ""  # the student's text, as sanitised HTML


class Notebook(NamedTuple):
    """A notebook in the list of the assignment's notebooks: its points and its page."""

    name: str
    score: float
    points: float
    link: str | None  # None if there is no page
    checks: tuple[Line, ...] = ()  # only if no page shows them


class Summarise(NbGraderPreprocessor):
    """Adds the summary to the resources for the templates, and marks and comments to each cell."""

    def preprocess(self, nb, resources):
        """Read marks and comments in a few queries, whereas nbgrader's own step needs two per cell."""
        where = resources["nbgrader"]
        name, student, assignment = where["notebook"], where["student"], where["assignment"]
        books = notebook_records(where["db_url"], assignment, student)[student]
        results = Path("results", assignment, student)
        saved = read_results(results)
        lines = _lines(nb, books[name], saved.get(name, {}))
        for cell, line in lines:
            cell.metadata.nbgrader |= {
                "score": line.score,
                "points": line.points,
                "comment": line.comment,
            }
        _translate_outputs(nb, saved.get(name, {}))
        where["late_penalty"] = books[name]["penalty"]
        where["score"], where["max_score"] = _points(books[name])
        entry = read_ledger(results / LEDGER) or {}
        scores = [_points(book)[0] for book in books.values()]
        attempts = _attempts(where["db_url"], assignment, student, entry, max(0.0, sum(scores)))
        notes = [*_notes(entry), *filter(None, [attempts])]
        resources["note"] = "; ".join(map(translate, notes))
        resources["account"] = translate(self._account(where["db_url"], assignment, student))
        resources["requests"] = [
            translate(request.describe())
            for request in read_requests(CourseFolder(Path().resolve()), assignment)
            if request.student == student
        ]
        resources["problems"] = list(map(translate, submission_problems(entry, saved)))
        resources["checks"] = [line for cell, line in lines if not _is_written(cell)]
        resources["written"] = [
            _with_texts(cell, line, resources) for cell, line in lines if _is_written(cell)
        ]
        resources["student"] = student_name(where["db_url"], student)
        resources["study"] = translate(_title(assignment))
        resources["notebooks"] = _notebooks(where, books, saved, resources)
        return nb, resources

    def _account(self, db_url: str, assignment: str, student: str) -> str:
        """Return a sentence about the student's free late days, or "" if there are none."""
        rule = rule_of(self.config)
        if rule is None or not rule.free_days:
            return ""
        with engine(db_url).connect() as gradebook:
            account = accounts(gradebook, rule, student).get(student)
        return account.describe_for(assignment) if account else ""


def _translate_outputs(nb: NotebookNode, saved: Mapping[str, Any]) -> None:
    """Show the explanations of checks in the language of the course; grading stores them in
    English.
    """
    if language() == "en":
        return
    outcomes = {data["check"]: Outcome.from_json(data) for data in saved.get("outcomes", ())}
    for cell in nb.cells:
        outcome = outcomes.get(check_id(cell) or "")
        explanation = next(iter(cell.get("outputs", ())), None)
        if outcome and explanation and explanation.output_type == "display_data":
            explanation.data = {"text/plain": as_text(outcome), "text/html": as_html(outcome)}


def submission_problems(entry: Mapping[str, Any], saved: Mapping[str, Any]) -> list[str]:
    """Return the problems in a ledger's entry that concern the submission itself.

    Problems of checks are excluded, because the table of checks shows them.
    """
    checks = {outcome["check"] for result in saved.values() for outcome in result["outcomes"]}
    return [
        problem
        for problem in entry.get("problems", ())
        if not checks.intersection(problem.partition(": ")[0].split(", "))
    ]


def _notes(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield clauses about the origin of the marks."""
    if entry and has_kept_marks(entry):
        yield PREVIOUS_MARKS_STAND
    if entry.get("owner"):
        yield english(f"this is the submission of your group, handed in by {entry['owner']}")


def _attempts(
    db_url: str, assignment: str, student: str, entry: Mapping[str, Any], score: float
) -> str:
    """Return a sentence about the student's attempts, or "" if only the last one counts."""
    with engine(db_url).connect() as gradebook:
        rule = AttemptRule(CourseFolder(Path().resolve()), assignment, gradebook, student)
    return rule.describe(rule.earlier(student, entry), score)


def _title(assignment: str) -> str:
    try:
        return CourseFolder(Path()).assignment(assignment).title
    except UnknownCheck:  # the release has been removed
        return assignment


def _points(book: Mapping[str, Any]) -> tuple[float, float]:
    """Return the score of a notebook and its maximum."""
    marks = book["marks"].values()
    return sum(m["score"] for m in marks) - book["penalty"], sum(m["points"] for m in marks)


def _notebooks(
    where: Mapping[str, str],
    books: Mapping[str, Mapping[str, Any]],
    saved: Mapping[str, Mapping[str, Any]],
    resources: Mapping[str, Any],
) -> list[Notebook]:
    """Return the assignment's notebooks; those without a page include the results of their checks."""
    names = page_names(
        CourseFolder(Path()).submission(where["assignment"], where["student"]),
        Path("release", where["assignment"]),
    )
    notebooks = []
    for name, book in sorted(books.items()):
        page = names.page_for(name)
        checks: tuple[Line, ...] = ()
        path = Path(resources["metadata"]["path"], f"{name}.ipynb")
        if page is None and path.is_file():
            lines = _lines(nbformat.read(path, as_version=4), book, saved.get(name, {}))
            checks = tuple(line for cell, line in lines if not _is_written(cell))
        link = page and f"{quote(os.fsencode(page))}.html"
        notebooks.append(Notebook(name, *_points(book), link, checks))
    return notebooks


def _with_texts(cell: NotebookNode, line: Line, resources: Any) -> Line:
    """Add the question, which comes from the release, and the student's text to the line of a
    written answer.
    """
    where, budget = resources["nbgrader"], resources.setdefault("pictures", Budget())
    release = Path("release", where["assignment"])
    cells = cells_of(release / f"{where['notebook']}.ipynb")
    text, attached = question_for(cells, cell.metadata.nbgrader.grade_id)
    question = markdown_of(text, attached, release, budget) if text else ""
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
    """Return the cells of a notebook that have points or a comment, each with its line."""
    outcomes = {data["check"]: Outcome.from_json(data) for data in saved.get("outcomes", ())}
    return [(cell, line) for cell in nb.cells if (line := _line(cell, book, outcomes))]


def _is_written(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("solution") or cell.metadata.nbgrader.get("task"))


def _line(
    cell: NotebookNode, book: Mapping[str, Any], outcomes: Mapping[str, Outcome]
) -> Line | None:
    """Return the line of a cell; None if the cell has neither points nor a comment."""
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
        return line._replace(remarks=(translate("not all correct"),) if failed else ())
    return line._replace(
        name=outcome.check,
        points=outcome.points,
        extra=outcome.extra_credit,
        remarks=tuple(_remarks(outcome)),
        causes=tuple(_causes(outcome)),
    )


def _remarks(outcome: Outcome) -> Iterator[str]:
    """Yield short remarks on what went wrong."""
    if outcome.carried_from:
        yield translate(f"correct, given your {joined(outcome.carried_from)}")
    elif outcome.full:
        yield translate("all correct")
    if outcome.problem:
        yield capitalized(translate(outcome.problem))
    if outcome.is_match and not outcome.not_implemented:
        yield from map(capitalized, map(translate, outcome.match_notes))
    elif not outcome.problem:
        yield from (
            f"{translate_name(a.name)}: "
            + translate("{right} of {cases} right", right=f"{a.right:g}", cases=a.cases)
            for a in outcome.aspects
            if a.right < a.cases
        )


def _causes(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield from causes(outcome)
    if outcome.divergence:
        yield divergence_title(outcome), translate(outcome.divergence["sentence"])
