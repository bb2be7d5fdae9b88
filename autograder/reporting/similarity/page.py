"""Writes the page on similar submissions, and the same findings as CSV and JSON.

Students' text is untrusted. It is put into the page only as text, which the template escapes.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from autograder.course_folder import CourseFolder
from autograder.grading.records.ledger import read_results
from autograder.reporting.export import plain_cell
from autograder.reporting.similarity.findings import Modules, Pair, answer_pairs, clusters
from autograder.reporting.similarity.sources import (
    STAFF,
    TASKS,
    class_sources,
    given_texts,
    groups,
    model_answers,
    previous_sources,
    public_sources,
    question_of,
    staff_sources,
)
from autograder.reporting.similarity.stored import COLUMNS, report_paths
from autograder.reporting.similarity.thresholds import Rule
from course.checks import Study

MAX_SHOWN = 100  # pairs side by side; the table lists every pair
CONTEXT = 2  # lines shown around matching lines
COLORS = 6  # of matching parts, in turn


@dataclass(frozen=True)
class Findings:
    """All findings about one assignment."""

    study: Study
    students: int
    compared: Mapping[str, int]  # what was compared -> number
    modules: Sequence[Pair]
    answers: Sequence[Pair]
    rule: Rule
    left_out: Mapping[str, str]  # student -> why the module was not compared
    groups: int = 0
    questions: Mapping[str, str] = field(default_factory=dict)

    @property
    def pairs(self) -> list[Pair]:
        """Pairs of modules, then of answers."""
        return [*self.modules, *self.answers]

    @property
    def clusters(self) -> list[list[str]]:
        """People who are connected by pairs."""
        return clusters(self.pairs)


def find_similar(folder: CourseFolder, study: Study, previous: Sequence[Path] = ()) -> Findings:
    """Compare all submissions to a study. Raises `UserError`."""
    folder.require_release(study)
    students, left_out = class_sources(folder, study)
    former = [each for root in previous for each in previous_sources(root, study, folder)]
    staff, members = staff_sources(study), groups(folder)
    handout = given_texts(folder.release(study.assignment), study)
    public = public_sources(study, handout)
    outcomes = {
        source.student: [
            outcome
            for result in read_results(folder.results(study.assignment, source.student)).values()
            for outcome in result["outcomes"]
        ]
        for source in students
    }
    modules = Modules([*students, *former, *staff], handout, outcomes, members)
    written = answer_pairs([*students, *former], model_answers(study), handout, members)
    questions = sorted({pair.question for pair in written})
    return Findings(
        study,
        len(students),
        {
            "submissions": len(students),
            "earlier submissions": len(former),
            "answers": len(staff),
            "public files": len({source.name for source in public}),
        },
        sorted([*modules.pairs(), *modules.public_pairs(public)], key=lambda pair: -pair.share),
        written,
        modules.rule,
        left_out,
        len({*members.values()}),
        {question: question_of(folder, study, question) for question in questions},
    )


def write_similarity(folder: CourseFolder, findings: Findings) -> tuple[Path, Path, Path]:
    """Write the page, the CSV file and the JSON file; return their paths."""
    page, table, data = report_paths(folder, findings.study)
    page.parent.mkdir(exist_ok=True)
    environment = Environment(
        loader=PackageLoader("autograder.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share: f"{int(100 * share)} %"
    template = environment.get_template("similarity.html")
    page.write_text(
        _encodable(
            template.render(
                findings=findings,
                shown=[_view(pair) for pair in findings.pairs[:MAX_SHOWN]],
                max_shown=MAX_SHOWN,
                addresses=dict(_addresses(folder, findings)),
                tasks=TASKS,
            )
        ),
        "utf-8",
    )
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for pair in findings.pairs:
            writer.writerow([plain_cell(_encodable(value)) for value in _row(pair)])
    entries = [dict(zip(COLUMNS, _row(pair), strict=True)) for pair in findings.pairs]
    content = {"pairs": entries, "clusters": findings.clusters, "not compared": findings.left_out}
    data.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return page, table, data


def _row(pair: Pair) -> list[str]:
    lines = {line for region in pair.regions for line in region.lines}
    return [
        pair.question.replace(TASKS, ": ") or "module",
        pair.one.name,
        pair.other.name,
        pair.other.kind,
        f"{pair.share:.3f}",
        f"{pair.threshold:.3f}",
        f"{pair.evidence:.0f}",
        "; ".join(pair.hints),
        str(len(lines)),
    ]


@dataclass(frozen=True)
class Line:
    """A line of a text on the page: its number, and the part to which it belongs, if any."""

    number: int
    text: str
    part: int | None = None
    is_first: bool = False  # of its part

    @property
    def color(self) -> int:
        """The number of the part's colour."""
        return (self.part or 0) % COLORS


@dataclass(frozen=True)
class Skipped:
    """Lines that are not shown."""

    count: int


def _view(pair: Pair) -> dict[str, Any]:
    """Return the two columns of a pair."""
    left, right = pair.texts()
    parts: list[dict[int, int]] = [{}, {}]
    for region in pair.regions:
        for side, lines in zip(parts, (region.lines, region.other_lines), strict=True):
            for line in lines:
                side.setdefault(line, region.number + 1)
    return {
        "pair": pair,
        "columns": [
            (source.name, list(_column(text.splitlines(), side)))
            for source, text, side in zip((pair.one, pair.other), (left, right), parts, strict=True)
        ],
    }


def _column(lines: Sequence[str], parts: Mapping[int, int]) -> Iterator[Line | Skipped]:
    """Yield the lines in a part and around it."""
    near = {number for line in parts for number in range(line - CONTEXT, line + CONTEXT + 1)} or {
        *range(1, 2 * CONTEXT + 2)
    }
    seen: set[int] = set()
    numbered = enumerate(lines, 1)
    for is_shown, group in groupby(numbered, key=lambda each: each[0] in near):
        if not is_shown:
            yield Skipped(len(list(group)))
            continue
        for number, text in group:
            part = parts.get(number)
            yield Line(number, text, part, part is not None and part not in seen)
            if part is not None:
                seen.add(part)


def _addresses(folder: CourseFolder, findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield the addresses of the modules of the class, by student."""
    name = findings.study.module
    for pair in findings.modules:
        for source in (pair.one, pair.other):
            path = folder.submission(findings.study.assignment, source.student) / name
            if source.kind != STAFF and source.name == source.student and path.is_file():
                yield source.name, "../" + quote(path.relative_to(folder.root).as_posix())


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which a file cannot contain."""
    return text.encode("utf-8", "replace").decode()
