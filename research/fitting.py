"""Fit the weights of FittedLookAhead's evaluation function to the results of games.

In the first generation of simulated games, the quick player plays; in each later one, a player
takes the action with the best evaluation according to the previous generation's weights. Both
players see all cards, and one action in ten is chosen at random among the promising ones. The
weights maximise the likelihood of the results of a generation's games (logistic regression by
Newton's method, with a small penalty). The script prints the log-loss of the weights in held-out
games, next to the log-loss of the evaluation function of ISMCTS in the same positions (a constant
0.5 scores 0.693). It writes the last weights to `sequence/agents/fitted.toml`. It takes about seven
minutes on two cores.
"""

import json
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from research.games import number, on_all_cores
from sequence import Action, State
from sequence.agents.evaluation import best_action, chances, ranked
from sequence.agents.fitted import KINDS, TABLES, WEIGHTS, Evaluation, features

GAMES = 20_000  # in the last generation
SHARES = (10, 10, 1)  # the number of games is divided by this in each generation
FIRST_GAME = 1_000_000  # far from the seeds of all matches
HELD_OUT = 10  # one game in this many is held out
CHUNK = 50  # games that are played together
RANDOM = 0.1  # share of random actions
RANDOM_PLAYS = 8  # number of plays from which random actions are chosen
PLAYS = 4
PENALTY = 3.0
STEPS = 12  # maximum for Newton's method, which needs fewer
ROWS = 50_000  # rows that are processed together
MIN_CHANCE = 1e-3  # lower bound of a chance in a log-loss


class Positions(NamedTuple):
    """Positions from games: their features, the result for the side to move (0, 0.5 or 1), the
    chance of that side according to `sequence.agents.evaluation.chances`, and the numbers of their
    games.
    """

    features: np.ndarray
    won: np.ndarray
    baseline: np.ndarray
    game: np.ndarray


def main(size: int) -> None:
    """Play and fit all generations, and write the weights."""
    first = FIRST_GAME
    weights: np.ndarray | None = None
    for generation, share in enumerate(SHARES, 1):
        games = max(2 * HELD_OUT, size // share)
        positions = _played(generation, weights, first, games)
        held_out = positions.game % HELD_OUT == 0
        weights = fit(positions.features[~held_out], positions.won[~held_out])
        unseen = Positions(*(part[held_out] for part in positions))
        losses = (
            log_loss(chance, unseen.won)
            for chance in (_predicted(unseen.features, weights), unseen.baseline)
        )
        print(
            "generation {}, {:,} games: log-loss {:.4f}, of ISMCTS {:.4f}".format(
                generation, games, *losses
            )
        )
        first += games
    assert weights is not None
    WEIGHTS.write_text(as_text(weights), "utf-8")


def play(seed: int, weights: np.ndarray | None) -> Positions:
    """Return every other position of one game that is played by the quick player or with these
    weights.
    """
    rng, state, states = random.Random(seed), State.deal(seed=seed), []
    evaluation = None if weights is None else Evaluation(weights)
    while not state.is_over:
        states.append(state)
        state = state.after(_action(state, evaluation, rng))
    states = states[rng.randrange(2) :: 2]
    return Positions(
        rows_of(states),
        np.array([0.5 + 0.5 * state.utility(seen.to_move) for seen in states]),
        np.array([chances(seen)[seen.to_move] for seen in states]),
        np.full(len(states), seed),
    )


def rows_of(states: Sequence[State]) -> np.ndarray:
    """Return a row of the regression for each state: how many items of each kind in each table the
    state has.

    The features of the side that is not to move count as negative. The shape is (n, 4 * 93).
    """
    found = np.zeros((len(states), len(TABLES), len(KINDS)), np.int16)
    rows = np.arange(len(states))
    for moves, sign in ((False, -1), (True, 1)):
        table, lines, others = features(states, moves)
        counts = np.bincount(
            (lines + len(KINDS) * rows[:, None]).ravel(), minlength=len(KINDS) * len(states)
        ).reshape(len(states), len(KINDS))
        counts[:, 0] = 0
        counts[:, -others.shape[1] :] = others
        found[rows, table] = sign * counts
    return found.reshape(len(states), -1)


def fit(rows: np.ndarray, won: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """Return the weights that maximise the log-likelihood of these results minus half of `penalty`
    times the square of each weight. This is logistic regression by Newton's method.
    """
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
    """Return the mean negative logarithm of the predicted probability of the result."""
    predicted = np.clip(predicted, MIN_CHANCE, 1 - MIN_CHANCE)
    return float(-np.mean(won * np.log(predicted) + (1 - won) * np.log(1 - predicted)))


def as_text(weights: np.ndarray) -> str:
    """Return the weights as TOML, by table and by kind."""
    lines = [WEIGHTS.read_text("utf-8").partition("\n")[0]]
    tables = np.round(np.reshape(weights, (len(TABLES), len(KINDS))), 3).tolist()
    for table, row in zip(TABLES, tables, strict=True):
        lines += ["", f"[{json.dumps(table)}]"]
        lines += [f"{json.dumps(kind)} = {one}" for kind, one in zip(KINDS, row, strict=True)]
    return "\n".join(lines) + "\n"


def _action(state: State, evaluation: Evaluation | None, rng: random.Random) -> Action:
    if rng.random() < RANDOM:
        return rng.choice(ranked(state, RANDOM_PLAYS))
    if evaluation is None:
        return best_action(state)
    actions = ranked(state, PLAYS)
    found = evaluation.chances([state.after(action) for action in actions], state.to_move)
    return actions[int(np.argmax(found))]


def _played(generation: int, weights: np.ndarray | None, first: int, games: int) -> Positions:
    """Return the positions of this many games, from this seed on, in the order of their seeds."""
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


if __name__ == "__main__":
    main(number(__doc__, GAMES, "games of the last generation"))
