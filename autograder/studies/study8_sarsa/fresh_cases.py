"""Draws complete cases of study 8 from a seed: positions, and the fields that must match them."""

import random
from collections.abc import Callable
from functools import cache
from types import ModuleType

from autograder import workspace
from autograder.studies.fresh_sequence import GAMES, position, sketch_of, stratum
from course.checks import Case
from course.checks.positions import read_position
from sequence import example
from sequence.engine.observation import Observation

MOST_ACTIONS = 40  # actions of a seeded game before the first position; few games are much longer
RAYS = 6  # in a case
MOST_CANDIDATES = 40  # candidates at most, so that each is drawn often enough to be counted
FEW, MANY = 2, 12  # features of an action in an artificial table; those of agents have MANY
CHANCES = (0.2, 0.5, 1.0)
CLOSE = 5e-7  # a value that makes scores differ by less than a millionth
QUIET_TURNS = ("one action", "pass", "dead cards", "traded")  # kinds of sketches
METHODS = ("sarsa", "q_learning")


def _rays(rng: random.Random) -> Case:
    """Different texts, because the items of the reply are named after them."""
    texts: set[str] = set()
    while len(texts) < RAYS:
        texts.add("".join(rng.choices("mmm___tM", k=rng.randrange(10))) + "#")
    return {"texts": sorted(texts), "gaps": rng.randrange(3)}


def _direction(rng: random.Random) -> Case:
    """The cell is empty or contains one of the player's chips; the answer is defined for no other
    cells.
    """
    while True:
        on, observation = _position(rng)
        mine, _ = _answer().views(observation)
        chip = stratum(rng, "chip on the cell", "m_")
        cells = [[row, col] for row, col in _cells() if mine[10 * row + col] == chip]
        if cells:
            return {"on": on, "cell": rng.choice(cells)}


def _pattern(rng: random.Random) -> Case:
    return {"infos": [_info(rng) for _ in range(5)]}


def _info(rng: random.Random) -> list:
    """There is at least one chip beyond each gap, and none without a gap."""
    ahead = rng.randrange(3)
    behind = rng.randrange(3 - ahead)
    front, back = (sum(rng.randint(1, 2) for _ in range(gaps)) for gaps in (ahead, behind))
    return [rng.randint(1, 6), ahead + behind, front, back, rng.random() < 0.6, rng.random() < 0.6]


def _on_one(rng: random.Random) -> Case:
    return {"on": _position(rng)[0]}


def _lines(rng: random.Random) -> Case:
    case = _on_one(rng)
    return {**case, "cell": rng.choice(_cells())} if rng.random() < 0.3 else case


def _discards(rng: random.Random) -> Case:
    return {"on": [_turns(rng, 1)[0][0] for _ in range(5)]}


def _targets(rng: random.Random) -> Case:
    """The action taken is one of the candidates, so its value is one of theirs. The values have
    both signs, only one, or are 0.
    """
    least, most = stratum(rng, "signs", ((-20, 20), (-20, -1), (1, 20), (-1, 1)))
    values = [float(rng.randint(least, most)) for _ in range(rng.randint(1, 5))]
    return {
        "reward": float(rng.choice((0, -10, rng.randint(1, 100)))),
        "taken": rng.choice(values),
        "values": values,
        "gamma": rng.choice((0.5, 0.8, 0.9, 1.0)),
    }


def _table(rng: random.Random) -> Case:
    """There are few keys, so that some recur, including special ones: all zeros, a trade, only
    negative numbers, and numbers that add up to 0.
    """
    width = rng.choice((FEW, MANY))
    rest = (width - 1) * [0]
    actions = [[0, *rest], [*rest, 1], [-1, *rest], [1, *rest[1:], -1]]
    return {
        "alpha": rng.choice((0.1, 0.3, 0.5, 1.0)),
        "updates": [
            [[rng.randrange(2), 0], rng.choice(actions), float(rng.choice((0, -20, 7, 100)))]
            for _ in range(6)
        ],
    }


