"""Draw any state as a picture to click on: as the game draws it, or else as its text.

A game that draws itself has `svg()`, the picture as SVG text with a viewBox, and `boxes()`, the
place (x, y, width, height) of each move in the picture's own units, also of moves no longer legal.
A wide picture can have a form for telephones, if both know the argument `narrow`. Where a move's
place is larger than what it fills, `value_boxes()` says where values are written.
`describe()` puts the state into words and `move_words(move)` a move; both are optional.
"""

import cmath
import html
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from tictactoe.contract import Move, State
from tictactoe.games.pictures import BLUE
from tictactoe.show.values import notation, value_mark, value_text

DARK = "#222"
LETTER, LINE = 9.7, 20  # width and height of a letter, where a state is drawn as its text

HEIGHT, MOST_WIDTH = 300, 900  # of a game's board, in pixels
NARROW_HEIGHT = 420  # of its form for telephones
Box = tuple[float, float, float, float]  # left, top, width and height
_Low = tuple[tuple[float, float], float, float]  # a value's centre, room and size


class Drawing(NamedTuple):
    """SVG text with its width and height in pixels."""

    svg: str
    width: float
    height: float


class Drawable(State, Protocol):
    """A state that draws itself; `svg` and `boxes` may know the argument `narrow`."""

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
    most_width: float = 800,
    values: Mapping[Move, float] | None = None,
    *,
    hint: Move | None = None,
    narrow: bool = False,
) -> Drawing:
    """Draw the state `height` pixels high, or smaller where it would be too wide.

    The places of the moves in `clicks` can be clicked: its keys are the moves as text, its values
    the words for a screen reader. The other places can be visited by keyboard, unless `clicks` is
    None. The move `last` gets a dashed frame; the marks that won the game are shaded and framed.
    `values` are written on the moves. The move `hint` gets a frame with a star, and its words end
    with "hint". With `narrow` it is the form for a telephone, of games that
    have one.
    """
    form = {"narrow": True} if narrow and has_narrow_form(state) else {}
    svg = state.svg(**form) if hasattr(state, "svg") else _text_svg(state)
    _, _, across, down = view_box(svg)
    scale = min(height / down, most_width / across)
    boxes = state.boxes(**form) if hasattr(state, "boxes") else {}
    frames = [_frame(box, _look(state, move, last)) for move, box in boxes.items()]
    places = (
        []
        if clicks is None
        else [
            _place(state, move, box, clicks.get(str(move)), (values or {}).get(move), move == hint)
            for move, box in boxes.items()
        ]
    )
    own = hasattr(state, "value_boxes")
    room = state.value_boxes() if values and hasattr(state, "value_boxes") else boxes
    lows = _lows(values or {}, room, bool(form), own)
    marks = _marks(values or {}, lows)
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


def draw_forms(
    state: State,
    clicks: Mapping[str, str] | None,
    last: Move | None,
    values: Mapping[Move, float] | None = None,
    hint: Move | None = None,
) -> tuple[str, str]:
    """A game's board as SVG text, and its form for a telephone: empty if the game has none."""
    narrow = (
        draw_state(
            state, clicks, last, NARROW_HEIGHT, MOST_WIDTH, values, hint=hint, narrow=True
        ).svg
        if has_narrow_form(state)
        else ""
    )
    return draw_state(state, clicks, last, HEIGHT, MOST_WIDTH, values, hint=hint).svg, narrow


def has_narrow_form(state: State) -> bool:
    """Whether a game has another picture for a telephone."""
    return hasattr(state, "svg") and "narrow" in inspect.signature(state.svg).parameters


def words(state: State) -> str:
    """The state in words."""
    return state.describe() if hasattr(state, "describe") else " / ".join(str(state).split("\n"))


def move_words(state: State, move: Move) -> str:
    """A move in words: what the game calls it, or its number or name."""
    return state.move_words(move) if hasattr(state, "move_words") else f"move {move}"


def view_box(svg: str) -> Box:
    """The viewBox of a picture; raises ValueError if it has none."""
    found = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', svg)
    if found is None:
        raise ValueError("the picture of a game has a viewBox, and this one has none")
    left, top, width, height = map(float, found.groups())
    return left, top, width, height


def hint_mark(box: Box) -> str:
    """The mark on the place of a hint, as SVG: a frame, and a star in its upper right corner."""
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


def _look(state: Any, move: Move, last: Move | None) -> str:
    """The attributes that mark a place, "" where there is nothing to mark."""
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


def _marks(values: Mapping[Move, float], lows: Mapping[Move, _Low]) -> list[str]:
    """The values as they are written, all in one notation."""
    most = max(values.values(), default=0)
    how = notation(
        values.values(),
        min((room for _, room, _ in lows.values()), default=0),
        max((size for *_, size in lows.values()), default=1),
    )
    return [value_mark(values[move], values[move] == most, *low, how) for move, low in lows.items()]


def _lows(
    values: Iterable[Move], boxes: Mapping[Move, Box], narrow: bool, own: bool
) -> dict[Move, _Low]:
    """Where values are written: in the middle of boxes of their `own`, or below a place's number."""
    return {
        move: (
            (x + width / 2, y + (0.5 if own else 0.83) * height),
            width - 3,
            height / (34 if narrow or own else 44),
        )
        for move in values
        if move in boxes
        for x, y, width, height in [boxes[move]]
    }


def _frame(box: tuple[float, float, float, float], look: str) -> str:
    return f"<rect {_inside(box)} {look}/>" if look else ""


def _place(
    state: State,
    move: Move,
    box: tuple[float, float, float, float],
    label: str | None,
    value: float | None,
    is_hint: bool,
) -> str:
    """What the focus comes to, and what is clicked if there is a label for it."""
    said = label or f"{move_words(state, move)}, {_mark_on(state, move)}"
    said += "" if value is None else f", value {value_text(value)}"
    said += ", hint" if is_hint else ""
    layer = f' data-layer="{state.layer(move)}"' if hasattr(state, "layer") else ""
    click = f' data-move="{html.escape(str(move))}"' if label is not None else ""
    return (
        f'<g data-place="{html.escape(str(move))}"{layer}{click} '
        f'data-label="{html.escape(said)}">'
        f'<rect class="place" {_inside(box)} fill="{BLUE}" fill-opacity="0"/></g>'
    )


def _mark_on(state: Any, move: Move) -> str:
    """Who has taken a place."""
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
