"""Right: a lane is a text; quiet and worth are looked up; ordering by sorted, not a heap."""

from collections import Counter
from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

# ---- Lanes


WORTH = {"": 0, "x": 1, "xx": 3, "o": -1, "oo": -3}  # for x, of a lane's marks; dead ones are 0


def lane_texts(state):
    """The marks of every lane as a text without the open cells."""
    return ["".join(state[cell] for cell in lane).replace(EMPTY, "") for lane in state.lanes]


def lane_counts(state, player):
    """How many lanes hold two marks of `player` and nothing else, and how many hold one."""
    texts = lane_texts(state)
    return texts.count(2 * player), texts.count(player)


def heuristic(state, player):
    """H(state)/10 from the view of `player`: (3*P2 + P1 - 3*O2 - O1) / 10."""
    h = sum(WORTH.get(text, 0) for text in lane_texts(state))
    return (h if player == "x" else -h) / 10


def is_quiescent(state):
    """Whether nobody is one move away from winning, whoever is to move."""
    return {"xx", "oo"}.isdisjoint(lane_texts(state))


# ---- The agent with a depth limit


def leaf_value(state, player, depth, limit):
    """What `state` is worth for `player` if the search stops here, else None.

    It stops at the end of the game, and from depth `limit` on where the state is quiescent.
    """
    if state.is_terminal():
        return state.utility(player)
    if depth >= limit and is_quiescent(state):
        return heuristic(state, player)
    return None


class TypeA:
    """Shannon's Type A strategy: full width, a depth limit, and no cut-off in the midst of a fight
    (Shannon 1950, sections 3 and 4).

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
        return wanted, moves[values.index(wanted)]  # index: the first of equals


# ---- Move ordering


def priority(state, move, player):
    """How promising `move` is for `player`, who makes it: from 1 (try it first) to 5."""
    after, pair = state.after(move), 2 * opponent(player)
    if after.is_terminal() and after.utility(player) == 1:
        return 1
    if lane_texts(after).count(pair) < lane_texts(state).count(pair):
        return 2
    gain = heuristic(after, player) - heuristic(state, player)
    return 3 if gain > 0 else 5 if gain < 0 else 4


def by_priority(state):
    """Yield the legal moves of `state`, the most promising first; lower cells first among equals.
    """
    rank = {move: priority(state, move, state.to_move) for move in state.legal_moves()}
    yield from sorted(rank, key=lambda move: (rank[move], move))


class TypeAPlus:
    """Type A with alpha-beta pruning and move ordering (optional: extra credit).

    `order` is a function from a state to its moves in the order in which they are searched, in
    every node, the root included.
    """

    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """As `TypeA.search`, with the window (-infinity, +infinity) at the root."""
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
