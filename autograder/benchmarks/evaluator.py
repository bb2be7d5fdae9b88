"""Study 5: the evaluators' strength, the second seat, time per move.

Everything but the times is the same in every run: deals and agents are seeded. Each deal is played
from both seats; a tie counts half. Intervals are Wilson's, 95 %.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from autograder.benchmarks import Result
from autograder.workspace import load_answer
from sequence import Greedy, Observation, Random, play
from sequence.board.actions import Action
from tictactoe.games.play import wilson_interval

DEALS = 100
SELF_PLAY = 300  # games in which both seats are played by the same agent
WEIGHTS = (0, 0.25, 0.5, 1, 1.5, 2, 4)  # of the threat; 0 is the recipe's evaluator


@dataclass(frozen=True)
class Pairs:
    """A match over paired deals from the first agent's view; shares of points, by seat."""

    seats: tuple[float, float]
    deals: int

    @property
    def share(self) -> float:
        """The share of points from both seats together."""
        return sum(self.seats) / 2

    def result(self, name: str, target: str | None = None) -> Result:
        """The share as a result, with its interval and each seat's share in the name."""
        low, high = wilson_interval(self.share, 2 * self.deals)
        first, second = self.seats
        return Result(f"{name} ({low:.3f} to {high:.3f}; first {first:.3f}, second {second:.3f})",
                      round(self.share, 4), "of the points", target)


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


def paired(first, second, deals: int = DEALS) -> Pairs:
    """Play each deal from both seats."""
    seats = [0.0, 0.0]
    for deal in range(deals):
        for seat, agents in enumerate(([first, second], [second, first])):
            winner = play(agents, seed=deal).winner
            seats[seat] += 0.5 if winner is None else winner == seat
    return Pairs((seats[0] / deals, seats[1] / deals), deals)


def first_seat(first, second, games: int = SELF_PLAY) -> float:
    """The share of points of the player who begins, over so many deals."""
    winners = (play([first, second], seed=deal).winner for deal in range(games))
    return sum(0.5 if winner is None else winner == 0 for winner in winners) / games


def percentile_99(agent, games: int = 40) -> float:
    """The 99th percentile of the agent's thinking time in games against Greedy, in seconds."""
    seconds = []
    for deal in range(games):
        game = play([agent, Greedy()], seed=deal)
        seconds += [spent for state, spent in zip(game.states, game.seconds, strict=False)
                    if state.to_move == 0]
    return sorted(seconds)[int(0.99 * len(seconds))]


def run() -> list[Result]:
    """Measure the three agents' strength, the remedy's weight, the second seat and the times."""
    study = load_answer("evaluator")
    agents = {"recipe": study.Evaluator(), "blocking": study.Evaluator(study.BLOCKING),
              "line counter": study.LineCounter()}
    results = []

    def measured(what: Callable[[], Result]) -> None:
        before = time.perf_counter()
        results.append(what())
        print(f"{results[-1].name}: {results[-1].value} ({time.perf_counter() - before:.0f} s)",
              file=sys.stderr)

    for name, agent in agents.items():
        measured(lambda a=agent, n=name: paired(a, Random()).result(f"{n} against Random",
                                                                    ">= 0.95"))
        measured(lambda a=agent, n=name: paired(a, Greedy()).result(f"{n} against Greedy"))
    for name, other in (("blocking", "recipe"), ("line counter", "recipe"),
                        ("line counter", "blocking")):
        measured(lambda n=name, o=other: paired(agents[n], agents[o]).result(f"{n} against {o}"))
    for weight in WEIGHTS:
        agent = study.Evaluator(study.RECIPE._replace(blocking=weight))
        measured(lambda a=agent, w=weight: paired(a, Greedy()).result(
            f"threat with weight {w} against Greedy"))
    for name, agent in {"Random": Random(), "Greedy": Greedy(), **agents}.items():
        other = Random() if name == "Random" else agent
        measured(lambda a=agent, o=other, n=name: _first(f"{n} against itself", a, o))
        measured(lambda a=agent, o=other, n=name: _first(
            f"{n} against itself, first action at random", Opening(a), o))
    for name, agent in agents.items():
        measured(lambda a=agent, n=name: Result(
            f"99th percentile of a move, {n}", round(1000 * percentile_99(a), 2), "ms", "<= 50"))
    return results


def _first(name: str, first, second) -> Result:
    share = first_seat(first, second)
    low, high = wilson_interval(share, SELF_PLAY)
    return Result(f"first seat, {name} ({low:.3f} to {high:.3f})", round(share, 4),
                  "of the points")
