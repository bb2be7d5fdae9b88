"""Tree search on Sequence: strength with ten or more iterations.

All games are played against Greedy, every deal from both seats; a tie is half a win. The results
are written to `course/published/mcts_strength.json`, for the notebook of study 9, so that
students do not have to wait for the games. They are the same on every machine.
"""

from random import Random

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import as_text, compare_with_progress
from autograder.workspace import load_answer
from course.published import FOLDER, MCTSMatch
from sequence import ISMCTS, Greedy
from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action
from sequence.engine.compare import Contestant

TABLE = FOLDER / "mcts_strength.json"
DEALS = 100
FIRST_DEAL = 30_000  # far from the seeds of other matches
# The number of deals with more iterations; it is lower because a game takes longer.
GROWTH = {30: 50, 100: 25}
LEAVES, WIDTHS = ("random", "judged", "quick"), (None, 5)
ITERATIONS = 10


class QuickPlayer:
    """An agent that plays like the quick player of simulated games, on one sampled state."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of sampled states."""
        self._random = Random(seed)

    def choose(self, observation):
        """Return the action that looks best without looking ahead."""
        return best_action(sample(observation, self._random))


def run() -> list[Result]:
    """Play all matches and write the table; takes about ten minutes on an idle core."""
    agent = load_answer("mcts").SequenceUCT
    entries = [
        played(
            "SequenceUCT", agent(ITERATIONS, leaf=leaf, width=width), DEALS, leaf, width, ITERATIONS
        )
        for width in WIDTHS
        for leaf in LEAVES
    ]
    entries += [
        played("quick player", QuickPlayer(), DEALS),
        played("ISMCTS", ISMCTS(iterations=ITERATIONS), DEALS, iterations=ITERATIONS),
    ]
    entries += [
        played("SequenceUCT", agent(iterations), deals, "quick", 5, iterations)
        for iterations, deals in GROWTH.items()
    ]
    TABLE.write_text(as_text(entries), "utf-8")
    return [
        Result(entry.name, entry.score, f"of {entry.games} games", peer="Greedy")
        for entry in entries
    ]


def played(
    name: str,
    agent: Contestant,
    deals: int,
    leaf: str | None = None,
    width: int | None = None,
    iterations: int | None = None,
) -> MCTSMatch:
    """Play a match of an agent against Greedy."""
    entry = MCTSMatch(name, leaf, width, iterations, 2 * deals, 0, 0, 0)
    match = compare_with_progress(entry.name, agent, Greedy(), deals, FIRST_DEAL)
    low, high = match.interval
    return entry._replace(score=round(match.score, 3), low=round(low, 3), high=round(high, 3))
