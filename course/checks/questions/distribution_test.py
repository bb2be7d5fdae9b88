"""Tests whether two lists of counts can come from the same distribution.

The reply to a question about random draws is how often each item was drawn. Two correct answers
draw different numbers, so counts are compared by Pearson's chi-squared test of homogeneity, with a
false alarm rate far below one in a million.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

FALSE_ALARM = 1e-7  # the largest accepted probability of reporting equal distributions as different
STEPS = -NormalDist().inv_cdf(FALSE_ALARM)  # standard deviations above the mean
MIN_DRAWS = 10  # average count that an item needs to be compared


def same_distribution(expected: Any, got: Any) -> bool:
    """Whether two lists of counts of the same items may come from the same distribution.

    An item that is frequent in only one list makes them different; items that are rare in both are
    ignored. A value that is not a list of non-negative integers differs from every list.

    >>> same_distribution([500, 500], [521, 479]), same_distribution([500, 500], [640, 360])
    (True, False)
    """
    if not _are_counts(expected) or not _are_counts(got) or len(expected) != len(got):
        return False
    drawn, total = sum(expected), sum(expected) + sum(got)
    if drawn in (0, total):  # one of them drew nothing
        return bool(total == 0)
    pairs = [pair for pair in zip(expected, got, strict=True) if sum(pair) >= 2 * MIN_DRAWS]
    shares = drawn / total, 1 - drawn / total
    statistic = sum(
        (count - sum(pair) * share) ** 2 / (sum(pair) * share)
        for pair in pairs
        for count, share in zip(pair, shares, strict=True)
    )
    return len(pairs) < 2 or statistic <= _critical_value(len(pairs) - 1)


def _critical_value(freedom: int) -> float:
    """The value that chi-squared with these degrees of freedom exceeds with a probability of at
    most `FALSE_ALARM`, in the approximation of Wilson and Hilferty (1931)."""
    variance = 2 / (9 * freedom)
    return float(freedom * (1 - variance + STEPS * variance**0.5) ** 3)


def _are_counts(counts: Sequence[Any]) -> bool:
    return isinstance(counts, list) and all(type(c) is int and 0 <= c < 10**9 for c in counts)
