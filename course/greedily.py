"""The agent of study 5 by which learners are measured: it plays their best moves, and no others."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tictactoe.contract import Move, State


class Learner(Protocol):
    """Whoever can say what each legal move of a state is worth."""

    def move_values(self, state: State) -> Mapping[Move, float]:
        """The value of each legal move, by move."""


class Greedily:
    """Plays the best moves of its learners, one for each side, without exploring.

    `best_moves(values)` lists the moves with the largest value: the `greedy_moves` of study 5.
    `learners` maps "x" and "o" to learners. Ties are broken at random, or, with `first`, they go to
    the first of the best moves.
    """

    def __init__(
        self,
        best_moves: Callable[[Mapping[Move, float]], Sequence[Move]],
        learners: Mapping[str, Learner],
        first: bool = False,
    ) -> None:
        self.best_moves, self.learners, self.first = best_moves, learners, first

    def reset(self, seed: int | None) -> None:
        """Start the random numbers that break ties; `match` calls this before every game."""
        self.chance = random.Random(seed)

    def choose(self, state: State) -> Move:
        """A best move of the learner whose turn it is."""
        moves = self.best_moves(self.learners[state.to_move].move_values(state))
        return moves[0] if self.first else self.chance.choice(moves)
