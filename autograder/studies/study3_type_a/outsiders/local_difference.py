"""Priorities use only the lanes THROUGH the cell and create no states; `reduce`; separate max and
min.

Study 3.
"""
from functools import reduce
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def tally(state, lane, player):
    """The pair (own marks, opponent's marks) in a lane."""
    own = foreign = 0
    for cell in lane:
        mark = state[cell]
        if mark == player:
            own += 1
        elif mark != EMPTY:
            foreign += 1
    return own, foreign


def weight(own, foreign):
    """The contribution of a lane with these marks to H."""
    if own and foreign:
        return 0                                  # dead
    size = own or foreign
    points = 3 if size == 2 else 1 if size == 1 else 0
    return points if own else -points


def lane_counts(state, player):
    two = one = 0
    for lane in state.lanes:
        t = tally(state, lane, player)
        if t == (2, 0):
            two += 1
        elif t == (1, 0):
            one += 1
    return two, one


def heuristic(state, player):
    h = 0
    for lane in state.lanes:
        h += weight(*tally(state, lane, player))
    return h / 10


def is_quiescent(state):
    for lane in state.lanes:
        if tally(state, lane, "x") in ((2, 0), (0, 2)):
            return False
    return True


def priority(state, move, player):
    # All other lanes are unchanged by the move, so they cannot matter.
    blocks = False
    gain = 0
    for lane in state.lanes:
        if move in lane:
            own, foreign = tally(state, lane, player)
            if own == len(lane) - 1:
                return 1                          # this fills the lane
            if (own, foreign) == (0, 2):
                blocks = True
            gain += weight(own + 1, foreign) - weight(own, foreign)
    if blocks:
        return 2
    if gain > 0:
        return 3
    if gain == 0:
        return 4
    return 5


def by_priority(state):
    player = state.to_move
    later = []
    # Wins can be yielded immediately, before the other moves are examined.
    for move in sorted(state.legal_moves()):
        number = priority(state, move, player)
        if number == 1:
            yield move
        else:
            later.append((number, move))
    for wanted in 2, 3, 4, 5:
        for number, move in later:
            if number == wanted:
                yield move


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
        children = ((self.value(state.after(move), player, depth + 1)[0], move)
                    for move in state.legal_moves())
        if state.to_move == player:
            return reduce(lambda a, b: b if b[0] > a[0] else a, children)
        return reduce(lambda a, b: b if b[0] < a[0] else a, children)


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
            return self.max_value(state, player, depth, alpha, beta)
        return self.min_value(state, player, depth, alpha, beta)

    def max_value(self, state, player, depth, alpha, beta):
        v, best = None, None
        for move in self.order(state):
            v2, _ = self.value(state.after(move), player, depth + 1, alpha, beta)
            if v is None or v2 > v:
                v, best = v2, move
                alpha = max(alpha, v)
            if v >= beta:
                return v, best
        return v, best

    def min_value(self, state, player, depth, alpha, beta):
        v, best = None, None
        for move in self.order(state):
            v2, _ = self.value(state.after(move), player, depth + 1, alpha, beta)
            if v is None or v2 < v:
                v, best = v2, move
                beta = min(beta, v)
            if v <= alpha:
                return v, best
        return v, best
