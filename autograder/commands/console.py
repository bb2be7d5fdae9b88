"""Terminal output of the commands: two consoles, the progress bar, and tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from autograder.tables import print_table

if TYPE_CHECKING:
    from autograder.doctor import Finding
    from autograder.doctor.dimensions import DimensionTable, SentenceDirections
    from course.checks import Study

console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)


def escape_unencodable_output() -> None:
    """Let stdout print an escape such as \\xfc for a character that its encoding lacks, as stderr
    does.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # not in notebooks and tests, which encode all
        sys.stdout.reconfigure(errors="backslashreplace")


def print_line(line: str) -> None:
    """Print a line on stdout, without markup or highlighting."""
    console.print(line, markup=False, highlight=False)


def print_error(line: str) -> None:
    """Print a line on stderr, without markup or highlighting."""
    errors.print(line, markup=False, highlight=False)


class Rate(ProgressColumn):
    """A column of the progress bar: items per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, or nothing while it is unknown."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "", style="progress.data.speed")


class _ReportedProgress(Progress):
    """A progress bar that is not drawn; every change is passed to a listener as plain data."""

    def add_task(self, *arguments: Any, **fields: Any) -> TaskID:
        """Add a task and report it."""
        task = super().add_task(*arguments, **fields)
        self._report(task)
        return task

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change a task and report it."""
        super().update(task_id, **changes)
        self._report(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """Advance a task and report it."""
        super().advance(task_id, advance)
        self._report(task_id)

    def _report(self, task_id: TaskID) -> None:
        task = next(task for task in self.tasks if task.id == task_id)
        _listeners[-1](
            {
                "what": task.description,
                "done": task.completed,
                "total": task.total,
                "left": task.time_remaining,
                "note": task.fields.get("note", ""),
            }
        )


_listeners: list[Callable[[dict[str, Any]], object]] = []


def report_progress_to(listener: Callable[[dict[str, Any]], object]) -> None:
    """From now on, report the progress of commands to a listener instead of drawing it.

    A report contains the name of the task, how many items are done, the total (None if unknown),
    the seconds left, and a note.
    """
    _listeners.append(listener)


def progress() -> Progress:
    """Return a progress bar that shows the rate and the time left on stderr, if that is a terminal."""
    bar = _ReportedProgress if _listeners else Progress
    return bar(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=errors,
        disable=bool(_listeners) or not errors.is_terminal,
    )


def show_findings(study: Study, findings: Iterable[Finding], verbose: bool) -> None:
    """Print the doctor's findings, one line per module, or only those of modules with problems."""
    print_line(study.title)
    selected = [
        finding
        for finding in findings
        if verbose or not finding.healthy or finding.name in ("reference", "second", "stub")
    ]
    print_table(
        ("points", "module", "loses"),
        [
            (f"{finding.earned:g} of {finding.points:g}", finding.name, _loses(finding))
            for finding in selected
        ],
        right=[0],
        console=console,
    )
    if not verbose:
        print_line("Mutants marked as expected are not listed; use -v to see them.")


def show_sentences(study: Study, sentences: Iterable[SentenceDirections]) -> None:
    """Print each sentence of a stub: how many mutants break it, and in which directions these lose
    marks.
    """
    print_line(f"{study.name}, sentences of the stub, with the mutants that break them")
    print_table(
        ("mutants", "directions", "sentence"),
        [
            (
                str(len(each.coverage.mutants)) if each.coverage.mutants else "-",
                str(each),
                ": ".join(each.coverage.sentence),
            )
            for each in sentences
        ],
        right=[0],
        console=console,
    )


def show_dimensions(table: DimensionTable) -> None:
    """Print the kinds of cases of each check: the numbers of cases, and of mutants that lose there."""
    print_line(
        f"{table.study}, kinds of cases: public, hidden and drawn cases, seeds that draw one, mutants "
        "that lose marks there, and mutants that lose marks only there"
    )
    print_table(
        ("public", "hidden", "drawn", "seeds", "mutants", "only", "check", "kind"),
        [
            (
                *map(str, (row.public, row.hidden, row.drawn, row.seeds)),
                *(("?", "?") if row.mutants is None else map(str, map(len, row.mutants))),
                row.check,
                f"{row.value}" + (f" (impossible: {row.reason})" if row.reason else ""),
            )
            for row in table.rows
        ],
        right=range(6),
        console=console,
    )


def _loses(finding: Finding) -> str:
    lost = _aspects(finding.loses)
    if finding.healthy:
        return lost
    if finding.loses != finding.should_lose:
        return f"{lost} - WRONG: it should lose {_aspects(finding.should_lose)}"
    return f"{lost} - WRONG: feedback cannot name the mistake"


def _aspects(lost: Mapping[str, Iterable[str]]) -> str:
    return "; ".join(f"{check}: {', '.join(names)}" for check, names in lost.items()) or "nothing"


def locations_table(lines: Iterable[tuple[str, object]]) -> Table:
    """Return a table of results and their locations."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, location in lines:
        table.add_row(name, str(location))
    return table
