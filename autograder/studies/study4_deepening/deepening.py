"""Study 4: searching deeper within a budget, with iterative deepening, a transposition table and
killer moves.

You complete this module. Notebook 6 explains every part; submit this file with the notebook.

As in the other studies, the root is at depth 0, and a search to a limit cuts off at depth `limit`.
However, there is only one kind of node: every value is from the view of the player to move in its
own state, so a value that is good for a child is bad for its parent.
"""

from math import inf
from typing import NamedTuple

from tictactoe import NodeCounter, Search, counted
from tictactoe.games.connect_four import potential

EXACT, LOWER, UPPER = "exact", "lower", "upper"  # the relation of a value to the true one
KILLERS = 2  # number of moves stored for a depth


def board_order(state):
    """The legal moves in the game's own order. This function is given."""
    return list(state.legal_moves())


# ---- A search to a limit


class DepthLimited:
    """Alpha-beta search at full width to a depth limit.

    `evaluate(state, player)` estimates a state at a cut-off, between -1 and 1; `order(state)` lists
    the legal moves in the order in which they are tried. The other classes override `begin`,
    `moves`, `cut` and `visit`, and nothing else.
    """

    def __init__(self, limit=4, evaluate=potential, order=board_order):
        self.limit, self.evaluate, self.order = limit, evaluate, order

    def choose(self, state):
        """The move that `search` finds. This method is given."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` to the limit: `Search(move, value, nodes)`. This method is given."""
        self.begin()
        with NodeCounter() as nodes:
            value, move = self.value(state, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    def begin(self):
        """Forget what earlier searches have learned, which is nothing here. This method is given."""

    @counted
    def value(self, state, depth, alpha, beta):
        """Call `visit` with the same arguments, and count a node. This method is given.

        A search must call it for every child, because a call of `visit` itself is not counted.
        """
        return self.visit(state, depth, alpha, beta)

    def visit(self, state, depth, alpha, beta):
        """Return `(value, move)` of a state at `depth`, searched inside the window (alpha, beta).

        First comes the terminal test, then the cut-off test `depth >= self.limit`: the values of
        these states are their utility or estimate, and their move is None. Otherwise, the children
        are searched in the order of `self.moves(state, depth)`, and the first of equally good moves
        is the best one. Raise alpha with the best value. As soon as the best value is at least
        beta, call `self.cut(depth, move)` with the move that caused it, and search no further.

        The value is the best one found, even if it is outside the window.

        Hint: the child's value and window are from the opponent's view. What is the window (alpha,
        beta) from there?
        """
        ### BEGIN SOLUTION
        if state.is_terminal():
            return state.utility(state.to_move), None
        if depth >= self.limit:
            return self.evaluate(state, state.to_move), None
        best, best_move = -inf, None
        for move in self.moves(state, depth):
            value = -self.value(state.after(move), depth + 1, -beta, -alpha)[0]
            if value > best:
                best, best_move = value, move
            if best >= beta:
                self.cut(depth, move)
                break
            alpha = max(alpha, best)
        return best, best_move
        ### END SOLUTION

    def moves(self, state, depth):
        """The moves to try at this depth, in order. This method is given."""
        return self.order(state)

    def cut(self, depth, move):
        """Called when `move` causes a cut at `depth`; does nothing here. This method is given."""


# ---- Good moves first


def promoted(moves, first):
    """The list of `moves` with those in `first` moved to its front, in the order of `first`.

    The others follow in their old order. Items of `first` that are not among the moves are ignored,
    and duplicates count once.
    """
    ### BEGIN SOLUTION
    front = [move for move in dict.fromkeys(first) if move in moves]
    return front + [move for move in moves if move not in front]
    ### END SOLUTION


class WithKillers(DepthLimited):
    """A search that first tries killer moves, which have caused a cut before at the same depth.

    `self.killers` maps a depth to the list of the last moves that caused a cut there, the latest
    first: at most `KILLERS` different moves. A depth without a cut is not in it.
    """

    def begin(self):
        """Forget all killers, and everything else that was learned. This method is given."""
        super().begin()
        self.killers = {}

    def cut(self, depth, move):
        """Put `move` at the front of the killers of this depth.

        If it is already among them, it only moves to the front.
        """
        ### BEGIN SOLUTION
        others = [other for other in self.killers.get(depth, []) if other != move]
        self.killers[depth] = [move, *others][:KILLERS]
        ### END SOLUTION

    def moves(self, state, depth):
        """The moves of `super()`, with this depth's killers in front, the latest one first."""
        ### BEGIN SOLUTION
        return promoted(super().moves(state, depth), self.killers.get(depth, []))
        ### END SOLUTION


# ---- A transposition table


class Entry(NamedTuple):
    """The result of searching a state: a value, its meaning, and the best move. This class is
    given.

    `left` is the depth to which the state was searched, in moves: `limit - depth`. `bound` is
    `EXACT` if the value is the state's value, `LOWER` if the state's value is at least this, and
    `UPPER` if it is at most this.
    """

    value: float
    move: object
    left: int
    bound: str


def bound_of(value, alpha, beta):
    """What a search inside the window (alpha, beta) has proved if it returns this value.

    `UPPER` if the value is at most alpha, `LOWER` if it is at least beta, else `EXACT`.
    """
    ### BEGIN SOLUTION
    if value <= alpha:
        return UPPER
    if value >= beta:
        return LOWER
    return EXACT
    ### END SOLUTION


def answers(entry, left, alpha, beta):
    """Whether an `Entry` makes a search `left` moves deep inside the window (alpha, beta)
    unnecessary.

    This requires that it was searched at least as deep, and that its value is exact, a lower bound
    that is at least beta, or an upper bound that is at most alpha.
    """
    ### BEGIN SOLUTION
    if entry.left < left:
        return False
    if entry.bound == LOWER:
        return entry.value >= beta
    if entry.bound == UPPER:
        return entry.value <= alpha
    return True
    ### END SOLUTION


class WithTable(DepthLimited):
    """A search that stores its results in a transposition table.

    `self.table` maps a state to its `Entry`.
    """

    def begin(self):
        """Empty the table, and forget everything else that was learned. This method is given."""
        super().begin()
        self.table = {}

    def visit(self, state, depth, alpha, beta):
        """Like `super().visit`, but if the state's entry `answers`, return its `(value, move)`
        immediately.

        The result of `super().visit` replaces the state's entry in the table, with the bound that
        it proves for the window of this call. A state without a move (terminal or cut off) is not
        stored.
        """
        ### BEGIN SOLUTION
        left, entry = self.limit - depth, self.table.get(state)
        if entry is not None and answers(entry, left, alpha, beta):
            return entry.value, entry.move
        value, move = super().visit(state, depth, alpha, beta)
        if move is not None:
            self.table[state] = Entry(value, move, left, bound_of(value, alpha, beta))
        return value, move
        ### END SOLUTION

    def moves(self, state, depth):
        """The moves of `super()`, with the move of the state's entry, if any, in front."""
        ### BEGIN SOLUTION
        entry = self.table.get(state)
        return promoted(super().moves(state, depth), [entry.move] if entry else [])
        ### END SOLUTION


class WithBoth(WithTable, WithKillers):
    """Table and killers together: the table's move first, then the killers. This class is given."""


# ---- Iterative deepening


class OutOfNodes(Exception):
    """The budget is used up. This class is given."""


class Finished(NamedTuple):
    """A completed search to `limit`, and the `nodes` visited so far. This class is given."""

    limit: int
    move: object
    value: float
    nodes: int


class Deepening(DepthLimited):
    """Searches to limit 1, then to 2, then to 3, until its budget of nodes is used up.

    `budget` is the number of nodes that one search may visit, and `deepest` is the last limit to
    try. After a search, `self.log` contains a `Finished` for each limit that was completed.
    """

    def __init__(self, budget=1000, deepest=42, evaluate=potential, order=board_order):
        super().__init__(1, evaluate, order)
        self.budget, self.deepest = budget, deepest

    def search(self, state):
        """Search deeper and deeper, and return `Search(move, value, nodes)` with the nodes of all
        limits.

        `self.begin()` is called once, before the first limit, so the next limits use what was
        learned before. For each limit, set `self.limit`, search from the root at depth 0 with the
        window (-infinity, infinity), and add a `Finished` to `self.log`. Move and value are those
        of the last limit that was completed: of one that was interrupted, only the nodes count.

        Stop after the limit `deepest`, or when `OutOfNodes` is raised, or when the value is at
        least 1 or at most -1, because then the end of the game was found and a deeper search cannot
        change the result.

        Hint: if the open counter is `self.nodes`, `visit` can read the number of nodes so far as
        `self.nodes.visited`.
        """
        ### BEGIN SOLUTION
        self.begin()
        self.log = []
        with NodeCounter() as self.nodes:
            try:
                for limit in range(1, self.deepest + 1):
                    self.limit = limit
                    value, move = self.value(state, 0, -inf, inf)
                    self.log.append(Finished(limit, move, value, self.nodes.visited))
                    if abs(value) >= 1:
                        break
            except OutOfNodes:
                pass
        last = self.log[-1]
        return Search(last.move, last.value, self.nodes.visited)
        ### END SOLUTION

    def visit(self, state, depth, alpha, beta):
        """Like `super().visit`, but raises `OutOfNodes` if the budget is used up.

        It is used up if the number of nodes visited so far, including this one, is at least the
        budget. Limit 1 is always completed, so that there is always a move.
        """
        ### BEGIN SOLUTION
        if self.limit > 1 and self.nodes.visited >= self.budget:
            raise OutOfNodes
        return super().visit(state, depth, alpha, beta)
        ### END SOLUTION


class DeepeningTable(Deepening, WithTable):
    """Deepening with a table, which keeps the best moves for the next limit. This class is given."""


class DeepeningKillers(Deepening, WithKillers):
    """Deepening with killer moves. This class is given."""


class DeepeningBoth(Deepening, WithBoth):
    """Deepening with table and killers. This class is given."""
