"""Writes the report of one assignment as a self-contained page, and the same numbers as CSV."""

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
from autograder.grading.mark_history.requests import open_requests
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.deciding import describe_outdated_results, outdated_results
from autograder.grading.records.free_days import Account, accounts, rule_of
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.grading.records.ledger import current_entry, read_results
from autograder.grading.records.reference_timing import time_limits
from autograder.reporting.export import plain_cell, suffix
from autograder.reporting.gradebook import (
    Cell,
    CellName,
    Marks,
    assignments_of,
    count_attempts,
    effective_marks,
    marks_of,
    read_gradebook,
    students_of,
)
from autograder.reporting.histogram import histogram
from autograder.reporting.integrity import in_notebook_order, suspicions
from autograder.reporting.similarity.stored import stored_findings
from autograder.studies.mutants import ANOTHER_YEAR
from course.checks import Study
from course.checks.question import NOT_WRITTEN


@dataclass(frozen=True)
class StudentRow:
    """The row of one student: the marks in the gradebook and the outcomes of the checks."""

    student: str
    name: str
    status: str  # as in `grade.Graded`, or "not graded"
    marks: Marks | None  # from the gradebook; None unless they belong to the submission
    outcomes: Mapping[str, Mapping[str, Any]]  # check id -> outcome, as JSON
    inside: frozenset[CellName]  # graded cells evaluated in the student's own interpreter
    problems: Sequence[str]
    suspicions: Sequence[str]
    seconds: float
    account: Account | None = None  # of free late days
    section: str = ""
    group: str = ""  # with the name of the member who submitted, if that is another one
    links: Mapping[str, str] = field(
        default_factory=dict
    )  # name of a feedback page or module -> address

    @property
    def score(self) -> float | None:
        """The effective score, including extra credit and manual marks, minus the late
        penalty.
        """
        return self.marks.score if self.marks else None

    @property
    def reasons(self) -> list[str]:
        """The reasons why a grader should review this submission; empty if there are none."""
        unmarked = [f"no marks: {self.status}"] if self.marks is None else []
        return [*unmarked, *self.problems]


@dataclass(frozen=True)
class ClassReport:
    """The contents of the report of one assignment."""

    study: Study
    max_points: float
    cells: Mapping[CellName, Cell]  # cells with points that are not checks
    rows: Sequence[StudentRow]
    limits: Mapping[str, float] = field(default_factory=dict)  # check or notebook -> seconds
    dropped: Sequence[str] = ()  # students who have submitted but are not counted
    not_on_roster: Mapping[str, str] = field(default_factory=dict)  # student -> what to do
    out_of_date: str = ""  # how many marks are outdated, and why

    @property
    def graded(self) -> list[StudentRow]:
        """The rows that have marks."""
        return [row for row in self.rows if row.marks]


def read_class(folder: CourseFolder, study: Study, section: str | None = None) -> ClassReport:
    """Read the marks of all submissions, or those of a section, and the outcomes of their checks."""
    people = folder.people()
    wanted = set(people.in_section(section)) if section else None
    rivals = folder.rival_submissions(study.assignment)
    suspicious, similar = suspicions(folder, study), stored_findings(folder, study)
    rule = rule_of(folder.config())
    marks, names, assignments, free, attempts = read_gradebook(
        folder,
        lambda gradebook: (
            marks_of(gradebook, study.assignment),
            _names(students_of(gradebook)),
            assignments_of(gradebook),
            accounts(gradebook, rule),
            AttemptRule(folder, study.assignment, gradebook),
        ),
    )
    if study.assignment not in assignments:
        require_gradebook(folder, study.assignment)
    requests = open_requests(folder, study.assignment)
    all_cells = assignments.get(study.assignment, {})
    checks = {check.grade_id for check in study.checks.values()}
    cells = {
        name: all_cells[name]
        for name in in_notebook_order(folder, study, all_cells)
        if name[1] not in checks
    }
    max_points = sum((cell.points for cell in all_cells.values()), 0.0)
    rows = []
    for student in folder.submitted(study.assignment):
        results = read_results(folder.results(study.assignment, student))
        entry = current_entry(folder, study.assignment, student)
        effective, problem = effective_marks(marks.get(student), entry)
        outcomes = {o["check"]: o for result in results.values() for o in result["outcomes"]}
        rows.append(
            StudentRow(
                student,
                names.get(student, ""),
                entry["status"],
                count_attempts(attempts, student, effective, entry),
                outcomes,
                _inside(results, cells),
                [
                    *entry["problems"],
                    *filter(
                        None,
                        [
                            problem,
                            attempts.problem(student, entry),
                            rivals.get(student),
                            requests.get(student),
                        ],
                    ),
                ],
                [
                    *suspicious.get(student, []),
                    *similar.get(student, []),
                    *answers_of_another_year(outcomes),
                ],
                entry["seconds"],
                free.get(student),
                people.person(student).section,
                folder.describe_group(study.assignment, student),
                dict(_links(folder, study, student)),
            )
        )
    rows = [row for row in rows if wanted is None or row.student in wanted]
    misnamed, not_on_roster = (
        ({}, {})
        if section
        else (folder.misnamed(study.assignment), folder.not_on_roster(study.assignment))
    )
    rows += [
        StudentRow(name, "", "nothing to grade", None, {}, frozenset(), [reason], [], 0)
        for name, reason in misnamed.items()
    ]
    return ClassReport(
        study,
        max_points,
        cells,
        rows,
        time_limits(folder, study, folder.config()),
        people.dropped(marks),
        not_on_roster,
        describe_outdated_results(folder, study, outdated_results(folder, study)),
    )


