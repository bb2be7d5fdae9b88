"""Searches: times compared with OpenSpiel, and nodes per second.

The two sides of a comparison are measured alternately in the same process, so that a busy machine
slows down both. A ratio is the median of the pairs' ratios; it is above 1 if ours is faster.
Searches are measured after a warm-up. The warm-up helps our side more, because a board stores its
successors after the first search. The ratio for the first search in a new process is therefore
reported as well. Before timing, an untimed run verifies that both do the same work by comparing
values, moves and node counts.
"""

import functools
import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from autograder.benchmarks import Result
from autograder.workspace import load_answer
from tictactoe import Board, solver

PAIRS = 11  # timed pairs after the warm-up; the target is stated for at least 7
PEER = "OpenSpiel"
ALPHA_BETA_TARGET = ">= 1.5"
SOLVER_TARGET = ">= 4"
COLD_PAIRS = 7  # each uses new processes
COLD_ALPHA_BETA = (
    "from autograder.benchmarks.agents.search import Board, load_answer\n"
    "agent = load_answer('alpha_beta').AlphaBeta()",
    "agent.search(Board())",
)
COLD_OPEN_SPIEL = (
    "import pyspiel\nfrom open_spiel.python.algorithms import minimax\n"
    "game = pyspiel.load_game('tic_tac_toe')",
    "minimax.alpha_beta_search(game)",
)
SAMPLE_SECONDS = 0.1  # short searches are repeated until a sample takes about this long


def run() -> list[Result]:
    """Time the searches and solvers; results against OpenSpiel are None if it is not installed."""
    minimax = load_answer("minimax").Minimax()
    alpha_beta = load_answer("alpha_beta").AlphaBeta()
    type_a = load_answer("type_a")
    open_spiel = import_open_spiel()
    return [
        *compare_alpha_beta(alpha_beta, open_spiel),
        compare_counting(alpha_beta),
        *compare_solvers(open_spiel),
        *speeds(
            {
                "Minimax": minimax,
                "AlphaBeta": alpha_beta,
                "TypeA": type_a.TypeA(),
                "TypeAPlus": type_a.TypeAPlus(),
            }
        ),
    ]


def import_open_spiel():
    """OpenSpiel's (pyspiel, minimax, minimax_solver) modules, or None and a printed message."""
    algorithms = "open_spiel.python.algorithms"
    try:
        return tuple(
            importlib.import_module(name)
            for name in ("pyspiel", f"{algorithms}.minimax", f"{algorithms}.minimax_solver")
        )
    except ModuleNotFoundError as error:
        print(
            f"OpenSpiel is not installed ({error}), so there is no comparison with it.",
            file=sys.stderr,
        )
        return None


def compare_alpha_beta(agent, open_spiel) -> list[Result]:
    """Compare our textbook alpha-beta from the empty board with OpenSpiel's, at equal node counts."""

    def ours():
        return agent.search(Board())

    result = ours()
    theirs = counted = None
    if open_spiel:
        pyspiel, module, _ = open_spiel
        game = pyspiel.load_game("tic_tac_toe")

        def theirs():
            return module.alpha_beta_search(game)

        (value, move), counted = count_alpha_beta(module, theirs)
        if (value, move, counted) != (result.value, result.move, result.nodes):
            raise RuntimeError(
                f"unequal work: ours {result}, OpenSpiel's value {value}, "
                f"move {move}, {counted} nodes"
            )
    ratio, our_seconds, their_seconds = time_pairs(ours, theirs)
    cold_ratio, our_first, _ = cold_pairs(COLD_ALPHA_BETA, COLD_OPEN_SPIEL if open_spiel else None)
    return [
        Result("alpha-beta, nodes", result.nodes, "nodes"),
        Result("alpha-beta, OpenSpiel's nodes", counted, "nodes", f"== {result.nodes}", PEER),
        Result("alpha-beta, time", our_seconds * 1e3, "ms"),
        Result("alpha-beta, OpenSpiel's time", times(their_seconds, 1e3), "ms", None, PEER),
        Result("alpha-beta, times as fast", ratio, "times", ALPHA_BETA_TARGET, PEER),
        Result("first alpha-beta of a process, time", our_first * 1e3, "ms"),
        Result("first alpha-beta of a process, times as fast", cold_ratio, "times", None, PEER),
    ]


def count_alpha_beta(module, search: Callable):
    """Return the search's result and how many nodes it visits, counted by wrapping the recursive
    function.
    """
    original, visited = module._alpha_beta, 0

    def counting(*args, **kwargs):
        nonlocal visited
        visited += 1
        return original(*args, **kwargs)

    module._alpha_beta = counting
    try:
        return search(), visited
    finally:
        module._alpha_beta = original


