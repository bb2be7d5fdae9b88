"""An example agent for the Sequence league: copy this file and make it stronger.

>>> from sequence import Random, play
>>> play([MyAgent(), Random()], seed=2).winner
0
"""

import random

from sequence import LINES, Action, Observation
from sequence.board.actions import PLACE

SIDES = "xo"  # letters of the chips; capital letters in a completed sequence


class MyAgent:
    """Extends the line that already has the most of its chips; breaks ties at random."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """The league calls this before each game: the same seed gives the same game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """Choose a placement with the longest line, or any legal action if there is none."""
        worth = {}  # by cell, because many legal actions share a cell
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
    """Return the highest number of our chips in any line of five through `cell`.

    Lines with an opponent's chip do not count. A corner counts as a chip of every side.
    """
    mine = SIDES[observation.side]
    found = 0
    for line in LINES:
        if cell in line:
            chips = [observation[place].lower() for place in line]
            if all(chip in ("", "*", mine) for chip in chips):
                found = max(found, len(chips) - chips.count(""))
    return found
