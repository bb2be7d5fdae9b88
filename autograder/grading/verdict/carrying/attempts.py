"""Distinguishes an attempt at a function from one that returns arbitrary values.

A wrong function is carried forward (see `error_carried_forward`) if its values follow the right
ones in some way. It need not be right anywhere, because values with the wrong sign or unit also
follow the right ones. Constants and random numbers do not. Values that follow the right ones
closely may be coarser, as after an integer division, or may be those of a condition with `or`
instead of `and`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from course.checks.marking.comparison import equal

SAMPLE_SIZE = 150  # values compared with each other; there may be up to twice as many
# Standard deviations by which the number of right replies must exceed that of random ones. Of the
# known mistakes that do not pass otherwise, nearly all exceed it.
MIN_DEVIATIONS = 3
MIN_VALUES = 20  # needed to show a correlation; fewer random values can have any correlation
MIN_CORRELATION = 0.1  # random values stay below it; nearly all known mistakes exceed it
CLOSE_CORRELATION = 0.5
# Share of the pairs with different right values in which the student's values must differ.
MIN_DISTINGUISHED = 1 / 2
MIN_DISTINGUISHED_CLOSELY = 1 / 3  # the same, if the values follow the right ones closely
Pair = tuple[Any, Any]  # the right value and the student's


def is_attempt(
    values: Sequence[Pair], cases: Sequence[Sequence[Pair]], items: Sequence[Sequence[Pair]]
) -> bool:
    """Whether a student's function is an attempt at the right one.

    The function is an attempt if its replies in its own checks are right more often than by chance,
    or if its values follow the right ones. `values` are the values that are carried forward, and
    `cases` are the same values case by case. Code that builds on the function compares the values
    of one case, so these must differ as well. `items` are the items of the replies in the
    function's own checks, one sequence for each aspect.
    """
    across = list(combinations(_sample(values), 2))
    inside = [pair for case in cases for pair in combinations(_sample(case), 2)]
    if _distinguishes(across) and (
        any(map(_beats_chance, items))
        or (
            len(values) >= MIN_VALUES
            and _distinguishes(inside)
            and _correlation(across) >= MIN_CORRELATION
        )
    ):
        return True
    return (
        len(values) >= MIN_VALUES
        and _distinguishes(across, MIN_DISTINGUISHED_CLOSELY)
        and _distinguishes(inside, MIN_DISTINGUISHED_CLOSELY)
        and (_errs_in_one_direction(values) or _correlation(across) >= CLOSE_CORRELATION)
    )


def plain(value: Any) -> Any:
    """Return the value with lists instead of tuples."""
    return list(map(plain, value)) if isinstance(value, (tuple, list)) else value


def items_of(right: Any, theirs: Any) -> Iterator[Pair]:
    """Yield the items of a right reply, each with the student's item at the same place, or None."""
    if not isinstance(right, list):
        yield right, theirs
        return
    fits = isinstance(theirs, list) and len(theirs) == len(right)
    for ours, item in zip(right, theirs if fits else [None] * len(right), strict=True):
        yield from items_of(ours, item)


def _sample(values: Sequence[Pair]) -> list[Pair]:
    return [
        (plain(ours), plain(theirs))
        for ours, theirs in values[:: max(1, len(values) // SAMPLE_SIZE)]
    ]


def _distinguishes(pairs: Iterable[tuple[Pair, Pair]], share: float = MIN_DISTINGUISHED) -> bool:
    """Whether the student's values differ in enough of the pairs whose right values differ."""
    differs = [not equal(a[1], b[1]) for a, b in pairs if not equal(a[0], b[0])]
    return sum(differs) >= share * len(differs)


def _errs_in_one_direction(values: Sequence[Pair]) -> bool:
    """Whether a condition is, in many cases, always right when it is true or always right when it
    is false.
    """
    if not all(isinstance(value, bool) for pair in values for value in pair):
        return False
    count = Counter(values)
    enough = min(count[right, True] + count[right, False] for right in (True, False)) >= MIN_VALUES
    return enough and 0 in (count[True, False], count[False, True])


def _beats_chance(items: Sequence[Pair]) -> bool:
    """Whether clearly more replies are right than if the same replies were in any other order."""
    if not items:
        return False
    sample = _sample(items)
    chance = sum(equal(a[0], b[1]) for a in sample for b in sample) / len(sample) ** 2
    surplus = sum(equal(*item) for item in items) - len(items) * chance
    return surplus > 0 and surplus**2 >= MIN_DEVIATIONS**2 * len(items) * chance * (1 - chance)


def _correlation(pairs: Sequence[tuple[Pair, Pair]]) -> float:
    """Return the correlation between the distances of the student's values and those of the right
    values.

    Distances are computed from the values and from their ranks, and the higher correlation counts.
    """
    return max(
        _pearson(
            *(
                _distances([(a[side], b[side]) for a, b in pairs], by_rank=by_rank)
                for side in (0, 1)
            )
        )
        for by_rank in (False, True)
    )


def _distances(pairs: Sequence[tuple[Any, Any]], *, by_rank: bool) -> list[float]:
    """Return the distance between the two values of each pair."""
    flat = [[_flat(value) for value in pair] for pair in pairs]
    if by_rank:
        order = sorted(
            {item for pair in flat for value in pair for item in value if _is_number(item)}
        )
        rank = {item: number for number, item in enumerate(order)}
        flat = [
            [[rank[item] if _is_number(item) else item for item in value] for value in pair]
            for pair in flat
        ]
    return [_distance(*pair) for pair in flat]


def _flat(value: Any) -> list[Any]:
    return [item for item, _ in items_of(value, None)]


def _distance(one: Sequence[Any], other: Sequence[Any]) -> float:
    return abs(len(one) - len(other)) + sum(
        abs(a - b) if _is_number(a) and _is_number(b) else float(a != b)
        for a, b in zip(one, other, strict=False)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _pearson(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the correlation of two series; 0 if one of them does not vary."""
    middle, their_middle = math.fsum(ours) / len(ours), math.fsum(theirs) / len(theirs)
    own = math.fsum((a - middle) ** 2 for a in ours)
    others = math.fsum((b - their_middle) ** 2 for b in theirs)
    if not own or not others:
        return 0.0
    return math.fsum(
        (a - middle) * (b - their_middle) for a, b in zip(ours, theirs, strict=True)
    ) / math.sqrt(own * others)
