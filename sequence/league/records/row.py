"""One agent's line in the table of a league."""

from typing import NamedTuple


class Row(NamedTuple):
    """One agent of the table.

    `rating` and `margin` (half of the 95 % interval) are Elo points above the league's average.
    `score` is the share of points, a tie counting half, from `low` to `high` by Wilson's 95 %
    interval. `mean` and `p99` are seconds an action, the first of each game (`first`, the longest
    of them) left out, as it has loading in it; None where there was no other.
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
