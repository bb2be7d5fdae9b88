"""Training: the table of study 8 for several seeds.

Each table is trained like the reference agent's and plays against Greedy. Every deal is played from
both seats, and a tie counts half. `--size` is the number of seeds. With `--scheduler`, the workers
of a cluster train and play. The results are the same.
"""

import statistics
import time

from autograder.benchmarks import Result
from autograder.benchmarks.support.calls import calls
from autograder.workspace import load_answer
from sequence import Greedy, compare

SEEDS, DEALS = 8, 50
FIRST_DEAL = 10_000  # far from the seeds used for training


def run(size: int = SEEDS, scheduler: str | None = None) -> list[Result]:
    """Train from the seeds 0 to `size` - 1, and measure each table's strength and size."""
    sarsa, begun = load_answer("sarsa"), time.monotonic()

    def trained_from(seed: int) -> str:
        return sarsa.train(sarsa.TRAINING_GAMES, seed=seed).to_json()

    with calls(scheduler) as call:
        trainings = [call(trained_from, seed) for seed in range(size)]
        tables = [sarsa.QTable.from_json(training()) for training in trainings]
        trained = time.monotonic() - begun
        matches = [
            call(compare, sarsa.SarsaAgent(table), Greedy(), DEALS, FIRST_DEAL) for table in tables
        ]
        scores = [match().score for match in matches]
    games = f"of {2 * DEALS} games"
    return [
        Result("score of the weakest table", min(scores), games, None, "Greedy"),
        Result("score of a table, mean", statistics.mean(scores), games, None, "Greedy"),
        Result("score of the strongest table", max(scores), games, None, "Greedy"),
        Result(
            "entries of a table, mean", statistics.mean(len(t.values) for t in tables), "entries"
        ),
        Result("training", size * sarsa.TRAINING_GAMES / trained, "games/s"),
        Result("all of it", time.monotonic() - begun, "s"),
    ]
