"""Fitting: weights of a value for Sequence, and how well it predicts.

In the first generation the quick player of simulated games plays; in each later one the player
takes what is worth most at once by the weights of the generation before. Both see all cards, and
one action in ten is random among the promising. The weights are those that make the results of a
generation's games likeliest (logistic regression by Newton's method, with a small penalty). They
are measured by the log-loss in games that they were not fitted to, beside the chances that ISMCTS
judges by in the same positions; a coin has 0.693. The last weights are written to
`autograder/benchmarks/fitted.json`. `--size` says how many games the last generation has.
"""

import json
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from autograder.benchmarks import Result, _fitted
from autograder.benchmarks._fitted import KINDS, TABLES, Value, features
from autograder.benchmarks._workers import on_all_cores
from sequence import State
from sequence.agents.worth import best_action, chances, ranked

GAMES = 20_000  # of the last generation
SHARES = (10, 10, 1)  # of these games, as divisors, for each generation
FIRST_GAME = 1_000_000  # far from the seeds of all matches
HELD_OUT = 10  # one game in so many is not fitted to
CHUNK = 50  # games that are played together
RANDOM = 0.1  # the share of random actions,
RANDOM_PLAYS = 8  # among those of so many plays; and what a player looks at when it takes the best:
PLAYS = 4
PENALTY = 3.0
STEPS = 12  # of Newton's method: it needs fewer
ROWS = 50_000  # that are looked at together
LEAST = 1e-3  # the least chance that counts in a log-loss


class Positions(NamedTuple):
    """Positions of games: their features, what the side to move won (0, 0.5 or 1), what
    `sequence.agents.worth.chances` gives it, and the numbers of their games."""

    features: np.ndarray
    won: np.ndarray
    given: np.ndarray
    game: np.ndarray


def run(size: int = GAMES) -> list[Result]:
    """Play and fit all generations and write the weights: about seven minutes on two cores."""
    results, weights, first = [], None, FIRST_GAME
    for generation, share in enumerate(SHARES, 1):
        games = max(2 * HELD_OUT, size // share)
        positions = _played(generation, weights, first, games)
        held_out = positions.game % HELD_OUT == 0
        weights = fit(positions.features[~held_out], positions.won[~held_out])
        unseen = Positions(*(part[held_out] for part in positions))
        results.append(
            Result(
                f"generation {generation}, {games:,} games",
                log_loss(_predicted(unseen.features, weights), unseen.won),
                "log-loss",
            )
        )
        results.append(
            Result(
                f"generation {generation}, what ISMCTS judges by",
                log_loss(unseen.given, unseen.won),
                "log-loss",
            )
        )
        first += games
    _fitted.WEIGHTS.write_text(as_text(weights), "utf-8")
    return results


def play(seed: int, weights: np.ndarray | None) -> Positions:
    """One game, by the quick player or these weights: every other of its positions."""
    chance, state, states = random.Random(seed), State.deal(seed=seed), []
    value = None if weights is None else Value(weights)
    while not state.is_over:
        states.append(state)
        state = state.after(_action(state, value, chance))
    states = states[chance.randrange(2) :: 2]
    return Positions(
        features(states),
        np.array([0.5 + 0.5 * state.utility(seen.to_move) for seen in states]),
        np.array([chances(seen)[seen.to_move] for seen in states]),
        np.full(len(states), seed),
    )


def fit(rows: np.ndarray, won: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """The weights that make these results likeliest, with half of `penalty` times the square of
    each taken off the logarithm of the likelihood: logistic regression by Newton's method."""
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        slope, curvature = penalty * weights, penalty * np.eye(len(weights))
        for start in range(0, len(rows), ROWS):
            some = rows[start : start + ROWS].astype(float)
            predicted = _predicted(some, weights)
            slope += some.T @ (predicted - won[start : start + ROWS])
            curvature += (some.T * (predicted * (1 - predicted))) @ some
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def log_loss(predicted: np.ndarray, won: np.ndarray) -> float:
    """The mean of the logarithms, with the sign changed, of the chances given to what happened."""
    predicted = np.clip(predicted, LEAST, 1 - LEAST)
    return float(-np.mean(won * np.log(predicted) + (1 - won) * np.log(1 - predicted)))


def as_text(weights: Sequence[float]) -> str:
    """The weights as JSON, by table and by kind."""
    tables = np.round(np.reshape(weights, (len(TABLES), len(KINDS))), 3).tolist()
    return (
        json.dumps(
            {
                table: dict(zip(KINDS, row, strict=True))
                for table, row in zip(TABLES, tables, strict=True)
            },
            indent=1,
        )
        + "\n"
    )


def _action(state: State, value: Value | None, chance: random.Random):
    if chance.random() < RANDOM:
        return chance.choice(ranked(state, RANDOM_PLAYS))
    if value is None:
        return best_action(state)
    actions = ranked(state, PLAYS)
    worth = value.chances([state.after(action) for action in actions], state.to_move)
    return actions[int(np.argmax(worth))]


def _played(generation: int, weights: np.ndarray | None, first: int, games: int) -> Positions:
    """The positions of that many games, from this seed on, in the order of their seeds."""
    keys = [
        (start, min(start + CHUNK, first + games), weights)
        for start in range(first, first + games, CHUNK)
    ]
    found = {
        key[0]: part
        for key, part in on_all_cores(
            _chunk, keys, f"times {CHUNK} games of generation {generation}"
        )
    }
    return _joined([found[start] for start in sorted(found)])


def _chunk(first: int, end: int, weights: np.ndarray | None) -> Positions:
    return _joined([play(seed, weights) for seed in range(first, end)])


def _joined(parts: Sequence[Positions]) -> Positions:
    return Positions(*map(np.concatenate, zip(*parts, strict=True)))


def _predicted(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(rows @ weights)))
