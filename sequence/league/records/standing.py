"""One agent's line in the table of a league."""

from typing import NamedTuple


class Standing(NamedTuple):
    """One agent of the table.

    `rating` and `margin` (half of the 95 % interval) are Elo points above the league's average.
    `score` is the share of points, with half a point for a tie; its Wilson 95 % interval is `low`
    to `high`. `mean` and `p99` are seconds per action, or None without actions. They exclude the
    first action of each game, which includes loading; `first` is the longest of these.
    """

    rank: int
    agent: str
    rating: float
    margin: float
    wins: int
    ties: int
    losses: int
    score: float
    low: float
    high: float
    warnings: int
    forfeits: int
    mean: float | None
    p99: float | None
    first: float
