"""Draws any state as a clickable picture: the game's own picture, or else the state's text.

A state that draws itself has the methods `svg()`, which returns SVG text with a viewBox, and
`boxes()`, which returns the place (x, y, width, height) of each move in the picture's own units,
including moves that are no longer legal. If both methods have the argument `compact`, a wide
picture can have a compact layout for phones. If the place of a move is larger than the cell that it
fills, `value_boxes()` returns the places for values. The optional methods `describe()` and
`describe_move(move)` describe the state and a move in words.
"""

import cmath
import html
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from tictactoe.boards.values import choose_notation, value_mark, value_text
from tictactoe.contract import Move, State
from tictactoe.games.pictures import BLUE

DARK = "#222"
LETTER, LINE = 9.7, 20  # width and height of a letter, for states drawn as text

HEIGHT, MAX_WIDTH = 300, 900  # size of a game's board, in pixels
COMPACT_HEIGHT = 420  # height of its compact layout
Box = tuple[float, float, float, float]  # left, top, width and height
_ValuePlace = tuple[tuple[float, float], float, float]  # a value's centre, maximum width and size


class Drawing(NamedTuple):
    """SVG text with its width and height in pixels."""

    svg: str
    width: float
    height: float


class Drawable(State, Protocol):
    """A state that draws itself; `svg` and `boxes` may have the argument `compact`."""

    @property
    def svg(self) -> Callable[..., str]:
        """The method that returns the picture as SVG text with a viewBox."""

    @property
    def boxes(self) -> Callable[..., Mapping[Any, Box]]:
        """The method that returns the place of each move in the picture's own units."""


def draw_state(  # noqa: PLR0913
    state: State,
    clicks: Mapping[str, str] | None = None,
    last: Move | None = None,
    height: float = 240,
    max_width: float = 800,
    values: Mapping[Move, float] | None = None,
    *,
    hint: Move | None = None,
    compact: bool = False,
) -> Drawing:
    """Draw the state `height` pixels high, or smaller if it would be too wide.

    The places of the moves in `clicks` can be clicked; its keys are the moves as text, its values
    the labels for screen readers. The other places can be focused by keyboard, unless `clicks` is
    None. The move `last` gets a dashed frame; the marks that won the game are shaded and framed.
    `values` are written on the moves. The move `hint` gets a frame with a star, and its label ends
    with "hint". `compact` selects the layout for phones, if the game has one.
    """
    form = {"compact": True} if compact and has_compact_layout(state) else {}
    svg = state.svg(**form) if hasattr(state, "svg") else _text_svg(state)
    _, _, across, down = view_box(svg)
    scale = min(height / down, max_width / across)
    boxes = state.boxes(**form) if hasattr(state, "boxes") else {}
    frames = [_frame(box, _frame_style(state, move, last)) for move, box in boxes.items()]
    places = (
        []
        if clicks is None
        else [
            _clickable(
                state, move, box, clicks.get(str(move)), (values or {}).get(move), move == hint
            )
            for move, box in boxes.items()
        ]
    )
    own = hasattr(state, "value_boxes")
    space = state.value_boxes() if values and hasattr(state, "value_boxes") else boxes
    lows = _value_places(values or {}, space, bool(form), own)
    marks = _value_marks(values or {}, lows)
    width, height = round(across * scale), round(down * scale)
    hints = [hint_mark(box) for move, box in boxes.items() if move == hint]
    over = "".join(frames + places + hints + marks)
    return Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {across:g} {down:g}">{svg.removesuffix("</svg>")}{over}</svg>'
        "</svg>",
        width,
        height,
    )


def draw_layouts(
    state: State,
    clicks: Mapping[str, str] | None,
    last: Move | None,
    values: Mapping[Move, float] | None = None,
    hint: Move | None = None,
) -> tuple[str, str]:
    """A game's board as SVG text, and its compact layout for phones, which may be empty."""
    compact = (
        draw_state(
            state, clicks, last, COMPACT_HEIGHT, MAX_WIDTH, values, hint=hint, compact=True
        ).svg
        if has_compact_layout(state)
        else ""
    )
    return draw_state(state, clicks, last, HEIGHT, MAX_WIDTH, values, hint=hint).svg, compact


def has_compact_layout(state: State) -> bool:
    """Whether a game has a compact layout for phones."""
    return hasattr(state, "svg") and "compact" in inspect.signature(state.svg).parameters


def describe_state(state: State) -> str:
    """The state in words."""
    return state.describe() if hasattr(state, "describe") else " / ".join(str(state).split("\n"))


