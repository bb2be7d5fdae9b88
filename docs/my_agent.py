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
    """Places its chips where the most of its own are in a line already; the rest is chance."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """The league calls this before a game: the same seed, the same game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """The placement with the longest line; a random one among equals, or any legal action."""
        worth = {}  # by cell: each cell is in many legal actions
        for action in observation.legal_actions():
            if action.kind == PLACE and action.coords not in worth:
                worth[action.coords] = longest(observation, action.coords)
        best = max(worth.values(), default=0)
        return self._random.choice(
            [
                action
                for action in observation.legal_actions()
                if not worth or worth.get(action.coords) == best
            ]
        )


def longest(observation: Observation, cell: tuple[int, int]) -> int:
    """The most own chips in a line of five through `cell` that holds no chip of another side.

    A corner counts as everybody's chip.
    """
    mine = SIDES[observation.side]
    found = 0
    for line in LINES:
        if cell in line:
            chips = [observation[place].lower() for place in line]
            if all(chip in ("", "*", mine) for chip in chips):
                found = max(found, len(chips) - chips.count(""))
    return found
