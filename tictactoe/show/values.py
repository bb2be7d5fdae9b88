"""Values on the moves of a board: where they come from, and how they are drawn."""

from collections.abc import Callable, Mapping
from typing import Any

from tictactoe.contract import Evaluator, Move, State
from tictactoe.games.pictures import BLUE, ORANGE

Rate = Callable[[State, Move], float]  # what a move is worth to the player to move

DARK = "#222"
MINUS = "\N{MINUS SIGN}"
LEGEND = "Values for you: ▲ good, ■ even, ▼ bad; filled: best. "
# A mark of 10 pixels around (0, 0), and its colour, by the sign of the value.
MARKS = {1: ("M0 -5L5.5 4.5H-5.5Z", BLUE), 0: ("M-4.5 -4.5H4.5V4.5H-4.5Z", "#666"),
         -1: ("M0 5L5.5 -4.5H-5.5Z", ORANGE)}


def rater(source: Any) -> Rate:
    """Values of moves from an agent that searches, or from an evaluator `(state, player)`.

    An agent is asked for `search(state).value` after the move. Raises ValueError for what is
    neither.
    """
    if isinstance(source, type) or not (hasattr(source, "search") or callable(source)):
        raise ValueError("values come from an agent with a method search(state), or from a "
                         f"function of a state and a player, and {source!r} is neither")

    def rate(state: State, move: Move) -> float:
        after, player = state.after(move), state.to_move
        if after.is_terminal():
            return after.utility(player)
        if not hasattr(source, "search"):
            evaluator: Evaluator = source
            return evaluator(after, player)
        value = source.search(after).value
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

    def missing(self, state: Any, moves: Any) -> list:
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
    number = (f"{value / 1000:+.0f}k" if abs(value) >= 1000 else
              f"{value:+.0f}" if abs(value) >= 100 else f"{value:+.2g}")
    return "0" if float(number.rstrip("k")) == 0 else number.replace("-", MINUS)


def value_mark(value: float, best: bool, centre: tuple[float, float], room: float,
               scale: float = 1) -> str:
    """A value as SVG: its sign as a shape and a colour, filled for the best move, and the number.

    It is no wider than `room`.
    """
    (shape, colour), text = MARKS[(value > 0) - (value < 0)], value_text(value)
    width = 6 * len(text) + 16
    scale = min(scale, room / width)
    return (f'<g class="value" pointer-events="none" transform="translate({centre[0]:g} '
            f'{centre[1]:g}) scale({scale:g})"><rect x="{-width / 2:g}" y="-7" width="{width:g}" '
            f'height="14" rx="7" fill="white" stroke="{colour}" '
            f'stroke-width="{1.6 if best else 0.6}"/>'
            f'<path transform="translate({8 - width / 2:g} 0) scale(0.8)" d="{shape}" '
            f'fill="{colour if best else "white"}" stroke="{colour}" stroke-width="1.6"/>'
            f'<text x="{14 - width / 2:g}" y="3.6" font-size="10" font-family="sans-serif" '
            f'text-anchor="start" font-weight="{700 if best else 400}" fill="{DARK}">{text}</text>'
            "</g>")
