"""Makes the discussion of solutions that is handed out after the deadline: one page for a study.

It holds what no student may see before: the reference, what it replies to the public positions, and
model answers. Hidden positions stay hidden, as the study is given again; nobody is named.
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
from autograder.errors import Refused
from autograder.grading.booked import require_gradebook
from autograder.grading.ledger import read_results
from autograder.mutants import load_mutants
from autograder.release.book.pages import Renderer, markdown
from autograder.release.kit import Member
from autograder.release.leaks import find_leaks
from autograder.release.notebooks import notebook_texts
from autograder.release.teaching import slips_of
from autograder.telling.gradebook import read_gradebook
from autograder.telling.questions import question_in, sections
from autograder.workspace import answer_path
from autograder.workspace.strip import BEGIN, END
from course.probes import Check, Study, load_expected, load_study, studies
from course.probes.questions import MATCHES
from course.probes.syntax import parsed

FEWEST = 3  # students who made a mistake, so that the page points at nobody
DUE = """
    SELECT a.duedate, s.extension
    FROM assignment a LEFT JOIN submitted_assignment s ON s.assignment_id = a.id
    WHERE a.name = :assignment"""
FOR_STAFF = ("For the grader:", "**Sample answers.**")  # how a part begins that students do not get
CSS = Path(__file__).parents[1] / "release" / "book" / "templates" / "book.css"
_highlight = Highlight2HTML(pygments_lexer="python3")


class SolutionsError(Refused):
    """The page was not made; the message says why."""


@dataclass(frozen=True)
class Mistakes:
    """What went wrong in a class: each known slip with how many made it, the commonest first."""

    handed_in: int
    known: list[tuple[str, int]]
    rare: int  # known slips of fewer than `FEWEST` students


def write_solutions(
    study: Study, path: Path, folder: CourseFolder | None = None, *, before_deadline: bool = False
) -> None:
    """Write the page of a study to `path`, readable for its owner and those who grade the course.

    With a course's `folder`, its commonest mistakes are counted; without one, the known slips are
    listed. Raises `SolutionsError` while the course's students may still hand in, unless told
    `before_deadline`, and where the page would show a hidden position.
    """
    mistakes = None
    if folder is not None:
        folder.require_release(study)
        until = last_day(folder, study)
        if until and until > datetime.now(UTC) and not before_deadline:
            raise SolutionsError(
                f"{study.assignment} may be handed in until {until:%Y-%m-%d %H:%M} UTC, extensions "
                "included: make its solutions then, or say --before-deadline"
            )
        mistakes = mistakes_of(folder, study)
    page = render(study, mistakes)
    refuse_leaks(page, path.name)
    shared = folder.root.stat().st_mode & 0o040 if folder else 0  # with others who grade
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
    """When the last student's time for an assignment ends, by the gradebook; None for never."""
    query = sqlalchemy.text(DUE).columns(column("duedate", DateTime), column("extension", Interval))

    def look(gradebook: Connection) -> list[datetime]:
        return [
            due.replace(tzinfo=UTC) + (extension or timedelta())
            for due, extension in gradebook.execute(query, {"assignment": study.assignment})
            if due
        ]

    require_gradebook(folder, study.assignment)
    return max(read_gradebook(folder, look), default=None)


def mistakes_of(folder: CourseFolder, study: Study) -> Mistakes:
    """The known slips that the checks found in a class. Other causes are left out: their sentences
    are made of a student's own replies."""
    known = {mutant.sentence for mutant in load_mutants(study.name)}
    made: Counter[str] = Counter()
    handed_in = folder.submitted(study.assignment)
    for student in handed_in:
        kept = read_results(folder.results(study.assignment, student))
        made.update(
            {outcome["cause"] for result in kept.values() for outcome in result["outcomes"]} & known
        )
    common = [(sentence, times) for sentence, times in made.items() if times >= FEWEST]
    return Mistakes(
        len(handed_in),
        sorted(common, key=lambda item: (-item[1], item[0])),
        len(made) - len(common),
    )


def render(study: Study, mistakes: Mistakes | None) -> str:
    """The page as HTML that asks the web for nothing."""
    environment = Environment(
        loader=PackageLoader("autograder.telling"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    mutants = load_mutants(study.name)
    slips = (
        {}
        if mistakes
        else {
            check: [mutant.sentence for mutant in slips_of(study, check, mutants)]
            for check in study.checks
        }
    )
    return environment.get_template("solutions.html").render(
        study=study,
        css=Markup(CSS.read_text("utf-8")),
        mistakes=mistakes,
        fewest=FEWEST,
        code=[(name, _code(name, text)) for name, text in reference(study)],
        checks=[
            (check, list(public_replies(study, check)), slips.get(name, []))
            for name, check in study.checks.items()
        ],
        written=[
            (name, points, *map(_html, texts))
            for (name, points), texts in zip(study.written.items(), written(study), strict=True)
        ],
    )


def _code(name: str, text: str) -> Markup:
    """Coloured code, which scrolls in a small window, by keyboard too."""
    begin = Markup('<pre tabindex="0" role="region" aria-label="{}, code">').format(name)
    return Markup(_highlight(text).replace("<pre>", begin, 1))


def reference(study: Study) -> Iterator[tuple[str, str]]:
    """The functions and classes that students write, and their text in the reference."""
    source = answer_path(study).read_text("utf-8")
    lines = source.split("\n")
    for node in parsed(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        text = lines[first - 1 : node.end_lineno]
        name = getattr(node, "name", None)
        if name and any(line.strip() == BEGIN for line in text):
            yield name, "\n".join(line for line in text if line.strip() not in (BEGIN, END))


def public_replies(study: Study, check: Check) -> Iterator[tuple[str, str]]:
    """Each public case of a check, and what the reference replies, in one line each."""
    if check.ask not in MATCHES:
        expected, _ = load_expected(study.expected_file, [check])
        for case, reply in zip(check.cases, expected[check.name], strict=True):
            yield _words(case), _words(reply)


def written(study: Study) -> Iterator[tuple[str, str]]:
    """Each written question, and its model answer with what the points are for, as Markdown."""
    answers, asked = sections(study), {}
    for path in notebook_texts(study.folder):
        before = ""
        for cell in jupytext.read(path, fmt="py:percent").cells:
            if "answer" in cell.metadata:
                asked[cell.metadata["answer"]] = question_in(before)
            before = cell.source
    for name in study.written:
        parts = re.split(r"\n\n(?=\S)", answers[name].strip())
        yield asked[name], "\n\n".join(_for_students(parts))


def _for_students(parts: list[str]) -> Iterator[str]:
    """The paragraphs of an answer up to the staff's own; a list stands with its heading."""
    for part in parts:
        if part.startswith(FOR_STAFF):
            return
        yield part


def refuse_leaks(page: str, name: str) -> None:
    """Raise `SolutionsError` if a page shows a hidden position or a reply to one, of any study."""
    read = html.unescape(re.sub(r"<[^>]+>", "", page))
    files = [Member(name, page.encode()), Member(name, read.encode())]
    leaks = [
        leak for other in studies() for leak in find_leaks(load_study(other), files, answers=False)
    ]
    if leaks:
        raise SolutionsError("the solutions were not written: " + "; ".join(dict.fromkeys(leaks)))


def _words(fields: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in fields.items()
    )


def _html(text: str) -> Markup:
    return Markup(markdown(text, Renderer()))
