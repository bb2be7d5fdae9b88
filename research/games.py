"""Plays games on all cores, ten deals at a time, and stores the results, so that no deal is played
twice.

The games of an agent are in `played/`, in a file with one line for every ten deals, which contains
the first deal and the measurements. If an agent's code has changed, delete its file.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import fmean
from typing import Any

from tictactoe.games.play import Match

PLAYED = Path(__file__).parent / "played"
DOCS = Path(__file__).parents[1] / "docs"
CHUNK = 10  # deals that are played and stored together
DEALS = 200


def number(description: str | None, default: int, what: str) -> int:
    """Parse the only argument of a script, which is a number of deals or games."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "number", nargs="?", type=int, default=default, help=f"{what} (default: {default:,})"
    )
    return parser.parse_args().number


def play_missing(
    played: Callable[[str, int], list[float]], names: Iterable[str], deals: range
) -> None:
    """Play and store the deals that the agents with these names have not all played yet.

    `played` plays ten deals, beginning with its second argument.
    """
    kept = {name: measured(name) for name in names}
    missing = [
        (name, deal)
        for deal in range(deals.start, deals.stop, CHUNK)
        for name in kept
        if deal not in kept[name]
    ]
    for (name, deal), found in on_all_cores(played, missing, f"times {CHUNK} deals"):
        with (PLAYED / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([deal, found]) + "\n")


def measured(name: str) -> dict[int, list[float]]:
    """Return the measurements of an agent, by the first deal of each group of ten."""
    path = PLAYED / f"{name}.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else ()
    return dict(map(json.loads, lines))


def total(parts: Iterable[Sequence[float]]) -> list[float]:
    """Return the sums of games won, drawn and lost, and the means of the other columns."""
    columns = list(zip(*parts, strict=True))
    return [*map(sum, columns[:3]), *map(fmean, columns[3:])]


def score(match: Match) -> str:
    """Format a share of the points with its interval."""
    low, high = match.interval
    return f"{match.score:.2f} ({low:.2f} to {high:.2f})"


def verdict(match: Match) -> str:
    """State whether the interval shows that the opponent is weaker or stronger."""
    low, high = match.interval
    return "**weaker**" if low > 0.5 else "stronger" if high < 0.5 else "no difference shown"


def table(rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def on_all_cores(
    function: Callable[..., Any], keys: Sequence[tuple], what: str
) -> Iterator[tuple[tuple, Any]]:
    """Yield each key with the result of the function, in the order of completion.

    A line on standard error counts the completed keys: "3 of 20 `what`". Ctrl-C ends all processes.
    """
    with ProcessPoolExecutor(
        os.cpu_count(), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL)
    ) as workers:
        begun = {workers.submit(function, *key): key for key in keys}
        try:
            for done, future in enumerate(as_completed(begun), 1):
                yield begun[future], future.result()
                print(f"\r{done} of {len(keys)} {what}", end="", file=sys.stderr, flush=True)
        finally:
            workers.shutdown(cancel_futures=True)
    if keys:
        print(file=sys.stderr)
