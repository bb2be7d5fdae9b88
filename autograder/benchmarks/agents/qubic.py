"""Qubic: random games per second, and the strength of its learners.

The results include three controls: an untrained table that resolves ties in favour of the lowest
cell, the same table with random ties, and an untrained learner. Scores are shares of points over
matches in which the sides change after every game, with Wilson's 95 % intervals.

The table is trained for 20,000 episodes, which takes about a minute; the environment variable
QUBIC_EPISODES sets another number. Training with 200,000 episodes takes about seven minutes and 1.7
GB of memory.
"""

import os
import random
import statistics
import time
import tracemalloc

from autograder.benchmarks import Result
from autograder.workspace import load_answer
from course.greedy_agent import GreedyAgent
from tictactoe import Qubic, Random, WinOrBlock, match
from tictactoe.games.playouts import random_games

BATCH_GAMES, SAMPLES = 40_000, 10
EPISODES = int(os.environ.get("QUBIC_EPISODES", "20000"))
SIZED_EPISODES = 200  # used to measure the memory per game
LANE_GAMES, SEEDS = 10_000, (1, 2, 3)
MATCH = 2_000  # games against a random player; half of them against WinOrBlock


def run() -> list[Result]:
    """Measure random games, then the table and the learner, each with its controls."""
    study = load_answer("qubic")
    return [*speed(), *table(study), *lanes(study)]


def speed() -> list[Result]:
    """Measure complete random games per second, in batches with numpy and one by one with the State
    interface.
    """
    batches = [
        _rate(lambda: random_games(BATCH_GAMES, seed=1), BATCH_GAMES) for _ in range(SAMPLES)
    ]
    single = [_rate(lambda: _play_randomly(100), 100) for _ in range(SAMPLES)]
    return [
        Result("random games, in batches by numpy", max(batches), "games/s", ">= 40000"),
        Result("the same, median of the samples", statistics.median(batches), "games/s"),
        Result("random games, one by one by the State interface", max(single), "games/s"),
    ]


def table(study) -> list[Result]:
    """Measure the Q table against a random player, untrained and trained, and the cost of a game."""
    best, untrained = study.greedy_moves, {"x": study.QPlayer(), "o": study.QPlayer()}
    trained = {"x": study.QPlayer(seed=1), "o": study.QPlayer(seed=2)}
    results = [
        _score(
            "control: untrained table, ties to the lowest cell",
            GreedyAgent(best, untrained, first=True),
            Random(),
            MATCH,
        ),
        _score(
            "control: the same", GreedyAgent(best, untrained, first=True), WinOrBlock(), MATCH // 2
        ),
        _score(
            "control: untrained table, random ties", GreedyAgent(best, untrained), Random(), MATCH
        ),
    ]
    seconds = _seconds(study.train, trained, EPISODES, Qubic())
    return [
        *results,
        _score(
            f"table after {EPISODES:,} episodes, random ties",
            GreedyAgent(best, trained),
            Random(),
            MATCH,
        ),
        Result(f"training of {EPISODES:,} episodes", seconds, "s of computing"),
        Result("the tables grow by", _memory_of_a_game(study) / 1000, "kB/game"),
    ]


def lanes(study) -> list[Result]:
    """Measure the learner of lane weights against WinOrBlock for each seed; the target applies to
    the worst seed.
    """
    untrained = study.LaneLearner()
    results = [
        _score(
            "control: lane learner, untrained", _both(study, untrained), WinOrBlock(), MATCH // 2
        )
    ]
    scores: list[float] = []
    spent = []
    for seed in SEEDS:
        learner = study.LaneLearner(seed)
        spent.append(_seconds(study.train_lanes, learner, LANE_GAMES, Qubic()))
        results.append(
            _score(
                f"lane learner after {LANE_GAMES:,} games, seed {seed}",
                _both(study, learner),
                WinOrBlock(),
                MATCH // 2,
            )
        )
        if (score := results[-1].value) is not None:
            scores.append(score)
    return [
        *results,
        Result(
            "lane learner, the worst of these seeds", min(scores), "score", ">= 0.85", "WinOrBlock"
        ),
        Result(f"training of {LANE_GAMES:,} games", statistics.median(spent), "s of computing"),
    ]


def _both(study, learner) -> GreedyAgent:
    return GreedyAgent(study.greedy_moves, {"x": learner, "o": learner})


def _score(name: str, agent, rival, games: int) -> Result:
    result = match(agent, rival, games, seed=1, start=Qubic())
    low, high = result.interval
    return Result(
        name,
        result.score,
        "score",
        peer=f"{type(rival).__name__}, {games:,} games: {low:.4f} to {high:.4f}",
    )


def _rate(work, games: int) -> float:
    before = time.perf_counter()
    work()
    return games / (time.perf_counter() - before)


def _seconds(work, *arguments) -> float:
    """Return the CPU seconds of this process, so that waiting and other programs do not count."""
    before = time.process_time()
    work(*arguments)
    return time.process_time() - before


def _play_randomly(games: int) -> None:
    chance = random.Random(1)
    for _ in range(games):
        state = Qubic()
        while not state.is_terminal():
            state = state.after(chance.choice(state.legal_moves()))


def _memory_of_a_game(study) -> float:
    """Return the number of bytes by which the two tables grow per episode."""
    players = {"x": study.QPlayer(seed=3), "o": study.QPlayer(seed=4)}
    tracemalloc.start()
    study.train(players, SIZED_EPISODES, Qubic())
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / SIZED_EPISODES
