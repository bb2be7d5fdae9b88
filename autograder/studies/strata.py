"""Drawers that draw cases of every kind in turn, so that a small set of fresh cases has them all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import Generic, TypeVar

Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Stratified(Generic[Drawn]):
    """Draws from strata, such as "x to move, lost"; `draw(rng, stratum)` draws from one of them.

    >>> parity = Stratified(("even", "odd"), lambda rng, stratum: stratum)
    >>> drawn = parity.each(Random(1))
    >>> sorted([next(drawn), next(drawn)])
    ['even', 'odd']
    """

    strata: Sequence[str]
    draw: Callable[[Random, str], Drawn]

    def __call__(self, rng: Random) -> Drawn:
        """Draw from a random stratum."""
        return self.draw(rng, rng.choice(self.strata))

    def each(self, rng: Random) -> Iterator[Drawn]:
        """Draw from all strata in turn, in random order, without end."""
        for stratum in cycle(rng.sample(self.strata, len(self.strata))):
            yield self.draw(rng, stratum)
