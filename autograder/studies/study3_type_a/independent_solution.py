"""Study 3: a second answer, written only from the students' text, with lanes as sorted marks.

A lane is described only by its marks; the counts, the heuristic and the quiescence test use one
table of numbers of lanes. Type A and Type A+ share the test that ends a line of play.
"""

from collections import Counter
from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

# ---- Lanes


def lane_owners(state):
    """The number of live lanes of `state` by `(owner, marks)`, without empty and dead ones."""
    owners = Counter()
    for lane in state.lanes:
        marks = Counter(state[cell] for cell in lane)
        del marks[EMPTY]
        if len(marks) == 1:
            owners.update(marks.items())
    return owners


def lane_counts(state, player):
    """The number of lanes with two marks of `player` and nothing else, and of those with one mark."""
    owners = lane_owners(state)
    return owners[player, 2], owners[player, 1]


def heuristic(state, player):
    """H(state)/10 from the view of `player`: (3*P2 + P1 - 3*O2 - O1) / 10."""
    weights = {2: 3, 1: 1}
    h = 0
    for (owner, marks), lanes in lane_owners(state).items():
        worth = weights.get(marks, 0) * lanes
        h += worth if owner == player else -worth
    return h / 10


def is_quiescent(state):
    """Whether neither player could win with one move, no matter who is to move."""
    return all(marks != 2 for _, marks in lane_owners(state))


# ---- The agent with a depth limit


def leaf_value(state, player, depth, limit):
    """The value of `state` for `player` if the search stops here, or else None.

    It stops in terminal states, and in quiescent states at depth `limit` or deeper.
    """
    if state.is_terminal():
        return state.utility(player)
    if depth >= limit and is_quiescent(state):
        return heuristic(state, player)
    return None


class TypeA:
    """A strategy of full width with a depth limit, which does not cut off while threats are pending
    (compare Shannon 1950, sections 3 and 4).

    `limit` is the depth from which quiescent states are evaluated instead of searched.
    """

    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`."""
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth):
        """Return `(value, move)` of `state` at `depth` for `player` (MAX)."""
        leaf = leaf_value(state, player, depth, self.limit)
        if leaf is not None:
            return leaf, None
        moves = list(state.legal_moves())
        values = [self.value(state.after(move), player, depth + 1)[0] for move in moves]
        wanted = max(values) if state.to_move == player else min(values)
        return wanted, moves[values.index(wanted)]  # `index` finds the first of equal values


# ---- Move ordering


def priority(state, move, player):
    """The priority of `move` for `player`, who is to move: from 1 (try it first) to 5."""
    after = state.after(move)
    if after.is_terminal() and after.utility(player) > 0:
        return 1
    rival = opponent(player)
    if any(
        move in lane
        and sorted(state[cell] for cell in lane if state[cell] != EMPTY) == [rival, rival]
        for lane in state.lanes
    ):
        return 2
    before, now = heuristic(state, player), heuristic(after, player)
    return 4 + (now < before) - (now > before)


def by_priority(state):
    """Yield the legal moves of `state` in the order of their priority; of equal ones, lower cells
    first."""
    heap = [(priority(state, move, state.to_move), move) for move in state.legal_moves()]
    heapify(heap)
    while heap:
        _, move = heappop(heap)
        yield move


class TypeAPlus:
    """Type A with alpha-beta pruning and move ordering.

    `order` is a function that returns a state's moves in the order in which they are searched in
    every node, including the root.
    """

    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Like `TypeA.search`, with the window (-infinity, +infinity) at the root."""
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta)."""
        leaf = leaf_value(state, player, depth, self.limit)
        if leaf is not None:
            return leaf, None
        ours = state.to_move == player
        best, chosen = (-inf if ours else inf), None
        for move in self.order(state):
            found = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
            if (found > best) if ours else (found < best):
                best, chosen = found, move
            if (best >= beta) if ours else (best <= alpha):
                break
            if ours:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
        return best, chosen
