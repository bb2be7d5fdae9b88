"""Games of searches within a budget on Connect Four, played by `bench deepening`, to look at."""

import json
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A match: which search played, its order of moves and its budget; and how deep it looked.

    `depth` is the last limit that it finished, its mean over the moves with up to 20 marks on the
    board. `score` is its share of the points, with a 95 % interval, against a search with 400 nodes
    a move, the centre first and neither table nor killers.
    """

    parts: str
    order: str
    budget: int
    depth: float
    games: int
    score: float
    low: float
    high: float


def depth_strength() -> list[Entry]:
    """All matches; every opening was played from both sides, and a draw is half a point."""
    rows = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return [Entry(**row) for row in rows]
