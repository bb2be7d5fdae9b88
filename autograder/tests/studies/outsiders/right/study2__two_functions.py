"""Right: a function for MAX and one for MIN call each other through `value`."""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Minimax less the parts that cannot matter (Russell and Norvig, 4th edition, figure 5.7)."""

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
        if state.is_terminal():
            return state.utility(player), None
        search = self._max_value if state.to_move == player else self._min_value
        return search(state, player, alpha, beta)

    def _max_value(self, state, player, alpha, beta):
        """MAX moves: the largest value, or the first that is at least beta."""
        value, chosen = -inf, None
        for move in state.legal_moves():
            found, _ = self.value(state.after(move), player, alpha, beta)
            if found > value:
                value, chosen = found, move
                alpha = max(alpha, value)
            if value >= beta:
                return value, chosen
        return value, chosen

    def _min_value(self, state, player, alpha, beta):
        """MIN moves: the smallest value, or the first that is at most alpha."""
        value, chosen = inf, None
        for move in state.legal_moves():
            found, _ = self.value(state.after(move), player, alpha, beta)
            if found < value:
                value, chosen = found, move
                beta = min(beta, value)
            if value <= alpha:
                return value, chosen
        return value, chosen
