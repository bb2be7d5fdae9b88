"""The report of one assignment: a self-contained page, and the same numbers as CSV."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any
from urllib.parse import quote

import sqlalchemy
from jinja2 import Environment, PackageLoader, StrictUndefined

from autograder.course_folder import CourseFolder
from autograder.grading.booked import require_gradebook
from autograder.grading.deciding import out_of_date, out_of_date_in_words
from autograder.grading.ledger import read_results, standing
from autograder.grading.needed import limits
from autograder.telling.export import plain_cell
from autograder.telling.gradebook import (
    Cell,
    CellName,
    Marks,
    assignments_of,
    marks_of,
    read_gradebook,
    students_of,
    what_counts,
)
from autograder.telling.histogram import histogram
from autograder.telling.integrity import in_order, suspicions
from course.probes import Study
from course.probes.question import NOT_WRITTEN


@dataclass(frozen=True)
class Row:
    """One student's line: the marks in the gradebook and what the checks saw."""

    student: str
    name: str
    status: str  # as in `grade.Graded`, or "not graded"
    marks: Marks | None  # in the gradebook; None unless they are of what was handed in
    outcomes: Mapping[str, Mapping[str, Any]]  # check id -> outcome, as JSON
    inside: frozenset[CellName]  # graded cells that the student's own interpreter decided
    problems: Sequence[str]
    suspicions: Sequence[str]
    seconds: float
    links: Mapping[str, str] = field(default_factory=dict)  # feedback and module: name -> address

    @property
    def score(self) -> float | None:
        """What counts: with extra credit and marks by people, less the penalty for lateness."""
        return self.marks.score if self.marks else None

    @property
    def reasons(self) -> list[str]:
        """Why a person should look at this submission, each reason once; empty if there is none."""
        unmarked = [f"no marks: {self.status}"] if self.marks is None else []
        return [*unmarked, *self.problems]


@dataclass(frozen=True)
class Class:
    """Everything that the report of one assignment shows."""

    study: Study
    max_points: float
    cells: Mapping[CellName, Cell]  # those with points that are no checks
    rows: Sequence[Row]
    limits: Mapping[str, float] = field(default_factory=dict)  # as `needed.limits` gives them
    out_of_date: str = ""  # how many marks are of an earlier state, and why

    @property
    def graded(self) -> list[Row]:
        """The rows that have marks."""
        return [row for row in self.rows if row.marks]


def look_at(folder: CourseFolder, study: Study) -> Class:
    """Read the marks of everybody who handed in something, and the outcomes of their checks."""
    odd = suspicions(folder, study)
    marks, names, known = read_gradebook(
        folder,
        lambda gradebook: (
            marks_of(gradebook, study.assignment),
            _names(students_of(gradebook)),
            assignments_of(gradebook),
        ),
    )
    if study.assignment not in known:
        require_gradebook(folder, study.assignment)
    everything = known.get(study.assignment, {})
    checks = {check.grade_id for check in study.checks.values()}
    cells = {
        name: everything[name]
        for name in in_order(folder, study, everything)
        if name[1] not in checks
    }
    most = sum((cell.points for cell in everything.values()), 0.0)
    rows = []
    for student in folder.submitted(study.assignment):
        kept = read_results(folder.results(study.assignment, student))
        entry = standing(folder, study.assignment, student)
        counts, wrong = what_counts(marks.get(student), entry)
        rows.append(
            Row(
                student,
                names.get(student, ""),
                entry["status"],
                counts,
                {o["check"]: o for result in kept.values() for o in result["outcomes"]},
                frozenset(
                    (notebook, cell)
                    for notebook, result in kept.items()
                    for cell in result.get("inside", ())
                    if (notebook, cell) in cells and not cells[notebook, cell].written
                ),
                [*entry["problems"], *filter(None, [wrong])],
                odd.get(student, []),
                entry["seconds"],
                dict(_links(folder, study, student)),
            )
        )
    rows += [
        Row(name, "", "nothing to grade", None, {}, frozenset(), [why], [], 0)
        for name, why in folder.misnamed(study.assignment).items()
    ]
    return Class(
        study,
        most,
        cells,
        rows,
        limits(folder, study, folder.config()),
        out_of_date_in_words(study, out_of_date(folder, study)),
    )


