"""Look-ahead: line scans, the reply term, strength, time per move.

Strength is measured over paired deals, each played from both seats; a tie counts half, the interval
is Wilson's at 95 %. Times of moves are computing time of this process, so that a busy machine does
not lengthen them.
"""

import time
from collections.abc import Callable, Iterable

import numpy as np

from autograder.benchmarks import Result
from autograder.benchmarks._games import watched
from autograder.workspace import load_answer
from sequence import ISMCTS, Greedy, Random, play
from sequence.board.layout import CELLS, DIRECTIONS, LINE_MASKS

DEALS = 100  # of the reply term's effect, and against Random and Greedy
DEEP_DEALS = 10  # of the search, which takes a second for a game
SCANNED_GAMES = 3
FIRST_DEAL = 60_000  # deals that nothing was chosen on


def run() -> list[Result]:
    """Measure line scans, replies, the reply's effect, strength and the time per move."""
    module = load_answer("lookahead")
    return [*line_scans(module), *reply_effect(module), *strength(module)]


def line_scans(module) -> Iterable[Result]:
    """Time scans of a line, plain and cached, and of all 192 lines, by loop and by product."""
    views = [module.Chips.seen_by(state) for seed in range(SCANNED_GAMES)
             for state in play([Greedy(), Random()], seed).states[:-1]]
    asked = [(view, cell, direction) for view in views for cell in CELLS[:96]
             for direction in DIRECTIONS]
    plain = _microseconds(lambda: [module.links(module.line_text(*line)) for line in asked], asked)
    module.scan.cache_clear()
    first = _microseconds(lambda: [module.line_links(*line) for line in asked], asked)
    again = _microseconds(lambda: [module.line_links(*line) for line in asked], asked)
    width = len(CELLS)
    lines = np.array([[mask >> bit & 1 for bit in range(width)] for mask in LINE_MASKS], np.float32)
    boards = np.array([[view.own >> bit & 1 for bit in range(width)] for view in views],
                      np.float32)
    counted = range(len(LINE_MASKS) * len(views))
    loop = _microseconds(lambda: [(view.own & mask).bit_count() for view in views
                                  for mask in LINE_MASKS], counted)
    product = min(_microseconds(lambda: lines @ boards.T, counted) for _ in range(5))
    yield Result("a line through a square, plain", plain, "us")
    yield Result("remembered, met for the first time", first, "us", peer="plain")
    yield Result("remembered, times as fast", plain / again, "times", ">= 2", "plain")
    yield Result("own chips in a line, loop over bitboards", loop, "us")
    yield Result("own chips in a line, one product for all boards", product, "us", peer="loop")
    plain_ms, quick_ms = (_values_ms(module, finder)
                          for finder in (module.plain_replies, module.quick_replies))
    yield Result("values of a turn, plain replies", plain_ms, "ms")
    yield Result("values of a turn, incremental replies", quick_ms, "ms", peer="plain replies")


def _microseconds(work: Callable[[], object], asked) -> float:
    start = time.process_time()
    work()
    return 1e6 * (time.process_time() - start) / len(asked)


def _values_ms(module, finder) -> float:
    states = play([Greedy(), Random()], 1).states[:-1]
    start = time.process_time()
    for state in states:
        module.LookAhead(finder).values(state.observation())
    return 1e3 * (time.process_time() - start) / len(states)


def reply_effect(module) -> Iterable[Result]:
    """Play the agent with the reply term against the one without, and that one against itself."""
    without = module.LookAhead(None)
    for name, agent in (("any possible card", module.LookAhead(module.quick_replies)),
                        ("known cards only", module.LookAhead(module.quick_replies, "known")),
                        ("control, no reply", module.LookAhead(None))):
        yield from _score(f"reply by {name}", agent, without, DEALS, "no reply term")[0]


def strength(module) -> Iterable[Result]:
    """Play the reference and its variants against the given players, and time their moves."""
    reference = module.LookAhead(module.quick_replies)
    found, times = _score("look-ahead", reference, Random(), DEALS, "Random", ">= 0.95")
    yield from found
    found, more = _score("look-ahead", reference, Greedy(), DEALS, "Greedy")
    yield from found
    yield from _move_times("look-ahead", times + more)
    best = load_answer("league").MyAgent()
    found, times = _score("study 10", best, Greedy(), DEALS, "Greedy")
    yield from found
    yield from _score("study 10", best, reference, DEALS // 2, "look-ahead")[0]
    yield from _move_times("study 10", times)
    deep = module.SampledSearch(load_answer("alpha_beta").AlphaBeta(), k=4, depth=2, samples=2)
    found, times = _score("alpha-beta on samples", deep, Greedy(), DEEP_DEALS, "Greedy")
    yield from found
    yield from _move_times("alpha-beta on samples", times)
    found, _ = _score("study 10", best, ISMCTS(seconds=0.2), DEALS // 4, "ISMCTS at 0.2 s",
                      ">= 0.6")
    yield from found


def _score(name: str, agent, rival, deals: int, peer: str, target: str | None = None):
    """The results of paired deals, and the seconds of each of the agent's moves."""
    times: list[float] = []
    found = watched(f"{name} against {peer}", _Clocked(agent, times), rival, deals, FIRST_DEAL)
    low, high = found.interval
    return [Result(f"{name}, score of {found.games} games", found.score, "", target, peer),
            Result("  95 % interval, from", low, "", peer=peer),
            Result("  95 % interval, to", high, "", peer=peer)], times


class _Clocked:
    """An agent whose computing times are put into a list."""

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
    yield Result(f"{name}, a move, 99th percentile", 1e3 * ordered[int(0.99 * len(ordered))], "ms",
                 target)
