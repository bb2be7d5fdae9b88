"""Writes the page of solutions that is published after the deadline, one page per study.

It contains material that students must not see before the deadline: the reference solution, its
replies to the public positions, and model answers. Hidden positions are not shown, because the
study will be used again, and no student is named.
"""

import html
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jupytext
import sqlalchemy
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.filters import Highlight2HTML
from sqlalchemy import Connection, DateTime, Interval, column

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.grading.records.ledger import read_results
from autograder.release.book.pages import Renderer, markdown
from autograder.release.kit import Member
from autograder.release.leaks import find_leaks
from autograder.release.notebooks import notebook_texts
from autograder.release.teaching import mutants_of_check
from autograder.reporting.gradebook import read_gradebook
from autograder.reporting.questions import extract_question, sections
from autograder.studies.mutants import load_mutants
from autograder.workspace import answer_path
from autograder.workspace.strip import BEGIN, END
from common.syntax import parse_python
from course.checks import Check, Study, load_expected, load_study, studies
from course.checks.questions import MATCHES

MIN_STUDENTS = 3  # rarer mistakes are not listed, so that no student is identified
DUE = """
    SELECT a.duedate, s.extension
    FROM assignment a LEFT JOIN submitted_assignment s ON s.assignment_id = a.id
    WHERE a.name = :assignment"""
FOR_STAFF = ("For the grader:", "**Sample answers.**")  # beginnings of parts for staff only
CSS = Path(__file__).parents[1] / "release" / "book" / "templates" / "book.css"
_highlight = Highlight2HTML(pygments_lexer="python3")


class SolutionsError(UserError):
    """The page was not written; the message gives the reason."""


@dataclass(frozen=True)
class Mistakes:
    """The known mistakes of a class, each with its number of students, most frequent first."""

    submissions: int
    known: list[tuple[str, int]]
    rare: int  # number of known mistakes with fewer than `MIN_STUDENTS` students


def write_solutions(
    study: Study, path: Path, folder: CourseFolder | None = None, *, before_deadline: bool = False
) -> None:
    """Write the page of a study to `path`, readable by its owner and the graders of the course.

    With a course's `folder`, the page states how frequent the most common mistakes are; without
    one, it lists the known mistakes. Raises `SolutionsError` if the page would show a hidden
    position, and before the deadline unless `before_deadline` is true.
    """
    mistakes = None
    if folder is not None:
        folder.require_release(study)
        until = last_day(folder, study)
        if until and until > datetime.now(UTC) and not before_deadline:
            raise SolutionsError(
                f"{study.assignment} may be submitted until {until:%Y-%m-%d %H:%M} UTC, including "
                "extensions: make its solutions after that, or use --before-deadline"
            )
        mistakes = mistakes_of(folder, study)
    page = render(study, mistakes)
    refuse_leaks(page, path.name)
    shared = folder.root.stat().st_mode & 0o040 if folder else 0  # group access for other graders
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}-{os.getpid()}")
    new.touch(0o600)
    try:
        new.write_text(page, "utf-8", newline="\n")
        new.chmod(0o600 | shared)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def last_day(folder: CourseFolder, study: Study) -> datetime | None:
    """Return the latest deadline of any student in the gradebook; None if there is no deadline."""
    query = sqlalchemy.text(DUE).columns(column("duedate", DateTime), column("extension", Interval))

    def deadlines(gradebook: Connection) -> list[datetime]:
        return [
            due.replace(tzinfo=UTC) + (extension or timedelta())
            for due, extension in gradebook.execute(query, {"assignment": study.assignment})
            if due
        ]

    require_gradebook(folder, study.assignment)
    return max(read_gradebook(folder, deadlines), default=None)


