"""Study 3: a Type A agent with a depth limit, quiescence, a heuristic and move ordering.

You complete this module. Notebooks 3, 4 and 5 explain every part; submit this file with them. Keep
all functions and methods, such as `value`, with their arguments: the checks also call them directly.
"""

from heapq import heapify, heappop
from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def lane_counts(state, player):
    """The number of lanes with two marks of `player` and nothing else, and of those with one mark.

    Returns the pair `(two, one)`.

    Hint: `state.lanes` lists the lanes as tuples of cells, and `state[cell]` is "x", "o" or
    `EMPTY`. If you use the state's own lanes, the function works for other boards as well.
    """
    raise NotImplementedError("lane_counts: write this function")


def heuristic(state, player):
    """H(state)/10 from the view of `player`: (3*P2 + P1 - 3*O2 - O1) / 10.

    P2 and P1 are the lane counts of `player`, O2 and O1 those of the opponent (Russell and Norvig
    2010, exercise 5.9). The formula applies unchanged even if it gives 1 or more, and also to
    terminal states, although a search never evaluates them.

    Hint: compute H in whole numbers, and divide by 10 once at the end.
    """
    raise NotImplementedError("heuristic: write this function")


def is_quiescent(state):
    """Whether neither player has a lane with two marks of that player and nothing else, no matter
    who is to move.

    A state in which both players have such lanes is not quiescent. The same definition applies to
    terminal states, whether won or drawn.

    """
    raise NotImplementedError("is_quiescent: write this function")


class TypeA:
    """Searches at full width to a depth limit, but does not stop while threats are pending.

    The course on which this study is based calls this Type A (Mayfield 2025). Shannon's own Type A
    and Type B strategies are in sections 4 and 6 of his paper (Shannon 1950).

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
        `value` is its value from the view of the player to move, and `nodes` is the number of nodes
        that this search visited, including the root.
        """
        raise NotImplementedError("TypeA.search: write this method")

    @counted
    def value(self, state, player, depth):
        """Return `(value, move)` of `state` at `depth` for `player` (MAX).

        `player` need not be to move in `state`: if the opponent is to move, the best move is the
        opponent's. Of equally good moves, either player chooses the first. A state that is not
        searched has the move None.

        Hint: the terminal test comes first, then the cut-off test. A state that is not quiescent
        can be deeper than the limit.
        """
        raise NotImplementedError("TypeA.value: write this method")


def priority(state, move, player):
    """The priority of `move` for `player`, who is to move: from 1 (try it first) to 5.

    1: it wins. 2: afterwards, fewer lanes contain two marks of the opponent and nothing else. 3, 4,
    5: the player's heuristic value after the move is greater than, equal to or less than before. If
    several apply, the priority is the smallest.

    """
    raise NotImplementedError("priority: write this function")


def by_priority(state):
    """Yield the legal moves of `state` in the order of their priority; of equal ones, lower cells
    first.

    Hint: `heapify` a list of `(priority, move)` pairs.
    """
    raise NotImplementedError("by_priority: write this function")


class TypeAPlus:
    """Type A with alpha-beta pruning and move ordering.

    `order` is a function that returns the moves of a state in the order in which to search them; it
    is used in every node, including the root.
    """

    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Like `TypeA.search`, but pruned, with the window (-infinity, +infinity) at the root.

        `move` is the first best move in the order of the search.
        """
        raise NotImplementedError("TypeAPlus.search: write this method")

    @counted
    def value(self, state, player, depth, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta).

        Like `TypeA.value`, except that the first of equally good moves is the first in search
        order. After a cut, the value is only a bound: the best value so far, or the alpha or beta
        that it has reached.

        Hint: combine your `TypeA.value` with the pruning of study 2.
        """
        raise NotImplementedError("TypeAPlus.value: write this method")
