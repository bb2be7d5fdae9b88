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
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from course.checks.marking.comparison import TOLERANCE, equal

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
MAX_EXACT = 2**53  # smaller integers are exact as floats
MISSING = object()
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
    compared = _Compared(values, cases)
    if compared.across >= MIN_DISTINGUISHED and (
        any(map(_beats_chance, items))
        or (
            len(values) >= MIN_VALUES
            and compared.inside >= MIN_DISTINGUISHED
            and compared.correlation >= MIN_CORRELATION
        )
    ):
        return True
    return (
        len(values) >= MIN_VALUES
        and compared.across >= MIN_DISTINGUISHED_CLOSELY
        and compared.inside >= MIN_DISTINGUISHED_CLOSELY
        and (_errs_in_one_direction(values) or compared.correlation >= CLOSE_CORRELATION)
    )


@dataclass
class _Compared:
    """Some of the values, compared with each other; computed only if needed."""

    values: Sequence[Pair]
    cases: Sequence[Sequence[Pair]]

    @cached_property
    def across(self) -> float:
        """The share of the pairs with different right values in which the student's differ."""
        return _distinguished([self.values])

    @cached_property
    def inside(self) -> float:
        """The same share for pairs of values from the same case."""
        return _distinguished(self.cases)

    @cached_property
    def correlation(self) -> float:
        """The correlation between the distances of the student's values and those of the right
        values.

        Distances are computed from the values and from their ranks, and the higher correlation
        counts.
        """
        sides = [list(map(_flat, side)) for side in _sample(self.values)]
        return max(
            _pearson(*map(_distances, sides)),
            _pearson(*(_distances(_ranks(side)) for side in sides)),
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


def frozen(value: Any) -> Any:
    """Return the value with tuples instead of lists."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def _sample(values: Sequence[Pair]) -> tuple[list[Any], list[Any]]:
    """Return some of the right values, and the student's values that belong to them."""
    sample = values[:: max(1, len(values) // SAMPLE_SIZE)]
    return [plain(ours) for ours, _ in sample], [plain(theirs) for _, theirs in sample]


def _distinguished(cases: Iterable[Sequence[Pair]]) -> float:
    """Return the share of the pairs with different right values in which the student's values
    differ; 1 if there are no such pairs.
    """
    pairs = distinguished = 0
    for case in cases:
        ours, theirs = (_differ(side, side) for side in _sample(case))
        ours = np.triu(ours, 1)
        pairs += int(np.count_nonzero(ours))
        distinguished += int(np.count_nonzero(ours & theirs))
    return distinguished / pairs if pairs else 1.0


def _differ(expected: Sequence[Any], got: Sequence[Any]) -> np.ndarray:
    """Return a table of which values differ, as `equal` defines it, with a row for each expected
    value.
    """
    flat = [[_flat(value) for value in side] for side in (expected, got)]
    items = [item for side in flat for value in side for item in value]
    if all(type(item) in (bool, int, str, type(None)) for item in items):
        numbers: dict[Any, int] = {}
        rows, columns = (
            np.array([numbers.setdefault(frozen(value), len(numbers)) for value in side], int)
            for side in (expected, got)
        )
        return rows[:, None] != columns
    if all(map(_is_exact, items)) and len({_shape(value) for value in (*expected, *got)}) == 1:
        return _numbers_differ(*flat)
    return np.array([[not equal(value, other) for other in got] for value in expected])


def _numbers_differ(expected: Sequence[list[Any]], got: Sequence[list[Any]]) -> np.ndarray:
    ours, theirs = np.array(expected, float), np.array(got, float)
    tolerances = np.array([[TOLERANCE * (type(item) is float) for item in row] for row in expected])
    table = np.zeros((len(expected), len(got)), bool)
    for row, column, tolerance in zip(ours.T, theirs.T, tolerances.T, strict=True):
        table |= np.abs(row[:, None] - column) > tolerance[:, None]
    return table


def _is_exact(item: Any) -> bool:
    """Whether an item is a number that has exactly the same value as a float."""
    return type(item) in (int, float) and abs(item) < MAX_EXACT


def _shape(value: Any) -> Any:
    return tuple(map(_shape, value)) if isinstance(value, list) else None


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
    differ = _differ(*_sample(items))
    chance = (differ.size - int(np.count_nonzero(differ))) / differ.size
    surplus = sum(equal(*item) for item in items) - len(items) * chance
    return surplus > 0 and surplus**2 >= MIN_DEVIATIONS**2 * len(items) * chance * (1 - chance)


def _ranks(values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return flat values with the rank of each number instead of the number."""
    order = sorted({item for value in values for item in value if _is_number(item)})
    rank = {item: number for number, item in enumerate(order)}
    return [[rank[item] if _is_number(item) else item for item in value] for value in values]


def _distances(values: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return the distance between each two flat values: the sum of the distances of their items."""
    lengths = np.array([len(value) for value in values])
    table = np.abs(lengths[:, None] - lengths).astype(float)
    for column in zip_longest(*values, fillvalue=MISSING):
        table += _item_distances(column)
    return table[np.triu_indices(len(values), 1)]


def _item_distances(items: Sequence[Any]) -> np.ndarray:
    """Return the distance between each two items: the difference of numbers, 1 if other items
    differ, and 0 if one is missing.
    """
    is_number = np.array([_is_number(item) for item in items])
    numbers = np.array([float(item) if _is_number(item) else 0.0 for item in items])
    table = np.abs(numbers[:, None] - numbers)
    if is_number.all():
        return table
    objects = np.fromiter(items, object, len(items))
    table = np.where(is_number[:, None] & is_number, table, objects[:, None] != objects)
    missing = np.array([item is MISSING for item in items])
    table[missing[:, None] | missing] = 0
    return table


def _flat(value: Any) -> list[Any]:
    return [item for item, _ in items_of(value, None)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _pearson(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the correlation of two series; 0 if one of them does not vary."""
    ours, theirs = (side - _sum(side) / len(side) for side in (ours, theirs))
    own, others = _sum(ours**2), _sum(theirs**2)
    if not own or not others:
        return 0.0
    return _sum(ours * theirs) / math.sqrt(own * others)


def _sum(series: np.ndarray) -> float:
    return math.fsum(series.tolist())
