"""Study 3: one recursive function for both agents; whole numbers H, signs of negamax."""

from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def lanes_with(state, player, number):
    """The number of lanes with `number` marks of `player` and nothing else."""
    rival = opponent(player)
    found = 0
    for lane in state.lanes:
        text = "".join(state[cell] for cell in lane)
        if rival not in text and text.count(player) == number:
            found += 1
    return found


def lane_counts(state, player):
    return lanes_with(state, player, 2), lanes_with(state, player, 1)


def whole_h(state, player):
    """H as a whole number."""
    total = 0
    for who, sign in ((player, 1), (opponent(player), -1)):
        two, one = lane_counts(state, who)
        total += sign * (3 * two + one)
    return total


def heuristic(state, player):
    return whole_h(state, player) / 10


def is_quiescent(state):
    for player in "xo":
        if lanes_with(state, player, 2) > 0:
            return False
    return True


def searched(node, state, player, depth, low, high, moves, prune):
    """The best value and move of an expanded state; `node` gives the value of a child."""
    sign = 1 if state.to_move == player else -1
    if sign < 0:
        low, high = -high, -low
    best, choice = -inf, None
    for move in moves:
        window = (low, high) if sign > 0 else (-high, -low)
        score = sign * node(state.after(move), player, depth + 1, *window)[0]
        if score > best:
            best, choice = score, move
        if prune:
            if best >= high:
                break
            low = max(low, best)
    return sign * best, choice


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

        def node(child, player, depth, low, high):
            return self.value(child, player, depth)

        return searched(node, state, player, depth, -inf, inf, state.legal_moves(), prune=False)


def priority(state, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) == 1:
        return 1
    if lanes_with(after, opponent(player), 2) < lanes_with(state, opponent(player), 2):
        return 2
    gain = whole_h(after, player) - whole_h(state, player)
    return 4 - (gain > 0) + (gain < 0)


def by_priority(state):
    heap = []
    for move in state.legal_moves():
        heap.append((priority(state, move, state.to_move), move))
    heapify(heap)
    while len(heap) > 0:
        yield heappop(heap)[1]


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit, self.order = limit, order

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
        return searched(
            self.value, state, player, depth, alpha, beta, self.order(state), prune=True
        )
