"""Games for the benchmarks: a comparison of two agents that tells how far it is."""

import sys

from sequence import Comparison, compare
from sequence.engine.compare import Contestant


def watched(title: str, first: Contestant, second: Contestant, deals: int,
            seed: int = 0) -> Comparison:
    """What `sequence.compare` finds, with a line on standard error that counts the games."""
    def tell(so_far: Comparison) -> None:
        print(f"\r{title}: {so_far.games} of {2 * deals} games, {so_far.wins} won, "
              f"{so_far.draws} drawn", end="", file=sys.stderr, flush=True)

    found = compare(first, second, deals, seed, progress=tell)
    print(file=sys.stderr)
    return found
