"""Boards as pictures: SVG inside an `<img alt=...>`, which is kept in exported pages."""

import base64
import html
from typing import Protocol

BLUE, ORANGE = "#0072B2", "#E69F00"  # distinguishable with all three colour-vision deficiencies
CELL = 34  # side of a cell in pixels
# In JupyterLab's dark themes, only these pictures get a dark background, with the same hues.
DARK_RULE = (
    '<style>[data-jp-theme-light="false"] img[data-drawn]'
    "{filter:invert(.91) hue-rotate(180deg) brightness(1.2)}</style>"
)


def image(svg: str, alt: str, width: int | None = None, shrink: bool = False) -> str:
    """An `<img>` element with the SVG text and its alternative text.

    The picture keeps its width or, with `shrink`, is at most as wide as the page.
    """
    data = base64.b64encode(svg.encode()).decode()
    size = f"width:{width}px;" if width else ""
    limit = "100%" if shrink else "none"
    return (
        f'<img alt="{html.escape(alt)}" data-drawn="" style="max-width:{limit};{size}" '
        f'src="data:image/svg+xml;base64,{data}"/>{DARK_RULE}'
    )


class Cells(Protocol):
    """A board whose cells are read by their index: "x", "o" or "_"."""

    def __getitem__(self, cell: int, /) -> str: ...


def board_svg(board: Cells, labels: bool = True) -> str:
    """The board as SVG text: blue crosses for x, orange rings for o, and numbers in open cells."""
    side = 3 * CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 4}" height="{side + 4}" '
        f'viewBox="-2 -2 {side + 4} {side + 4}">'
        f'<rect width="{side}" height="{side}" fill="white"/>',
        board_marks(board, labels),
    ]
    return "".join(parts) + "</svg>"


def board_marks(board: Cells, labels: bool = True) -> str:
    """The grid and the marks as SVG elements, three by three cells of `CELL` pixels."""
    side = 3 * CELL
    lines = "".join(
        f'<path d="M{k * CELL} 0V{side}M0 {k * CELL}H{side}" stroke="#555" stroke-width="1.5"/>'
        for k in (1, 2)
    )
    marks = (
        mark_svg(board[cell], cell % 3 * CELL, cell // 3 * CELL, str(cell) if labels else "")
        for cell in range(9)
    )
    return lines + "".join(marks)


def mark_svg(mark: str, x: float, y: float, label: str = "", label_raise: float = 0) -> str:
    """The cross or ring of a cell whose corner is (x, y), or its label if it is open.

    The label is in the middle, or `label_raise` above it.
    """
    near, far, middle = CELL * 0.22, CELL * 0.78, CELL / 2
    if mark == "x":
        return (
            f'<path d="M{x + near} {y + near}L{x + far} {y + far}M{x + far} {y + near}'
            f'L{x + near} {y + far}" stroke="{BLUE}" stroke-width="4" stroke-linecap="round"/>'
        )
    if mark == "o":
        return (
            f'<circle cx="{x + middle}" cy="{y + middle}" r="{CELL * 0.29}" '
            f'fill="none" stroke="{ORANGE}" stroke-width="4"/>'
        )
    if label:
        return (
            f'<text x="{x + middle}" y="{y + middle + 4 - label_raise}" font-size="11" '
            f'font-family="sans-serif" text-anchor="middle" fill="#666">{label}</text>'
        )
    return ""


class Picture:
    """A picture with an alternative text; end a notebook cell with it to show it.

    `svg` is SVG text. Printing the picture prints its alternative text.
    """

    def __init__(self, svg: str, alt: str, width: int | None = None) -> None:
        self.svg, self.alt, self.width = svg, alt, width

    def _repr_html_(self) -> str:
        return image(self.svg, self.alt, self.width)

    def __repr__(self) -> str:
        return self.alt
