"""Distinguishes an attempt at a function from one that returns what it likes.

A function that is wrong is carried forward (see `carried`) if its values follow the right ones in
some way. It need not be right anywhere: values of the wrong sign or unit follow the right ones.
Constants and random numbers do not. Values that follow the right ones closely may be coarser, as
after a division without remainder, or those of a condition with `or` for `and`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from course.probes.outcome import equal

AT_LEAST = 50  # values, or up to twice as many, that are compared with each other
FEWEST = 20  # values that show a correlation; of fewer, random ones can have any
CORRELATED = 0.1  # random values stay below it, nearly all known mistakes are above
CLOSELY = 0.5  # correlated
TOLD = 1 / 2  # of the pairs in which the right values differ, the student's must differ in so many
TOLD_CLOSELY = 1 / 3  # if they follow the right ones closely
Pair = tuple[Any, Any]  # the right value and the student's


def is_attempt(
    values: Sequence[Pair], cases: Sequence[Sequence[Pair]], items: Sequence[Sequence[Pair]]
) -> bool:
    """Whether a student's function is an attempt at the right one.

    Its replies in its own checks are right more often than by chance, or its values follow the
    right ones. `values` are those that are carried forward, and `cases` the same case by case: what
    builds on them compares the values of one case, so those must differ too. `items` are the items
    of the replies in the function's own checks, one sequence for each aspect.
    """
    across = list(combinations(_some(values), 2))
    inside = [pair for case in cases for pair in combinations(_some(case), 2)]
    if _tells_apart(across) and (
        any(map(_beats_chance, items))
        or (len(values) >= FEWEST and _tells_apart(inside) and _correlation(across) >= CORRELATED)
    ):
        return True
    return (
        len(values) >= FEWEST
        and _tells_apart(across, TOLD_CLOSELY)
        and _tells_apart(inside, TOLD_CLOSELY)
        and (_errs_one_way(values) or _correlation(across) >= CLOSELY)
    )


def plain(value: Any) -> Any:
    """The value with lists for tuples."""
    return list(map(plain, value)) if isinstance(value, (tuple, list)) else value


def items_of(right: Any, theirs: Any) -> Iterator[Pair]:
    """The items of a right reply, each with the student's at its place, or None."""
    if not isinstance(right, list):
        yield right, theirs
        return
    fits = isinstance(theirs, list) and len(theirs) == len(right)
    for ours, item in zip(right, theirs if fits else [None] * len(right), strict=True):
        yield from items_of(ours, item)


def _some(values: Sequence[Pair]) -> list[Pair]:
    return [
        (plain(ours), plain(theirs)) for ours, theirs in values[:: max(1, len(values) // AT_LEAST)]
    ]


def _tells_apart(pairs: Iterable[tuple[Pair, Pair]], least: float = TOLD) -> bool:
    """Whether the student's values differ in enough of the pairs in which the right do."""
    told = [not equal(a[1], b[1]) for a, b in pairs if not equal(a[0], b[0])]
    return sum(told) >= least * len(told)


def _errs_one_way(values: Sequence[Pair]) -> bool:
    """Whether a condition is always right where it is true, or always where it is false, of which
    there are many."""
    if not all(isinstance(value, bool) for pair in values for value in pair):
        return False
    count = Counter(values)
    enough = min(count[right, True] + count[right, False] for right in (True, False)) >= FEWEST
    return enough and 0 in (count[True, False], count[False, True])


def _beats_chance(items: Sequence[Pair]) -> bool:
    """Whether more replies are right than if the same replies were given in any other order."""
    some = _some(items)
    right = sum(equal(*item) for item in items) * len(some) ** 2
    return right > len(items) * sum(equal(a[0], b[1]) for a in some for b in some)


def _correlation(pairs: Sequence[tuple[Pair, Pair]]) -> float:
    """How the distances between the student's values go along with those between the right ones,
    from -1 to 1; of the values, or of their ranks, whichever is more."""
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
    """The distance between the two values of each pair."""
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
    """The correlation of two series; 0 if one of them does not vary."""
    middle, their_middle = math.fsum(ours) / len(ours), math.fsum(theirs) / len(theirs)
    own = math.fsum((a - middle) ** 2 for a in ours)
    others = math.fsum((b - their_middle) ** 2 for b in theirs)
    if not own or not others:
        return 0.0
    return math.fsum(
        (a - middle) * (b - their_middle) for a, b in zip(ours, theirs, strict=True)
    ) / math.sqrt(own * others)
