"""An example agent for the Sequence league: copy this file and make it stronger.

>>> from sequence import Random, play
>>> play([MyAgent(), Random()], seed=2).winner
0
"""

import random

from sequence import LINES, Action, Observation
from sequence.board.actions import PLACE

SIDES = "xo"  # the letters of chips, capital ones in a completed sequence


class MyAgent:
    """Puts its chips where most of its own are in a line already, and leaves the rest to chance."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """The league calls this before a game: the same seed, the same game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """The placement with the longest line; of equal ones, and without one, any."""
        worth = {}  # by cell: each stands in many legal actions
        for action in observation.legal_actions():
            if action.kind == PLACE and action.coords not in worth:
                worth[action.coords] = longest(observation, action.coords)
        best = max(worth.values(), default=0)
        return self._random.choice([
            action for action in observation.legal_actions()
            if not worth or worth.get(action.coords) == best])


def longest(observation: Observation, cell: tuple[int, int]) -> int:
    """The most chips of the own side in a line of five through a cell that no other side is in.

    A corner counts as a chip of everybody.
    """
    mine = SIDES[observation.side]
    found = 0
    for line in LINES:
        if cell in line:
            chips = [observation[place].lower() for place in line]
            if all(chip in ("", "*", mine) for chip in chips):
                found = max(found, len(chips) - chips.count(""))
    return found
