"""The window is an immutable object, which creates narrower ones and decides what it refutes.

Study 2: alpha-beta search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from tictactoe import NodeCounter, Search, counted


@dataclass(frozen=True)
class Window:
    """Alpha and beta."""

    alpha: float = -inf
    beta: float = inf

    def after_max(self, value: float) -> Window:
        """The window once MAX is also sure of `value`."""
        return replace(self, alpha=value) if value > self.alpha else self

    def after_min(self, value: float) -> Window:
        """The window once MIN is also sure of `value`."""
        return replace(self, beta=value) if value < self.beta else self

    def refutes_max(self, value: float) -> bool:
        """Whether MIN can prevent MAX from getting this value."""
        return value >= self.beta

    def refutes_min(self, value: float) -> bool:
        """Whether MAX can prevent MIN from getting this value."""
        return value <= self.alpha


class AlphaBeta:
    """Minimax without the nodes that cannot matter (Russell and Norvig, 4th edition, figure 5.7)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state) -> Search:
        """Search with the widest window."""
        widest = Window()
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, widest.alpha, widest.beta)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, alpha, beta):
        """Return `(value, move)`; see `Window` for how alpha and beta are handled."""
        if state.is_terminal():
            return state.utility(player), None
        if state.to_move == player:
            return self._max(state, player, Window(alpha, beta))
        return self._min(state, player, Window(alpha, beta))

    def _max(self, state, player, window: Window):
        best = None
        for move in state.legal_moves():
            value = self._child(state, move, player, window)
            if best is None or value > best[0]:
                best = value, move
                if window.refutes_max(value):
                    return best
                window = window.after_max(value)
        return best

    def _min(self, state, player, window: Window):
        best = None
        for move in state.legal_moves():
            value = self._child(state, move, player, window)
            if best is None or value < best[0]:
                best = value, move
                if window.refutes_min(value):
                    return best
                window = window.after_min(value)
        return best

    def _child(self, state, move, player, window: Window):
        value, _ = self.value(state.after(move), player, window.alpha, window.beta)
        return value
