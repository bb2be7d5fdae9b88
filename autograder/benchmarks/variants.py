"""Variants: ideas that might make ISMCTS stronger, each against it.

Both have the same number of iterations, so that the results are the same on every machine. Every
deal is played twice, once from each seat, and a tie is half a win; intervals are Wilson's at 95 %.
`--size` says how many deals, in tens; 200 take about ten core-hours on all cores. What was
played is kept in autograder/benchmarks/played/, ten deals at a time: a run that was stopped goes on
there. docs/strength.md is made of it.
"""

import inspect
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import sequence
from autograder.benchmarks import Result, _variants
from autograder.benchmarks._journal import Journal
from autograder.benchmarks._variants import VARIANTS
from autograder.benchmarks._workers import on_all_cores
from autograder.workspace import answer_path
from course.probes import load_study
from sequence import ISMCTS, compare
from tictactoe.games.play import Match

DEALS = 200
FIRST_DEAL = 50_000  # far from the seeds of other matches
CHUNK = 10  # deals that are played, and kept, together
ITERATIONS = 100
KEPT = Path(__file__).parent / "played"
PAGE = Path(__file__).parents[2] / "docs" / "strength.md"
HEAD = f"""# Eleven ideas to make ISMCTS stronger

`ISMCTS`, the sparring partner of the league, hardly gets stronger with more than a hundred
iterations. Each row changes one thing about it, and plays the changed one against the given one,
both with {ITERATIONS} iterations for an action: the share of the points that it won, with its 95 %
interval (Wilson). Every deal is played twice, once from each seat, and a tie is half a win. "Time"
is what an action took, in times of what it took the given one in the same games, as iterations are
equal and time is not. `my_agent` is the reference agent of the league's study: it values the board
after each action by what all lines promise, and searches nothing.

"""
TAIL = f"""
The given one is called weaker or stronger where the interval leaves one half out; of ideas that
change nothing, one in twenty would be called so, too. Intervals are wide as long as there are few
games: {DEALS} deals, that is {2 * DEALS} games, are planned for each. `python3 run.py bench
variants` writes this page, from the games that are kept in autograder/benchmarks/played/.
"""


class Played(NamedTuple):
    """Games of a variant, from its view, and the seconds that an action took it and its opponent."""

    wins: int
    draws: int
    losses: int
    seconds: float
    given: float

    def match(self) -> Match:
        """The result alone."""
        return Match(*self[:3])


def run(size: int = DEALS) -> list[Result]:
    """Play what has not been played yet: half of the deals of all variants, then the other half."""
    journals = {variant.__name__: _journal(variant) for variant in VARIANTS}
    chunks = range(FIRST_DEAL, FIRST_DEAL + size, CHUNK)
    halves = chunks[: len(chunks) // 2], chunks[len(chunks) // 2 :]
    missing = [
        (name, deal)
        for half in halves
        for name, journal in journals.items()
        for deal in half
        if (deal,) not in journal
    ]
    for key, found in on_all_cores(played, missing, f"times {CHUNK} deals"):
        name, deal = key
        journals[name].measured((deal,), lambda found=found: found)
        PAGE.write_text(page(), "utf-8")
    return [result for name, so_far in kept().items() for result in _results(name, so_far.match())]


def played(name: str, deal: int) -> list[float]:
    """What a variant wins in the deals from this one on, as the fields of `Played`."""
    variant = getattr(_variants, name)
    found = compare(
        lambda: variant(iterations=ITERATIONS), lambda: ISMCTS(iterations=ITERATIONS), CHUNK, deal
    )
    return [
        found.wins,
        found.draws,
        found.losses,
        *(sum(seconds) / len(seconds) for seconds in found.seconds),
    ]


def kept() -> dict[str, Played]:
    """All games of each variant that were played so far, in the order of the variants."""
    paths = {variant.__name__: KEPT / f"{variant.__name__}.jsonl" for variant in VARIANTS}
    return {
        name: Played(
            *together(json.loads(line)[2] for line in path.read_text("utf-8").splitlines())
        )
        for name, path in paths.items()
        if path.is_file()
    }


def together(parts: Iterable[list[float]]) -> list[float]:
    """Games won, drawn and lost, added up, and the means of whatever follows them."""
    columns = list(zip(*parts, strict=True))
    return [*map(sum, columns[:3]), *map(fmean, columns[3:])]


def page() -> str:
    """The page, of the games that were played so far."""
    rows = [("idea", "share of the points", "games", "time", "the given one is")]
    for name, so_far in kept().items():
        match = so_far.match()
        low, high = match.interval
        rows.append(
            (
                inspect.getdoc(getattr(_variants, name)),
                f"{match.score:.2f} ({low:.2f} to {high:.2f})",
                match.games,
                f"{so_far.seconds / so_far.given:.1f}",
                verdict(match),
            )
        )
    rows.insert(1, ("-", "-:", "-:", "-:", "-"))
    return HEAD + "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows) + TAIL


def verdict(match: Match) -> str:
    """What the interval says of the given agent."""
    low, high = match.interval
    return "**weaker**" if low > 0.5 else "stronger" if high < 0.5 else "no difference shown"


def _results(name: str, match: Match) -> list[Result]:
    low, high = match.interval
    return [
        Result(name, match.score, f"of {match.games} games", peer="ISMCTS"),
        Result(f"{name}, from", low, "95 % interval", peer="ISMCTS"),
        Result(f"{name}, to", high, "95 % interval", peer="ISMCTS"),
    ]


def _journal(variant: type[ISMCTS]) -> Journal:
    """A variant's games with the code of today; those of other code are played again."""
    package = Path(sequence.__file__).parent
    written = [
        inspect.getsource(part)
        for part in (*variant.__mro__, *vars(_variants).values())
        if inspect.getmodule(part) is _variants
        and (inspect.isfunction(part) or part in variant.__mro__)
    ]
    return Journal(
        variant.__name__,
        [
            *(package / part for part in ("agents", "board", "engine")),
            answer_path(load_study("league")),
        ],
        [ITERATIONS, *written],
        KEPT,
    )
