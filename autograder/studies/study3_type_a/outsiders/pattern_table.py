"""Lanes are looked up by their pattern of marks; searches and orders are pipelines of `itertools`.

Study 3: Shannon's Type A agent.
"""

from functools import lru_cache
from itertools import accumulate, chain, groupby, starmap
from math import inf
from operator import itemgetter

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

first_item, second_item = itemgetter(0), itemgetter(1)


@lru_cache(maxsize=10_000)
def pattern(marks):
    """For a lane with these marks: the pair (player, number of marks) if all belong to one player."""
    players = set(marks) - {EMPTY}
    if len(players) != 1:
        return None
    (player,) = players
    return player, marks.count(player)


def patterns(state):
    """The patterns of all lanes, as a list."""
    mark_at = state.__getitem__
    return [pattern(tuple(map(mark_at, lane))) for lane in state.lanes]


def whole(found, player):
    """H, computed from a list of patterns."""
    other = opponent(player)
    return (3 * (found.count((player, 2)) - found.count((other, 2)))
            + found.count((player, 1)) - found.count((other, 1)))


def lane_counts(state, player):
    found = patterns(state)
    return found.count((player, 2)), found.count((player, 1))


def heuristic(state, player):
    return whole(patterns(state), player) / 10


def is_quiescent(state):
    return {("x", 2), ("o", 2)}.isdisjoint(patterns(state))


def ranks(state, moves, player):
    """The priorities of several moves, one after the other."""
    now = patterns(state)
    threat = opponent(player), 2
    for move in moves:
        after = state.after(move)
        then = patterns(after)
        if after.is_terminal() and after.utility(player) > 0:
            yield 1
        elif then.count(threat) < now.count(threat):
            yield 2
        else:
            old, new = whole(now, player), whole(then, player)
            yield 3 if new > old else 4 if new == old else 5


def priority(state, move, player):
    return next(ranks(state, (move,), player))


def by_priority(state):
    moves = state.legal_moves()
    pairs = sorted(zip(ranks(state, moves, state.to_move), moves))
    groups = groupby(pairs, key=first_item)
    yield from map(second_item, chain.from_iterable(map(second_item, groups)))


def first_best(pairs, is_max):
    """The first of the best (value, move) pairs."""
    return max(pairs, key=first_item) if is_max else min(pairs, key=first_item)


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

        def below(child, move):
            return self.value(child, player, depth + 1)[0], move

        moves = state.legal_moves()
        return first_best(starmap(below, zip(map(state.after, moves), moves)),
                          state.to_move == player)


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

        is_max = state.to_move == player

        def step(so_far, move):
            (low, high), _ = so_far
            value, _ = self.value(state.after(move), player, depth + 1, low, high)
            window = (max(low, value), high) if is_max else (low, min(high, value))
            return window, (value, move)

        def pairs():
            for (low, high), pair in accumulate(self.order(state), step,
                                                initial=((alpha, beta), None)):
                if pair is not None:
                    yield pair
                    if low >= high:
                        return

        return first_best(pairs(), is_max)
