"""Right: a cut returns the bound, not the value: search finds and counts the same."""

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
        """Return `(value, move)` for `player` (MAX); beyond the window the value is its end."""
        if state.is_terminal():
            return state.utility(player), None
        chosen = None
        for move in state.legal_moves():
            found = self.value(state.after(move), player, alpha, beta)[0]
            if state.to_move == player and found > alpha:
                alpha, chosen = found, move
            elif state.to_move != player and found < beta:
                beta, chosen = found, move
            if alpha >= beta:
                break
        return (alpha if state.to_move == player else beta), chosen

