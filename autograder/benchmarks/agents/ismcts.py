"""ISMCTS: its clock, and its strength by budget.

The opponent is Greedy; every deal is played twice, once from each seat, and a tie is half a win.
Intervals are Wilson's at 95 %. The strength at 0.2 seconds and the longest move depend on the
machine and need an idle core; the strength by iterations is the same everywhere. The plot is saved
as build/benchmarks/ismcts.png.
"""

import sys
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import compare_with_progress
from course.plots import COLOURS, figure
from sequence import ISMCTS, Greedy
from sequence.engine.compare import Contestant
from tictactoe.games.play import Match

SECONDS = 0.2  # per move
DEALS = 50
# Number of deals for each number of iterations; it is lower for long games.
GROWTH = {10: 50, 30: 50, 100: 50, 300: 25, 1_000: 12}
PLOT = Path(__file__).parents[3] / "build" / "benchmarks" / "ismcts.png"
BLUE, ORANGE = COLOURS[:2]


def run() -> list[Result]:
    """Play and time the match that has the target, then a match for each number of iterations."""
    timed, longest = against_greedy(ISMCTS(seconds=SECONDS), DEALS, f"{SECONDS} s per move")
    grown = {
        iterations: against_greedy(
            ISMCTS(iterations=iterations), deals, f"{iterations} iterations"
        )[0]
        for iterations, deals in GROWTH.items()
    }
    draw(timed, grown)
    print(f"plot: {PLOT}", file=sys.stderr)
    return [
        *results(timed, f"{SECONDS} s per move", ">= 0.8"),
        Result("longest move", longest, "s", f"<= {SECONDS}"),
        *(
            result
            for iterations, match in grown.items()
            for result in results(match, f"{iterations} iterations")
        ),
    ]


def against_greedy(agent: Contestant, deals: int, title: str) -> tuple[Match, float]:
    """Play the deals 0 to `deals` - 1 from both seats; return the match and the longest move in
    seconds.
    """
    match = compare_with_progress(title, agent, Greedy(), deals)
    return match, max(match.seconds[0])


def results(match: Match, budget: str, target: str | None = None) -> list[Result]:
    """Return the share of the points, and the limits of its interval."""
    low, high = match.interval
    return [
        Result(f"score at {budget}", match.score, f"of {match.games} games", target, "Greedy"),
        Result(f"score at {budget}, from", low, "95 % interval", peer="Greedy"),
        Result(f"score at {budget}, to", high, "95 % interval", peer="Greedy"),
    ]


def draw(timed: Match, grown: dict[int, Match]) -> None:
    """Plot the scores by iterations with intervals, and a band for the score at 0.2 s per move."""
    axes = figure()
    axes.axhspan(*timed.interval, color=ORANGE, alpha=0.25, linewidth=0)
    axes.axhline(timed.score, color=ORANGE, linestyle="--", label=f"{SECONDS} s per move")
    budgets, scores = list(grown), [match.score for match in grown.values()]
    low, high = zip(*(match.interval for match in grown.values()), strict=True)
    errors = [
        [score - end for score, end in zip(scores, low, strict=True)],
        [end - score for score, end in zip(scores, high, strict=True)],
    ]
    axes.errorbar(budgets, scores, errors, color=BLUE, marker="o", capsize=4, label="by iterations")
    axes.axhline(0.5, color="0.5", linewidth=0.8)
    axes.annotate(
        "as strong as Greedy", (budgets[0], 0.5), (0, 3), color="0.35", textcoords="offset points"
    )
    axes.set(
        xscale="log",
        ylim=(0.3, 1),
        xlabel="iterations per move",
        ylabel="share of the points against Greedy",
        title="ISMCTS: strength by budget, with 95 % intervals",
    )
    axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    axes.minorticks_off()
    axes.legend(loc="lower left", frameon=False, ncols=2)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(PLOT, dpi=150)  # type: ignore[union-attr]  # no axes of a subfigure
