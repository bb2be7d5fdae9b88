"""Values on the moves of a board: where they come from, and how they are drawn."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tictactoe.contract import Evaluator, Move, State
from tictactoe.games.pictures import BLUE, ORANGE

Rate = Callable[[State, Move], float]  # what a move is worth to the player to move

DARK = "#222"
MINUS = "\N{MINUS SIGN}"
THOUSAND = 1000
HUNDRED = 100
WIDTHS = {".": 0.28, ",": 0.28, "k": 0.5, MINUS: 0.58, "%": 0.89}  # of letters, in their height
DIGIT = 0.56
# A mark of 10 pixels around (0, 0), and its colour, by the sign of the value.
MARKS = {
    1: ("M0 -5L5.5 4.5H-5.5Z", BLUE),
    0: ("M-4.5 -4.5H4.5V4.5H-4.5Z", "#666"),
    -1: ("M0 5L5.5 -4.5H-5.5Z", ORANGE),
}


def rater(source: Any) -> Rate:
    """Values of moves from an agent that searches, or from an evaluator `(state, player)`.

    An agent is asked for `search(state).value` after the move. Raises ValueError for what is
    neither.
    """
    if isinstance(source, type) or not (hasattr(source, "search") or callable(source)):
        raise ValueError(
            "values come from an agent with a method search(state), or from a "
            f"function of a state and a player, and {source!r} is neither"
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
    """What the moves of one position are worth, as far as is known, and whether it is shown.

    Without a `rate` there is nothing to show.
    """

    def __init__(self, rate: Any = None) -> None:
        self.rate = rate
        self.shown = False
        self._state: Any = None
        self._known: dict[Any, float] = {}

    def of(self, state: Any) -> Mapping[Any, float]:
        """The values that are known, by move, if they are to be shown."""
        return self._known if self.shown and state is self._state else {}

    def missing(self, state: Any, moves: Iterable[Any]) -> list[Any]:
        """The moves whose value is to be found out."""
        return [move for move in moves if move not in self.of(state)] if self.shown else []

    def learn(self, state: Any, found: Mapping[Any, float]) -> None:
        """Keep values of the moves in a state, and forget those of other states."""
        if state is not self._state:
            self._state, self._known = state, {}
        self._known = {**self._known, **found}


def value_text(value: float) -> str:
    """A value with its sign, in few letters.

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


def unit_of(values: Iterable[float]) -> int:
    """What the values of a picture are counted in: thousands, if each is large or nothing.

    >>> unit_of([100_312, 0, -2_500]), unit_of([100_312, 7])
    (1000, 1)
    """
    sizes = [abs(value) for value in values if value]
    return THOUSAND if sizes and max(sizes) >= THOUSAND and min(sizes) >= HUNDRED else 1


def legend(values: Iterable[float]) -> str:
    """What the marks of `value_mark` mean, with the unit of their numbers.

    >>> legend([1, -0.5]) == legend([]), "in thousands" in legend([100_312, -2_500])
    (True, True)
    """
    unit = ", in thousands" if unit_of(values) == THOUSAND else ""
    return f"Values for you{unit}: ▲ good, ■ even, ▼ bad; filled: best. "


class Notation(NamedTuple):
    """How all the values of a picture are written: their unit, and whether a minus stands too.

    Where there is no room for it, the mark alone shows the sign.
    """

    unit: int = 1
    minus: bool = True


PLAIN = Notation()


def notation(values: Iterable[float], room: float, scale: float) -> Notation:
    """How values are written in so much room for each, at a scale."""
    values = list(values)
    unit = unit_of(values)
    return Notation(
        unit, all(scale * _width(short_text(value, Notation(unit))) <= room for value in values)
    )


def short_text(value: float, how: Notation) -> str:
    """A value beside the mark that shows its sign.

    >>> short_text(-0.256, PLAIN) == f"{MINUS}0.26"
    True
    >>> short_text(-100_312, Notation(unit=1000, minus=False)), short_text(-100_312, PLAIN)[1:]
    ('100', '100k')
    """
    return value_text(value / how.unit).lstrip("+" if how.minus else f"+{MINUS}")


def _width(text: str) -> float:
    """Of a mark with this text."""
    return 10 * text_width(text) + 10


def text_width(text: str) -> float:
    """About how wide a number is, in the height of its letters."""
    return sum(WIDTHS.get(letter, DIGIT) for letter in text)


def value_mark(
    value: float,
    best: bool,
    centre: tuple[float, float],
    room: float,
    scale: float = 1,
    how: Notation = PLAIN,
) -> str:
    """A value as SVG: its sign as a shape and a colour, filled for the best move, and the number.

    The number is 10 pixels high at scale 1, and the mark no wider than `room`.
    """
    (shape, colour), text = MARKS[(value > 0) - (value < 0)], short_text(value, how)
    width = _width(text)
    scale = min(scale, room / width)
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
