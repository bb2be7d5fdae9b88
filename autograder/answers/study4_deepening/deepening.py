"""Study 4: deeper within a budget: iterative deepening, a transposition table, killer moves.

You fill in this module. Notebook 6 explains every part; hand in this file with it.

Depth counts from the root, as in the other studies: the root is at depth 0, and a search to a limit
cuts off at depth `limit`. But there is one kind of node only: every value here is from the view of
the player to move in the state that it belongs to, so what is good for the child is bad for its
parent.
"""

from math import inf
from typing import NamedTuple

from tictactoe import NodeCounter, Search, counted
from tictactoe.games.connect_four import potential

EXACT, LOWER, UPPER = "exact", "lower", "upper"  # what a value says of the true one
KILLERS = 2  # moves that are remembered at a depth


def board_order(state):
    """The legal moves in the game's own order. This function is given."""
    return list(state.legal_moves())


# ---- A search to a limit


class DepthLimited:
    """Alpha-beta search at full width to a depth limit.

    `evaluate(state, player)` estimates a state that is cut off, between -1 and 1; `order(state)`
    lists the legal moves in the order in which they are tried. The other classes change `begin`,
    `moves`, `cut` and `visit` and leave the rest as it is.
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
        """Forget what earlier searches have learned. This method is given: there is nothing."""

    @counted
    def value(self, state, depth, alpha, beta):
        """`visit` of the same arguments, counted as a node. This method is given.

        A search calls it for every child, as a call of `visit` itself is not counted.
        """
        return self.visit(state, depth, alpha, beta)

    def visit(self, state, depth, alpha, beta):
        """Return `(value, move)` of a state at `depth`, searched inside the window (alpha, beta).

        First the terminal test, then the cut-off test `depth >= self.limit`: these states are worth
        their utility or their estimate, and have the move None. Otherwise the children are searched
        in the order of `self.moves(state, depth)`, and the first of equally good moves counts. Let
        alpha grow with the best value. As soon as the best value is at least beta, call
        `self.cut(depth, move)` with the move that caused it, and search no further.

        The value is the best that was found, also where it lies outside the window.

        Hint: the child's value and window are from the opponent's view. Turn both round: the value
        is negated, and the child's window is (-beta, -alpha).
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
        """Take note that `move` caused a cut at `depth`. This method is given: it does nothing."""


# ---- Good moves first


def promoted(moves, first):
    """The list of `moves` with those of `first` moved to its front, in the order of `first`.

    The others follow in their old order. What is in `first` and not among the moves is left out,
    and what is in it twice comes once.
    """
    ### BEGIN SOLUTION
    front = [move for move in dict.fromkeys(first) if move in moves]
    return front + [move for move in moves if move not in front]
    ### END SOLUTION


class WithKillers(DepthLimited):
    """A search that tries first what has caused a cut before, at the same depth: killer moves.

    `self.killers` maps a depth to a list of the last moves that caused a cut there, the latest one
    first: `KILLERS` different moves at most. A depth without a cut is not in it.
    """

    def begin(self):
        """Forget all killers, and what else has been learned. This method is given."""
        super().begin()
        self.killers = {}

    def cut(self, depth, move):
        """Put `move` at the front of the killers of this depth.

        If it is among them already it only moves to the front.
        """
        ### BEGIN SOLUTION
        others = [other for other in self.killers.get(depth, []) if other != move]
        self.killers[depth] = [move, *others][:KILLERS]
        ### END SOLUTION

    def moves(self, state, depth):
        """The moves of `super()`, this depth's killers moved to the front, the latest one first."""
        ### BEGIN SOLUTION
        return promoted(super().moves(state, depth), self.killers.get(depth, []))
        ### END SOLUTION


# ---- A transposition table


class Entry(NamedTuple):
    """What is known of a state: a value and what it says, and the move found. This class is given.

    `left` is how many moves deep the state was searched, `limit - depth`. `bound` is `EXACT` if the
    state has this value, `LOWER` if its value is this or more, `UPPER` if it is this or less.
    """

    value: float
    move: object
    left: int
    bound: str


def bound_of(value, alpha, beta):
    """What a search inside the window (alpha, beta) has proved when it returns this value.

    `UPPER` if the value is not above alpha, `LOWER` if it is not below beta, else `EXACT`.
    """
    ### BEGIN SOLUTION
    if value <= alpha:
        return UPPER
    if value >= beta:
        return LOWER
    return EXACT
    ### END SOLUTION


def answers(entry, left, alpha, beta):
    """Whether an `Entry` spares a search `left` moves deep, inside the window (alpha, beta).

    It was searched as deep or deeper; and its value is exact, or a lower bound that is not below
    beta, or an upper bound that is not above alpha.
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
    """A search that remembers what it has found: a transposition table.

    `self.table` maps a state to its `Entry`.
    """

    def begin(self):
        """Empty the table, and forget what else has been learned. This method is given."""
        super().begin()
        self.table = {}

    def visit(self, state, depth, alpha, beta):
        """As `super().visit`, but an entry that answers is returned as `(value, move)` at once.

        What `super().visit` returns is put into the table, in the place of what was there, with the
        bound that it proves in the window that this method was given. A state that has no move
        (an end, a cut-off) is not put there.
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
        """The moves of `super()`, the one in the state's entry first, if it has an entry."""
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
    """A search to `limit` that was finished, and `nodes` visited so far. This class is given."""

    limit: int
    move: object
    value: float
    nodes: int


class Deepening(DepthLimited):
    """Searches to limit 1, then to 2, then to 3, until its budget of nodes is used up.

    `budget` is how many nodes one search may visit; `deepest` is the last limit that is tried.
    After a search, `self.log` holds a `Finished` for each limit that was finished.
    """

    def __init__(self, budget=1000, deepest=42, evaluate=potential, order=board_order):
        super().__init__(1, evaluate, order)
        self.budget, self.deepest = budget, deepest

    def search(self, state):
        """Search deeper and deeper: `Search(move, value, nodes)`, the nodes of all limits together.

        `self.begin()` is called once, before the first limit: what one limit has learned serves the
        next. For each limit set `self.limit`, search from the root at depth 0 with the window
        (-infinity, infinity), and add a line to `self.log`. Move and value are those of the last
        limit that was finished: one that was broken off counts for nothing but its nodes.

        End after the limit `deepest`, or when `OutOfNodes` is raised, or when the value is at least
        1 or at most -1: then the end of the game has been found, and a deeper search finds nothing
        else.

        Hint: keep the open counter as `self.nodes`, for `visit` to see: `self.nodes.visited` is the
        number of nodes so far.
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
        """As `super().visit`, but where the budget is used up it raises `OutOfNodes`.

        That is the case when the nodes visited so far, this one included, are as many as the budget
        or more. Limit 1 is finished whatever it takes, so that there is always a move.
        """
        ### BEGIN SOLUTION
        if self.limit > 1 and self.nodes.visited >= self.budget:
            raise OutOfNodes
        return super().visit(state, depth, alpha, beta)
        ### END SOLUTION


class DeepeningTable(Deepening, WithTable):
    """Deepening with a table, where each limit leaves its best moves to the next: this is given."""


class DeepeningKillers(Deepening, WithKillers):
    """Deepening with killer moves: this class is given."""


class DeepeningBoth(Deepening, WithBoth):
    """Deepening with everything: this class is given."""