def answers_of_another_year(outcomes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence if replies are those to another year's version of the study."""
    checks = [
        check
        for check, outcome in outcomes.items()
        if any(name.startswith(ANOTHER_YEAR) for name in outcome.get("matching", ()))
    ]
    if checks:
        yield f"the answer to another year's version of the study: {', '.join(checks)}"


def _inside(
    results: Mapping[str, Mapping[str, Any]], cells: Mapping[CellName, Cell]
) -> frozenset[CellName]:
    """Return the graded cells that were evaluated in the student's own interpreter."""
    return frozenset(
        (notebook, cell)
        for notebook, result in results.items()
        for cell in result.get("inside", ())
        if (notebook, cell) in cells and not cells[notebook, cell].written
    )


def write_report(
    folder: CourseFolder, study: Study, section: str | None = None
) -> tuple[Path, Path]:
    """Write `reports/{assignment}.html` and `.csv`, for the class or for a section; return both paths.

    Raises `CourseFolderError` if the study has not been released.
    """
    folder.require_release(study)
    report = read_class(folder, study, section)
    page = folder.root / "reports" / f"{study.assignment}{suffix(section)}.html"
    page.parent.mkdir(exist_ok=True)
    environment = Environment(
        loader=PackageLoader("autograder.reporting"),
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
    page.write_text(
        environment.get_template("report.html").render(
            _template_context(report, section), course=folder.course_name()
        ),
        "utf-8",
    )
    table = page.with_suffix(".csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_csv_lines(report))
    return page, table


def _links(folder: CourseFolder, study: Study, student: str) -> Iterator[tuple[str, str]]:
    """Yield the names and relative addresses of a student's feedback pages and module, excluding
    links.
    """
    feedback = folder.root / "feedback" / student / study.assignment
    released = sorted(path.stem for path in folder.release(study.assignment).glob("*.ipynb"))
    pages = [
        page
        for name in released
        if (page := feedback / f"{name}.html").is_file() and not page.is_symlink()
    ]  # other pages were not written by this kit
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


def _template_context(report: ClassReport, section: str | None) -> dict[str, Any]:
    """Return the variables of the page's template."""
    graded = report.graded
    scores = [row.marks.score for row in graded if row.marks]
    return {
        "study": report.study,
        "rows": report.rows,
        "graded": len(graded),
        "max_points": report.max_points,
        "mean": mean(scores) if scores else None,
        "median": median(scores) if scores else None,
        "time": _time_statistics((row.seconds, row.student) for row in graded if row.seconds),
        "checks": list(_checks(report)),
        "nodes": list(_time_and_nodes(report)),
        "cells": list(_cells(report)),
        "misconceptions": _misconceptions(graded),
        **_row_selections(report),
        "waiting": sum(row.marks.waiting for row in graded if row.marks),
        "out_of_date": report.out_of_date,
        "section": section,
        "has_people": _has_people(report),
        "dropped": report.dropped,
        "not_on_roster": report.not_on_roster,
        "distribution": (
            histogram(report.max_points, scores) if scores and report.max_points else None
        ),
        "page_of": {
            row.student: next(iter(row.links.values())) for row in report.rows if row.links
        },
        "cell_limits": {
            name: seconds for name, seconds in report.limits.items() if name.endswith(".ipynb")
        },
    }


def _row_selections(report: ClassReport) -> dict[str, list[StudentRow]]:
    """Return the rows that each section of the page lists."""
    return {
        "internal_errors": [row for row in report.rows if row.status == "fault"],
        "to_review": [row for row in report.rows if row.reasons and row.status != "fault"],
        "with_account": [row for row in report.rows if row.account],
        "suspicious": [row for row in report.rows if row.suspicions],
        "late": [row for row in report.graded if row.marks and row.marks.seconds_late],
    }


def _misconceptions(rows: Iterable[StudentRow]) -> list[tuple[str, list[str]]]:
    """Return the causes that the checks recognised, each with its students, most frequent first."""
    students: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for sentence in {o["cause"] for o in row.outcomes.values() if o["cause"]}:
            students[sentence].append(row.student)
    return sorted(students.items(), key=lambda item: (-len(item[1]), item[0]))


def _checks(report: ClassReport) -> Iterator[dict[str, Any]]:
    """Yield the results of each aspect of each check."""
    for check in report.study.checks.values():
        outcomes = [row.outcomes[check.id] for row in report.graded if check.id in row.outcomes]
        for number, (aspect, points) in enumerate(check.points.items()):
            shares = [
                o["aspects"][number]["right"] / o["aspects"][number]["cases"] for o in outcomes
            ]
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


def _time_and_nodes(report: ClassReport) -> Iterator[dict[str, Any]]:
    """Yield the running times and node counts of each check, for submissions that contain an
    implementation.
    """
    not_written = (NOT_WRITTEN, f"{report.study.module} is missing")
    for check in report.study.checks.values():
        outcomes = [
            (row.outcomes[check.id], row.student)
            for row in report.graded
            if check.id in row.outcomes
        ]
        written = [(o, s) for o, s in outcomes if not (o["problem"] or "").startswith(not_written)]
        yield {
            "check": check.id,
            "of": len(outcomes),
            "written": len(written),
            "stopped": sum(o["stopped"] for o, _ in written),
            "limit": report.limits.get(check.id),
            "time": _time_statistics((o["seconds"], student) for o, student in written),
            "nodes": "nodes" in check.points,
            **_node_statistics([o for o, _ in written]),
        }


def _node_statistics(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the percentage of correct node counts, and the median ratio of the incorrect ones."""
    counts = [a for o in outcomes for a in o["aspects"] if a["name"] == "nodes"]
    ratios = [ratio for o in outcomes if (ratio := _node_ratio(o["case"]))]
    right, total = sum(a["right"] for a in counts), sum(a["cases"] for a in counts)
    return {
        "share": 100 * right / total if counts else None,
        "ratio": median(ratios) if ratios else None,
        "ratios": len(ratios),
    }


def _node_ratio(case: Mapping[str, Any] | None) -> float | None:
    """Return the number of counted nodes divided by that of expected nodes in the explained case,
    if the two differ.
    """
    expected, got = ((case or {}).get(side, {}).get("nodes") for side in ("expected", "got"))
    both = type(expected) is type(got) is int and expected != got
    return got / expected if both and expected > 0 and 0 <= got < 10**9 else None


def _time_statistics(times: Iterable[tuple[float, str]]) -> dict[str, Any] | None:
    """Return the median time, the longest time and the student to whom it belongs; None without
    times.
    """
    ordered = sorted(times)
    if not ordered:
        return None
    slowest, student = ordered[-1]
    return {"median": median(s for s, _ in ordered), "slowest": slowest, "student": student}


def _cells(report: ClassReport) -> Iterator[dict[str, Any]]:
    """Yield the results of cells that are not checks, that is, assert cells and written answers."""
    inside = {name for row in report.rows for name in row.inside}
    for name, cell in report.cells.items():
        marks = [
            row.marks.cells[name] for row in report.graded if row.marks and name in row.marks.cells
        ]
        scores = [points for points in marks if points is not None]
        yield {
            "notebook": name[0],
            "cell": name[1],
            "points": cell.points,
            "inside": name in inside,
            "written": cell.written,
            "of": len(marks),
            "full": sum(points >= cell.points for points in scores),
            "none": sum(points == 0 for points in scores),
            "waiting": len(marks) - len(scores),
            "mean": mean(scores) if scores else None,
        }


def _late(seconds: float) -> str:
    """Return a duration in a suitable unit."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _csv_lines(report: ClassReport) -> Iterator[list]:
    checks = report.study.checks.values()
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
        *(f"{notebook}.{cell}" for notebook, cell in report.cells),
        "seconds_late",
        "late_penalty",
        "causes",
        "problems",
        "suspicious",
        *(["section", "group"] if _has_people(report) else []),
    ]
    for row in report.rows:
        yield [plain_cell(value) for value in _csv_values(report, row, columns)]


def _csv_values(report: ClassReport, row: StudentRow, columns: Iterable[str]) -> Iterator[Any]:
    """Yield the values of one student's line; None for a missing mark."""
    earned = {
        f"{o['check']}.{a['name']}": round(a["earned"], 2)
        for o in row.outcomes.values()
        for a in o["aspects"]
    }
    marks = row.marks or Marks()
    yield from (row.student, row.name, row.status)
    yield None if row.score is None else round(row.score, 2)
    yield report.max_points
    yield "yes" if marks.waiting else "no"
    yield row.seconds
    yield from (earned.get(column) for column in columns)
    yield from (marks.cells.get(name) for name in report.cells)
    yield round(marks.seconds_late) if row.marks else None
    yield round(marks.penalty, 2) if row.marks else None
    yield "; ".join(sorted({o["mistake"] for o in row.outcomes.values() if o["mistake"]}))
    yield "; ".join(row.reasons)
    yield "; ".join(row.suspicions)
    if _has_people(report):
        yield from (row.section, row.group)


def _has_people(report: ClassReport) -> bool:
    """Whether a student has a section or a group."""
    return any(row.section or row.group for row in report.rows)
