"""Two of the kit's players: `Random` plays any legal move, `Human` asks a person for each move."""

import random
from collections.abc import Callable

from tictactoe.contract import Move, State


class Resigned(Exception):
    """The human player gave up."""


class Random:
    """Plays a uniformly random legal move; the same seed gives the same moves."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `match` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, state: State) -> Move:
        """A legal move; all have the same probability."""
        return self._random.choice(state.legal_moves())


class Human:
    """Asks a person for a move, in a terminal or a notebook, until it is legal; "q" resigns.

    `ask` and `tell` default to `input` and `print`.
    """

    def __init__(self, ask: Callable[[str], str] = input, tell: Callable[[str], None] = print):
        self._ask, self._tell = ask, tell

    def choose(self, state: State) -> Move:
        """The move that was typed; raises `Resigned` on "q"."""
        self._tell(str(state))
        by_name = {str(move): move for move in state.legal_moves()}
        while True:
            question = f"{state.to_move} to move ({', '.join(by_name)}; q resigns): "
            answer = self._ask(question).strip()
            if answer in by_name:
                return by_name[answer]
            if answer.lower() == "q":
                raise Resigned(f"{state.to_move} resigned")
            self._tell(f"{answer!r} is not a legal move.")