def compare_counting(agent) -> Result:
    """Measure the cost of counters that belong to their context, compared with lists that all
    threads share.
    """

    class Counter:
        def __init__(self):
            self.visited = 0

    counters: list[Counter] = []
    traces: list[object] = []
    base: Any = type(agent)

    def counted(value_function):
        @functools.wraps(value_function)
        def visit(*args, **kwargs):
            for counter in counters:
                counter.visited += 1
            if traces:
                raise RuntimeError("tracing is not supported here")
            return value_function(*args, **kwargs)

        return visit

    class Shared(base):
        value = counted(base.value.__wrapped__)

    def theirs():
        counters.append(counter := Counter())
        agent = Shared()
        agent.search(Board())
        counters.remove(counter)
        return counter.visited

    def ours():
        return agent.search(Board()).nodes

    if ours() != theirs():
        raise RuntimeError(f"unequal work: {ours()} nodes, and {theirs()} in shared lists")
    ratio, _, _ = time_pairs(ours, theirs)
    return Result("alpha-beta, speed", ratio, "times", None, "counters in shared lists")


def compare_solvers(open_spiel) -> list[Result]:
    """Time the computation of the values of all positions, by `solver.solve()` and by a new
    OpenSpiel MinimaxSolver each time.

    Our solver also evaluates the 958 finished positions, and OpenSpiel's also stores the values of
    moves.
    """
    theirs = None
    if open_spiel:

        def theirs():
            return open_spiel[2].MinimaxSolver("tic_tac_toe").solve()

        check_same_values(theirs())
    ratio, our_seconds, their_seconds = time_pairs(solver.solve, theirs)
    _, boards_seconds, _ = cold_pairs(("from tictactoe import solver", "solver.values()"))
    return [
        Result("solver, positions", len(solver.solve()), "positions"),
        Result("solver, time", our_seconds * 1e3, "ms"),
        Result("solver, OpenSpiel's time", times(their_seconds, 1e3), "ms", None, PEER),
        Result("solver, times as fast", ratio, "times", SOLVER_TARGET, PEER),
        Result("solver, time including the creation of every Board", boards_seconds * 1e3, "ms"),
    ]


def check_same_values(table) -> None:
    """Raise RuntimeError unless OpenSpiel's table has the right value for every unfinished
    position."""
    theirs = {Board(text.replace(".", "_")): entry.value for text, entry in table.items()}
    ours = {
        board: solver.value(board, board.to_move)
        for board in solver.values()
        if not board.is_terminal()
    }
    if theirs != ours:
        raise RuntimeError("unequal work: the two solvers do not agree on all positions")


def speeds(agents) -> list[Result]:
    """Measure the nodes per second of each search, after a warm-up."""
    starts = {"empty board": Board(), "x at 0": Board("x________")}
    results = []
    for name, agent in agents.items():
        for start_name, start in starts.items():
            nodes = agent.search(start).nodes
            _, seconds, _ = time_pairs(lambda agent=agent, start=start: agent.search(start))
            results.append(Result(f"{name}, {start_name}", nodes / seconds, "nodes/s"))
    return results


def time_pairs(ours: Callable, theirs: Callable | None = None):
    """Return the medians of (their time / our time), of our seconds and of theirs, each for one
    call.

    The side that goes first alternates from pair to pair. Without `theirs`, the ratio and their
    time are None.
    """
    sides = [side for side in (ours, theirs) if side]
    repeats = {side: max(1, round(SAMPLE_SECONDS / seconds(side, warm_up=True))) for side in sides}
    samples: dict[Callable, list[float]] = {side: [] for side in sides}
    for pair in range(PAIRS):
        for side in sides if pair % 2 == 0 else reversed(sides):
            samples[side].append(seconds(side, repeats[side]))
    return medians(samples[ours], samples[theirs] if theirs else None)


def seconds(call: Callable, repeats: int = 1, warm_up: bool = False) -> float:
    """Return the mean duration of one call in seconds."""
    if warm_up:
        call()
    before = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - before) / repeats


def cold_pairs(ours: tuple[str, str], theirs: tuple[str, str] | None = None):
    """Like `time_pairs`, for the first action of a new process.

    Each side consists of two pieces of source code: the set-up before the clock starts, and the
    statement that is timed.
    """
    sides = [side for side in (ours, theirs) if side]
    samples: dict[tuple[str, str], list[float]] = {side: [] for side in sides}
    for _ in range(COLD_PAIRS):
        for side in sides:
            samples[side].append(first_seconds(*side))
    return medians(samples[ours], samples[theirs] if theirs else None)


def first_seconds(setup: str, statement: str) -> float:
    """Return the duration of `statement` in a separate process, after `setup`."""
    program = (
        f"import time\n{setup}\nbefore = time.perf_counter()\n{statement}\n"
        "print(time.perf_counter() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, text=True, stdout=subprocess.PIPE, timeout=60
    )
    return float(done.stdout)


def medians(ours: list[float], theirs: list[float] | None):
    """Return the median of the pairs' ratios and of each side; None if there is no other side."""
    if theirs is None:
        return None, statistics.median(ours), None
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    return statistics.median(ratios), statistics.median(ours), statistics.median(theirs)


def times(value: float | None, factor: float) -> float | None:
    """Return the product, or None if the value is None."""
    return None if value is None else value * factor
