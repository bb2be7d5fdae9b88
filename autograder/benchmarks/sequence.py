"""Sequence: actions per second of uniform random play, on one core.

Under `draft` with two players. Whole games are played from the deal to the end, each action chosen
uniformly among all legal ones and checked like any other. A busy machine only ever slows a sample,
so the best of many short ones is the speed, and the median says how busy it was.
"""

import random
import statistics
import time
from collections.abc import Callable

from autograder.benchmarks import Result
from sequence import DRAFT, OFFICIAL, Greedy, Random, Rules, State, play

SAMPLES = 100
GAMES = 50  # in a sample, which then takes about 30 ms
TARGET = ">= 200000"


def run() -> list[Result]:
    """Time random play on states (the target's), through observations, and by official rules."""
    states = rates(lambda: random_play(DRAFT))
    observed = rates(lambda: observed_play(Random))
    greedy = rates(lambda: observed_play(Greedy, games=5))
    official = rates(lambda: random_play(OFFICIAL))
    return [
        Result("random play under draft", max(states), "actions/s", TARGET),
        Result("random play under draft, median", statistics.median(states), "actions/s"),
        Result("random agents, given observations", max(observed), "actions/s"),
        Result("greedy agents, given observations", max(greedy), "actions/s"),
        Result("random play under official", max(official), "actions/s"),
    ]


def rates(work: Callable[[], int]) -> list[float]:
    """The actions per second of each sample; `work` plays games and returns their actions."""
    work()
    found = []
    for _ in range(SAMPLES):
        before = time.perf_counter()
        actions = work()
        found.append(actions / (time.perf_counter() - before))
    return found


def random_play(rules: Rules, games: int = GAMES) -> int:
    """Play that many seeded games on states, uniformly at random; returns how many actions."""
    chance, actions = random.Random(1), 0
    for seed in range(games):
        state = State.deal(rules, seed)
        while not state.is_terminal():
            state = state.after(state.legal_actions().choose(chance))
        actions += len(state.history)
    return actions


def observed_play(agent: Callable, games: int = GAMES) -> int:
    """Play that many seeded games between two such agents; returns how many actions."""
    return sum(len(play([agent(), agent()], seed).actions) for seed in range(games))
