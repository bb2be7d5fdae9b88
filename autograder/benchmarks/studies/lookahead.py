"""Look-ahead: line scans, the reply term, strength and time per move.

Strength is measured over paired deals, each played from both seats. A tie counts half, and
intervals are Wilson's at 95 %. Times of moves are CPU times of this process, so that a busy machine
does not affect them. The effect of the reply term is written to
`course/published/reply_games.json`, deal by deal, for notebook 13; those games are the same on
every machine.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import compare_with_progress
from autograder.workspace import load_answer
from course.published import FOLDER
from sequence import ISMCTS, Greedy, Random, play
from sequence.board.layout import CELLS, DIRECTIONS, LINE_MASKS
from tictactoe.games.play import wilson_interval

REPLY_DEALS = 250  # to measure the effect of the reply term
DEALS = 100  # against Random and Greedy
DEEP_DEALS = 10  # for the search, which takes a second per game
SCANNED_GAMES = 3
FIRST_DEAL = 60_000  # deals that were not used to choose anything
TABLE = FOLDER / "reply_games.json"


def run() -> list[Result]:
    """Measure line scans, replies, the reply's effect, strength and the time per move."""
    module = load_answer("lookahead")
    return [*line_scans(module), *reply_effect(module), *strength(module)]


def line_scans(module) -> Iterable[Result]:
    """Time plain and cached scans of one line, and scans of all 192 lines by a loop and by a
    product.
    """
    views = [
        module.Chips.seen_by(state)
        for seed in range(SCANNED_GAMES)
        for state in play([Greedy(), Random()], seed).states[:-1]
    ]
    yield from _single_lines(module, views)
    yield from _all_lines(views)
    plain_ms, quick_ms = (
        _values_ms(module, finder) for finder in (module.plain_replies, module.quick_replies)
    )
    yield Result("values of a turn, plain replies", plain_ms, "ms")
    yield Result("values of a turn, incremental replies", quick_ms, "ms", peer="plain replies")


def _single_lines(module, views: Sequence) -> Iterable[Result]:
    """Yield the times for one line: plain, uncached and cached."""
    queries = [
        (view, cell, direction) for view in views for cell in CELLS[:96] for direction in DIRECTIONS
    ]
    plain = _microseconds(
        lambda: [module.links(module.line_text(*query)) for query in queries], queries
    )
    module.scan.cache_clear()
    first = _microseconds(lambda: [module.line_links(*query) for query in queries], queries)
    again = _microseconds(lambda: [module.line_links(*query) for query in queries], queries)
    yield Result("a line through a square, plain", plain, "us")
    yield Result("cached, first scan", first, "us", peer="plain")
    yield Result("cached, times as fast", plain / again, "times", ">= 2", "plain")


def _all_lines(views: Sequence) -> Iterable[Result]:
    """Yield the times for counting a player's own chips in all lines, by a loop and by a matrix
    product.
    """
    width = len(CELLS)
    lines = np.array([[mask >> bit & 1 for bit in range(width)] for mask in LINE_MASKS], np.float32)
    boards = np.array([[view.own >> bit & 1 for bit in range(width)] for view in views], np.float32)
    counted = range(len(LINE_MASKS) * len(views))
    loop = _microseconds(
        lambda: [(view.own & mask).bit_count() for view in views for mask in LINE_MASKS], counted
    )
    product = min(_microseconds(lambda: lines @ boards.T, counted) for _ in range(5))
    yield Result("own chips in a line, loop over bitboards", loop, "us")
    yield Result("own chips in a line, one product for all boards", product, "us", peer="loop")


def _microseconds(work: Callable[[], object], items) -> float:
    start = time.process_time()
    work()
    return 1e6 * (time.process_time() - start) / len(items)


def _values_ms(module, finder) -> float:
    states = play([Greedy(), Random()], 1).states[:-1]
    start = time.process_time()
    for state in states:
        module.LookAhead(finder).values(state.observation())
    return 1e3 * (time.process_time() - start) / len(states)


