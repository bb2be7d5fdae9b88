"""Agents: matches between agents of four studies and built-in ones.

Every deal is played twice, once from each seat; a tie counts as half a win; intervals are Wilson's
at 95 %. Matches with `ISMCTS` have half as many deals. The times are measured for the agents' moves
in these games, and need an idle core. The table is written to docs/agents.md. The benchmark takes
half an hour; an interrupted run continues from build/benchmarks/agents.jsonl. With `--scheduler`,
the workers of a cluster play the matches in parallel, with the same results, except that the moves
of `ISMCTS` depend on its clock. The searches of study 9 are measured by the benchmark `mcts`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sequence
from autograder.benchmarks import Result
from autograder.benchmarks.support.calls import calls
from autograder.benchmarks.support.games import compare_with_progress
from autograder.benchmarks.support.journal import Journal
from autograder.workspace import answer_path, load_answer
from course.checks import load_study, studies
from sequence import ISMCTS, Comparison, FittedLookAhead, Greedy, Random, compare
from tictactoe.games.play import Match

DEALS, ISMCTS_DEALS = 100, 50
SECONDS = 0.2  # per move of ISMCTS
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "agents.md"
SPARRING = f"ISMCTS, {SECONDS} s"
TARGETS = {"Random": ">= 0.95"}  # for the studies' agents


class Pairing(NamedTuple):
    """The result of a match between two agents, with the times of moves in ms."""

    agents: tuple[str, str]
    match: Match
    mean: tuple[float, float]
    p99: tuple[float, float]


def numbered(agent: str, study: str) -> str:
    """Return the agent's name with the current number of its study."""
    return f"{agent} ({load_study(study).name.removeprefix('study')})"


EVALUATOR, AHEAD, SARSA, BEST = map(
    numbered,
    ("Evaluator", "LookAhead", "SARSA", "my_agent"),
    ("evaluator", "lookahead", "sarsa", "league"),
)


def agents(trained: Callable | None = None) -> dict[str, Callable]:
    """Return a function that makes each agent, by the agent's name in the table, which contains its
    study's number.

    `trained` returns the table of the SARSA agent. By default, a table is trained.
    """
    evaluator, lookahead, sarsa, best = map(
        load_answer, ("evaluator", "lookahead", "sarsa", "league")
    )
    table = sarsa.trained().table if trained is None else trained()
    return {
        "Random": Random, "Greedy": Greedy, SPARRING: lambda: ISMCTS(seconds=SECONDS),
        "FittedLookAhead": FittedLookAhead, EVALUATOR: evaluator.Evaluator,
        AHEAD: lambda: lookahead.LookAhead(lookahead.quick_replies, cards="known"),
        SARSA: lambda: sarsa.SarsaAgent(table), BEST: best.MyAgent,
    }  # fmt: skip


def run(scheduler: str | None = None) -> list[Result]:
    """Play every pair of agents, and measure every agent's times."""
    make, journal = agents(), _journal()
    pairs = list(combinations(make, 2))

    def measure(pair: tuple[str, str]) -> Any:
        return _plain(timed(pair, matches[pair]()))

    with calls(scheduler) as call:
        matches = {
            pair: call(*_match(pair, make, scheduler is None))
            for pair in pairs
            if pair not in journal
        }
        pairings = [_pairing(journal.measured(pair, partial(measure, pair))) for pair in pairs]
    PAGE.write_text(page(list(make), pairings), "utf-8")
    journal.close()
    print(f"table: {PAGE}", file=sys.stderr)
    return [result for pairing in pairings for result in results(pairing)]


def _match(pair: tuple[str, str], make: Mapping[str, Callable], here: bool) -> tuple:
    """Return the function for a match and its arguments. The match plays the deals from 0 on, from
    both seats.
    """
    deals = ISMCTS_DEALS if SPARRING in pair else DEALS
    return (
        partial(compare_with_progress, " against ".join(pair)) if here else compare,
        *(make[name]() for name in pair),
        deals,
    )


def timed(pair: tuple[str, str], comparison: Comparison) -> Pairing:
    """Run a comparison of two agents; return it with their times in ms."""
    first, second = comparison.seconds
    return Pairing(
        pair,
        comparison,
        (1000 * float(np.mean(first)), 1000 * float(np.mean(second))),
        (1000 * float(np.percentile(first, 99)), 1000 * float(np.percentile(second, 99))),
    )


def results(pairing: Pairing) -> list[Result]:
    """Return the share of the points, with its target if there is one, and the times."""
    first, second = pairing.agents
    target, share = None, pairing.match.score
    if first in TARGETS and second not in ("Greedy", SPARRING):
        first, second, share, target = second, first, 1 - share, TARGETS[first]
    elif {first, second} == {SPARRING, BEST}:
        first, second, share, target = BEST, SPARRING, 1 - share, ">= 0.6"
    measured = [Result(f"{first}", share, f"of {pairing.match.games} games", target, second)]
    if pairing.agents == ("Greedy", AHEAD):
        measured.append(
            Result(f"{AHEAD}, 99th percentile of a move", pairing.p99[1], "ms", "<= 50", "Greedy")
        )
    return measured


def page(names: Sequence[str], pairings: Sequence[Pairing]) -> str:
    """Return the table as Markdown: the row agent's share of the points against each column's
    agent, and its times.
    """
    cells = {}
    for pairing in pairings:
        low, high = pairing.match.interval
        share, (first, second) = pairing.match.score, pairing.agents
        cells[first, second] = f"{share:.2f} ({low:.2f}-{high:.2f})"
        cells[second, first] = f"{1 - share:.2f} ({1 - high:.2f}-{1 - low:.2f})"
    times = {
        name: [
            (pairing.mean[side], pairing.p99[side])
            for pairing in pairings
            for side in (0, 1)
            if pairing.agents[side] == name
        ]
        for name in names
    }
    lines = [
        "# How strong the agents are",
        "",
        f"The share of the points that the row's agent won, with its 95 % interval (Wilson), over "
        f"{DEALS} deals from both seats ({ISMCTS_DEALS} in matches with ISMCTS). The number after an "
        "agent is that of its study. `python3 run.py bench agents` writes this page.",
        "",
        f"| | {' | '.join(names)} | ms per move | 99th percentile |",
        "|-|" + "-|" * (len(names) + 2),
    ]
    for name in names:
        mean, p99 = np.mean([m for m, _ in times[name]]), max(p for _, p in times[name])
        row = [cells.get((name, other), "") for other in names]
        lines.append(f"| **{name}** | {' | '.join(row)} | {mean:.1f} | {p99:.1f} |")
    return "\n".join(
        [
            *lines,
            "",
            "The time per move is a mean over all games; the percentile is the highest of any match.",
            "",
        ]
    )


def _journal() -> Journal:
    """Return the matches of an interrupted run of the same agents."""
    return Journal(
        "agents",
        [Path(sequence.__file__).parent, *(answer_path(load_study(name)) for name in studies())],
        (DEALS, ISMCTS_DEALS, SECONDS),
    )


def _plain(pairing: Pairing) -> list:
    match = pairing.match
    return [pairing.agents, (match.wins, match.draws, match.losses), pairing.mean, pairing.p99]


def _pairing(plain: list) -> Pairing:
    agents, match, mean, p99 = plain
    return Pairing(tuple(agents), Match(*match), tuple(mean), tuple(p99))
