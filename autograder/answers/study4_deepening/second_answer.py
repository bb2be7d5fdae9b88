"""Study 4, a second right answer: limits are counted in a method of its own, and a cut returns.

It keeps the given classes and methods, and writes every other line in another way.
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
        if state.is_terminal() or depth >= self.limit:
            ended = state.is_terminal()
            me = state.to_move
            return (state.utility(me) if ended else self.evaluate(state, me)), None
        found = None
        for move in self.moves(state, depth):
            theirs, _ = self.value(
                state.after(move), depth + 1, -beta, -max(alpha, found[0] if found else alpha)
            )
            if found is None or -theirs > found[0]:
                found = -theirs, move
            if not found[0] < beta:
                self.cut(depth, move)
                return found
        return found

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
    places = {move: place for place, move in reversed(list(enumerate(first)))}
    return sorted(moves, key=lambda move: places.get(move, len(places) + len(first)))


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
        kept = self.killers.setdefault(depth, [])
        if move in kept:
            kept.remove(move)
        kept.insert(0, move)
        del kept[KILLERS:]

    def moves(self, state, depth):
        """The moves of `super()`, the killers of this depth first, the latest one before all."""
        moves = super().moves(state, depth)
        for killer in reversed(self.killers.get(depth, ())):
            moves = promoted(moves, (killer,))
        return moves


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
    if alpha < value < beta:
        return EXACT
    return LOWER if value >= beta else UPPER


def answers(entry, left, alpha, beta):
    """Whether an `Entry` spares a search `left` moves deep, inside the window (alpha, beta).

    It was searched as deep or deeper; and its value is exact, or a lower bound that is not below
    beta, or an upper bound that is not above alpha.
    """
    says = {EXACT: True, LOWER: not entry.value < beta, UPPER: not entry.value > alpha}
    return says[entry.bound] and not left > entry.left


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
        left = self.limit - depth
        if state in self.table and answers(self.table[state], left, alpha, beta):
            known = self.table[state]
            return tuple(known[:2])
        found = super().visit(state, depth, alpha, beta)
        if found[1] is None:
            return found
        self.table.update({state: Entry(*found, left, bound_of(found[0], alpha, beta))})
        return found

    def moves(self, state, depth):
        """The moves of `super()`, the one in the state's entry first, if it has an entry."""
        moves = list(super().moves(state, depth))
        if state not in self.table:
            return moves
        best = self.table[state].move
        moves.remove(best)
        return [best, *moves]


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
        self.begin()
        self.log, self.limit, self.nodes = [], 0, NodeCounter()
        with self.nodes:
            while self.limit < self.deepest and self._deeper(state):
                pass
        return Search(*self.log[-1][1:3], self.nodes.visited)

    def _deeper(self, state):
        """Search to one limit more; whether it is worth going on."""
        self.limit += 1
        try:
            value, move = self.value(state, 0, -inf, inf)
        except OutOfNodes:
            return False
        self.log += [Finished(self.limit, move, value, self.nodes.visited)]
        return -1 < value < 1

    def visit(self, state, depth, alpha, beta):
        """As `super().visit`, but where the budget is used up it raises `OutOfNodes`.

        That is the case when the nodes visited so far, this one included, are as many as the budget
        or more. Limit 1 is finished whatever it takes, so that there is always a move.
        """
        used = self.nodes.visited
        if used < self.budget or self.limit == 1:
            return super().visit(state, depth, alpha, beta)
        raise OutOfNodes(f"{used} nodes")


class DeepeningTable(Deepening, WithTable):
    """Deepening with a table, where each limit leaves its best moves to the next: this is given."""


class DeepeningKillers(Deepening, WithKillers):
    """Deepening with killer moves: this class is given."""


class DeepeningBoth(Deepening, WithBoth):
    """Deepening with everything: this class is given."""