def describe_move(state: State, move: Move) -> str:
    """A move in words: the game's description, or else its number or name."""
    return state.describe_move(move) if hasattr(state, "describe_move") else f"move {move}"


def view_box(svg: str) -> Box:
    """The viewBox of a picture; raises ValueError if it has none."""
    match = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', svg)
    if match is None:
        raise ValueError("the picture of a game needs a viewBox, which this one does not have")
    left, top, width, height = map(float, match.groups())
    return left, top, width, height


def hint_mark(box: Box) -> str:
    """The mark on the place of a hint, as SVG: a frame with a star in its upper right corner."""
    x, y, width, height = box
    radius = min(width, height) / 6
    centre = complex(x + width - radius - 3, y + radius + 3)
    points = (
        centre + cmath.rect(radius / (corner % 2 + 1), (corner / 5 - 0.5) * cmath.pi)
        for corner in range(10)
    )
    star = "L".join(f"{point.real:.1f} {point.imag:.1f}" for point in points)
    return (
        f'<g class="hint" pointer-events="none"><rect x="{x + 1.5}" y="{y + 1.5}" '
        f'width="{width - 3}" height="{height - 3}" rx="3" fill="none" stroke="{BLUE}" '
        f'stroke-width="3"/><path d="M{star}Z" fill="{BLUE}"/></g>'
    )


def _frame_style(state: Any, move: Move, last: Move | None) -> str:
    """The attributes that mark a place; "" if there is nothing to mark."""
    winner = getattr(state, "winner", None)
    if winner and any(
        move in lane and all(state[cell] == winner for cell in lane)
        for lane in getattr(state, "lanes", ())
    ):
        return f'fill="{DARK}" fill-opacity="0.13" stroke="{DARK}" stroke-width="1.4"'
    if move == last:
        return f'fill="none" stroke="{DARK}" stroke-width="1.6" stroke-dasharray="4 3"'
    return ""


def _inside(box: tuple[float, float, float, float]) -> str:
    x, y, width, height = box
    return f'x="{x + 2}" y="{y + 2}" width="{width - 4}" height="{height - 4}" rx="2"'


def _value_marks(values: Mapping[Move, float], lows: Mapping[Move, _ValuePlace]) -> list[str]:
    """The values as SVG elements, all in the same notation."""
    most = max(values.values(), default=0)
    how = choose_notation(
        values.values(),
        min((space for _, space, _ in lows.values()), default=0),
        max((size for *_, size in lows.values()), default=1),
    )
    return [value_mark(values[move], values[move] == most, *low, how) for move, low in lows.items()]


def _value_places(
    values: Iterable[Move], boxes: Mapping[Move, Box], compact: bool, own: bool
) -> dict[Move, _ValuePlace]:
    """The places of values: in the middle of their boxes in `own`, or below the numbers of cells."""
    return {
        move: (
            (x + width / 2, y + (0.5 if own else 0.83) * height),
            width - 3,
            height / (34 if compact or own else 44),
        )
        for move in values
        if move in boxes
        for x, y, width, height in [boxes[move]]
    }


def _frame(box: tuple[float, float, float, float], look: str) -> str:
    return f"<rect {_inside(box)} {look}/>" if look else ""


def _clickable(
    state: State,
    move: Move,
    box: tuple[float, float, float, float],
    label: str | None,
    value: float | None,
    is_hint: bool,
) -> str:
    """An element that can be focused and, if it has a label, clicked."""
    label_text = label or f"{describe_move(state, move)}, {_mark_on(state, move)}"
    label_text += "" if value is None else f", value {value_text(value)}"
    label_text += ", hint" if is_hint else ""
    layer = f' data-layer="{state.layer(move)}"' if hasattr(state, "layer") else ""
    click = f' data-move="{html.escape(str(move))}"' if label is not None else ""
    return (
        f'<g data-place="{html.escape(str(move))}"{layer}{click} '
        f'data-label="{html.escape(label_text)}">'
        f'<rect class="place" {_inside(box)} fill="{BLUE}" fill-opacity="0"/></g>'
    )


def _mark_on(state: Any, move: Move) -> str:
    """The player who has taken a place, or "open"."""
    taken = move not in state.legal_moves() and hasattr(state, "__getitem__")
    return str(state[move]).replace("_", "open") if taken else "open"


def _text_svg(state: State) -> str:
    lines = str(state).split("\n")
    width, height = LETTER * max(map(len, lines)) + 16, LINE * len(lines) + 16
    rows = "".join(
        f'<text x="8" y="{LINE * (i + 1)}" xml:space="preserve">{html.escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>'
        f'<g font-family="monospace" font-size="16" fill="{DARK}">{rows}</g></svg>'
    )
