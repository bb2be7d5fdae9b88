"""Weights learned from games, by `bench weights`: how they fit, and how they play."""

import json
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """Weights learned from so many games of random play.

    The losses are log losses in nats, on the games that were learned from and on others. Against
    `Greedy`, every deal from both seats, the weights have the share `score` of the points, with a
    95 % interval.
    """

    features: str  # "lines" or "patterns"
    games: int
    loss_seen: float
    loss_held_out: float
    matches: int  # games against Greedy
    score: float
    low: float
    high: float


def weights_from_games() -> list[Entry]:
    """All entries, by features and by games."""
    rows = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return [Entry(**row) for row in rows]
