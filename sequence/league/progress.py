"""Shows the progress of a league: a bar on a terminal, otherwise occasional lines.

The output is written to standard error. In a notebook, where this would look like an error, it is a
line in the cell's output that disappears at the end.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from common.progress import Progress, in_notebook, progress_text

if TYPE_CHECKING:
    from rich.console import Console

MIN_SECONDS, MIN_SHARE = (
    2.0,
    0.1,
)  # minimum between two lines: seconds, and share of the time so far
MANY = 200  # number of games whose rating takes seconds


@contextmanager
def show_progress(
    games: int, done: int, console: "Console | None" = None
) -> Iterator[Callable[[], object]]:
    """Show that `done` of `games` games have been played; each call of the yielded function adds
    one.

    The bar is drawn on rich's `console` if given, by default on standard error if it is a terminal.
    """
    if console is None and sys.stderr.isatty():
        from rich.console import Console

        console = Console(stderr=True)
    if console is None:
        yield Progress(games, "games", done).update if in_notebook() else _lines(games, done)
    else:
        from rich import progress as bars

        columns = (
            bars.TextColumn("games"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeRemainingColumn(),
        )
        with bars.Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("games", total=games, completed=done)
            yield lambda: bar.advance(task)
    if games >= MANY:
        print_line("rating ...")


def print_line(line: str) -> None:
    """Print a line to standard error, or to the output of a notebook cell."""
    print(line, file=sys.stdout if in_notebook() else sys.stderr, flush=True)


def _lines(games: int, done: int) -> Callable[[], None]:
    before, start = done, monotonic()
    last_shown = start

    def advance() -> None:
        nonlocal done, last_shown
        done, now = done + 1, monotonic()
        if now - last_shown >= max(MIN_SECONDS, MIN_SHARE * (now - start)) and done < games:
            last_shown = now
            print_line(progress_text(done, games, "games", now - start, before))

    return advance