def reply_effect(module) -> Iterable[Result]:
    """Play the agent with the reply term against the one without it, and store the points."""
    table = {
        cards: points_of(
            module.LookAhead(module.quick_replies, cards),
            module.LookAhead(None),
            f"reply by {cards} cards",
            REPLY_DEALS,
        )
        for cards in ("possible", "known")
    }
    TABLE.write_text(as_text(table), "utf-8")
    for cards, points in table.items():
        games = 2 * len(points)
        share = sum(points) / games
        low, high = wilson_interval(share, games)
        yield Result(
            f"reply by {cards} cards, score of {games} games", share, "", peer="no reply term"
        )
        yield Result("  95 % interval, from", low, "", peer="no reply term")
        yield Result("  95 % interval, to", high, "", peer="no reply term")


def points_of(agent, rival, title: str, deals: int) -> list[float]:
    """Return the agent's points in each deal, from both seats together (0 to 2)."""
    totals = [0.0]
    compare_with_progress(
        title,
        agent,
        rival,
        deals,
        FIRST_DEAL,
        callback=lambda so_far: totals.append(so_far.wins + so_far.draws / 2),
    )
    return [after - before for before, after in pairwise(totals)]


def as_text(table: dict[str, list[float]]) -> str:
    """Return the table as JSON, with one line per agent."""
    lines = ",\n ".join(
        f"{json.dumps(cards)}: {json.dumps(points)}" for cards, points in table.items()
    )
    return f"{{{lines}}}\n"


def strength(module) -> Iterable[Result]:
    """Play the reference and its variants against built-in players, and time their moves."""
    reference = module.LookAhead(module.quick_replies)
    results, times = _score("look-ahead", reference, Random(), DEALS, "Random", ">= 0.95")
    yield from results
    results, more = _score("look-ahead", reference, Greedy(), DEALS, "Greedy")
    yield from results
    yield from _move_times("look-ahead", times + more)
    best = load_answer("league").MyAgent()
    results, times = _score("study 10", best, Greedy(), DEALS, "Greedy")
    yield from results
    yield from _score("study 10", best, reference, DEALS // 2, "look-ahead")[0]
    yield from _move_times("study 10", times)
    deep = module.SampledSearch(load_answer("alpha_beta").AlphaBeta(), k=4, depth=2, samples=2)
    results, times = _score("alpha-beta on samples", deep, Greedy(), DEEP_DEALS, "Greedy")
    yield from results
    yield from _move_times("alpha-beta on samples", times)
    results, _ = _score(
        "study 10", best, ISMCTS(seconds=0.2), DEALS // 4, "ISMCTS at 0.2 s", ">= 0.6"
    )
    yield from results


def _score(name: str, agent, rival, deals: int, peer: str, target: str | None = None):
    """Return the results of paired deals, and the duration of each of the agent's moves in seconds."""
    times: list[float] = []
    title = f"{name} against {peer}"
    match = compare_with_progress(title, _TimedAgent(agent, times), rival, deals, FIRST_DEAL)
    low, high = match.interval
    return [
        Result(f"{name}, score of {match.games} games", match.score, "", target, peer),
        Result("  95 % interval, from", low, "", peer=peer),
        Result("  95 % interval, to", high, "", peer=peer),
    ], times


class _TimedAgent:
    """An agent whose CPU times are added to a list."""

    def __init__(self, agent, times: list[float]) -> None:
        self.agent, self.times = agent, times

    def reset(self, seed: int) -> None:
        if hasattr(self.agent, "reset"):
            self.agent.reset(seed)

    def choose(self, observation):
        start = time.process_time()
        action = self.agent.choose(observation)
        self.times.append(time.process_time() - start)
        return action


def _move_times(name: str, times: list[float]) -> Iterable[Result]:
    ordered = sorted(times)
    target = "<= 50" if name == "look-ahead" else None
    yield Result(f"{name}, a move, mean", 1e3 * sum(ordered) / len(ordered), "ms")
    yield Result(
        f"{name}, a move, 99th percentile", 1e3 * ordered[int(0.99 * len(ordered))], "ms", target
    )
