"""Study 2: alpha-beta search. A cut is an exception that the node itself catches."""

from math import inf

from tictactoe import NodeCounter, Search, counted


class Cut(Exception):
    """The remaining moves of a node cannot matter."""


class Node:
    """The window and the best result so far of a node that is being searched."""

    def __init__(self, is_max, alpha, beta):
        self.is_max, self.alpha, self.beta = is_max, alpha, beta
        self.best = -inf if is_max else inf
        self.move = None

    def is_better(self, value):
        return value > self.best if self.is_max else value < self.best

    def add(self, value, move):
        """Take a move into account; raises `Cut` if the others cannot matter."""
        if self.is_better(value):
            self.best, self.move = value, move
        if self.is_max:
            if self.best >= self.beta:
                raise Cut
            self.alpha = max(self.alpha, self.best)
        else:
            if self.best <= self.alpha:
                raise Cut
            self.beta = min(self.beta, self.best)


class AlphaBeta:
    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        node = Node(state.to_move == player, alpha, beta)
        try:
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), player, node.alpha, node.beta)
                node.add(value, move)
        except Cut:
            pass
        return node.best, node.move
