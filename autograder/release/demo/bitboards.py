"""Study 3, written differently: bit masks, one function for both players, no shared helpers."""

import functools
import heapq

from tictactoe import NodeCounter, Search, counted, opponent


@functools.cache
def _masks(lanes):
    return [sum(1 << cell for cell in lane) for lane in lanes]


@functools.cache
def _marks(state, player):
    cells = {cell for lane in state.lanes for cell in lane}
    return sum(1 << cell for cell in cells if state[cell] == player)


def lane_counts(state, player):
    own, other = _marks(state, player), _marks(state, opponent(player))
    free = [(own & lane).bit_count() for lane in _masks(state.lanes) if not lane & other]
    return free.count(2), free.count(1)


def heuristic(state, player):
    score = 0
    for who, sign in ((player, 1), (opponent(player), -1)):
        twos, ones = lane_counts(state, who)
        score += sign * (3 * twos + ones)
    return score / 10


def is_quiescent(state):
    return not any(lane_counts(state, player)[0] for player in "xo")


def priority(state, move, player):
    child = state.after(move)
    if child.is_terminal() and child.utility(player) == 1:
        return 1
    other, bit = _marks(state, opponent(player)), 1 << move
    own = _marks(state, player)
    for lane in _masks(state.lanes):
        if lane & bit and not lane & own and (lane & other).bit_count() == 2:
            return 2
    change = heuristic(child, player) - heuristic(state, player)
    return 4 if abs(change) < 1e-12 else 3 if change > 0 else 5


def by_priority(state):
    queue = []
    for move in state.legal_moves():
        heapq.heappush(queue, (priority(state, move, state.to_move), move))
    return [heapq.heappop(queue)[1] for _ in range(len(queue))]


class TypeA:
    def __init__(self, limit=2, order=lambda state: state.legal_moves(), prune=False):
        self.limit, self.order, self.prune = limit, order, prune

    def choose(self, state):
        return self.search(state)[0]

    def search(self, state):
        self.me = state.to_move
        with NodeCounter() as counter:
            value, move = self.visit(state, 0, float("-inf"), float("inf"))
        return Search(move, value, counter.visited)

    @counted
    def visit(self, state, depth, low, high):
        if state.is_terminal():
            return state.utility(self.me), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, self.me), None
        sign = 1 if state.to_move == self.me else -1
        best = (float("-inf"), None)
        for move in self.order(state):
            score = sign * self.visit(state.after(move), depth + 1, low, high)[0]
            if score > best[0]:
                best = (score, move)
            if self.prune:
                if sign == 1:
                    if score >= high:
                        break
                    low = max(low, score)
                else:
                    if -score <= low:
                        break
                    high = min(high, -score)
        return sign * best[0], best[1]


class TypeAPlus(TypeA):
    def __init__(self, limit=2, order=by_priority):
        super().__init__(limit, order, prune=True)
