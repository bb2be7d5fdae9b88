"""Measure how much ISMCTS gains from more time, and from seeing all cards.

An agent that sees all hands and the deck searches in the same way. Its gain over the agent that
samples the hidden cards is an upper bound on the gain from any better estimate of them. Budgets are
in iterations, so the results are the same on every machine; 50 deals take about an hour on an idle
core.
"""

import itertools
from collections.abc import Callable

from research.games import number, score
from sequence import ISMCTS, State, compare
from sequence.engine.observation import Observation

DEALS = 50
# Iterations of the first agent, whether it sees all cards, and iterations of the second agent.
MATCHES = [(1_000, False, 100), (100, True, 100), (1_000, True, 100)]


class Seer(ISMCTS):
    """A variant of ISMCTS that knows every card, because it knows the deal and follows the actions."""

    def __init__(self, iterations: int, deal: int) -> None:
        super().__init__(iterations=iterations)
        self._deal = deal
        self._now: State | None = None

    def _sample(self, observation: Observation) -> State:
        """Return the true state of the game."""
        now = self._now
        if now is None or now.history != observation.history:
            now = State.deal(observation.rules, self._deal)
            for action in observation.history:
                now = now.after(action)
            self._now = now
        return now


def contestant(iterations: int, sees: bool) -> Callable[[], ISMCTS]:
    """Return a function that creates the first agent for each game of a comparison, from deal 0 on."""
    games = itertools.count()
    return lambda: Seer(iterations, next(games) // 2) if sees else ISMCTS(iterations=iterations)


def main(deals: int) -> None:
    """Play the matches."""
    for more, sees, fewer in MATCHES:
        match = compare(contestant(more, sees), lambda most=fewer: ISMCTS(iterations=most), deals)
        cards = " and all cards visible" if sees else ""
        print(f"{more:,} iterations{cards} against {fewer:,}: {score(match)}")


if __name__ == "__main__":
    main(number(__doc__, DEALS, "deals"))
