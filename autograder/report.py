"""The report of one assignment: a page that stands by itself, and the same numbers as CSV."""

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from nbgrader.api import Gradebook, MissingEntry

from autograder.course_folder import CourseFolder
from autograder.ledger import LEDGER, read_ledger
from autograder.step import read_results
from course.plots import COLOURS, figure, picture
from course.probes import Study

BINS = 10  # of the distribution of marks


@dataclass(frozen=True)
class Row:
    """One student's line: the marks in the gradebook and what the checks saw."""

    student: str
    name: str
    status: str  # as in `grade.Graded`, or "not graded"
    score: float | None  # in the gradebook, extra credit and marks given by hand included
    needs_marking: bool  # written answers wait for a person
    outcomes: Mapping[str, Mapping[str, Any]]  # check id -> outcome, as JSON
    problems: Sequence[str]
    seconds: float

    @property
    def reasons(self) -> list[str]:
        """Why a person should look at this submission, each reason once; empty if none should."""
        unmarked = [f"no marks: {self.status}"] if self.score is None else []
        return [*unmarked, *self.problems]


def rows(folder: CourseFolder, study: Study) -> list[Row]:
    """A row for everybody who handed in something."""
    found = []
    config = folder.config()
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        for student in folder.submitted(study.assignment):
            results = folder.results(study.assignment, student)
            ledger = read_ledger(results / LEDGER) or {
                "status": "not graded", "problems": ["it has not been graded yet"], "seconds": 0}
            outcomes = {outcome["check"]: outcome for result in read_results(results).values()
                        for outcome in result["outcomes"]}
            score, needs_marking, name = _in_gradebook(gradebook, study, student)
            graded = ledger["status"] == "graded"
            found.append(Row(student, name, ledger["status"], score if graded else None,
                             needs_marking and graded, outcomes,
                             ledger["problems"], ledger["seconds"]))
    return found


def write_report(folder: CourseFolder, study: Study) -> tuple[Path, Path]:
    """Write `reports/{assignment}.html` and `.csv`; returns both paths."""
    found = rows(folder, study)
    page = folder.root / "reports" / f"{study.assignment}.html"
    page.parent.mkdir(exist_ok=True)
    environment = Environment(loader=PackageLoader("autograder"), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["points"] = lambda number: f"{round(number, 2):g}"
    page.write_text(environment.get_template("report.html").render(_facts(study, found)), "utf-8")
    table = page.with_suffix(".csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        _write_csv(csv.writer(file), study, found)
    return page, table


def _in_gradebook(gradebook: Gradebook, study: Study,
                  student: str) -> tuple[float | None, bool, str]:
    try:
        person = gradebook.find_student(student)
        name = " ".join(filter(None, (person.first_name, person.last_name)))
        submission = gradebook.find_submission(study.assignment, student)
    except MissingEntry:
        return None, False, ""
    return submission.score, submission.needs_manual_grade, name


def _facts(study: Study, found: list[Row]) -> dict[str, Any]:
    """What the page shows, worked out here so that the template only lays it out."""
    graded = [row for row in found if row.score is not None]
    slips: dict[str, list[str]] = defaultdict(list)
    for row in graded:
        for sentence in {o["cause"] for o in row.outcomes.values() if o["cause"]}:
            slips[sentence].append(row.student)
    checks = []
    for check in study.checks.values():
        seen = [row.outcomes[check.id] for row in graded if check.id in row.outcomes]
        for number, (aspect, points) in enumerate(check.points.items()):
            shares = [o["aspects"][number]["right"] / o["aspects"][number]["asked"] for o in seen]
            checks.append({"check": check.id, "aspect": aspect, "points": points,
                           "extra": check.extra_credit, "full": sum(s == 1 for s in shares),
                           "none": sum(s == 0 for s in shares), "of": len(shares),
                           "mean": 100 * mean(shares) if shares else 0})
    scores = [row.score for row in graded]
    return {
        "study": study, "rows": found, "graded": len(graded), "checks": checks,
        "mean": mean(scores) if scores else None, "median": median(scores) if scores else None,
        "slips": sorted(slips.items(), key=lambda item: (-len(item[1]), item[0])),
        "look": [row for row in found if row.reasons],
        "waiting": sum(row.needs_marking for row in found),
        "distribution": _distribution(study, scores) if scores else None,
    }


def _distribution(study: Study, scores: Sequence[float]):
    """A histogram of the marks, as a picture with its numbers in words."""
    width = study.max_points / BINS
    counts = Counter(min(int(score / width), BINS - 1) for score in scores)
    axes = figure(6.5, 2.6)
    axes.bar([(b + 0.5) * width for b in range(BINS)], [counts[b] for b in range(BINS)],
             width=width * 0.92, color=COLOURS[0])
    axes.set(xlabel=f"points (of {study.max_points:g})", ylabel="submissions",
             xlim=(0, study.max_points))
    axes.yaxis.get_major_locator().set_params(integer=True)
    words = ", ".join(f"{counts[b]} from {b * width:g} to {(b + 1) * width:g}"
                      for b in range(BINS) if counts[b])
    return picture(axes, f"Histogram of marks: {words} points.")


def _write_csv(writer, study: Study, found: list[Row]) -> None:
    columns = [f"{check.id}.{aspect}" for check in study.checks.values() for aspect in check.points]
    writer.writerow(["student", "name", "status", "score", "max_score", "written_answers_waiting",
                     "seconds", *columns, "causes", "problems"])
    for row in found:
        earned = {f"{o['check']}.{a['name']}": round(a["earned"], 2)
                  for o in row.outcomes.values() for a in o["aspects"]}
        causes = sorted({o["slip"] for o in row.outcomes.values() if o["slip"]})
        writer.writerow([row.student, row.name, row.status,
                         "" if row.score is None else round(row.score, 2), study.max_points,
                         "yes" if row.needs_marking else "no", row.seconds,
                         *(earned.get(column, "") for column in columns),
                         "; ".join(causes), "; ".join(row.reasons)])
