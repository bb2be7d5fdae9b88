"""Show the progress of a league: a bar on a terminal, elsewhere a line now and then.

It goes to standard error; in a notebook, where that looks like an error, to the cell's output.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 10.0  # seconds between two lines, at least
MANY = 200  # games that take seconds to rate


@contextmanager
def progress(games: int, done: int, console: "Console | None" = None) -> Iterator[Callable]:
    """Show `done` of `games` games as played, and one more for each call of the yielded function.

    The bar goes to `console` (of rich) if given, by default to standard error if it is a terminal.
    """
    if console is None and sys.stderr.isatty():
        from rich.console import Console
        console = Console(stderr=True)
    if console is None:
        yield _lines(games, done)
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
    print(line, file=sys.stdout if _in_notebook() else sys.stderr, flush=True)


def _in_notebook() -> bool:
    """Whether a kernel runs this; that its package has been imported says nothing."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _lines(games: int, done: int) -> Callable[[], None]:
    before, start = done, monotonic()
    shown = start

    def advance() -> None:
        nonlocal done, shown
        done, now = done + 1, monotonic()
        if now - shown >= EVERY and done < games:
            shown = now
            left = (now - start) / (done - before) * (games - done)
            say(f"{done} of {games} games, about {_duration(left)} left")

    return advance


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"
