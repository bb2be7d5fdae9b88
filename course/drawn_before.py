"""Pictures where matplotlib is missing, in a browser: those made when the live course was built.

A cell that plots runs there as anywhere else, on axes that draw nothing. What it shows is the
picture that the same cell made with the reference's module, and in words what it would have drawn
from your own numbers.
"""

import hashlib
import html
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tictactoe.games.pictures import Picture

FILE = Path(__file__).with_suffix(".json")  # only where a live course was built
FIRST_WORDS = 2  # of a picture's alternative text, which tell a cell's pictures apart
MADE_BEFORE = "Drawn with the reference's module when this site was made. From your own numbers:"
NO_PICTURE = "No picture, as matplotlib is not here. What it would show, in words:"


class NoAxes:
    """Axes that take every call and draw nothing; so do their figure and all that they return."""

    def __getattr__(self, name: str) -> "NoAxes":
        if name.startswith("_"):  # nobody's business but Python's
            raise AttributeError(name)
        return self

    def __call__(self, *_given: object, **_named: object) -> "NoAxes":
        return self

    def __iter__(self) -> Iterator["NoAxes"]:  # line, = axes.plot(...)
        yield self


class DrawnBefore(Picture):
    """A picture made before, if there is one, and today's words; in words alone otherwise."""

    def __init__(self, alt: str, before: tuple[str, str] | None) -> None:
        super().__init__(before[1] if before else "", alt)
        self._words = before[0] if before else ""

    def _repr_html_(self) -> str:
        drawn = Picture(self.svg, self._words)._repr_html_() if self.svg else ""
        said = MADE_BEFORE if drawn else NO_PICTURE
        return f"{drawn}<p><em>{said}</em> {html.escape(self.alt)}</p>"


def drawn_before(alt: str) -> DrawnBefore:
    """What the running cell shows instead of the picture that `alt` describes."""
    pictures = _table("pictures").get(key(running()), [])
    return DrawnBefore(
        alt, next(((words, svg) for words, svg in pictures if _first(words) == _first(alt)), None)
    )


def outputs_before(cell: str) -> list[str]:
    """What the cell showed when the live course was built, as HTML."""
    return _table("outputs").get(key(cell), [])


def key(cell: str) -> str:
    """Under what a cell's pictures and outputs are kept: a cell that was changed has none."""
    return hashlib.sha256(cell.strip().encode()).hexdigest()[:16]


def _first(words: str) -> list[str]:
    return words.split()[:FIRST_WORDS]


@cache
def _table(name: str) -> dict[str, list[Any]]:
    if not FILE.is_file():
        return {}
    table: dict[str, list[Any]] = json.loads(FILE.read_text("utf-8"))[name]
    return table


def running() -> str:
    """The source of the cell that runs."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.history_manager.input_hist_raw[-1] if shell else ""
