"""Strength: what more time is worth to ISMCTS, or seeing every card.

An agent that sees all hands, and the cards that will be drawn, plays with the same search: what it
wins against the one that samples them is more than a guess at hidden cards can bring. Every
deal is played twice, once from each seat, and a tie is half a win; intervals are Wilson's at 95 %.
Budgets are in iterations, so that the results are the same on every machine; at 0.2 seconds a move
the search takes several hundred. `--size` says how many deals. What was played is kept, and a run
that was stopped goes on with the next match.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import sequence
from autograder.benchmarks import Result
from autograder.benchmarks._games import watched
from autograder.benchmarks._journal import Journal
from sequence import ISMCTS, State
from sequence.engine.observation import Observation
from tictactoe.games.play import Match

DEALS = 50
# Iterations of the first agent, whether it sees all cards, iterations of the second, target.
MATCHES = [(1_000, False, 100, ">= 0.6"), (100, True, 100, None), (1_000, True, 100, None)]


class Seer(ISMCTS):
    """ISMCTS that knows every card: it knows which deal is played, and follows the actions."""

    def __init__(self, iterations: int, deal: int) -> None:
        super().__init__(iterations=iterations)
        self._deal, self._now = deal, None

    def _sample(self, observation: Observation) -> State:
        """The state that the game is in."""
        if self._now is None or self._now.history != observation.history:
            self._now = State.deal(observation.rules, self._deal)
            for action in observation.history:
                self._now = self._now.after(action)
        return self._now


def run(size: int = DEALS) -> list[Result]:
    """Play the matches; takes about an hour on an idle core."""
    journal = Journal("strength", [Path(sequence.__file__).parent, Path(__file__)], size)
    found = []
    for more, sees, fewer, target in MATCHES:
        title = f"{more:,} iterations{' and every card in sight' if sees else ''}"
        match = Match(
            *journal.measured(
                (more, sees, fewer),
                lambda more=more, sees=sees, fewer=fewer, title=title: _played(
                    title, contestant(more, sees), fewer, size
                ),
            )
        )
        low, high = match.interval
        peer = f"{fewer:,} iterations"
        found += [
            Result(title, match.score, f"of {match.games} games", target, peer),
            Result(f"{title}, from", low, "95 % interval", peer=peer),
            Result(f"{title}, to", high, "95 % interval", peer=peer),
        ]
    return found


def contestant(iterations: int, sees: bool) -> Callable[[], ISMCTS]:
    """What makes the first agent of a comparison that begins with deal 0, game after game."""
    games = itertools.count()
    return lambda: Seer(iterations, next(games) // 2) if sees else ISMCTS(iterations=iterations)


def _played(title: str, first: Callable[[], ISMCTS], fewer: int, deals: int) -> tuple[int, ...]:
    match = watched(title, first, lambda: ISMCTS(iterations=fewer), deals)
    return match.wins, match.draws, match.losses
