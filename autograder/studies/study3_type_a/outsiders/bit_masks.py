"""Separate bit masks, made from the lanes of any board; both searches use one sign for every node.

Study 3: Shannon's Type A agent.
"""

import functools
from math import inf

from tictactoe import NodeCounter, Search, counted, opponent


@functools.lru_cache(maxsize=16)
def _geometry(lanes):
    """The cells of a board, each with its bit, and its lanes as masks."""
    bits = {}
    for lane in lanes:
        for cell in lane:
            bits.setdefault(cell, 1 << len(bits))
    return tuple(bits.items()), tuple(sum(bits[cell] for cell in lane) for lane in lanes)


def _masks(state, player):
    """The marks of the player and of the opponent, and the lanes."""
    cells, lanes = _geometry(tuple(map(tuple, state.lanes)))
    other = opponent(player)
    mine = theirs = 0
    for cell, bit in cells:
        mark = state[cell]
        if mark == player:
            mine |= bit
        elif mark == other:
            theirs |= bit
    return mine, theirs, lanes


def _two_one(mine, theirs, lanes):
    two = one = 0
    for lane in lanes:
        if not lane & theirs:
            rest = lane & mine
            if rest:
                rest &= rest - 1                    # remove the lowest bit
                if not rest:
                    one += 1
                elif not rest & (rest - 1):
                    two += 1
    return two, one


def _H(mine, theirs, lanes):
    p2, p1 = _two_one(mine, theirs, lanes)
    o2, o1 = _two_one(theirs, mine, lanes)
    return 3 * (p2 - o2) + (p1 - o1)


def lane_counts(state, player):
    return _two_one(*_masks(state, player))


def heuristic(state, player):
    return _H(*_masks(state, player)) / 10


def is_quiescent(state):
    mine, theirs, lanes = _masks(state, state.to_move)
    return _two_one(mine, theirs, lanes)[0] + _two_one(theirs, mine, lanes)[0] == 0


def priority(state, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) > 0:
        return 1
    now, then = _masks(state, player), _masks(after, player)
    pairs_now = _two_one(now[1], now[0], now[2])[0]
    pairs_then = _two_one(then[1], then[0], then[2])[0]
    if pairs_then < pairs_now:
        return 2
    h_now, h_then = _H(*now), _H(*then)
    return (h_then <= h_now) + (h_then < h_now) + 3


def by_priority(state):
    left = [(priority(state, move, state.to_move), move) for move in state.legal_moves()]
    left.sort(reverse=True)
    while left:
        yield left.pop()[1]


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
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        sign = +1 if state.to_move == player else -1    # MIN wants the largest negative
        best = -inf
        choice = None
        for move in state.legal_moves():
            value = sign * self.value(state.after(move), player, depth + 1)[0]
            if value > best:
                best, choice = value, move
        return sign * best, choice


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
        if state.to_move == player:
            sign, low, high = +1, alpha, beta
        else:
            sign, low, high = -1, -beta, -alpha
        best = -inf
        choice = None
        for move in self.order(state):
            window = (low, high) if sign == 1 else (-high, -low)
            value = sign * self.value(state.after(move), player, depth + 1, *window)[0]
            if value > best:
                best, choice = value, move
                if best >= high:
                    return sign * high, choice      # only the bound that was reached
                if best > low:
                    low = best
        return sign * best, choice
