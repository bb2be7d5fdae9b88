"""Plots for the notebooks: one style, colours that everybody can tell apart, and alternative texts.

`figure()` makes matplotlib axes in the course's style, `board_figure()` those of Sequence's board;
`picture(axes, alt)` ends a cell with them.
`boards(states, captions)` draws several boards side by side. Without matplotlib, in a browser, axes
draw nothing, and pictures are those of `course.drawn_before`.
"""

import html
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Protocol

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    HAS_MATPLOTLIB = True
except ModuleNotFoundError:  # in a browser
    HAS_MATPLOTLIB = False

from course.drawn_before import NoAxes, drawn_before
from tictactoe.games.pictures import CELL, Cells, Picture, board_marks

# Okabe and Ito's palette: apart under all three colour-vision deficiencies. Markers and dashes
# differ too, so that nothing depends on colour alone.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11,
    "grid.alpha": 0.3,
    "svg.fonttype": "path",  # the same picture on every machine
    "svg.hashsalt": "course",  # and the same bytes
}
_SETTINGS = Lock()  # matplotlib's are the process's, and each thread must leave them as they were


@contextmanager
def _style() -> Iterator[None]:
    """matplotlib's settings are those of the course meanwhile."""
    cycle = {"axes.prop_cycle": cycler(color=COLOURS, marker=MARKERS)}
    with _SETTINGS, mpl.rc_context(STYLE | cycle):
        yield


def figure(width: float = 7.0, height: float = 4.0) -> "Axes | NoAxes":
    """New axes, `width` by `height` inches, in the course's style."""
    if not HAS_MATPLOTLIB:
        return NoAxes()
    with _style():
        return Figure(figsize=(width, height), layout="constrained").subplots()


def board_figure(title: str, width: float = 5.8, height: float = 5.0) -> "Axes | NoAxes":
    """New axes for what is said of the cells of Sequence's board: cell (row, col) is at (col, row).

    Rows are counted from the top.
    """
    axes = figure(width, height)
    axes.set(
        xlim=(-0.5, 9.5),
        ylim=(9.5, -0.5),
        aspect="equal",
        title=title,
        xlabel="column",
        ylabel="row",
        xticks=range(10),
        yticks=range(10),
    )
    axes.grid(visible=False)
    return axes


def picture(axes: "Axes | NoAxes", alt: str) -> Picture:
    """The axes' figure as a picture; `alt` says in words what it shows."""
    if isinstance(axes, NoAxes):
        return drawn_before(alt)
    text, drawn = io.StringIO(), axes.figure
    if not isinstance(drawn, Figure):
        raise TypeError(f"a picture is drawn of a whole figure, not of {drawn!r}")
    with _style():
        drawn.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return Picture(svg[svg.index("<svg") :], alt)


class Drawable(Cells, Protocol):
    """A board of nine cells that can be put into words."""

    def describe(self) -> str:
        """The position in words."""


def boards(
    states: Iterable[Drawable],
    captions: Iterable[object] = (),
    lanes: Iterable[Sequence[int] | None] = (),
    columns: int = 4,
) -> Picture:
    """Boards side by side, `columns` in a row, each with a caption of one or more lines below it.

    `lanes` holds for each board a lane to shade (or None). The alternative text consists of the
    boards in words and their captions.
    """
    states = list(states)
    texts = [str(caption) for caption in captions] or [""] * len(states)
    lanes = list(lanes) or [None] * len(states)
    lines = [text.split("\n") for text in texts]
    side, letter, line = 3 * CELL, 6.8, 16  # a board, a letter's width, a line's height in pixels
    across = max(side, *(letter * len(text) for rows in lines for text in rows)) + 24
    down = side + line * max(len(rows) for rows in lines) + 24
    columns = min(columns, len(states))
    width, height = across * columns, down * -(-len(states) // columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><rect width="100%" height="100%" fill="white"/>'
    ]
    for i, (state, rows, lane) in enumerate(zip(states, lines, lanes, strict=True)):
        left, top = i % columns * across + (across - side) / 2, i // columns * down + 6
        parts.append(
            f'<g transform="translate({left:g} {top:g})">{_shade(lane)}{board_marks(state)}'
        )
        parts += [
            f'<text x="{side / 2}" y="{side + line * (k + 1)}" font-family="sans-serif" '
            f'font-size="12.5" text-anchor="middle" fill="#222">{html.escape(text)}</text>'
            for k, text in enumerate(rows)
        ]
        parts.append("</g>")
    words = [
        f"{caption}: {state.describe()}" if caption else state.describe()
        for state, caption in zip(states, texts, strict=True)
    ]
    return Picture("".join(parts) + "</svg>", "Boards. " + ". ".join(words).replace("\n", ", "))


def _shade(lane: Sequence[int] | None) -> str:
    """A grey band under the cells of a lane, as an SVG element."""
    if not lane:
        return ""
    (x1, y1), (x2, y2) = (
        (cell % 3 * CELL + CELL / 2, cell // 3 * CELL + CELL / 2) for cell in (lane[0], lane[-1])
    )
    return (
        f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#d8d8d8" stroke-width="{CELL * 0.8}" '
        f'stroke-linecap="round"/>'
    )
