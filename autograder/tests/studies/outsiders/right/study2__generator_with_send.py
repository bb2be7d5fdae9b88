"""Right: a generator hands out successors with the window and is sent values."""

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
        asking = self._asking(state, state.to_move == player, alpha, beta)
        answer = None
        while True:
            try:
                child, low, high = asking.send(answer)
            except StopIteration as end:
                return end.value
            answer, _ = self.value(child, player, low, high)

    @staticmethod
    def _asking(state, maximises, alpha, beta):
        """Yields `(successor, alpha, beta)`, is sent its value, and returns `(value, move)`."""
        best, chosen = (-inf if maximises else inf), None
        for move in state.legal_moves():
            found = yield state.after(move), alpha, beta
            if (found > best) if maximises else (found < best):
                best, chosen = found, move
            if (best >= beta) if maximises else (best <= alpha):
                break
            alpha, beta = (max(alpha, best), beta) if maximises else (alpha, min(beta, best))
        return best, chosen
