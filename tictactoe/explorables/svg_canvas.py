"""SVG elements that several pictures share: the document, texts, and numbers on cells."""

from collections.abc import Iterable
from html import escape
from math import isfinite

from tictactoe.boards.values import MINUS, text_width
from tictactoe.games.pictures import BLUE

DARK, GREY = "#222", "#595959"
MAX_TINT = 0.5  # opacity of a tint; keeps the number on it legible, even in the dark theme
SIZE = 11  # height of a number on a cell, in pixels

Box = tuple[float, float, float, float]  # left, top, width and height


def svg_document(width: float, height: float, parts: Iterable[str]) -> str:
    """SVG text with these elements on a white background."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><rect width="100%" height="100%" fill="white"/>'
        f'<g font-family="sans-serif" font-size="13" fill="{DARK}">{"".join(parts)}</g></svg>'
    )


def translated(x: float, y: float, inside: str) -> str:
    """Elements, or a complete picture, moved so that the upper left corner is at (x, y)."""
    return f'<g transform="translate({x:g} {y:g})">{inside}</g>'


def label(x: float, y: float, text: object, style: str = "") -> str:
    """A text, which may contain any characters; `style` is a string of attributes."""
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(str(text))}</text>'


def normalised(value: float, most: float, least: float = 0.0) -> float:
    """A value mapped from the range `least` to `most` to the range 0 to 1; 0 if it is not finite.

    >>> normalised(3, 4), normalised(3, 4, least=2), normalised(float("nan"), 4), normalised(5, 0)
    (0.75, 0.5, 0.0, 0.0)
    """
    part = (value - least) / (most - least) if most > least else 0.0
    return min(max(part, 0.0), 1.0) if isfinite(part) else 0.0


def number_text(value: float) -> str:
    """A number as a short text: two decimals if it is small, thousands as k.

    >>> number_text(0.125), number_text(2.5), number_text(64.0), number_text(12_340)
    ('0.12', '2.5', '64', '12.3k')
    """
    if not isfinite(value):
        return str(value).replace("inf", "∞").replace("-", MINUS)
    size = abs(value)
    text = (
        f"{value / 1000:.1f}"
        if size >= 1000
        else f"{value:.0f}"
        if size >= 100
        else f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
    )
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if float(text) == 0 else text.replace("-", MINUS) + "k" * (size >= 1000)


def tinted_number(
    box: Box, value: float, strength: float, best: bool, text: str | None = None, size: float = SIZE
) -> str:
    """A number at the bottom of a cell, tinted by a strength from 0 to 1 and framed if it is
    `best`.

    `text` is the text to write, by default the number; it is `size` pixels high, or as high as the
    cell allows.
    """
    x, y, width, height = box
    text = number_text(value) if text is None else text
    size = min(size, max(width - 2, 1) / (1.05 * text_width(text)))  # the best number is bold
    low, wide = y + height - size - 2, 1.05 * size * text_width(text) + 2
    frame = (
        f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{width - 2:g}" height="{height - 2:g}" '
        f'fill="none" stroke="{DARK}" stroke-width="2.5"/>'
        if best
        else ""
    )
    return (
        f'<g class="number" pointer-events="none"><rect x="{x + (width - wide) / 2:g}" '
        f'y="{low:g}" width="{wide:g}" height="{size + 1:g}" fill="white"/>'  # on top of a chip
        f'<rect x="{x + 1:g}" y="{low:g}" width="{width - 2:g}" height="{size + 1:g}" '
        f'fill="{BLUE}" fill-opacity="{MAX_TINT * strength:.2f}"/>'
        + label(
            x + width / 2,
            y + height - 3,
            text,
            f'font-size="{size:.3g}" font-family="sans-serif" text-anchor="middle" '
            f'font-weight="{700 if best else 400}" fill="{DARK}"',
        )
        + f"{frame}</g>"
    )
