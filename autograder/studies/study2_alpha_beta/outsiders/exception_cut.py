"""A cut is an exception: the loop ignores bounds, and the object that watches the window raises
`Cut`.

Study 2: alpha-beta search.
"""

from math import inf

from tictactoe import NodeCounter, Search, counted


class Cut(Exception):
    """Raised if the remaining moves cannot matter."""


class Maximum:
    """A MAX node: collects values, keeps the largest (the first of equal ones), and raises alpha."""

    def __init__(self, alpha, beta):
        self.alpha, self.beta = alpha, beta
        self.pairs = []         # strictly rising, so that the last one is the best

    def collect(self, value, move):
        if self.pairs and value <= self.pairs[-1][0]:
            return
        self.pairs.append((value, move))
        if value >= self.beta:
            raise Cut
        if value > self.alpha:
            self.alpha = value


class Minimum:
    """A MIN node: collects values, keeps the smallest (the first of equal ones), and lowers beta."""

    def __init__(self, alpha, beta):
        self.alpha, self.beta = alpha, beta
        self.pairs = []         # strictly falling

    def collect(self, value, move):
        if self.pairs and value >= self.pairs[-1][0]:
            return
        self.pairs.append((value, move))
        if value <= self.alpha:
            raise Cut
        if value < self.beta:
            self.beta = value


class AlphaBeta:

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        nodes = NodeCounter()
        with nodes:
            value, move = self.value(state, state.to_move, alpha=-inf, beta=inf)
        return Search(nodes=nodes.visited, value=value, move=move)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        node = (Maximum if player == state.to_move else Minimum)(alpha, beta)
        try:
            for move in state.legal_moves():
                below, _ = self.value(state.after(move), player, alpha=node.alpha, beta=node.beta)
                node.collect(below, move)
        except Cut:
            pass
        return node.pairs[-1]
