"""One agent's line in the table of a league."""

from typing import NamedTuple


class Row(NamedTuple):
    """One agent of the table.

    `rating` and `margin` (half of the 95 % interval) are Elo points above the league's average.
    `score` is the share of points, a tie counting half, from `low` to `high` by Wilson's 95 %
    interval. `mean` and `p99` are seconds per action, None if there are none; the first action of
    each game, which includes loading, does not count for them (`first` is the longest of those).
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
