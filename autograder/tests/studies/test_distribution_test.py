"""The test of distributions accepts correct answers and rejects wrong ones."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc

from course.checks.questions.distribution_test import (
    FALSE_ALARM,
    _critical_value,
    same_distribution,
)


def counts(chances: list[float], draws: int, seed: int) -> list[int]:
    """How often each outcome is drawn."""
    drawn = random.Random(seed).choices(range(len(chances)), chances, k=draws)
    return [drawn.count(number) for number in range(len(chances))]


@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=16),
    st.integers(0, 10**9),
    st.integers(200, 1000),
    st.integers(200, 1000),
)
def test_the_same_chances_are_never_called_different(weights, seed, first, second):
    """This holds for any probabilities and any number of draws in the two samples."""
    assert same_distribution(counts(weights, first, seed), counts(weights, second, seed + 1))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("chances", [[0.5, 0.25, 0.25], [0.4, 0.2, 0.2, 0.2], [0.7, 0.3]])
def test_unequal_chances_are_distinguished_from_equal_ones(chances, seed):
    """Three thousand draws suffice for any seed."""
    equal = [1 / len(chances)] * len(chances)
    assert not same_distribution(counts(equal, 3000, seed), counts(chances, 3000, seed + 1))


def test_the_false_alarm_rate_is_below_one_in_a_million():
    """The tail probability at the threshold is correct for few and many degrees of freedom."""
    assert FALSE_ALARM < 1e-6
    for freedom in range(1, 64):
        assert FALSE_ALARM / 20 < chdtrc(freedom, _critical_value(freedom)) < FALSE_ALARM


@pytest.mark.parametrize("got", [None, [1], "ab", [1, -1], [True, 1], [1.0, 2], [0, 0], {}])
def test_what_is_no_list_of_counts_is_wrong(got):
    """Whatever a process replies, the comparison simply returns False."""
    assert not same_distribution([500, 500], got)
