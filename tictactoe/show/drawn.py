"""Draw any state as a picture to click on: as the game draws it, or else as its text.

A game that draws itself has `svg()`, the picture as SVG text with a viewBox, and `boxes()`, the
place (x, y, width, height) of each move in the picture's own units, also of moves no longer legal.
`describe()` puts the state into words and `move_words(move)` a move; both are optional.
"""

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from tictactoe.contract import Move, State
from tictactoe.games.pictures import BLUE

DARK = "#222"
LETTER, LINE = 9.7, 20  # width and height of a letter, where a state is drawn as its text


class Drawing(NamedTuple):
    """SVG text with its width and height in pixels."""

    svg: str
    width: float
    height: float


def draw_state(state: State, clicks: Mapping[str, str] | None = None, last: Move | None = None,
               height: float = 240, most_width: float = 800) -> Drawing:
    """Draw the state `height` pixels high, or smaller where it would be too wide.

    The places of the moves in `clicks` can be clicked: its keys are the moves as text, its values
    the words for a screen reader. The move `last` gets a dashed frame; the marks that won the game
    are shaded and framed.
    """
    svg = state.svg() if hasattr(state, "svg") else _text_svg(state)
    across, down = map(float, re.search(r'viewBox="(?:\S+ ){2}(\S+) (\S+)"', svg).groups())
    scale = min(height / down, most_width / across)
    boxes = state.boxes() if hasattr(state, "boxes") else {}
    over = "".join(_place(box, _look(state, move, last), str(move), (clicks or {}).get(str(move)))
                   for move, box in boxes.items())
    width, height = round(across * scale), round(down * scale)
    return Drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                   f'viewBox="0 0 {across:g} {down:g}">{svg.removesuffix("</svg>")}{over}</svg>'
                   '</svg>', width, height)


def words(state: State) -> str:
    """The state in words."""
    return state.describe() if hasattr(state, "describe") else " / ".join(str(state).split("\n"))


def move_words(state: State, move: Move) -> str:
    """A move in words: what the game calls it, or its number or name."""
    return state.move_words(move) if hasattr(state, "move_words") else f"move {move}"


def _look(state: State, move: Move, last: Move | None) -> str:
    """The attributes that mark a place, "" where there is nothing to mark."""
    winner = getattr(state, "winner", None)
    if winner and any(move in lane and all(state[cell] == winner for cell in lane)
                      for lane in getattr(state, "lanes", ())):
        return f'fill="{DARK}" fill-opacity="0.13" stroke="{DARK}" stroke-width="1.4"'
    if move == last:
        return f'fill="none" stroke="{DARK}" stroke-width="1.6" stroke-dasharray="4 3"'
    return ""


def _place(box: tuple[float, float, float, float], look: str, move: str, label: str | None) -> str:
    x, y, width, height = box
    frame = f'x="{x + 2}" y="{y + 2}" width="{width - 4}" height="{height - 4}" rx="2"'
    marked = f"<rect {frame} {look}/>" if look else ""
    if label is None:
        return marked
    return (f'{marked}<g data-move="{html.escape(move)}" data-label="{html.escape(label)}">'
            f'<rect class="place" {frame} fill="{BLUE}" fill-opacity="0"/></g>')


def _text_svg(state: State) -> str:
    lines = str(state).split("\n")
    width, height = LETTER * max(map(len, lines)) + 16, LINE * len(lines) + 16
    rows = "".join(f'<text x="8" y="{LINE * (i + 1)}" xml:space="preserve">{html.escape(line)}'
                   "</text>" for i, line in enumerate(lines))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>'
            f'<g font-family="monospace" font-size="16" fill="{DARK}">{rows}</g></svg>')
