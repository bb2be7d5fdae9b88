"""Deepening: strength in Connect Four with a budget of nodes.

All games are played against the same rival, every opening from both sides; a draw is half a win.
The results are written to `course/published/depth_strength.json`, for the notebook of study 4,
so that students do not have to wait for the games. They are the same on every machine.
"""

from collections.abc import Iterator
from random import Random
from statistics import mean
from typing import Any

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import as_text
from autograder.workspace import load_answer
from course.published import FOLDER, DepthMatch
from tictactoe import EMPTY, ConnectFour, play
from tictactoe.games.connect_four import CELLS, centre_first
from tictactoe.games.play import Match

TABLE = FOLDER / "depth_strength.json"
OPENINGS, OPENING_MOVES = 50, 4  # each opening is random moves, and played from both sides
EARLY = 20  # marks up to which depth is measured; later, every search reaches the end
BUDGETS, RIVAL = (100, 400, 1600, 6400), 400  # nodes per move
PARTS = {"alpha-beta only": "Deepening", "table and killers": "DeepeningBoth"}


def run() -> list[Result]:
    """Play all matches and write the table; takes about ten minutes on an idle core."""
    entries = [
        played(parts, order, budget)
        for order in ("board", "centre")
        for parts in PARTS
        for budget in BUDGETS
    ]
    TABLE.write_text(as_text(entries), "utf-8")
    return [
        Result(
            f"{entry.parts}, {entry.order} first, {entry.budget} nodes",
            entry.score,
            f"of {entry.games} games, depth {entry.depth}",
            peer=f"{RIVAL} nodes, alpha-beta only, centre first",
        )
        for entry in entries
    ]


def played(parts: str, order: str, budget: int, openings: int = OPENINGS) -> DepthMatch:
    """Play a match of a search against the rival."""
    study = load_answer("deepening")
    orders = {"board": study.board_order, "centre": centre_first}
    depths: list[int] = []

    base: Any = getattr(study, PARTS[parts])

    class RecordingSearch(base):
        def search(self, state):
            result = super().search(state)
            if CELLS - state.text.count(EMPTY) <= EARLY:
                depths.append(self.log[-1].limit)
            return result

    agent, rival = (
        RecordingSearch(budget, order=orders[order]),
        study.Deepening(RIVAL, order=centre_first),
    )
    winners = [
        (side, play({side: agent, other: rival}, start).winner)
        for start in starts(openings)
        for side, other in ("xo", "ox")
    ]
    won = sum(side == winner for side, winner in winners)
    drawn = sum(winner is None for _, winner in winners)
    match = Match(won, drawn, len(winners) - won - drawn)
    low, high = match.interval
    return DepthMatch(
        parts,
        order,
        budget,
        round(mean(depths), 1),
        match.games,
        round(match.score, 3),
        round(low, 3),
        round(high, 3),
    )


def starts(openings: int) -> Iterator[ConnectFour]:
    """Yield different positions after a few random moves."""
    seen: set[ConnectFour] = set()
    rng = Random(0)
    while len(seen) < openings:
        state = ConnectFour()
        for _ in range(OPENING_MOVES):
            state = state.after(rng.choice(state.legal_moves()))
        if state not in seen:
            seen.add(state)
            yield state
