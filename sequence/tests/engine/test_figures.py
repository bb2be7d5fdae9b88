"""A statistical test of the known figures of uniform random play under `draft` with two players."""

import random
from statistics import NormalDist, mean, median, quantiles

import pytest

from sequence import State

GAMES = 2_000  # with seeds 0 to 1,999


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
def test_known_figures_of_random_play():
    """Over 2,000 seeded games, the figures agree with the rule book within stated tolerances.

    The seeds are fixed, so the test cannot fail by chance; the tolerances allow for figures that
    were measured on other games: 1 action per game (standard error 0.2), 2 for the mean number of
    legal actions, 3 for the median, 12 for p99, 0.5 % of actions for trades and forgone trades, 3 %
    of games for the endings (standard error 0.9 %), and 4 % for the wins of player 0 (standard
    error 1.2 %). "51 to 95 actions" is taken as the usual range: at most 2.5 % of games are shorter
    and at most 2.5 % longer, and none is longer than 92 plays and trades plus a few forgone trades.
    """
    lengths, counts = [], []
    trades = by_sequences = wins = losses = 0
    for seed in range(GAMES):
        state, chance = State.deal(seed=seed), random.Random(GAMES + seed)
        while not state.is_terminal():
            legal = state.legal_actions()
            counts.append(len(legal))
            action = legal.choose(chance)
            trades += action.kind == "trade"
            state = state.after(action)
        lengths.append(len(state.history))
        by_sequences += max(state.sequences) >= 2
        wins += state.winner == 0
        losses += state.winner == 1
    assert mean(lengths) == pytest.approx(81, abs=1)
    assert sum(length < 51 for length in lengths) <= 0.025 * GAMES
    assert sum(length > 95 for length in lengths) <= 0.025 * GAMES
    assert max(lengths) <= 100
    assert mean(counts) == pytest.approx(62, abs=2)
    assert median(counts) == pytest.approx(45, abs=3)
    assert quantiles(counts, n=100)[98] == pytest.approx(480, abs=12)
    assert 900 <= max(counts) <= 1_000
    assert trades / len(counts) == pytest.approx(0.03, abs=0.005)
    assert by_sequences / GAMES == pytest.approx(0.80, abs=0.03)
    assert wins / (wins + losses) == pytest.approx(0.53, abs=0.04)
    error = NormalDist().inv_cdf(0.975) * (0.25 / (wins + losses)) ** 0.5
    assert error < 0.025, "half of the 95 % interval of player 0's wins"
