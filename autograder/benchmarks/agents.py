"""Agents: those of studies 5 to 8 against the given ones and one another.

Every deal is played twice, once from each seat; a tie is half a win; intervals are Wilson's at
95 %. Where `ISMCTS` plays there are half as many deals. Times are of the agents' moves in these
games, and want a quiet core. The table is written to docs/agents.md; where it was interrupted, the
matches played so far are in build/benchmarks/agents.jsonl, and are not played again. It takes half
an hour.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sequence
from autograder.benchmarks import Result
from autograder.benchmarks._games import watched
from autograder.workspace import answer_path, load_answer
from course.probes import load_study, studies
from sequence import ISMCTS, Greedy, Random
from tictactoe.games.play import Match

DEALS, ISMCTS_DEALS = 100, 50
SECONDS = 0.2  # of ISMCTS
ROOT = Path(__file__).parents[2]
PAGE, JOURNAL = ROOT / "docs" / "agents.md", ROOT / "build" / "benchmarks" / "agents.jsonl"
SPARRING, BEST, AHEAD = f"ISMCTS, {SECONDS} s", "my_agent (8)", "LookAhead (6)"
TARGETS = {"Random": ">= 0.95"}  # of the studies' agents


class Pairing(NamedTuple):
    """The result of two agents' match: the first one's share, and how long moves took in ms."""

    agents: tuple[str, str]
    match: Match
    mean: tuple[float, float]
    p99: tuple[float, float]


def agents(trained: Callable | None = None) -> dict[str, Callable]:
    """A function that makes each agent, by its name in the table, with its study's number.

    `trained` gives the table of the SARSA agent, by default a newly trained one.
    """
    evaluator, lookahead, sarsa, best = map(
        load_answer, ("evaluator", "lookahead", "sarsa", "league"))
    table = sarsa.trained().table if trained is None else trained()
    return {
        "Random": Random, "Greedy": Greedy, SPARRING: lambda: ISMCTS(seconds=SECONDS),
        "Evaluator (5)": evaluator.Evaluator,
        AHEAD: lambda: lookahead.LookAhead(lookahead.quick_replies, cards="known"),
        "SARSA (7)": lambda: sarsa.SarsaAgent(table), BEST: best.MyAgent,
    }  # fmt: skip


def run() -> list[Result]:
    """Play every pair of agents, and measure every agent's times."""
    make = agents()
    known = _known()
    pairings = []
    for pair in combinations(make, 2):
        if pair not in known:
            known[pair] = paired(pair, make, ISMCTS_DEALS if SPARRING in pair else DEALS)
            _note(known[pair])
        pairings.append(known[pair])
    PAGE.write_text(page(list(make), pairings), "utf-8")
    JOURNAL.unlink(missing_ok=True)  # the next run plays anew
    print(f"table: {PAGE}", file=sys.stderr)
    return [result for pairing in pairings for result in results(pairing)]


def paired(pair: tuple[str, str], make: Mapping[str, Callable], deals: int) -> Pairing:
    """Play the deals 0 to `deals` - 1 from both seats."""
    first, second = (make[name]() for name in pair)
    found = watched(" against ".join(pair), first, second, deals)
    return Pairing(pair, found,
                   tuple(1000 * float(np.mean(seconds)) for seconds in found.seconds),
                   tuple(1000 * float(np.percentile(seconds, 99)) for seconds in found.seconds))


def results(pairing: Pairing) -> list[Result]:
    """The share of the points, with its target where there is one, and the times."""
    first, second = pairing.agents
    target, share = None, pairing.match.score
    if first in TARGETS and second not in ("Greedy", SPARRING):
        first, second, share, target = second, first, 1 - share, TARGETS[first]
    elif {first, second} == {SPARRING, BEST}:
        first, second, share, target = BEST, SPARRING, 1 - share, ">= 0.6"
    found = [Result(f"{first}", share, f"of {pairing.match.games} games", target, second)]
    if pairing.agents == ("Greedy", AHEAD):
        found.append(Result(f"{AHEAD}, 99th percentile of a move", pairing.p99[1], "ms", "<= 50",
                            "Greedy"))
    return found


def page(names: Sequence[str], pairings: Sequence[Pairing]) -> str:
    """The table as Markdown: a row's share of the points against each column, and its times."""
    cells = {}
    for pairing in pairings:
        low, high = pairing.match.interval
        share, (first, second) = pairing.match.score, pairing.agents
        cells[first, second] = f"{share:.2f} ({low:.2f}-{high:.2f})"
        cells[second, first] = f"{1 - share:.2f} ({1 - high:.2f}-{1 - low:.2f})"
    times = {name: [(pairing.mean[side], pairing.p99[side]) for pairing in pairings
                    for side in (0, 1) if pairing.agents[side] == name] for name in names}
    lines = [
        "# How strong the agents are", "",
        f"Share of the points of the row's agent, with its 95 % interval (Wilson), over {DEALS} "
        f"deals from both seats, {ISMCTS_DEALS} where ISMCTS plays; the number behind an agent is "
        "that of its study. `python3 run.py bench agents` writes this page.", "",
        f"| | {' | '.join(names)} | ms a move | 99th percentile |",
        "|-|" + "-|" * (len(names) + 2)]
    for name in names:
        mean, p99 = np.mean([m for m, _ in times[name]]), max(p for _, p in times[name])
        row = [cells.get((name, other), "") for other in names]
        lines.append(f"| **{name}** | {' | '.join(row)} | {mean:.1f} | {p99:.1f} |")
    return "\n".join([*lines, "", "Times are the mean over all games, and the highest 99th "
                      "percentile of any match.", ""])


@cache
def _answers() -> str:
    """A digest of the code that plays, and of how much is played."""
    digest = hashlib.sha256(repr((DEALS, ISMCTS_DEALS, SECONDS)).encode())
    given = Path(sequence.__file__).parent
    code = [path for path in given.rglob("*.py") if "tests" not in path.relative_to(given).parts]
    for path in sorted([*(answer_path(load_study(name)) for name in studies()), *code]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _known() -> dict[tuple[str, str], Pairing]:
    """The matches of an interrupted run of the same agents; lines that were cut off are left out.
    """
    known = {}
    for line in JOURNAL.read_text("utf-8").splitlines() if JOURNAL.is_file() else ():
        try:
            answers, pair, match, mean, p99 = json.loads(line)
        except ValueError:
            continue
        if answers == _answers():
            known[tuple(pair)] = Pairing(tuple(pair), Match(*match), tuple(mean), tuple(p99))
    return known


def _note(pairing: Pairing) -> None:
    JOURNAL.parent.mkdir(parents=True, exist_ok=True)
    match = pairing.match
    with JOURNAL.open("a", encoding="utf-8") as file:
        counts = match.wins, match.draws, match.losses
        print(json.dumps([_answers(), pairing.agents, counts, pairing.mean, pairing.p99]),
              file=file)
