"""Games of Monte Carlo tree search against Greedy, played by `bench mcts`, to be looked at."""

import json
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A match: what played against `Greedy`, and its share of the points with a 95 % interval.

    `leaf` and `width` are the settings of `SequenceUCT`; None, where another agent played, and for
    `width` where it looks at all actions.
    """

    agent: str
    leaf: str | None
    width: int | None
    iterations: int | None
    games: int
    score: float
    low: float
    high: float

    @property
    def name(self) -> str:
        """What played, in words."""
        words = [self.agent]
        if self.leaf:
            words += [
                f"{self.leaf} leaf",
                "all actions" if self.width is None else f"the best {self.width}",
            ]
        if self.iterations:
            words.append(f"{self.iterations} iterations")
        return ", ".join(words)


def mcts_strength() -> list[Entry]:
    """All matches; every deal was played from both seats, and a tie is half a point."""
    rows = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return [Entry(**row) for row in rows]
