"""Study 6: the evaluators' strength, second seat and time per move.

All results except the times are the same in every run, because deals and agents are seeded. Each
deal is played from both seats; a tie counts half. Intervals are Wilson's at 95 %.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from autograder.benchmarks import Result
from autograder.workspace import load_answer
from sequence import Comparison, Greedy, Observation, Random, compare, play
from sequence.board.actions import Action
from tictactoe.games.play import wilson_interval

DEALS = 100
SELF_PLAY = 2_000  # games in which the same agent plays both seats
WEIGHTS = (0, 0.25, 0.5, 1, 1.5, 2, 4)  # weights of the threat; 0 gives the original evaluator


class Opening:
    """An agent whose first action in a game is random; afterwards it plays like `agent`."""

    def __init__(self, agent) -> None:
        self._agent, self._random = agent, Random()

    def reset(self, seed: int) -> None:
        """Seed the first action."""
        self._random.reset(seed)

    def choose(self, observation: Observation) -> Action:
        """Return a random action in the player's first turn, and the agent's choice afterwards."""
        mine = any(player == observation.player for player, _ in observation.plays())
        return (self._agent if mine else self._random).choose(observation)


def result(name: str, match: Comparison, target: str | None = None) -> Result:
    """Return the score; its name contains the interval and the scores from each seat."""
    (low, high), (first, second) = match.interval, (seat.score for seat in match.seats)
    return Result(
        f"{name} ({low:.3f} to {high:.3f}; first {first:.3f}, second {second:.3f})",
        round(match.score, 4),
        "of the points",
        target,
    )


def first_seat(first, second, games: int = SELF_PLAY) -> float:
    """Return the share of points that the player who begins wins over this many deals."""
    winners = (play([first, second], seed=deal).winner for deal in range(games))
    return sum(0.5 if winner is None else winner == 0 for winner in winners) / games


def percentile_99(agent, deals: int = 20) -> float:
    """Return the 99th percentile of the agent's thinking time in games against Greedy, in seconds."""
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
    results: list[Result] = []

    def measured(what: Callable[[], Result]) -> None:
        before = time.perf_counter()
        results.append(what())
        print(
            f"{results[-1].name}: {results[-1].value} ({time.perf_counter() - before:.0f} s)",
            file=sys.stderr,
        )

    def compared(title: str, first: Any, second: Any, target: str | None = None) -> None:
        measured(lambda: result(title, compare(first, second, DEALS), target))

    def first_seats(title: str, first: Any, second: Any) -> None:
        measured(lambda: _first(title, first, second))

    def timed(name: str, agent: Any) -> None:
        title = f"99th percentile of a move, {name}"
        measured(lambda: Result(title, round(1000 * percentile_99(agent), 2), "ms", "<= 50"))

    for name, agent in agents.items():
        compared(f"{name} against Random", agent, Random(), ">= 0.95")
        compared(f"{name} against Greedy", agent, Greedy())
    for name, other in (
        ("blocking", "recipe"),
        ("line counter", "recipe"),
        ("line counter", "blocking"),
    ):
        compared(f"{name} against {other}", agents[name], agents[other])
    for weight in WEIGHTS:
        agent = study.Evaluator(study.ORIGINAL_WEIGHTS._replace(blocking=weight))
        compared(f"threat with weight {weight} against Greedy", agent, Greedy())
    for name, agent in {"Random": Random(), "Greedy": Greedy(), **agents}.items():
        rival = Random() if name == "Random" else agent
        first_seats(f"{name} against itself", agent, rival)
        first_seats(f"{name} against itself, first action at random", Opening(agent), rival)
    for name, agent in agents.items():
        timed(name, agent)
    return results


def _first(name: str, first, second) -> Result:
    share = first_seat(first, second)
    low, high = wilson_interval(share, SELF_PLAY)
    return Result(f"first seat, {name} ({low:.3f} to {high:.3f})", round(share, 4), "of the points")