def mistakes_of(folder: CourseFolder, study: Study) -> Mistakes:
    """Return the known mistakes that the checks found in a class.

    Other causes are excluded, because their sentences quote a student's own replies.
    """
    known = {mutant.sentence for mutant in load_mutants(study.name)}
    made: Counter[str] = Counter()
    submissions = folder.submitted(study.assignment)
    for student in submissions:
        results = read_results(folder.results(study.assignment, student))
        made.update(
            {outcome["cause"] for result in results.values() for outcome in result["outcomes"]}
            & known
        )
    common = [(sentence, times) for sentence, times in made.items() if times >= MIN_STUDENTS]
    return Mistakes(
        len(submissions),
        sorted(common, key=lambda item: (-item[1], item[0])),
        len(made) - len(common),
    )


def render(study: Study, mistakes: Mistakes | None) -> str:
    """Return the page as self-contained HTML."""
    environment = Environment(
        loader=PackageLoader("autograder.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    mutants = load_mutants(study.name)
    known_mistakes = (
        {}
        if mistakes
        else {
            check: [mutant.sentence for mutant in mutants_of_check(study, check, mutants)]
            for check in study.checks
        }
    )
    return environment.get_template("solutions.html").render(
        study=study,
        css=Markup(CSS.read_text("utf-8")),
        mistakes=mistakes,
        min_students=MIN_STUDENTS,
        code=[(name, _code(name, text)) for name, text in reference(study)],
        checks=[
            (check, list(public_replies(study, check)), known_mistakes.get(name, []))
            for name, check in study.checks.items()
        ],
        written=[
            (name, points, *map(_html, texts))
            for (name, points), texts in zip(study.written.items(), written(study), strict=True)
        ],
    )


def _code(name: str, text: str) -> Markup:
    """Return highlighted code that can be scrolled in a small window, also with the keyboard."""
    opening_tag = Markup('<pre tabindex="0" role="region" aria-label="{}, code">').format(name)
    return Markup(_highlight(text).replace("<pre>", opening_tag, 1))


def reference(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the functions and classes that students write, with their code in the reference."""
    source = answer_path(study).read_text("utf-8")
    lines = source.split("\n")
    for node in parse_python(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        text = lines[first - 1 : node.end_lineno]
        name = getattr(node, "name", None)
        if name and any(line.strip() == BEGIN for line in text):
            yield name, "\n".join(line for line in text if line.strip() not in (BEGIN, END))


def public_replies(study: Study, check: Check) -> Iterator[tuple[str, str]]:
    """Yield each public case of a check with the reply of the reference, each on one line."""
    if check.ask not in MATCHES:
        expected, _ = load_expected(study.expected_file, [check])
        for case, reply in zip(check.cases, expected[check.name], strict=True):
            yield _one_line(case), _one_line(reply)


def written(study: Study) -> Iterator[tuple[str, str]]:
    """Yield each written question, and its model answer with the rubric, as Markdown."""
    answers, questions = sections(study), {}
    for path in notebook_texts(study.folder):
        before = ""
        for cell in jupytext.read(path, fmt="py:percent").cells:
            if "answer" in cell.metadata:
                questions[cell.metadata["answer"]] = extract_question(before)
            before = cell.source
    for name in study.written:
        parts = re.split(r"\n\n(?=\S)", answers[name].strip())
        yield questions[name], "\n\n".join(_for_students(parts))


def _for_students(parts: list[str]) -> Iterator[str]:
    """Yield the paragraphs of an answer that precede those for staff."""
    for part in parts:
        if part.startswith(FOR_STAFF):
            return
        yield part


def refuse_leaks(page: str, name: str) -> None:
    """Raise `SolutionsError` if a page shows a hidden position of any study, or a reply to one."""
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    files = [Member(name, page.encode()), Member(name, text.encode())]
    leaks = [
        leak for other in studies() for leak in find_leaks(load_study(other), files, answers=False)
    ]
    if leaks:
        raise SolutionsError("the solutions were not written: " + "; ".join(dict.fromkeys(leaks)))


def _one_line(fields: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in fields.items()
    )


def _html(text: str) -> Markup:
    return Markup(markdown(text, Renderer()))
