"""Study 6: the evaluators' strength, the second seat, time per move.

Everything but the times is the same in every run: deals and agents are seeded. Each deal is played
from both seats; a tie counts half. Intervals are Wilson's, 95 %.
"""

import sys
import time
from collections.abc import Callable

from autograder.benchmarks import Result
from autograder.workspace import load_answer
from sequence import Comparison, Greedy, Observation, Random, compare, play
from sequence.board.actions import Action
from tictactoe.games.play import wilson_interval

DEALS = 100
SELF_PLAY = 2_000  # games in which both seats are played by the same agent
WEIGHTS = (0, 0.25, 0.5, 1, 1.5, 2, 4)  # of the threat; 0 is the recipe's evaluator


class Opening:
    """An agent whose first action in a game is any legal one; afterwards it plays as `agent`."""

    def __init__(self, agent) -> None:
        self._agent, self._random = agent, Random()

    def reset(self, seed: int) -> None:
        """Seeds the first action."""
        self._random.reset(seed)

    def choose(self, observation: Observation) -> Action:
        """A random action for the player's first one, then the agent's choice."""
        mine = any(player == observation.player for player, _ in observation.plays())
        return (self._agent if mine else self._random).choose(observation)


def result(name: str, found: Comparison, target: str | None = None) -> Result:
    """The score; its interval and what was won from each seat are in the name."""
    (low, high), (first, second) = found.interval, (seat.score for seat in found.seats)
    return Result(
        f"{name} ({low:.3f} to {high:.3f}; first {first:.3f}, second {second:.3f})",
        round(found.score, 4),
        "of the points",
        target,
    )


def first_seat(first, second, games: int = SELF_PLAY) -> float:
    """The share of points of the player who begins, over so many deals."""
    winners = (play([first, second], seed=deal).winner for deal in range(games))
    return sum(0.5 if winner is None else winner == 0 for winner in winners) / games


def percentile_99(agent, deals: int = 20) -> float:
    """The 99th percentile of the agent's thinking time in games against Greedy, in seconds."""
    seconds, _ = compare(agent, Greedy(), deals).seconds
    return sorted(seconds)[int(0.99 * len(seconds))]


def run() -> list[Result]:
    """Measure the three agents' strength, the remedy's weight, the second seat and the times."""
    study = load_answer("evaluator")
    agents = {
        "recipe": study.Evaluator(),
        "blocking": study.Evaluator(study.BLOCKING),
        "line counter": study.LineCounter(),
    }
    results = []

    def measured(what: Callable[[], Result]) -> None:
        before = time.perf_counter()
        results.append(what())
        print(
            f"{results[-1].name}: {results[-1].value} ({time.perf_counter() - before:.0f} s)",
            file=sys.stderr,
        )

    for name, agent in agents.items():
        measured(
            lambda a=agent, n=name: result(
                f"{n} against Random", compare(a, Random(), DEALS), ">= 0.95"
            )
        )
        measured(lambda a=agent, n=name: result(f"{n} against Greedy", compare(a, Greedy(), DEALS)))
    for name, other in (
        ("blocking", "recipe"),
        ("line counter", "recipe"),
        ("line counter", "blocking"),
    ):
        measured(
            lambda n=name, o=other: result(f"{n} against {o}", compare(agents[n], agents[o], DEALS))
        )
    for weight in WEIGHTS:
        agent = study.Evaluator(study.RECIPE._replace(blocking=weight))
        measured(
            lambda a=agent, w=weight: result(
                f"threat with weight {w} against Greedy", compare(a, Greedy(), DEALS)
            )
        )
    for name, agent in {"Random": Random(), "Greedy": Greedy(), **agents}.items():
        other = Random() if name == "Random" else agent
        measured(lambda a=agent, o=other, n=name: _first(f"{n} against itself", a, o))
        measured(
            lambda a=agent, o=other, n=name: _first(
                f"{n} against itself, first action at random", Opening(a), o
            )
        )
    for name, agent in agents.items():
        measured(
            lambda a=agent, n=name: Result(
                f"99th percentile of a move, {n}", round(1000 * percentile_99(a), 2), "ms", "<= 50"
            )
        )
    return results


def _first(name: str, first, second) -> Result:
    share = first_seat(first, second)
    low, high = wilson_interval(share, SELF_PLAY)
    return Result(f"first seat, {name} ({low:.3f} to {high:.3f})", round(share, 4), "of the points")
