"""Right: no recursion, but a stack of nodes, each of which is a dataclass with its own window."""

from dataclasses import dataclass, field
from math import inf

from tictactoe import NodeCounter, Search, counted


@dataclass
class Node:
    """A node that is being searched; `made` is the move that led here."""

    state: object
    player: object
    alpha: float
    beta: float
    made: object = None
    chosen: object = None
    best: float = field(init=False)
    moves: object = field(init=False)

    def __post_init__(self):
        self.moves = iter(self.state.legal_moves())
        self.maximises = self.state.to_move == self.player
        self.best = -inf if self.maximises else inf
        if self.state.is_terminal():
            self.best = self.state.utility(self.player)

    def is_done(self):
        """Whether the game is over here or the value is outside the window."""
        if self.state.is_terminal():
            return True
        return self.best >= self.beta if self.maximises else self.best <= self.alpha

    def offer(self, value, move):
        """Accept the value of a successor."""
        if self.maximises and value > self.best:
            self.best, self.chosen = value, move
            if value < self.beta:
                self.alpha = max(self.alpha, value)
        elif not self.maximises and value < self.best:
            self.best, self.chosen = value, move
            if value > self.alpha:
                self.beta = min(self.beta, value)


class AlphaBeta:
    """Minimax without the parts that cannot matter (Russell and Norvig, 4th edition, figure 5.7)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`."""
        with NodeCounter() as counter:
            value, move = self.value(state, state.to_move, -inf, inf)
        return Search(nodes=counter.visited, value=value, move=move)

    @counted
    def value(self, state, player, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta)."""
        path = [Node(state, player, alpha, beta)]
        while True:
            node = path[-1]
            move = None if node.is_done() else next(node.moves, None)
            if move is not None:
                child = node.state.after(move)
                self._enter(child)
                path.append(Node(child, player, node.alpha, node.beta, move))
                continue
            path.pop()
            if not path:
                return node.best, node.chosen
            path[-1].offer(node.best, node.made)

    @counted
    def _enter(self, state):
        """Enter and count another node; the root is counted by `value`."""

