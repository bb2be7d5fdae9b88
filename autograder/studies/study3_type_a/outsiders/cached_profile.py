"""Study 3: the lanes are summarised once per state in a cached profile; inherited search."""

from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


@dataclass(frozen=True)
class Profile:
    """The lane counts of both players."""

    x2: int
    x1: int
    o2: int
    o1: int

    def of(self, player):
        return (self.x2, self.x1) if player == "x" else (self.o2, self.o1)


@lru_cache(maxsize=None)
def profile(state):
    counts = {("x", 2): 0, ("x", 1): 0, ("o", 2): 0, ("o", 1): 0}
    for lane in state.lanes:
        xs = os = 0
        for cell in lane:
            xs += state[cell] == "x"
            os += state[cell] == "o"
        if xs and os:
            continue
        key = ("x", xs) if xs else ("o", os)
        if key in counts:
            counts[key] += 1
    return Profile(*counts.values())


def lane_counts(state, player):
    return profile(state).of(player)


def heuristic(state, player):
    (p2, p1), (o2, o1) = profile(state).of(player), profile(state).of(opponent(player))
    h = 3 * (p2 - o2) + (p1 - o1)
    return h / 10


def is_quiescent(state):
    seen = profile(state)
    return seen.x2 + seen.o2 == 0


class TypeA:
    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            found = self.value(state, state.to_move, 0)
        return Search(found[1], found[0], nodes.visited)

    @counted
    def value(self, state, player, depth):
        leaf = self._leaf(state, player, depth)
        if leaf is not None:
            return leaf, None
        return self._expand(state, player, depth)

    def _leaf(self, state, player, depth):
        """The value of a state that is not searched, else None."""
        if state.is_terminal():
            return state.utility(player)
        if depth < self.limit or not is_quiescent(state):
            return None
        return heuristic(state, player)

    def _expand(self, state, player, depth):
        best = None
        for move in state.legal_moves():
            v = self.value(state.after(move), player, depth + 1)[0]
            if best is None or (v > best[0] if state.to_move == player else v < best[0]):
                best = (v, move)
        return best


def priority(state, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) == 1:
        return 1
    before_pairs, after_pairs = (lane_counts(s, opponent(player))[0] for s in (state, after))
    if after_pairs < before_pairs:
        return 2
    change = heuristic(after, player) - heuristic(state, player)
    if change > 0:
        return 3
    return 4 if change == 0 else 5


def by_priority(state):
    player = state.to_move
    queue = [(priority(state, move, player), move) for move in state.legal_moves()]
    heapify(queue)
    while queue:
        _, best = heappop(queue)
        yield best


class TypeAPlus(TypeA):
    def __init__(self, limit=2, order=by_priority):
        super().__init__(limit)
        self.order = order

    def search(self, state):
        with NodeCounter() as nodes:
            found = self.value(state, state.to_move, 0, -inf, inf)
        return Search(found[1], found[0], nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        leaf = self._leaf(state, player, depth)
        if leaf is not None:
            return leaf, None
        best = None
        for move in self.order(state):
            v = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
            if state.to_move == player:
                if best is None or v > best[0]:
                    best = (v, move)
                alpha = max(alpha, v)
            else:
                if best is None or v < best[0]:
                    best = (v, move)
                beta = min(beta, v)
            if alpha >= beta:
                return best
        return best
