"""Pictures for a browser without matplotlib, rendered when the live course was built.

A cell with a plot runs as usual, but on axes that draw nothing. It then shows the picture that the
same cell drew with the reference solution, and a description of the plot of the student's numbers.
"""

import hashlib
import html
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tictactoe.games.pictures import Picture

FILE = Path(__file__).with_suffix(".json")  # only in a live course
FIRST_WORDS = 2  # initial words of a picture's alternative text, which identify it within its cell
REFERENCE_PICTURE = "Drawn with the reference solution. With your own numbers, it would show:"
NO_PICTURE = "No picture, because matplotlib is not available here. It would show:"


class NullAxes:
    """Axes that accept every call and draw nothing, as do all objects that they return."""

    def __getattr__(self, name: str) -> "NullAxes":
        if name.startswith("_"):  # for example, a special method
            raise AttributeError(name)
        return self

    def __call__(self, *_args: object, **_kwargs: object) -> "NullAxes":
        return self

    def __iter__(self) -> Iterator["NullAxes"]:  # line, = axes.plot(...)
        yield self


class PrerenderedFigure(Picture):
    """A stored picture, if there is one, and the description of the current one."""

    def __init__(self, alt: str, stored: tuple[str, str] | None) -> None:
        super().__init__(stored[1] if stored else "", alt)
        self._stored_alt = stored[0] if stored else ""

    def _repr_html_(self) -> str:
        picture = Picture(self.svg, self._stored_alt)._repr_html_() if self.svg else ""
        title = REFERENCE_PICTURE if picture else NO_PICTURE
        return f"{picture}<p><em>{title}</em> {html.escape(self.alt)}</p>"


def prerendered_figure(alt: str) -> PrerenderedFigure:
    """The stored picture of the running cell that corresponds to the description `alt`."""
    pictures = _table("pictures").get(key(running_cell()), [])
    matches = ((words, svg) for words, svg in pictures if _first_words(words) == _first_words(alt))
    return PrerenderedFigure(alt, next(matches, None))


def prerendered_outputs(cell: str) -> list[str]:
    """The outputs that a cell had when the live course was built, as HTML."""
    return _table("outputs").get(key(cell), [])


def key(cell: str) -> str:
    """The key of a cell's pictures and outputs; it changes with the cell's source."""
    return hashlib.sha256(cell.strip().encode()).hexdigest()[:16]


def _first_words(words: str) -> list[str]:
    return words.split()[:FIRST_WORDS]


@cache
def _table(name: str) -> dict[str, list[Any]]:
    if not FILE.is_file():
        return {}
    table: dict[str, list[Any]] = json.loads(FILE.read_text("utf-8"))[name]
    return table


def running_cell() -> str:
    """The source of the cell that is running."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.history_manager.input_hist_raw[-1] if shell else ""
