"""A student's progress in a study: the last result of each check, and the written answers.

`check` stores its points in `.checked.json` next to the module; everything else is read from the
saved notebooks and the saved module. No code is run, and no mark depends on this.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from course.checks import Check, Study
from course.checks.marking.diagnosis import CheckSummary
from course.checks.marking.evidence import Finding
from course.checks.marking.outcome import Outcome

RESULTS_FILE = ".checked.json"
NOTEBOOKS = "[0-9][0-9][_a-z]*.ipynb"  # such as 09_sequence.ipynb, or 10b_ for a second part
SKIPPED = "skip-execution"  # the tag of cells that students need not run
STUB_PREFIX = "raise NotImplementedError("  # the start of the line that students replace
ANSWER_STUB = "*Write your answer here.*"
CHECK_CALL = re.compile(r"""^check\((["'])([a-z0-9_.]+)\1\)""", re.MULTILINE)


def record_outcome(module: Path, outcome: Outcome) -> None:
    """Save the result of a check of `module` for the start page, if the folder is writable."""
    results = read_results(module.parent)
    results[outcome.check] = {
        "earned": outcome.earned,
        "points": outcome.points,
        "full": outcome.full,
        "matching": outcome.matching,
        "undecided": outcome.undecided,
        "evidence": outcome.is_evidence,
        "written": outcome.is_written,
        "module": _digest(module),
    }
    with contextlib.suppress(OSError):
        (module.parent / RESULTS_FILE).write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """The last result of each check: "earned", "points" and the "module"'s digest, by id.

    Entries in another form, which `check` cannot have written, are ignored.
    """
    results = _json(folder / RESULTS_FILE)
    if not isinstance(results, dict):
        return {}
    return {check: result for check, result in results.items() if _is_result(result)}


def _is_result(result: Any) -> bool:
    match result:
        case {"earned": int() | float(), "points": int() | float(), "module": str()}:
            names = [_matching(result), result.get("undecided", [])]
            return (
                isinstance(result.get("full", True), bool)
                and isinstance(result.get("evidence", True), bool)
                and isinstance(result.get("written", True), bool)
                and all(isinstance(each, list) for each in names)
                and all(isinstance(name, str) for each in names for name in each)
            )
    return False


def _matching(result: Mapping[str, Any]) -> Any:
    """The names of the known mistakes that a result matches; earlier versions had another key."""
    return result.get("matching", result.get("slips", []))


def _json(path: Path) -> Any:
    """The content of a JSON file; None if it cannot be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def check_summaries(module: Path) -> dict[str, CheckSummary]:
    """The results, by check id, that belong to the current version of `module`."""
    digest = _digest(module)
    return {
        check: CheckSummary(
            result.get("full", True),
            _matching(result),
            result.get("evidence", True),
            dict.fromkeys(result.get("undecided", []), Finding.SILENT),
            is_written=result.get("written", result.get("evidence", True)),
        )
        for check, result in read_results(module.parent).items()
        if result.get("module") == digest
    }


def _digest(module: Path) -> str:
    return hashlib.sha256(module.read_bytes()).hexdigest() if module.is_file() else ""


@dataclass(frozen=True)
class NotebookProgress:
    """The progress in one notebook."""

    path: Path
    title: str
    checks: tuple[str, ...]  # the ids of its checks, without extra credit
    earned: float  # points on the public positions, in the last run of each check
    points: float
    unchecked: tuple[str, ...]  # checks that have not been run yet
    changed: bool  # whether the module has changed since one of its checks was run
    answered: int
    questions: int
    run: int  # number of code cells that had been run when the notebook was saved
    cells: int

    @property
    def state(self) -> str:
        """ "not started", "in progress" or "done".

        A notebook without checks or questions is done when all its cells have been run.
        """
        if not self.checks and not self.questions:
            return (
                "not started"
                if not self.run
                else "in progress"
                if self.run < self.cells
                else "done"
            )
        if not self.earned and not self.answered:
            return "not started"
        whole = self.earned == self.points and self.answered == self.questions
        return "done" if whole else "in progress"  # later notebooks continue with the same module


def progress(folder: Path, study: Study) -> list[NotebookProgress]:
    """The progress in each notebook of a study's folder, in reading order."""
    return [_notebook_progress(path, study) for path in sorted(folder.glob(NOTEBOOKS))]


def count_stubs(module: Path) -> int | None:
    """The number of functions of a module that are still stubs; None if the file is missing."""
    return module.read_text("utf-8", "replace").count(STUB_PREFIX) if module.is_file() else None


def markdown_cells(path: Path) -> Iterator[str]:
    """The text of each Markdown cell of a notebook; empty if the file is not a notebook."""
    return (cell.source for cell in _cells(path) if cell.kind == "markdown")


class _Cell(NamedTuple):
    """The required parts of a notebook's cell."""

    kind: str  # "code", "markdown", ...
    source: str
    metadata: Mapping[str, Any]
    was_run: bool

    @property
    def is_counted(self) -> bool:
        """Whether students have to run the cell."""
        return self.kind == "code" and SKIPPED not in (self.metadata.get("tags") or ())

    @property
    def is_answer(self) -> bool:
        """Whether the cell is for a written answer."""
        nbgrader = self.metadata.get("nbgrader")
        return (
            self.kind == "markdown"
            and isinstance(nbgrader, dict)
            and bool(nbgrader.get("solution"))
        )


def _notebook_progress(path: Path, study: Study) -> NotebookProgress:
    cells = list(_cells(path))
    checks = _checks_in(cells, study)
    digest = _digest(path.parent / study.module)
    results = {
        check: result for check, result in read_results(path.parent).items() if check in checks
    }
    answers = [cell.source for cell in cells if cell.is_answer]
    runs = [cell.was_run for cell in cells if cell.is_counted]
    return NotebookProgress(
        path,
        _title(cells) or path.stem,
        tuple(checks),
        earned=sum(result["earned"] for result in results.values()),
        points=sum(check.max_points for check in checks.values()),
        unchecked=tuple(check for check in checks if check not in results),
        changed=any(result["module"] != digest for result in results.values()),
        answered=sum(ANSWER_STUB not in text and bool(text.strip()) for text in answers),
        questions=len(answers),
        run=sum(runs),
        cells=len(runs),
    )


def _checks_in(cells: Iterable[_Cell], study: Study) -> dict[str, Check]:
    """The checks that a notebook's cells call, without extra credit, by id."""
    by_id = {check.id: check for check in study.checks.values() if not check.extra_credit}
    return {
        name: by_id[name]
        for cell in cells
        if cell.kind == "code"
        for _, name in CHECK_CALL.findall(cell.source)
        if name in by_id
    }


def _title(cells: Iterable[_Cell]) -> str | None:
    """The first heading of level 1 in a notebook's cells."""
    lines = (line for cell in cells if cell.kind == "markdown" for line in cell.source.splitlines())
    return next((line[2:].strip() for line in lines if line.startswith("# ")), None)


def _cells(path: Path) -> Iterator[_Cell]:
    """The cells of a notebook; anything that is not a cell is ignored."""
    notebook = _json(path)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        match cell:
            case {"cell_type": str(kind), "source": str() | [*_] as source}:
                metadata = cell.get("metadata")
                yield _Cell(
                    kind,
                    "".join(map(str, source)),
                    metadata if isinstance(metadata, dict) else {},
                    cell.get("execution_count") is not None,
                )
