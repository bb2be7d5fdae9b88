"""Searches, traces, games and boards give the same results in many threads as alone."""

import random

import pytest

from tictactoe import (
    Board,
    NodeCounter,
    Qubic,
    Random,
    Trace,
    WinOrBlock,
    counted,
    match,
    play,
    solver,
)
from tictactoe.boards.play_board import NEW, play_against
from tictactoe.explorables.counts import compare_counts
from tictactoe.explorables.explorer import explore
from tictactoe.tests.support.threads import at_once

SEEDS = range(3)


class Searcher:
    """Depth-limited minimax, with its counter in the students' way."""

    def __init__(self, depth):
        self.depth = depth

    def choose(self, state):
        return self.search(state)[0]

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return move, value, nodes.visited

    @counted
    def value(self, state, player, depth):
        """The value for `player`, and the first best move."""
        if state.is_terminal():
            return state.utility(player), None
        if depth == self.depth:
            return 0, None
        best = max if state.to_move == player else min
        found = [(self.value(state.after(m), player, depth + 1)[0], m) for m in state.legal_moves()]
        return best(found, key=lambda pair: pair[0])


def search(seed):
    """A search from the position with this seed."""
    return Searcher(3).search(position(seed))


def trace(seed):
    """Every node of a search: state, move, depth, bounds and value."""
    with Trace() as recorded, NodeCounter() as nodes:
        Searcher(2).search(position(seed))
    to_do, visits = list(recorded.roots), []
    while to_do:
        visit = to_do.pop()
        visits.append((visit.state, visit.move, visit.depth, visit.bounds, visit.value))
        to_do += visit.children
    return nodes.visited, recorded.visited, visits


def games(seed):
    """A seeded match, and a game of Qubic."""
    cube = play({"x": Random(seed), "o": WinOrBlock(seed)}, Qubic())
    return match(Random(), WinOrBlock(), games=6, seed=seed), cube.moves


def clicks(seed):
    """The messages about nodes of a board that is clicked."""
    chance, told = random.Random(seed), []
    game = play_against(Searcher(3))
    for _ in range(6):
        game.click(str(chance.choice(game.state.legal_moves())) if game._legal_clicks() else NEW)
        told.append((tuple(game.moves), game.board.content))
    return told


def counts(seed):
    """The counts of two searches, compared."""
    return compare_counts({"shallow": Searcher(1), "deep": Searcher(3)}, position(seed)).counts


def explored(seed):
    """Two recorded searches, stepped through."""
    explorer = explore(Searcher(2), position(seed), against=Searcher(1))
    explorer.click("difference")
    return explorer.step, explorer.board.content


def position(seed):
    """A board with three moves."""
    chance, state = random.Random(seed), Board()
    for _ in range(3):
        state = state.after(chance.choice(state.legal_moves()))
    return state


WORK = [search, trace, games, clicks, counts, explored]


@pytest.mark.parametrize("seed", SEEDS)
def test_all_at_once(seed):
    """Each has the same result next to the others as alone."""
    work = [(call, number) for call in WORK for number in (seed, seed + 1)]
    random.Random(seed).shuffle(work)
    alone = [call(number) for call, number in work]
    assert at_once([lambda c=call, n=number: c(n) for call, number in work]) == alone


@pytest.mark.parametrize("call", WORK)
def test_the_same_at_once(call):
    """The same operation in several threads has the same result in each."""
    assert at_once([lambda: call(5)] * 4) == [call(5)] * 4


@pytest.mark.parametrize("make", ["after", "text"])
def test_a_board_is_made_once(make, monkeypatch):
    """Threads that create the same board get one object, because equality is identity."""
    texts = [board.text for board in list(solver.values())[::50]]
    for seed in SEEDS:
        monkeypatch.setattr(Board, "_known", {})
        root = Board()

        def boards(root=root, seed=seed):
            if make == "text":
                return [Board(text) for text in texts]
            chance, found = random.Random(seed), []
            for _ in range(30):
                state = root
                while state.legal_moves():
                    state = state.after(chance.choice(state.legal_moves()))
                    found.append(state)
            return found

        first, *others = at_once([boards] * 6)
        for other in others:
            assert all(a is b for a, b in zip(first, other, strict=True))
