"""Sequence: actions per second in uniform random play on one core.

The games follow the `draft` rules with two players. Each is played from the deal to the end; every
action is chosen uniformly among all legal ones and validated as usual. A busy machine can only slow
down a sample, so the best of many short samples is taken as the speed, and the median shows how
busy the machine was.
"""

import random
import statistics
import time
from collections.abc import Callable

from autograder.benchmarks import Result
from sequence import DRAFT, OFFICIAL, Greedy, Random, Rules, State, play

SAMPLES = 100
GAMES = 50  # per sample, which then takes about 30 ms
TARGET = ">= 200000"


def run() -> list[Result]:
    """Time random play on states (to which the target applies), with observations, and under the
    official rules.
    """
    states = rates(lambda: random_play(DRAFT))
    observed = rates(lambda: observed_play(Random))
    greedy = rates(lambda: observed_play(Greedy, games=5))
    official = rates(lambda: random_play(OFFICIAL))
    return [
        Result("random play under draft", max(states), "actions/s", TARGET),
        Result("random play under draft, median", statistics.median(states), "actions/s"),
        Result("random agents, with observations", max(observed), "actions/s"),
        Result("greedy agents, with observations", max(greedy), "actions/s"),
        Result("random play under official", max(official), "actions/s"),
    ]


def rates(work: Callable[[], int]) -> list[float]:
    """Return the actions per second of each sample; `work` plays games and returns the number of
    their actions.
    """
    work()
    rates = []
    for _ in range(SAMPLES):
        before = time.perf_counter()
        actions = work()
        rates.append(actions / (time.perf_counter() - before))
    return rates


def random_play(rules: Rules, games: int = GAMES) -> int:
    """Play this many seeded games on states, uniformly at random; return the number of actions."""
    chance, actions = random.Random(1), 0
    for seed in range(games):
        state = State.deal(rules, seed)
        while not state.is_terminal():
            state = state.after(state.legal_actions().choose(chance))
        actions += len(state.history)
    return actions


def observed_play(agent: Callable, games: int = GAMES) -> int:
    """Play this many seeded games between two agents of this kind; return the number of actions."""
    return sum(len(play([agent(), agent()], seed).actions) for seed in range(games))
