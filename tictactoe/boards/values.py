"""Values on the moves of a board: how they are computed and drawn."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tictactoe.contract import Evaluator, Move, State
from tictactoe.games.pictures import BLUE, ORANGE

Rater = Callable[[State, Move], float]  # the value of a move for the player to move

DARK = "#222"
MINUS = "\N{MINUS SIGN}"
THOUSAND = 1000
HUNDRED = 100
WIDTHS = {
    ".": 0.28,
    ",": 0.28,
    "k": 0.5,
    MINUS: 0.58,
    "%": 0.89,
}  # widths relative to a digit's height
DIGIT = 0.56
# A mark of 10 pixels around (0, 0), and its colour, by the sign of the value.
MARKS = {
    1: ("M0 -5L5.5 4.5H-5.5Z", BLUE),
    0: ("M-4.5 -4.5H4.5V4.5H-4.5Z", "#666"),
    -1: ("M0 5L5.5 -4.5H-5.5Z", ORANGE),
}


def make_rater(source: Any) -> Rater:
    """Make a function that rates moves from a searching agent or an evaluator `(state, player)`.

    For an agent, the value is `search(state).value` after the move. Raises ValueError for anything
    else.
    """
    if isinstance(source, type) or not (hasattr(source, "search") or callable(source)):
        raise ValueError(
            "values come from an agent with a method search(state), or from a function of a state "
            "and a player, but {source!r} is neither"
        )

    def rate(state: State, move: Move) -> float:
        after, player = state.after(move), state.to_move
        if after.is_terminal():
            return after.utility(player)
        if not hasattr(source, "search"):
            evaluator: Evaluator = source
            return evaluator(after, player)
        value: float = source.search(after).value
        return value if after.to_move == player else -value

    return rate


class Values:
    """The known values of the moves in one position, and whether they are visible.

    Without `rate`, there are no values.
    """

    def __init__(self, rate: Any = None) -> None:
        self.rate = rate
        self.is_visible = False
        self._state: Any = None
        self._values: dict[Any, float] = {}

    def visible_values(self, state: Any) -> Mapping[Any, float]:
        """The known values by move; none if they are hidden."""
        return self._values if self.is_visible and state is self._state else {}

    def missing(self, state: Any, moves: Iterable[Any]) -> list[Any]:
        """The moves whose values are still to be computed; none if they are hidden."""
        return (
            [move for move in moves if move not in self.visible_values(state)]
            if self.is_visible
            else []
        )

    def store(self, state: Any, values: Mapping[Any, float]) -> None:
        """Store values of moves in a state, and drop the values of other states."""
        if state is not self._state:
            self._state, self._values = state, {}
        self._values = {**self._values, **values}


def value_text(value: float) -> str:
    """A value with its sign, as a short text.

    >>> value_text(1), value_text(0), value_text(0.256), value_text(100_312)
    ('+1', '0', '+0.26', '+100k')
    """
    number = (
        f"{value / 1000:+.0f}k"
        if abs(value) >= 1000
        else f"{value:+.0f}"
        if abs(value) >= 100
        else f"{value:+.2g}"
    )
    return "0" if float(number.rstrip("k")) == 0 else number.replace("-", MINUS)


def value_unit(values: Iterable[float]) -> int:
    """The unit of the values in a picture: thousands if all are large or 0, otherwise 1.

    >>> value_unit([100_312, 0, -2_500]), value_unit([100_312, 7])
    (1000, 1)
    """
    sizes = [abs(value) for value in values if value]
    return THOUSAND if sizes and max(sizes) >= THOUSAND and min(sizes) >= HUNDRED else 1


def legend(values: Iterable[float]) -> str:
    """A legend for the marks of `value_mark`, with the unit of their numbers.

    >>> legend([1, -0.5]) == legend([]), "in thousands" in legend([100_312, -2_500])
    (True, True)
    """
    unit = ", in thousands" if value_unit(values) == THOUSAND else ""
    return f"Values for you{unit}: ▲ good, ■ even, ▼ bad; filled: best. "


class Notation(NamedTuple):
    """The notation of all values in a picture: their unit, and whether minus signs are written.

    If there is no space for the minus sign, the mark alone shows the sign.
    """

    unit: int = 1
    has_minus: bool = True


PLAIN = Notation()


def choose_notation(values: Iterable[float], space: float, scale: float) -> Notation:
    """The notation for values that each have the width `space` when they are drawn at this scale."""
    values = list(values)
    unit = value_unit(values)
    return Notation(
        unit, all(scale * _width(short_text(value, Notation(unit))) <= space for value in values)
    )


def short_text(value: float, notation: Notation) -> str:
    """A value as text, to be written next to the mark that shows its sign.

    >>> short_text(-0.256, PLAIN) == f"{MINUS}0.26"
    True
    >>> short_text(-100_312, Notation(unit=1000, has_minus=False)), short_text(-100_312, PLAIN)[1:]
    ('100', '100k')
    """
    return value_text(value / notation.unit).lstrip("+" if notation.has_minus else f"+{MINUS}")


def _width(text: str) -> float:
    """The width of a mark with this text."""
    return 10 * text_width(text) + 10


def text_width(text: str) -> float:
    """The approximate width of a number, as a multiple of its height."""
    return sum(WIDTHS.get(letter, DIGIT) for letter in text)


def value_mark(
    value: float,
    best: bool,
    centre: tuple[float, float],
    space: float,
    scale: float = 1,
    notation: Notation = PLAIN,
) -> str:
    """A value as SVG: a number, and a coloured shape for its sign, which is filled for the best
    move.

    At scale 1, the number is 10 pixels high; the mark is never wider than `space`.
    """
    (shape, colour), text = MARKS[(value > 0) - (value < 0)], short_text(value, notation)
    width = _width(text)
    scale = min(scale, space / width)
    return (
        f'<g class="value" pointer-events="none" transform="translate({centre[0]:g} '
        f'{centre[1]:g}) scale({scale:.3g})"><rect x="{-width / 2:g}" y="-6" width="{width:g}" '
        f'height="12" rx="5" fill="white" stroke="{colour}" '
        f'stroke-width="{1.6 if best else 0.6}"/>'
        f'<path transform="translate({5 - width / 2:g} 0) scale(0.6)" d="{shape}" '
        f'fill="{colour if best else "white"}" stroke="{colour}" stroke-width="1.6"/>'
        f'<text x="{9 - width / 2:g}" y="3.6" font-size="10" font-family="sans-serif" '
        f'text-anchor="start" font-weight="{700 if best else 400}" fill="{DARK}">{text}</text>'
        "</g>"
    )
