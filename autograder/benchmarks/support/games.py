"""Plays games for the benchmarks: compares agents while showing the progress, and makes tables for
notebooks.
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sequence import Comparison, compare
from sequence.engine.compare import Contestant


def compare_with_progress(
    title: str,
    first: Contestant,
    second: Contestant,
    deals: int,
    seed: int = 0,
    callback: Callable[[Comparison], object] = lambda so_far: None,
) -> Comparison:
    """Call `sequence.compare` and show the progress on standard error.

    `callback` is called after each deal with the outcome so far.
    """

    def show(so_far: Comparison) -> None:
        print(
            f"\r{title}: {so_far.games} of {2 * deals} games, {so_far.wins} won, "
            f"{so_far.draws} drawn",
            end="",
            file=sys.stderr,
            flush=True,
        )
        callback(so_far)

    result = compare(first, second, deals, seed, progress=show)
    print(file=sys.stderr)
    return result


def as_text(entries: Iterable[NamedTuple]) -> str:
    """Return a table for the notebooks as JSON, with one line per entry."""
    lines = ",\n ".join(json.dumps(entry._asdict()) for entry in entries)
    return f"[{lines}]\n"
