"""Study 3: a Type A agent: a depth limit, quiescence, a heuristic, and move ordering.

You fill in this module. Notebooks 03, 04 and 05 explain every part; hand in this file with them.
"""

from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def lane_counts(state, player):
    """How many lanes hold two marks of `player` and nothing else, and how many hold one.

    Returns the pair `(two, one)`.

    Hint: `state.lanes` lists the lanes as tuples of cells, `state[cell]` is "x", "o" or `EMPTY`.
    Take the lanes from the state: the same function then serves other boards.
    """
    raise NotImplementedError("lane_counts: write this function")


def heuristic(state, player):
    """H(state)/10 from the view of `player`: (3*P2 + P1 - 3*O2 - O1) / 10.

    P2 and P1 are the lane counts of `player`, O2 and O1 those of the opponent (Russell and Norvig
    2010, exercise 5.9). The formula holds as it stands, also where it gives 1 or more, and for
    finished states too, although a search never asks there.

    Hint: compute H in whole numbers and divide by 10 once, at the end.
    """
    raise NotImplementedError("heuristic: write this function")


def is_quiescent(state):
    """Whether neither player has a lane with two own marks and nothing else, whoever is to move.

    This is asked of finished states too, where the same words decide.

    Hint: `lane_counts` already says, for either player, how many such lanes there are.
    """
    raise NotImplementedError("is_quiescent: write this function")


class TypeA:
    """Searches at full width to a depth limit, without a cut-off in the middle of a fight.

    The course that this study follows calls this Type A (Mayfield 2025). What Shannon 1950 calls
    so, and what he calls Type B, is in his sections 4 and 6.

    `limit`, at least 1, is the depth from which quiescent states are evaluated instead of searched.
    """

    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`.

        The root is at depth 0. `move` is the first best move in the order of `legal_moves()`,
        `value` its value from the view of the player to move, `nodes` how many nodes this search
        visited, the root included.
        """
        raise NotImplementedError("TypeA.search: write this method")

    @counted
    def value(self, state, player, depth):
        """Return `(value, move)` of `state` at `depth` for `player` (MAX).

        `player` need not be the one to move in `state`: where the opponent moves, the best move is
        the opponent's. The first of equally good moves counts, for either player. A state that is
        not searched has the move None.

        Hint: the terminal test comes first, then the cut-off test: at the limit or beyond it, a
        quiescent state is worth its heuristic value (and has no move). Otherwise search all moves.
        """
        raise NotImplementedError("TypeA.value: write this method")


def priority(state, move, player):
    """How promising `move` is for `player`, who is to move: from 1 (try it first) to 5.

    1: it wins. 2: fewer lanes than before hold two marks of the opponent and nothing else. 3, 4, 5:
    the player's heuristic value after the move is greater than, equal to, less than before. The
    smallest of the numbers counts.

    Hint: for 2, compare how many lanes with two marks the opponent has before and after.
    """
    raise NotImplementedError("priority: write this function")


def by_priority(state):
    """Yield the legal moves of `state`, the most promising first; lower cells first among equals.

    Hint: `heapify` the list of `(priority, move)` pairs, then `heappop` one at a time.
    """
    raise NotImplementedError("by_priority: write this function")


class TypeAPlus:
    """Type A with alpha-beta pruning and move ordering (optional: extra credit).

    `order` is a function that returns the moves of a state in the order in which to search them; it
    is used in every node, the root included.
    """

    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """As `TypeA.search`, but pruned, with the window (-infinity, +infinity) at the root.

        `move` is the first best move in the order of the search.
        """
        raise NotImplementedError("TypeAPlus.search: write this method")

    @counted
    def value(self, state, player, depth, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta).

        As in `TypeA.value`, with the first of equally good moves in the order of the search. After
        a cut the value is only a bound, the best value so far or the alpha or beta that it has
        reached.

        Hint: your `TypeA.value`, with `self.order(state)` in the place of the legal moves. A MAX
        node returns as soon as its value is at least beta, a MIN node as soon as it is at most
        alpha.
        """
        raise NotImplementedError("TypeAPlus.value: write this method")
