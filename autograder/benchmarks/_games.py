"""Games for the benchmarks: a comparison of two agents that tells how far it is, and its table."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sequence import Comparison, compare
from sequence.engine.compare import Contestant


def watched(
    title: str,
    first: Contestant,
    second: Contestant,
    deals: int,
    seed: int = 0,
    after_each: Callable[[Comparison], object] = lambda so_far: None,
) -> Comparison:
    """What `sequence.compare` finds, with a line on standard error that counts the games.

    `after_each` is called after each deal with the outcome so far.
    """

    def tell(so_far: Comparison) -> None:
        print(
            f"\r{title}: {so_far.games} of {2 * deals} games, {so_far.wins} won, "
            f"{so_far.draws} drawn",
            end="",
            file=sys.stderr,
            flush=True,
        )
        after_each(so_far)

    found = compare(first, second, deals, seed, progress=tell)
    print(file=sys.stderr)
    return found


def as_text(entries: Iterable[NamedTuple]) -> str:
    """A table for the notebooks as JSON, a line for each entry."""
    lines = ",\n ".join(json.dumps(entry._asdict()) for entry in entries)
    return f"[{lines}]\n"
