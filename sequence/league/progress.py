"""Show the progress of a league: a bar on a terminal, elsewhere a line now and then.

It goes to standard error; in a notebook, where that looks like an error, to the cell's output, as a
line that goes away in the end.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from tictactoe.show.time_left import TimeLeft, how_far, in_notebook

if TYPE_CHECKING:
    from rich.console import Console

EVERY, SHARE = 2.0, 0.1  # between two lines: seconds, and of the time that has passed; at least
MANY = 200  # games that take seconds to rate


@contextmanager
def progress(
    games: int, done: int, console: "Console | None" = None
) -> Iterator[Callable[[], object]]:
    """Show `done` of `games` games as played, and one more for each call of the yielded function.

    The bar goes to `console` (of rich) if given, by default to standard error if it is a terminal.
    """
    if console is None and sys.stderr.isatty():
        from rich.console import Console

        console = Console(stderr=True)
    if console is None:
        yield TimeLeft(games, "games", done) if in_notebook() else _lines(games, done)
    else:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )  # fmt: skip

        columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("games", total=games, completed=done)
            yield lambda: bar.advance(task)
    if games >= MANY:
        say("rating ...")


def say(line: str) -> None:
    """Print a line at once."""
    print(line, file=sys.stdout if in_notebook() else sys.stderr, flush=True)


def _lines(games: int, done: int) -> Callable[[], None]:
    before, start = done, monotonic()
    shown = start

    def advance() -> None:
        nonlocal done, shown
        done, now = done + 1, monotonic()
        if now - shown >= max(EVERY, SHARE * (now - start)) and done < games:
            shown = now
            say(how_far(done, games, "games", now - start, before))

    return advance
