"""Tests of ratings: order, symmetry, intervals, and the exact posterior of a pair."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence.league.records.ratings import ELO, PRIOR, Z, ratings
from tictactoe.games.play import Match


def of_pair(wins, ties, losses):
    """The rating of the first of two agents."""
    return ratings(["a", "b"], {("a", "b"): Match(wins, ties, losses)})["a"]


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 6), st.integers(0, 3), st.integers(0, 6))
def test_symmetry(wins, ties, losses):
    """The two ratings are opposite, follow the score, and do not depend on which agent comes first."""
    mine, theirs = of_pair(wins, ties, losses), of_pair(losses, ties, wins)
    assert mine.elo == pytest.approx(-theirs.elo, abs=0.5)
    assert mine.margin == pytest.approx(theirs.margin, abs=0.5)
    assert (mine.elo > 1) == (wins > losses)


def test_more_games_narrow_the_interval():
    """Four times as many games halve the interval; ties narrow it like other games."""
    assert of_pair(40, 0, 40).margin == pytest.approx(of_pair(10, 0, 10).margin / 2, rel=0.05)
    assert of_pair(0, 80, 0).margin == pytest.approx(of_pair(40, 0, 40).margin, rel=0.001)
    assert of_pair(10, 1, 10).margin < of_pair(10, 0, 10).margin
    assert of_pair(10, 1, 10).margin > of_pair(10, 2, 10).margin


def test_who_wins_always():
    """The rating after only wins is finite, but higher and with a wider interval than after one
    loss.
    """
    always, nearly = of_pair(40, 0, 0), of_pair(39, 0, 1)
    assert nearly.elo < always.elo < 1000
    assert nearly.margin < always.margin < 1000


@pytest.mark.parametrize(
    "match",
    [(0, 0, 0), (4, 0, 0), (15, 0, 5), (15, 3, 5), (2, 2, 0), (60, 3, 37), (90, 1, 9), (40, 0, 0)],
)
def test_the_exact_posterior(match):
    """For two agents, mean and interval are those of the posterior by numerical integration."""
    wins, ties, losses = match
    steps = [step / 100 for step in range(-3000, 3001)]  # differences on the natural scale
    weights = [
        math.exp(
            -(wins + ties / 2) * math.log1p(math.exp(-step))
            - (losses + ties / 2) * math.log1p(math.exp(step))
            - (step * ELO / PRIOR) ** 2 / 4
        )
        for step in steps
    ]
    total = sum(weights)
    mean = sum(map(float.__mul__, steps, weights)) / total
    variance = (
        sum(weight * (step - mean) ** 2 for step, weight in zip(steps, weights, strict=True))
        / total
    )
    found = of_pair(*match)
    assert found.elo == pytest.approx(ELO * mean / 2, abs=12)
    assert found.margin == pytest.approx(Z * ELO * math.sqrt(variance) / 2, rel=0.15)


def test_three_agents():
    """A chain of results orders all three, and the average is 0."""
    names = ["a", "b", "c"]
    found = ratings(
        names,
        {("a", "b"): Match(15, 0, 5), ("b", "c"): Match(15, 0, 5), ("a", "c"): Match(10, 0, 0)},
    )
    assert found["a"].elo > found["b"].elo > found["c"].elo
    assert sum(rating.elo for rating in found.values()) == pytest.approx(0, abs=1e-6)


def test_the_same_again():
    """The ratings are repeated bit for bit, and numpy's global generator is not changed."""
    import numpy as np

    np.random.seed(7)
    expected = np.random.random(3)
    np.random.seed(7)
    first = of_pair(15, 1, 5)
    assert list(np.random.random(3)) == list(expected)
    assert of_pair(15, 1, 5) == first
