"""Plots for the notebooks, with a common style, accessible colours and alternative texts.

`figure()` creates matplotlib axes in the course's style, and `board_figure()` creates axes for
Sequence's board; a cell that ends with `picture(axes, alt)` shows them. On Sequence's
board, `score_map(...)` draws a score for each cell, and `sequence_board(...)` draws lines.
`boards(states, captions)` draws several small boards side by side, `cell_rows(rows, captions)` rows
of cells. In a browser without matplotlib, axes draw nothing, and the pictures come from
`course.lab.prerendered`.
"""

import html
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

from course.lab.prerendered import NullAxes, prerendered_figure
from sequence.board.layout import CELLS, Cell, card_at
from tictactoe.games.pictures import CELL, Cells, Picture, board_marks

# The colours of Okabe and Ito's palette can be distinguished with all three colour-vision
# deficiencies. Markers and dashes also differ, so that nothing depends on colour alone.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11,
    "grid.alpha": 0.3,
    "svg.fonttype": "path",  # so that pictures are the same on every machine
    "svg.hashsalt": "course",  # and consist of the same bytes
}
_SETTINGS = Lock()  # matplotlib's settings are global, so only one thread at a time may change them


@contextmanager
def _style() -> Iterator[None]:
    """Use the course's matplotlib settings within a `with` block."""
    cycle = {"axes.prop_cycle": cycler(color=COLOURS, marker=MARKERS)}
    with _SETTINGS, mpl.rc_context(STYLE | cycle):
        yield


def figure(width: float = 7.0, height: float = 4.0) -> "Axes | NullAxes":
    """New axes, `width` by `height` inches, in the course's style."""
    if not HAS_MATPLOTLIB:
        return NullAxes()
    with _style():
        return Figure(figsize=(width, height), layout="constrained").subplots()


def board_figure(title: str, width: float = 5.8, height: float = 5.0) -> "Axes | NullAxes":
    """New axes for data about the cells of Sequence's board: cell (row, col) is at (col, row).

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


def sequence_board(
    position: Any,
    title: str,
    alt: str,
    lines: Mapping[str, Iterable[tuple[Cell, Cell]]],
    framed: Iterable[Cell] = (),
) -> Picture:
    """Sequence's board with its chips, and the cards of the empty cells.

    `lines` has labels for the legend, each with the first and last cells of its lines. The cells in
    `framed` have a frame.
    """
    axes = board_figure(title, 6.4, 6.0)
    for (label, ends), colour in zip(lines.items(), COLOURS, strict=False):
        style: dict[str, Any] = {"color": colour, "alpha": 0.35, "marker": ""}
        axes.plot([], [], linewidth=8, label=label, **style)  # the entry in the legend
        for first, last in ends:
            axes.plot([first[1], last[1]], [first[0], last[0]], linewidth=22, **style)
    for row, col in CELLS:
        mark = position[row, col]
        text = mark if mark else card_at((row, col))
        axes.text(
            col,
            row,
            text,
            ha="center",
            va="center",
            fontsize=15 if mark else 8,
            fontweight="bold" if mark else "normal",
            color="#B35900" if mark in {"o", "O"} else "black" if mark else "#444444",
        )
    for row, col in framed:
        axes.plot(
            col, row, color="black", marker="s", markersize=22, fillstyle="none", linestyle=""
        )
    axes.figure.legend(loc="outside lower center", ncols=len(lines), frameon=False)
    return picture(axes, alt)


def picture(axes: "Axes | NullAxes", alt: str) -> Picture:
    """The axes' figure as a picture; `alt` describes it."""
    if isinstance(axes, NullAxes):
        return prerendered_figure(alt)
    text, drawing = io.StringIO(), axes.figure
    if not isinstance(drawing, Figure):
        raise TypeError(f"a picture needs a complete figure, not {drawing!r}")
    with _style():
        drawing.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return Picture(svg[svg.index("<svg") :], alt)


def score_map(
    observation: Any,
    scores: Mapping[tuple[int, int], float],
    title: str,
    mark: Iterable[tuple[int, int]] = (),
) -> Picture:
    """A heat map of the scores of cells of Sequence's board, with the chips, and circles at `mark`.

    The alternative text names the best cell and the scores of the marked cells.
    """
    values = [[scores.get((row, col), float("nan")) for col in range(10)] for row in range(10)]
    axes: Any = board_figure(title)
    image = axes.imshow(values, cmap="cividis")
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="score")
    for row, col in ((row, col) for row in range(10) for col in range(10)):
        if observation[row, col]:
            axes.text(col, row, observation[row, col], ha="center", va="center")
    mark = list(mark)
    for row, col in mark:  # a circle with a white rim, visible on any colour
        for size, colour in ((4, "white"), (2, COLOURS[5])):
            axes.plot(col, row, "o", ms=19, mew=size, fillstyle="none", color=colour)
    best = max(scores, key=lambda cell: scores[cell])
    return picture(
        axes,
        f"Heat map of the board: {title}. The best cell is {best} with {scores[best]:g}"
        + "".join(f"; cell {cell} has {scores[cell]:g}" for cell in mark)
        + ".",
    )


class Drawable(Cells, Protocol):
    """A board of nine cells with a description."""

    def describe(self) -> str:
        """The position in words."""


def boards(
    states: Iterable[Drawable],
    captions: Iterable[object] = (),
    lanes: Iterable[Sequence[int] | None] = (),
    columns: int = 4,
) -> Picture:
    """Boards side by side, `columns` per row, each with a caption of one or more lines below it.

    `lanes` contains a lane to shade, or None, for each board. The alternative text consists of the
    captions and descriptions of the boards.
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


def cell_rows(rows: Sequence[str], captions: Sequence[str]) -> Picture:
    """Rows of cells of Sequence's board below each other, each with a caption to its right.

    In the text of a row, "m" is a chip of ours, "t" one of theirs, "_" an empty cell and "#" a wall.
    """
    side = 26
    left, width = side * max(map(len, rows)) + 24, 560
    height = (side + 10) * len(rows) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>'
    ]
    for number, (row, caption) in enumerate(zip(rows, captions, strict=True)):
        top = 10 + number * (side + 10)
        parts += [_row_cell(chip, 10 + place * side, top, side) for place, chip in enumerate(row)]
        parts.append(
            f'<text x="{left}" y="{top + 18}" font-family="sans-serif" font-size="14" '
            f'fill="#222">{html.escape(caption)}</text>'
        )
    words = "; ".join(f"{row}: {text}" for row, text in zip(rows, captions, strict=True))
    return Picture("".join(parts) + "</svg>", f"Rows of cells. {words}.")


def _row_cell(chip: str, left: int, top: int, side: int) -> str:
    """A cell with the chip in it, as an SVG element: shapes and letters differ, not only colours."""
    fill = "#888" if chip == "#" else "#f7f7f2"
    drawn = (
        f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="{fill}" stroke="#888"/>'
    )
    middle, centre = left + side / 2, top + side / 2
    shapes = {
        "m": f'<circle cx="{middle:g}" cy="{centre:g}" r="10" fill="{COLOURS[0]}"/>',
        "t": f'<rect x="{middle - 9:g}" y="{centre - 9:g}" width="18" height="18" '
        f'fill="{COLOURS[5]}"/>',
    }
    if chip not in shapes:
        return drawn
    return (
        drawn
        + shapes[chip]
        + (
            f'<text x="{middle:g}" y="{centre + 4:g}" font-family="sans-serif" font-size="12" '
            f'text-anchor="middle" fill="white">{chip}</text>'
        )
    )


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
