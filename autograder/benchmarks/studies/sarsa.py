"""SARSA and Q-learning: strength, controls, training, time per move.

Win rates are measured on paired deals, that is, each deal is played from both seats, and a tie
counts half. The bounds are Wilson's 95 % intervals. The plot of the training is `build/benchmarks/
sarsa.png`.
"""

import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import compare_with_progress
from autograder.workspace import load_answer
from sequence import Greedy, Random
from sequence.engine.compare import Contestant

DEALS = 50
FIRST_DEAL = 10_000  # far from the seeds used for training
CONVERGENCE_GAMES, BLOCK = 300, 10
PLOT = Path("build/benchmarks/sarsa.png")
BLUE, ORANGE = "#0072B2", "#E69F00"


def run() -> list[Result]:
    """Measure strength, training and speed; takes about ten minutes on an idle core."""
    sarsa = load_answer("sarsa")
    before = time.perf_counter()
    agent = sarsa.trained()
    seconds = time.perf_counter() - before
    tables = {method: Training(sarsa, method) for method in ("sarsa", "q_learning")}
    draw(tables)
    return [
        *against("trained", agent, Random(), "Random", ">= 0.95", clock=True),
        *against("trained", agent, Greedy(), "Greedy", clock=True),
        *controls(sarsa, tables),
        Result("training of the agent", seconds, "s"),
        Result("training of the agent, speed", sarsa.TRAINING_GAMES / seconds, "games/s"),
        *(result for training in tables.values() for result in training.results()),
    ]


def controls(sarsa, tables) -> list[Result]:
    """Measure what the table adds to the heuristic, and the strength without either."""

    class AnyOfTheBest(sarsa.SarsaAgent):
        """Plays one of the equally good candidates at random."""

        def choose(self, observation):
            _, rated = self.rate(observation)
            best = max(candidate.score for candidate in rated)
            return self._random.choice([c.action for c in rated if c.score == best])

    agent = sarsa.SarsaAgent
    reward_only = {"q_weight": 0.0}
    nothing = {"q_weight": 0.0, "reward_weight": 0.0}
    results = []
    for method, training in tables.items():
        long = f"{method}, {CONVERGENCE_GAMES} games"
        results += against(
            f"{long}: mixed", agent(training.table), agent(**reward_only), "reward only"
        )
        results += against(f"{long}: mixed", agent(training.table), Greedy(), "Greedy")
        results += against(
            f"{long}: Q only", agent(training.table, reward_weight=0.0), Random(), "Random"
        )
        results += against(
            f"{long}: Q only, random ties",
            AnyOfTheBest(training.table, reward_weight=0.0),
            Random(),
            "Random",
        )
    return [
        *results,
        *against("reward only", agent(**reward_only), Random(), "Random"),
        *against("reward only", agent(**reward_only), Greedy(), "Greedy"),
        *against("neither, the first candidate", agent(**nothing), Random(), "Random"),
        *against("neither, any candidate", AnyOfTheBest(**nothing), Random(), "Random"),
        *against(
            "reward only, corners own",
            agent(**reward_only),
            agent(corner=sarsa.WALL, **reward_only),
            "corners as walls",
        ),
    ]


def against(
    name: str,
    agent: Contestant,
    other: Contestant,
    peer: str,
    target: str | None = None,
    clock: bool = False,
) -> list[Result]:
    """Measure the win rate of one agent against another with its interval, and the first agent's
    seconds per move.
    """
    match = compare_with_progress(f"{name} against {peer}", agent, other, DEALS, FIRST_DEAL)
    low, high = match.interval
    results = [
        Result(f"{name}, win rate", match.score, f"of {match.games} games", target, peer),
        Result(f"{name}, interval from", low, "", None, peer),
        Result(f"{name}, interval to", high, "", None, peer),
    ]
    if clock:
        seconds = match.seconds[0]
        slowest = statistics.quantiles(seconds, n=100)[-1]
        results += [
            Result(
                f"{name}, mean time of a move", 1e3 * statistics.mean(seconds), "ms", None, peer
            ),
            Result(f"{name}, 99th percentile of a move", 1e3 * slowest, "ms", "<= 50", peer),
        ]
    return results


class Training:
    """A long training run, with statistics of each game."""

    def __init__(self, sarsa, method: str) -> None:
        print(f"training by {method}", file=sys.stderr)
        self.method, self.entries = method, [0]
        self.changes: list[float] = []
        self.table = sarsa.train(CONVERGENCE_GAMES, method, seed=1, progress=self._note)

    def _note(self, game, table, changes) -> None:
        self.entries.append(len(table.values))
        self.changes.append(statistics.mean(changes))

    def results(self) -> list[Result]:
        """Return the size of the table, and how rarely an entry is visited again."""
        visits = list(self.table.visits.values())
        first, last = self.blocks()[0], self.blocks()[-1]
        name = f"{self.method}, {CONVERGENCE_GAMES} games"
        return [
            Result(f"{name}: entries", len(visits), "entries"),
            Result(f"{name}: updated once only", visits.count(1) / len(visits), "of the entries"),
            Result(f"{name}: size as JSON", len(self.table.to_json()) / 1e3, "kB"),
            Result(f"{name}: mean change in the first {BLOCK} games", first, "points"),
            Result(f"{name}: mean change in the last {BLOCK} games", last, "points"),
        ]

    def blocks(self) -> list[float]:
        """Return the mean change of a value in each block of games."""
        edges = range(0, CONVERGENCE_GAMES + 1, BLOCK)
        return [statistics.mean(self.changes[start:end]) for start, end in pairwise(edges)]


def draw(tables: dict[str, Training]) -> None:
    """Plot the training: how much values change, and how the table grows."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = canvas.subplots(1, 2)
    for (method, training), colour, dashes in zip(
        tables.items(), (BLUE, ORANGE), ("-", "--"), strict=True
    ):
        left.plot(
            range(BLOCK, CONVERGENCE_GAMES + 1, BLOCK),
            training.blocks(),
            dashes,
            color=colour,
            label=method,
        )
        right.plot(training.entries, dashes, color=colour, label=method)
    left.set(
        xlabel="games of self-play",
        ylabel="mean change of a value",
        ylim=(0, None),
        title="No convergence: values keep changing",
    )
    right.set(
        xlabel="games of self-play",
        ylabel="entries in the table",
        ylim=(0, None),
        title="The table keeps growing",
    )
    right.legend(frameon=False)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(PLOT, dpi=120)
    print(f"plot: {PLOT.resolve()}", file=sys.stderr)
