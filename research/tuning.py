"""Which numbers of the look-ahead agent of study 7 does self-play choose?

The agent's description calls it a weakness that its numbers are fixed by hand. Here they are tuned
by simultaneous perturbation (Spall 1992). In each deal the agent plays against itself from both
seats: one side multiplies every number by a random factor, the other side divides it by the same
factor. If the side with the larger number scores more points, the number grows; otherwise it
shrinks. One generation estimates this for all numbers from the same deals, and the next one starts
with the changed numbers. After the last generation the tuned agent plays on new deals.

The reply uses known cards (`cards="known"`). The games are stored in `played/`, and
`course/published/tuned_lookahead.json` is written from them. The 4,000 deals of training and the
matches take about ten minutes on two idle cores.
"""

import json
import math
import random
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

from autograder.workspace import load_answer
from course.published import FOLDER
from research.games import CHUNK, measured, number, play_missing
from sequence import Greedy, compare

GENERATIONS = 8
TRAINING_DEALS = 500  # deals in each generation
FIRST_TRAINING_DEAL = 2_000_000  # far from the seeds of all matches
FIRST_DEAL = 70_000  # first deal of the matches
DEALS = 300
SPREAD = 0.35  # standard deviation of the logarithm of a factor
STEP = 3.0  # change of the logarithm of a number per point of difference in a deal
FIXED = 5  # number of chips in a completed sequence, whose reward stays fixed
TABLE = FOLDER / "tuned_lookahead.json"

# The numbers to tune. Each has a name in the table, a constant of the module, and an index in that
# constant.
NUMBERS: dict[str, tuple[str, int | None]] = {
    "heat of the heart": ("HEAT_PEAK", None),
    "two made": ("LINK_MADE", 2),
    "three made": ("LINK_MADE", 3),
    "four made": ("LINK_MADE", 4),
    "one broken": ("LINK_BROKEN", 1),
    "two broken": ("LINK_BROKEN", 2),
    "three broken": ("LINK_BROKEN", 3),
    "four broken": ("LINK_BROKEN", 4),
    "reply discount": ("REPLY_DISCOUNT", None),
    "draft discount": ("DRAFT_DISCOUNT", None),
    "two-eyed jack": ("TWO_EYED_VALUE", None),
    "one-eyed jack": ("ONE_EYED_VALUE", None),
}
MATCHES = {
    "tuned against original": ("tuned", "original"),
    "tuned against Greedy": ("tuned", "greedy"),
    "original against Greedy": ("original", "greedy"),
}


def main(deals: int) -> None:
    """Play all generations, then the matches, and write the table."""
    for generation in range(GENERATIONS):
        first = FIRST_TRAINING_DEAL + generation * TRAINING_DEALS
        play_missing(play, [f"tuning_{generation}"], range(first, first + TRAINING_DEALS))
    for name in MATCHES:
        play_missing(play, [_file(name)], range(FIRST_DEAL, FIRST_DEAL + deals))
    TABLE.write_text(as_text(), "utf-8")


def play(name: str, deal: int) -> list[float]:
    """Return the points of the first agent (0 to 2) in each of the deals from this one on."""
    generation = name.removeprefix("tuning_")
    if generation.isdecimal():
        numbers = tuned(int(generation))
        points = []
        for seed in range(deal, deal + CHUNK):
            factors = perturbation(seed)
            points += _points(
                agent(0, [one * factor for one, factor in zip(numbers, factors, strict=True)]),
                agent(1, [one / factor for one, factor in zip(numbers, factors, strict=True)]),
                range(seed, seed + 1),
            )
        return points
    first, second = next(pair for match, pair in MATCHES.items() if _file(match) == name)
    return _points(_player(0, first), _player(1, second), range(deal, deal + CHUNK))


def perturbation(deal: int) -> list[float]:
    """Return the random factors of a deal, one for each number."""
    rng = random.Random(deal)
    return [math.exp(rng.gauss(0, SPREAD)) for _ in NUMBERS]


def original() -> list[float]:
    """Return the numbers of the reference agent."""
    return [
        float(value if index is None else value[index])
        for name, index in NUMBERS.values()
        for value in [getattr(load_answer("lookahead"), name)]
    ]


@cache
def tuned(generations: int) -> list[float]:
    """Return the numbers after this many generations, computed from the stored games."""
    if not generations:
        return original()
    slopes = [0.0] * len(NUMBERS)
    played = measured(f"tuning_{generations - 1}")
    deals = {start + k: one for start, some in played.items() for k, one in enumerate(some)}
    for deal, points in deals.items():
        for place, factor in enumerate(perturbation(deal)):
            slopes[place] += (points - 1) * math.log(factor) / SPREAD / len(deals)
    before = tuned(generations - 1)
    return [one * math.exp(STEP * slope) for one, slope in zip(before, slopes, strict=True)]


def agent(copy: int, numbers: list[float]) -> Any:
    """Return the reference agent with these numbers; the two sides of a game need different copies."""
    module = _module(copy)
    for (name, index), value in zip(NUMBERS.values(), numbers, strict=True):
        if index is None:
            setattr(module, name, value)
        else:
            row = list(getattr(module, name))
            row[index] = value
            setattr(module, name, tuple(row))
    module.heat.cache_clear()
    return module.LookAhead(module.quick_replies, "known")


@cache
def _module(copy: int) -> ModuleType:
    """Return a copy of the reference module that has its own constants."""
    assert copy in range(2)
    return load_answer("lookahead")


def _player(copy: int, name: str) -> Any:
    if name == "greedy":
        return Greedy()
    return agent(copy, tuned(GENERATIONS) if name == "tuned" else original())


def _points(first: Any, second: Any, deals: range) -> list[float]:
    totals = [0.0]
    compare(
        first,
        second,
        len(deals),
        deals.start,
        progress=lambda so_far: totals.append(so_far.wins + so_far.draws / 2),
    )
    return [after - before for before, after in pairwise(totals)]


def _file(match: str) -> str:
    return match.replace(" ", "_").lower()


def table() -> dict[str, Any]:
    """Return the numbers before and after tuning, and the points in each deal of the matches."""
    before, after = original(), tuned(GENERATIONS)
    return {
        "training_games": 2 * GENERATIONS * TRAINING_DEALS,
        "numbers": {
            name: [old, round(new, 2)]
            for name, old, new in zip(NUMBERS, before, after, strict=True)
        },
        "points": {
            match: [points for _, some in sorted(measured(_file(match)).items()) for points in some]
            for match in MATCHES
        },
    }


def as_text() -> str:
    """Return the table as JSON, with a line for each number and each match."""
    found = table()
    lines = [f' "training_games": {found["training_games"]}']
    for part in ("numbers", "points"):
        rows = (f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in found[part].items())
        lines.append(f" {json.dumps(part)}: {{\n" + ",\n".join(rows) + "\n }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main(number(__doc__, DEALS, "deals of each match"))
