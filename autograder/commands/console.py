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
    from course.probes import Study

console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)


def lose_no_letter() -> None:
    """Have stdout, as stderr always does, show \\xfc for a letter that it lacks, and not stop."""
    if isinstance(sys.stdout, TextIOWrapper):  # else a notebook's, or a test's, which lack none
        sys.stdout.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """Print a line on stdout, without markup or highlighting."""
    console.print(line, markup=False, highlight=False)


def complain(line: str) -> None:
    """Print a line on stderr, without markup or highlighting."""
    errors.print(line, markup=False, highlight=False)


class Rate(ProgressColumn):
    """A column of the progress bar: how many are done in a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "", style="progress.data.speed")


class _Told(Progress):
    """A progress bar that somebody else draws: every change is told as plain data."""

    def add_task(self, *arguments: Any, **fields: Any) -> TaskID:
        """Add a task, and tell of it."""
        task = super().add_task(*arguments, **fields)
        self._tell(task)
        return task

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change a task, and tell of it."""
        super().update(task_id, **changes)
        self._tell(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """Go on with a task, and tell of it."""
        super().advance(task_id, advance)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
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


def tell_progress(listener: Callable[[dict[str, Any]], object]) -> None:
    """Have the progress of commands told to a listener instead of drawn, from now on: what is being
    done, how much of it (of a total that may be unknown), the seconds left, and a note."""
    _listeners.append(listener)


def progress() -> Progress:
    """A progress bar with rate and time left, on stderr; nothing if that is not a terminal."""
    bar = _Told if _listeners else Progress
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
    """Print what the doctor found: a line for each module, or only for those that matter."""
    say(study.title)
    shown = [
        finding
        for finding in findings
        if verbose or not finding.healthy or finding.name in ("reference", "second", "stub")
    ]
    print_table(
        ("points", "module", "loses"),
        [
            (f"{finding.earned:g} of {finding.points:g}", finding.name, _loses(finding))
            for finding in shown
        ],
        right=[0],
        console=console,
    )
    if not verbose:
        say("Mutants marked as expected are left out: -v shows them.")


def _loses(finding: Finding) -> str:
    lost = _aspects(finding.loses)
    if finding.healthy:
        return lost
    if finding.loses != finding.should_lose:
        return f"{lost} - WRONG: it should lose {_aspects(finding.should_lose)}"
    return f"{lost} - WRONG: feedback cannot name the slip"


def _aspects(lost: Mapping[str, Iterable[str]]) -> str:
    return "; ".join(f"{check}: {', '.join(names)}" for check, names in lost.items()) or "nothing"


def where_table(lines: Iterable[tuple[str, object]]) -> Table:
    """A table of what was written, and where it is."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for what, where in lines:
        table.add_row(what, str(where))
    return table
