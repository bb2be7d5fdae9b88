"""Progress of long computations: how much is done and roughly how much time is left.

    from common.progress import Progress, track
    for deal in track(range(30), "deals"):
        ...
    train(players, 800, start, Progress(800, "games").update)  # receives the number played

In a notebook, one output is updated in place; in a terminal, the last line. The line disappears at
the end, so a saved notebook does not contain it. In other environments nothing is shown.
"""

import html
import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, TypeVar

from common.messages import english

UPDATE_SECONDS = 0.5  # seconds between two updates; shorter computations show nothing
WIDTH = 79  # characters of the line on a terminal
_Item = TypeVar("_Item")


class LiveLine:
    """A line that is updated in place, and is replaced by a result or removed at the end."""

    def __init__(self) -> None:
        self._handle: Any = None  # handle of the notebook's output
        self._is_visible = False  # whether the line is visible on a terminal

    def update(self, text: str) -> None:
        """Replace the text, if the output goes to a notebook or a terminal."""
        if in_notebook():
            self._display(_TextOutput(text))
        elif sys.stderr.isatty() and (text or self._is_visible):
            self._is_visible = bool(text)
            end = "" if text else "\r"
            print(f"\r{text:<{WIDTH}}{end}", end="", file=sys.stderr, flush=True)

    def finish(self, result: object) -> None:
        """Replace the line with a permanent result, which may be a rich object."""
        if in_notebook():
            self._display(result)
            return
        self.update("")
        print(result)

    def _display(self, output: object) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(output, display_id=True)
        else:
            self._handle.update(output)


class _TextOutput:
    """Plain text for display in a notebook; an empty text displays nothing."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return html.escape(self._text)


class Progress:
    """A line such as "300 of 800 games, about 4 s left", which is updated regularly.

    `total` is the number of items, `unit` their name in the plural, and `before` the number of
    items that were done earlier. Call `update` after each item. The time left is estimated from the
    time used so far. The line disappears after the last item.
    """

    def __init__(self, total: int, unit: str, before: int = 0) -> None:
        self._total, self._unit, self._done, self._before = total, unit, before, before
        self._started = self._updated = monotonic()
        self._line = LiveLine()
        self._line.update("")  # reserves a place above everything printed later

    def update(self, done: int | None = None) -> None:
        """Count one more item as done, or set the number of items done."""
        self._done, now = self._done + 1 if done is None else done, monotonic()
        if self._done >= self._total:
            self._line.update("")
        elif now - self._updated >= UPDATE_SECONDS:
            self._updated = now
            self._line.update(
                progress_text(
                    self._done, self._total, self._unit, now - self._started, self._before
                )
            )


def track(items: Sequence[_Item], unit: str) -> Iterator[_Item]:
    """Iterate over the items and show the progress."""
    progress = Progress(len(items), unit)
    for item in items:
        yield item
        progress.update()


def progress_text(done: int, total: int, unit: str, seconds: float, before: int = 0) -> str:
    """The number of items done in `seconds`, and the estimated time for the rest, as text.

    `before` of the items were done earlier, so they do not count towards the speed.

    >>> progress_text(300, 800, "games", 6), progress_text(0, 8, "questions", 6)
    ('300 of 800 games, about 10 s left', '0 of 8 questions')
    """
    if not before < done < total:
        return english(f"{done:,} of {total:,} {unit}")
    left = duration(seconds / (done - before) * (total - done))
    return english(f"{done:,} of {total:,} {unit}, about {left} left")


def duration(seconds: float) -> str:
    """A rounded duration as text.

    >>> [duration(seconds) for seconds in (0.2, 59.6, 150, 10_000)]
    ['1 s', '60 s', '2 min', '3 h']
    """
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{max(seconds, 1):.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"


def in_notebook() -> bool:
    """Whether this code runs in a Jupyter kernel."""
    try:
        return hasattr(get_ipython(), "kernel")  # type: ignore[name-defined]  # a builtin in IPython only
    except NameError:
        return False
