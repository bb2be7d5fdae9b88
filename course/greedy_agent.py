"""The agent that evaluates learners in study 5 by always playing one of their best moves."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tictactoe.contract import Move, State


class Learner(Protocol):
    """An object that estimates the value of each legal move."""

    def move_values(self, state: State) -> Mapping[Move, float]:
        """The value of each legal move, by move."""


class GreedyAgent:
    """Plays the best move of its learners, one for each side, without exploration.

    `best_moves(values)` returns the moves with the largest value: the `greedy_moves` of study 5.
    `learners` maps "x" and "o" to learners. Ties are broken at random, or, if `first` is set, in
    favour of the first of the best moves.
    """

    def __init__(
        self,
        best_moves: Callable[[Mapping[Move, float]], Sequence[Move]],
        learners: Mapping[str, Learner],
        first: bool = False,
    ) -> None:
        self.best_moves, self.learners, self.first = best_moves, learners, first

    def reset(self, seed: int | None) -> None:
        """Seed the random tie-breaking; `match` calls this before every game."""
        self.rng = random.Random(seed)

    def choose(self, state: State) -> Move:
        """The best move of the learner whose turn it is."""
        moves = self.best_moves(self.learners[state.to_move].move_values(state))
        return moves[0] if self.first else self.rng.choice(moves)
