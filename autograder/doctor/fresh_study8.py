"""Draws whole cases of study 8 from a seed: positions, and the fields that must fit to them."""

import random
from collections.abc import Callable
from functools import cache
from types import ModuleType

from autograder import workspace
from course.probes import Case
from sequence import example
from sequence.engine.observation import Observation

MOST_ACTIONS = 40  # of a seeded game before the first position: few games are much longer
MOST_CANDIDATES = 40  # of which each is drawn often enough to be counted
FEW, MANY = 2, 12  # features of an action in a made-up table; MANY is what an agent's have
CHANCES = (0.2, 0.5, 1.0)
METHODS = ("sarsa", "q_learning")


def _rays(rng: random.Random) -> Case:
    texts = [
        "".join(rng.choice("mmm___tM") for _ in range(rng.randrange(10))) + "#" for _ in range(6)
    ]
    return {"texts": texts, "gaps": rng.randrange(3)}


def _direction(rng: random.Random) -> Case:
    """The cell is empty or holds an own chip: for nothing else is the answer defined."""
    on, observation = _position(rng)
    mine, _ = _answer().views(observation)
    return {
        "on": on,
        "cell": rng.choice([[row, col] for row, col in _cells() if mine[10 * row + col] in "m_"]),
    }


def _pattern(rng: random.Random) -> Case:
    return {"infos": [_info(rng) for _ in range(5)]}


def _info(rng: random.Random) -> list:
    """Behind each gap there is at least one chip, and without a gap there is none."""
    ahead = rng.randrange(3)
    behind = rng.randrange(3 - ahead)
    front, back = (sum(rng.randint(1, 2) for _ in range(gaps)) for gaps in (ahead, behind))
    return [rng.randint(1, 6), ahead + behind, front, back, rng.random() < 0.6, rng.random() < 0.6]


def _on_one(rng: random.Random) -> Case:
    return {"on": _position(rng)[0]}


def _state(rng: random.Random) -> Case:
    case = _on_one(rng)
    return {**case, "cell": rng.choice(_cells())} if rng.random() < 0.3 else case


def _discards(rng: random.Random) -> Case:
    return {"on": [_position(rng)[0] for _ in range(5)]}


def _targets(rng: random.Random) -> Case:
    """The action that is taken is one of the candidates, so that its value is one of theirs."""
    values = [float(rng.randint(-20, 20)) for _ in range(rng.randint(1, 5))]
    return {
        "reward": float(rng.randint(-10, 100)),
        "taken": rng.choice(values),
        "values": values,
        "gamma": rng.choice((0.5, 0.8, 0.9, 1.0)),
    }


def _table(rng: random.Random) -> Case:
    """Few keys, so that some come back; and a key of zeros and a trade, which are special."""
    width = rng.choice((FEW, MANY))
    rest = (width - 1) * [0]
    actions = [[0, *rest], [*rest, 1], [rng.choice((-1, 1)), *rest]]
    return {
        "alpha": rng.choice((0.1, 0.3, 0.5, 1.0)),
        "updates": [
            [[rng.randrange(2), 0], rng.choice(actions), float(rng.randint(-20, 100))]
            for _ in range(5)
        ],
    }


def _agent(rng: random.Random) -> Case:
    """The action that is favoured is one of the candidates; in half of the cases, with settings."""
    on, observation = _position(rng)
    case = {
        "on": on,
        "favoured": rng.randrange(len(_rated(observation))),
        "bonus": float(rng.choice((-1, 1)) * rng.randint(100, 30_000)),
    }
    settings = {
        "corner": "#",
        "q_weight": rng.choice((0.25, 1.0)),
        "reward_weight": rng.choice((0.0, 0.25, 0.75)),
    }
    return case | (settings if rng.random() < 0.5 else {})


def _explores(rng: random.Random) -> Case:
    """There is something to draw from on both positions, and something to learn on the first."""
    while True:
        on, observations = _turns(rng, 2)
        rated = [_rated(observation) for observation in observations]
        if all(2 < len(candidates) <= MOST_CANDIDATES for candidates in rated) and all(
            any(candidate.features) for candidate in rated[0]
        ):
            return {"on": on, "epsilon": rng.choice(CHANCES), "method": rng.choice(METHODS)}


def _learning(rng: random.Random) -> Case:
    """Consecutive turns of one player; the action of the first one is worth something."""
    while True:
        on, observations = _turns(rng, rng.randint(2, 3))
        best = max(_rated(observations[0]), key=lambda candidate: candidate.score)
        if any(best.features):
            return {
                "on": on,
                "method": rng.choice(METHODS),
                "value": float(rng.randint(100, 9_000)),
            }


def _position(rng: random.Random) -> tuple[str, Observation]:
    (on,), (observation,) = _turns(rng, 1)
    return on, observation


def _turns(rng: random.Random, turns: int) -> tuple[list[str], list[Observation]]:
    """Positions of a seeded game in which the same player is to move, every other action."""
    while True:
        game, first = rng.randrange(10**6), rng.randrange(MOST_ACTIONS)
        texts = [f"{game}/{first + 2 * turn}" for turn in range(turns)]
        try:
            observations = list(map(example, texts))
        except ValueError:  # that game was shorter
            continue
        if len({observation.player for observation in observations}) == 1 and all(
            len(observation.legal_actions()) for observation in observations
        ):
            return [f"example {text}" for text in texts], observations


def _rated(observation: Observation) -> list:
    return _answer().SarsaAgent().rate(observation)[1]


def _cells() -> list[list[int]]:
    return [[row, col] for row in range(10) for col in range(10) if row % 9 or col % 9]


@cache
def _answer() -> ModuleType:
    return workspace.load_answer("study8")


DRAWERS: dict[str, Callable[[random.Random], Case]] = {
    "sarsa_rays": _rays, "sarsa_direction": _direction, "sarsa_pattern": _pattern,
    "sarsa_cells": _on_one, "sarsa_scores": _on_one, "sarsa_state": _state,
    "sarsa_actions": _on_one, "sarsa_discards": _discards, "sarsa_targets": _targets,
    "sarsa_table": _table, "sarsa_agent": _agent, "sarsa_explores": _explores,
    "sarsa_learning": _learning,
}  # fmt: skip
