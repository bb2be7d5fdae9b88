"""Study 3: the marks of all lanes as a numpy array of +1, -1 and 0."""

from heapq import heapify, heappop
from math import inf

import numpy as np

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

SIGNS = {"x": 1, "o": -1, EMPTY: 0}


def lane_array(state, player):
    """One row per lane: 1 for a mark of `player`, -1 for the opponent's, 0 for an empty cell."""
    signs = np.array([[SIGNS[state[cell]] for cell in lane] for lane in state.lanes], dtype=int)
    return signs if player == "x" else -signs


def counts(state, player, number):
    lanes = lane_array(state, player)
    if lanes.size == 0:
        return 0
    pure = (lanes >= 0).all(axis=1)
    return int(np.count_nonzero(pure & (lanes.sum(axis=1) == number)))


def lane_counts(state, player):
    return tuple(counts(state, player, number) for number in (2, 1))


def heuristic(state, player):
    weights = np.array([3, 1, -3, -1])
    h = weights @ np.array(lane_counts(state, player) + lane_counts(state, opponent(player)))
    return float(int(h) / 10)


def is_quiescent(state):
    return not (counts(state, "x", 2) or counts(state, "o", 2))


class Leaf(Exception):
    """The state is not searched; the argument is its value."""


class TypeA:
    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth):
        try:
            moves = self.moves_or_leaf(state, player, depth)
        except Leaf as leaf:
            return leaf.args[0], None
        values = [self.value(state.after(move), player, depth + 1)[0] for move in moves]
        best = max(values) if state.to_move == player else min(values)
        return best, moves[values.index(best)]

    def moves_or_leaf(self, state, player, depth):
        """The moves of a state that is searched; raises `Leaf` for others."""
        if state.is_terminal():
            raise Leaf(state.utility(player))
        if depth >= self.limit and is_quiescent(state):
            raise Leaf(heuristic(state, player))
        return list(state.legal_moves())


def priority(state, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) == 1:
        return 1
    if counts(after, opponent(player), 2) < counts(state, opponent(player), 2):
        return 2
    before_value, after_value = (heuristic(each, player) for each in (state, after))
    return 4 - int(np.sign(after_value - before_value))


def by_priority(state):
    items = [(priority(state, move, state.to_move), move) for move in state.legal_moves()]
    heapify(items)
    while items:
        yield heappop(items)[1]


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        is_max, choice = state.to_move == player, None
        best = -inf if is_max else inf
        for move in self.order(state):
            found = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
            if (found > best) if is_max else (found < best):
                best, choice = found, move
            if is_max:
                if best >= beta:
                    return beta, choice
                alpha = max(alpha, best)
            else:
                if best <= alpha:
                    return alpha, choice
                beta = min(beta, best)
        return best, choice
