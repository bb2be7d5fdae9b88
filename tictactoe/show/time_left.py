"""How far something long is, and about how much time is left: a line that goes away at the end.

    from tictactoe.show.time_left import TimeLeft, with_time_left
    for deal in with_time_left(range(30), "deals"):
        ...
    train(players, 800, start, TimeLeft(800, "games"))  # which calls it with what is done

In a notebook the line is an output that is changed in its place, on a terminal the last line.
Nothing is left of it in a saved notebook, and where there is neither, nothing is shown.
"""

import html
import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, TypeVar

EVERY = 0.5  # seconds between two changes of the line; what takes less shows none
WIDTH = 79  # of the line on a terminal
_Item = TypeVar("_Item")


class Line:
    """A line of which only the newest words are to be seen, and in the end something else."""

    def __init__(self) -> None:
        self._handle: Any = None  # of what a notebook shows
        self._told = False

    def tell(self, words: str) -> None:
        """Show this in the place of what was told before; nothing without a notebook or terminal."""
        if in_notebook():
            self._display(_Words(words))
        elif sys.stderr.isatty() and (words or self._told):
            self._told = bool(words)
            end = "" if words else "\r"
            print(f"\r{words:<{WIDTH}}{end}", end="", file=sys.stderr, flush=True)

    def show(self, what: object) -> None:
        """Show this for good, a rich object too; what was told goes away."""
        if in_notebook():
            self._display(what)
            return
        self.tell("")
        print(what)

    def _display(self, what: object) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(what, display_id=True)
        else:
            self._handle.update(what)


class _Words:
    """Words as a notebook shows them; without words it shows nothing."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words

    def _repr_html_(self) -> str:
        return html.escape(self._words)


class TimeLeft:
    """Says now and then "300 of 800 games, about 4 s left"; call it whenever one more is done.

    `total` is how many there are, `what` what they are, in the plural. It counts by itself, or is
    told how many are done; `before` were done before it began. The time left is estimated from the
    time so far. The line goes away with the last one.
    """

    def __init__(self, total: int, what: str, before: int = 0) -> None:
        self._total, self._what, self._done, self._before = total, what, before, before
        self._begun = self._told = monotonic()
        self._line = Line()
        self._line.tell("")  # which keeps a notebook's line above all that is printed

    def __call__(self, done: int | None = None) -> None:
        """Another one is done, or `done` of them are."""
        self._done, now = self._done + 1 if done is None else done, monotonic()
        if self._done >= self._total:
            self._line.tell("")
        elif now - self._told >= EVERY:
            self._told = now
            self._line.tell(
                how_far(self._done, self._total, self._what, now - self._begun, self._before)
            )


def with_time_left(items: Sequence[_Item], what: str) -> Iterator[_Item]:
    """The items one by one, while a `TimeLeft` says how many of them are done."""
    one_more = TimeLeft(len(items), what)
    for item in items:
        yield item
        one_more()


def how_far(done: int, total: int, what: str, seconds: float, before: int = 0) -> str:
    """How many are done after so many seconds, and what the others will take if they are alike.

    `before` of them had been done before.

    >>> how_far(300, 800, "games", 6), how_far(0, 8, "questions", 6)
    ('300 of 800 games, about 10 s left', '0 of 8 questions')
    """
    if not before < done < total:
        return f"{done:,} of {total:,} {what}"
    left = duration(seconds / (done - before) * (total - done))
    return f"{done:,} of {total:,} {what}, about {left} left"


def duration(seconds: float) -> str:
    """Seconds in words, roughly.

    >>> [duration(seconds) for seconds in (0.2, 59.6, 150, 10_000)]
    ['1 s', '60 s', '2 min', '3 h']
    """
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{max(seconds, 1):.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"


def in_notebook() -> bool:
    """Whether a kernel runs this."""
    try:
        return hasattr(get_ipython(), "kernel")  # type: ignore[name-defined]  # a builtin in IPython only
    except NameError:
        return False
