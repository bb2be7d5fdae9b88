"""`Random`, a player that plays any legal action."""

import random

from sequence.board.actions import Action
from sequence.engine.observation import Observation


class Random:
    """Plays a uniformly random legal action; the same seed gives the same actions."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `play` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """A legal action; all have the same probability."""
        return observation.legal_actions().choose(self._random)