def write_report(folder: CourseFolder, study: Study) -> tuple[Path, Path]:
    """Write `reports/{assignment}.html` and `.csv`; returns both paths.

    Raises `CourseFolderError` if the study has not been released.
    """
    folder.require_release(study)
    found = look_at(folder, study)
    page = folder.root / "reports" / f"{study.assignment}.html"
    page.parent.mkdir(exist_ok=True)
    environment = Environment(
        loader=PackageLoader("autograder.telling"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        points=lambda number: f"{round(number, 2):g}",
        late=_late,
        seconds=lambda number: f"{number:.2f}",
    )
    page.write_text(environment.get_template("report.html").render(_facts(found)), "utf-8")
    table = page.with_suffix(".csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_csv_lines(found))
    return page, table


def _links(folder: CourseFolder, study: Study, student: str) -> Iterator[tuple[str, str]]:
    """What there is to read of one student, with its address seen from the report: feedback, and
    the module. A file that leads elsewhere is no submission."""
    written = folder.root / "feedback" / student / study.assignment
    released = sorted(path.stem for path in folder.release(study.assignment).glob("*.ipynb"))
    pages = [
        page
        for name in released
        if (page := written / f"{name}.html").is_file() and not page.is_symlink()
    ]  # no other page was written by us
    for page in pages:
        yield "feedback" if len(pages) == 1 else f"feedback {page.stem}", _address(folder, page)
    work = folder.submission(study.assignment, student)
    module = work / study.module
    if study.module and module.is_file() and not (work.is_symlink() or module.is_symlink()):
        yield study.module, _address(folder, module)


def _address(folder: CourseFolder, path: Path) -> str:
    return "../" + quote(path.relative_to(folder.root).as_posix())


def _names(students: Iterable[sqlalchemy.Row]) -> dict[str, str]:
    return {s.id: " ".join(filter(None, (s.first_name, s.last_name))) for s in students}


def _facts(found: Class) -> dict[str, Any]:
    """What the page shows, worked out here so that the template only lays it out."""
    graded = found.graded
    slips: dict[str, list[str]] = defaultdict(list)
    for row in graded:
        for sentence in {o["cause"] for o in row.outcomes.values() if o["cause"]}:
            slips[sentence].append(row.student)
    scores = [row.score for row in graded]
    return {
        "study": found.study,
        "rows": found.rows,
        "graded": len(graded),
        "max_points": found.max_points,
        "mean": mean(scores) if scores else None,
        "median": median(scores) if scores else None,
        "time": _slowest((row.seconds, row.student) for row in graded if row.seconds),
        "checks": list(_checks(found)),
        "nodes": list(_time_and_nodes(found)),
        "cells": list(_cells(found)),
        "slips": sorted(slips.items(), key=lambda item: (-len(item[1]), item[0])),
        "faults": [row for row in found.rows if row.status == "fault"],
        "look": [row for row in found.rows if row.reasons and row.status != "fault"],
        "suspicious": [row for row in found.rows if row.suspicions],
        "late": [row for row in graded if row.marks.seconds_late],
        "waiting": sum(row.marks.waiting for row in graded),
        "out_of_date": found.out_of_date,
        "distribution": (
            histogram(found.max_points, scores) if scores and found.max_points else None
        ),
        "page_of": {row.student: next(iter(row.links.values())) for row in found.rows if row.links},
        "cell_limits": {
            what: seconds for what, seconds in found.limits.items() if what.endswith(".ipynb")
        },
    }


def _checks(found: Class) -> Iterator[dict[str, Any]]:
    """How each aspect of each check went."""
    for check in found.study.checks.values():
        seen = [row.outcomes[check.id] for row in found.graded if check.id in row.outcomes]
        for number, (aspect, points) in enumerate(check.points.items()):
            shares = [o["aspects"][number]["right"] / o["aspects"][number]["asked"] for o in seen]
            yield {
                "check": check.id,
                "aspect": aspect,
                "points": points,
                "extra": check.extra_credit,
                "full": sum(s == 1 for s in shares),
                "none": sum(s == 0 for s in shares),
                "of": len(shares),
                "mean": 100 * mean(shares) if shares else 0,
            }


def _time_and_nodes(found: Class) -> Iterator[dict[str, Any]]:
    """How long each check took the submissions that wrote it, and how their node counts went."""
    nothing = (NOT_WRITTEN, f"{found.study.module} is missing")
    for check in found.study.checks.values():
        seen = [
            (row.outcomes[check.id], row.student)
            for row in found.graded
            if check.id in row.outcomes
        ]
        written = [(o, who) for o, who in seen if not (o["problem"] or "").startswith(nothing)]
        counts = [a for o, _ in written for a in o["aspects"] if a["name"] == "nodes"]
        ratios = [ratio for o, _ in written if (ratio := _node_ratio(o["case"]))]
        yield {
            "check": check.id,
            "of": len(seen),
            "written": len(written),
            "stopped": sum(o["stopped"] for o, _ in written),
            "limit": found.limits.get(check.id),
            "time": _slowest((o["seconds"], who) for o, who in written),
            "nodes": "nodes" in check.points,
            "share": 100 * sum(a["right"] for a in counts) / sum(a["asked"] for a in counts)
            if counts
            else None,
            "ratio": median(ratios) if ratios else None,
            "ratios": len(ratios),
        }


def _node_ratio(case: Mapping[str, Any] | None) -> float | None:
    """Nodes counted per node expected in the explained case, where the two differ."""
    expected, got = ((case or {}).get(side, {}).get("nodes") for side in ("expected", "got"))
    both = type(expected) is type(got) is int and expected != got
    return got / expected if both and expected > 0 and 0 <= got < 10**9 else None


def _slowest(times: Iterable[tuple[float, str]]) -> dict[str, Any] | None:
    found = sorted(times)
    return (
        {"median": median(s for s, _ in found), "slowest": found[-1][0], "who": found[-1][1]}
        if found
        else None
    )


def _cells(found: Class) -> Iterator[dict[str, Any]]:
    """How the cells went that no check decides: assert cells and what people mark."""
    inside = {name for row in found.rows for name in row.inside}
    for name, cell in found.cells.items():
        marks = [row.marks.cells[name] for row in found.graded if name in row.marks.cells]
        given = [points for points in marks if points is not None]
        yield {
            "notebook": name[0],
            "cell": name[1],
            "points": cell.points,
            "inside": name in inside,
            "written": cell.written,
            "of": len(marks),
            "full": sum(points >= cell.points for points in given),
            "none": sum(points == 0 for points in given),
            "waiting": len(marks) - len(given),
            "mean": mean(given) if given else None,
        }


def _late(seconds: float) -> str:
    """A time in the unit that people would use."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _csv_lines(found: Class) -> Iterator[list]:
    checks = found.study.checks.values()
    columns = [f"{check.id}.{aspect}" for check in checks for aspect in check.points]
    yield [
        "student",
        "name",
        "status",
        "score",
        "max_score",
        "written_answers_waiting",
        "seconds",
        *columns,
        *(f"{notebook}.{cell}" for notebook, cell in found.cells),
        "seconds_late",
        "late_penalty",
        "causes",
        "problems",
        "suspicious",
    ]
    for row in found.rows:
        earned = {
            f"{o['check']}.{a['name']}": round(a["earned"], 2)
            for o in row.outcomes.values()
            for a in o["aspects"]
        }
        marks = row.marks or Marks()
        given = [marks.cells.get(name) for name in found.cells]
        yield [
            plain_cell(value)
            for value in (
                row.student,
                row.name,
                row.status,
                "" if row.score is None else round(row.score, 2),
                found.max_points,
                "yes" if marks.waiting else "no",
                row.seconds,
                *(earned.get(column, "") for column in columns),
                *("" if points is None else points for points in given),
                round(marks.seconds_late) if row.marks else "",
                round(marks.penalty, 2) if row.marks else "",
                "; ".join(sorted({o["slip"] for o in row.outcomes.values() if o["slip"]})),
                "; ".join(row.reasons),
                "; ".join(row.suspicions),
            )
        ]
