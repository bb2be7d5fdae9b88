"""League: eight agents on a cluster of two workers and on one machine.

Each pair plays 200 deals, or as many as `--size` states, from both seats. The table and every
action of every game must be the same. The agents' choices depend only on their seeds, not on a
clock.
"""

import tempfile
import time
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.cluster import local_cluster, need
from sequence.league import league
from sequence.league.cluster import executor
from sequence.league.players.trusted import InProcessPlayer
from sequence.league.records.results import Results

DEALS, SEED, WORKERS = 200, 14, 2
MIXED = '''"""Plays like Greedy in a share of its turns, and otherwise any legal action."""

import random

from sequence import Greedy


class Mixed:
    def __init__(self, share):
        self.share = share

    def reset(self, seed):
        self.random = random.Random(seed)

    def choose(self, observation):
        if self.random.random() < self.share:
            return Greedy().choose(observation)
        return self.random.choice(list(observation.legal_actions()))
'''
AGENTS = (
    "Random",
    "Greedy",
    "sequence.agents.ismcts:ISMCTS(iterations=1)",
    *(f"{{folder}}/mixed.py:Mixed(share={share})" for share in (0.1, 0.3, 0.5, 0.7, 0.9)),
)


def run(size: int = DEALS) -> list[Result]:
    """Play the league twice, and compare."""
    need("league", "distributed")
    with tempfile.TemporaryDirectory(prefix="bench-league-") as temporary:
        root = Path(temporary)
        (root / "mixed.py").write_text(MIXED, "utf-8")
        agents = [agent.format(folder=root) for agent in AGENTS]
        ours, seconds = _played(agents, size, root / "ours")
        (root / "cluster").mkdir()
        with (
            local_cluster(root / "cluster", WORKERS) as cluster,
            executor(cluster.address) as elsewhere,
        ):
            theirs, there = _played(agents, size, root / "theirs", elsewhere)
        replays = [
            {path.name: path.read_bytes() for path in root.glob(f"{name}/replays/*")}
            for name in ("ours", "theirs")
        ]
    games = len(ours.records)
    return [
        Result(
            "rows of the table that differ",
            _differing(_rows(ours), _rows(theirs)),
            f"of {len(agents)} agents",
            "== 0",
            "this process",
        ),
        Result(
            "games that differ in an action",
            _differing(*replays),
            f"of {games} games",
            "== 0",
            "this process",
        ),
        Result("games here", games / seconds, "games/s"),
        Result("games on the cluster", games / there, "games/s", None, "this process"),
    ]


def _played(agents: list[str], deals: int, out: Path, jobs=1) -> tuple[Results, float]:
    begun = time.monotonic()
    results = league(agents, deals, SEED, out, jobs=jobs, transport=InProcessPlayer)
    return results, time.monotonic() - begun


def _rows(results: Results) -> dict[str, tuple]:
    """Return the table by agent, without the times."""
    return {
        row.agent: (row.rating, row.wins, row.ties, row.losses, row.warnings, row.forfeits)
        for row in results.rows
    }


def _differing(ours: dict, theirs: dict) -> int:
    return sum(ours.get(name) != theirs.get(name) for name in {*ours, *theirs})