def _agent(rng: random.Random) -> Case:
    """The favoured action is one of the candidates; half of the cases have settings. In some, it is
    equal to the best action, and its value makes it slightly better.
    """
    if stratum(rng, "favoured", ("any", "any", "close")) == "close":
        return _close(rng)
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


def _close(rng: random.Random) -> Case:
    while True:
        on, observation = _position(rng)
        rated = _rated(observation)
        best = max(rated, key=lambda candidate: candidate.score)
        equal = [
            number
            for number, candidate in enumerate(rated)
            if candidate.score == best.score and candidate.features != best.features
        ]
        if equal:
            return {"on": on, "favoured": rng.choice(equal), "bonus": CLOSE}


def _explores(rng: random.Random) -> Case:
    """There are several candidates in both positions, and something to learn in the first one."""
    while True:
        on, _ = _turns(rng, 2)
        if all(map(_has_some_candidates, on)) and _has_only_features(on[0]):
            return {"on": on, "epsilon": rng.choice(CHANCES), "method": rng.choice(METHODS)}


def _learning(rng: random.Random) -> Case:
    """Consecutive turns of one player, sometimes with one between them that has a single action or
    trades; the action of the first turn has a reward.
    """
    quiet = stratum(rng, "quiet turn", (None, None, *QUIET_TURNS))
    while True:
        on, observations = _turns(rng, rng.randint(2, 3))
        if quiet:
            on.insert(1, sketch_of(rng, quiet))
        best = max(_rated(observations[0]), key=lambda candidate: candidate.score)
        if any(best.features):
            return {
                "on": on,
                "method": rng.choice(METHODS),
                "value": float(rng.randint(100, 9_000)),
            }


def _weights(rng: random.Random) -> Case:
    """Small weights, so that no probability is rounded to 0 or 1."""
    width, positions = rng.randint(1, 4), rng.randint(1, 4)
    return {
        "weights": [rng.randint(-8, 8) / 4 for _ in range(width + 1)],
        "counts": [[rng.randrange(4) for _ in range(width)] for _ in range(positions)],
        "won": [rng.randrange(2) for _ in range(positions)],
        "rate": rng.choice((0.1, 0.5, 1.0)),
        "penalty": rng.choice((0.0, 0.1, 0.3)),
    }


def _position(rng: random.Random) -> tuple[str, Observation]:
    on = position(rng)
    return on, read_position(on)


def _turns(rng: random.Random, turns: int) -> tuple[list[str], list[Observation]]:
    """Positions of a seeded game in which the same player is to move, two actions apart."""
    while True:
        game, first = rng.randrange(GAMES), rng.randrange(MOST_ACTIONS)
        texts = [f"{game}/{first + 2 * turn}" for turn in range(turns)]
        try:
            observations = list(map(example, texts))
        except ValueError:  # the game was shorter
            continue
        if len({observation.player for observation in observations}) == 1 and all(
            len(observation.legal_actions()) for observation in observations
        ):
            return [f"example {text}" for text in texts], observations


@cache
def _has_some_candidates(text: str) -> bool:
    return 2 < len(_rated(read_position(text))) <= MOST_CANDIDATES


@cache
def _has_only_features(text: str) -> bool:
    """Whether each candidate has a feature."""
    return all(any(candidate.features) for candidate in _rated(read_position(text)))


def _rated(observation: Observation) -> list:
    return _answer().SarsaAgent().rate(observation)[1]


def _cells() -> list[list[int]]:
    return [[row, col] for row in range(10) for col in range(10) if row % 9 or col % 9]


@cache
def _answer() -> ModuleType:
    return workspace.load_answer("study8")


DRAWERS: dict[str, Callable[[random.Random], Case]] = {
    "sarsa_rays": _rays, "sarsa_direction": _direction, "sarsa_pattern": _pattern,
    "sarsa_cells": _on_one, "sarsa_actions": _on_one, "sarsa_discards": _discards,
    "sarsa_lines": _lines, "sarsa_weights": _weights, "sarsa_targets": _targets,
    "sarsa_table": _table, "sarsa_agent": _agent, "sarsa_explores": _explores,
    "sarsa_learning": _learning,
}  # fmt: skip
