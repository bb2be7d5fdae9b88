"""A lane is ONE complex number: own marks are real, the opponent's imaginary. Generators and
max/min.
"""
from collections import Counter
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

# The contribution of a lane with this sum to H. Dead lanes like 1+2j and full lanes like 3 add 0.
WEIGHT = {2: 3, 1: 1, 2j: -3, 1j: -1}


def _sums(state, player):
    unit = {player: 1, EMPTY: 0, opponent(player): 1j}
    marks = {}
    for lane in state.lanes:
        total = 0
        for cell in lane:
            if cell not in marks:
                marks[cell] = unit[state[cell]]
            total += marks[cell]
        yield total


def _H(state, player):
    return sum(WEIGHT.get(s, 0) for s in _sums(state, player))


def lane_counts(state, player):
    how_many = Counter(_sums(state, player))
    return (how_many[2], how_many[1])


def heuristic(state, player):
    return _H(state, player) / 10


def is_quiescent(state):
    return not any(s in (2, 2j) for s in _sums(state, state.to_move))


def _value(pair):
    return pair[0]


class TypeA:
    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        best, value, nodes = self.search(state)
        return best

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth):
        if state.is_terminal():
            return state.utility(player), None
        elif depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        else:
            pick = max if player == state.to_move else min
            return pick(((self.value(state.after(m), player, depth + 1)[0], m)
                         for m in state.legal_moves()), key=_value)


def _rank(state, move, player, pairs, h):
    """The priority, given `h` and the number `pairs` of the opponent's lanes with two marks in
    `state`.
    """
    then = state.after(move)
    if then.is_terminal() and then.utility(player) > then.utility(opponent(player)):
        return 1
    sums = list(_sums(then, player))
    if sums.count(2j) < pairs:
        return 2
    gain = sum(WEIGHT.get(s, 0) for s in sums) - h
    return 4 - (gain > 0) + (gain < 0)


def priority(state, move, player):
    return _rank(state, move, player, lane_counts(state, opponent(player))[0], _H(state, player))


def by_priority(state):
    mover = state.to_move
    pairs, h = lane_counts(state, opponent(mover))[0], _H(state, mover)
    yield from sorted(state.legal_moves(),
                      key=lambda move: (_rank(state, move, mover, pairs, h), move))


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        best, value, nodes = self.search(state)
        return best

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        elif depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        elif player == state.to_move:
            return max(self._for_max(state, player, depth + 1, alpha, beta), key=_value)
        else:
            return min(self._for_min(state, player, depth + 1, alpha, beta), key=_value)

    # The pairs (value, move) of the moves; they end where the node is cut.

    def _for_max(self, state, player, depth, alpha, beta):
        for m in self.order(state):
            v, _ = self.value(state.after(m), player, depth, alpha, beta)
            yield v, m
            if v >= beta:
                return
            alpha = max(alpha, v)

    def _for_min(self, state, player, depth, alpha, beta):
        for m in self.order(state):
            v, _ = self.value(state.after(m), player, depth, alpha, beta)
            yield v, m
            if v <= alpha:
                return
            beta = min(beta, v)
