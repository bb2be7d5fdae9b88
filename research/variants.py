"""Measure which changes make ISMCTS stronger: eleven variants play against the original.

Both sides have the same number of iterations, so the results are the same on every machine. 200
deals take about ten core-hours. The games are stored in `played/`, from which docs/strength.md is
generated.
"""

import inspect
from typing import NamedTuple

from research import ismcts_variants
from research.games import (
    CHUNK,
    DEALS,
    DOCS,
    measured,
    number,
    play_missing,
    score,
    table,
    total,
    verdict,
)
from research.ismcts_variants import VARIANTS
from sequence import ISMCTS, compare
from tictactoe.games.play import Match

FIRST_DEAL = 50_000  # far from the seeds of other matches
ITERATIONS = 100
PAGE = DOCS / "strength.md"
HEAD = f"""# Eleven variants of ISMCTS

Each row changes one thing about `ISMCTS`. The variant plays against the original, both with
{ITERATIONS} iterations per action; the table shows the variant's share of the points with its 95 %
interval (Wilson). Every deal is played twice, once from each seat, and a tie counts half. "Time" is
the time per action relative to the original in the same games: both have the same number of
iterations, not the same time. `my_agent` is the reference agent of the league's study, which
evaluates the board after each action by the prospects of all lines, without a search.

"""
TAIL = f"""
The original is called weaker or stronger if the interval excludes 0.5. Of twenty ideas that change
nothing, one would be called weaker or stronger by chance. Some variants have played fewer than the
{2 * DEALS} games that are planned for each, so their intervals are wider. The script
`research/variants.py` writes this page from the games in `research/played/`.
"""


class DealResults(NamedTuple):
    """The results of a variant's games, and the seconds per action of both agents."""

    wins: int
    draws: int
    losses: int
    seconds: float
    original: float

    def match(self) -> Match:
        """Return the result without the times."""
        return Match(*self[:3])


def play(name: str, deal: int) -> list[float]:
    """Return the results of a variant in the deals from this one on, as the fields of
    `DealResults`.
    """
    variant = getattr(ismcts_variants, name)
    found = compare(
        lambda: variant(iterations=ITERATIONS), lambda: ISMCTS(iterations=ITERATIONS), CHUNK, deal
    )
    means = (sum(seconds) / len(seconds) for seconds in found.seconds)
    return [found.wins, found.draws, found.losses, *means]


def results() -> dict[str, DealResults]:
    """Return all games of each variant, in the order of the page."""
    names = (variant.__name__ for variant in VARIANTS)
    return {
        name: DealResults._make(total(found.values()))
        for name in names
        if (found := measured(name))
    }


def page() -> str:
    """Return the page about the games played so far."""
    rows: list[tuple[object, ...]] = [
        ("idea", "share of the points", "games", "time", "the original is"),
        ("-", "-:", "-:", "-:", "-"),
    ]
    for name, found in results().items():
        match = found.match()
        idea = inspect.getdoc(getattr(ismcts_variants, name))
        time = f"{found.seconds / found.original:.1f}"
        rows.append((idea, score(match), match.games, time, verdict(match)))
    return HEAD + table(rows) + TAIL


if __name__ == "__main__":
    deals = number(__doc__, DEALS, "deals")
    play_missing(
        play, [variant.__name__ for variant in VARIANTS], range(FIRST_DEAL, FIRST_DEAL + deals)
    )
    PAGE.write_text(page(), "utf-8")
