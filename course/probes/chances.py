"""Whether two lists of counts can come from the same chances, with a false alarm rate far below one
in a million.

A question that draws replies with how often each thing was drawn. Two right answers never draw the
same numbers, so counts are compared by Pearson's chi-squared test of homogeneity.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

FALSE_ALARM = 1e-7  # of one comparison: the chance that equal chances are called unequal
STEPS = -NormalDist().inv_cdf(FALSE_ALARM)  # standard deviations above the mean
LEAST = 10  # draws of each of the two, on average, that a thing needs to be compared


def same_chances(expected: Any, got: Any) -> bool:
    """Whether two lists of counts, item by item of the same things, may have the same chances.

    Something that one draws again and again and the other never is a difference; what both draw
    hardly ever tells nothing. What is no list of whole numbers from 0 up is never the same.

    >>> same_chances([500, 500], [521, 479]), same_chances([500, 500], [640, 360])
    (True, False)
    """
    if not _are_counts(expected) or not _are_counts(got) or len(expected) != len(got):
        return False
    drawn, total = sum(expected), sum(expected) + sum(got)
    if drawn in (0, total):  # one of them drew nothing
        return bool(total == 0)
    pairs = [pair for pair in zip(expected, got, strict=True) if sum(pair) >= 2 * LEAST]
    shares = drawn / total, 1 - drawn / total
    statistic = sum(
        (count - sum(pair) * share) ** 2 / (sum(pair) * share)
        for pair in pairs
        for count, share in zip(pair, shares, strict=True)
    )
    return len(pairs) < 2 or statistic <= _most(len(pairs) - 1)


def _most(freedom: int) -> float:
    """What chi-squared with so many degrees of freedom exceeds with the chance `FALSE_ALARM`, or a
    little less often (Wilson and Hilferty 1931)."""
    variance = 2 / (9 * freedom)
    return float(freedom * (1 - variance + STEPS * variance**0.5) ** 3)


def _are_counts(counts: Sequence[Any]) -> bool:
    return isinstance(counts, list) and all(type(c) is int and 0 <= c < 10**9 for c in counts)
