"""Study 2, a second answer written from the students' text alone: negamax inside, MAX outside.

`value` speaks of MAX's view, as it must. Inside, a node is always seen by the player who moves
there: at a MIN node values and window change their sign on the way in and on the way out.
"""

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
        if state.to_move == player:
            return self._for_mover(
                state, lambda child, low, high: self.value(child, player, low, high)[0], alpha, beta
            )
        worth, move = self._for_mover(
            state,
            lambda child, low, high: -self.value(child, player, -high, -low)[0],
            -beta,
            -alpha,
        )
        return -worth, move

    @staticmethod
    def _for_mover(state, worth_of, low, high):
        """The best `(worth, move)` as the player to move in `state` sees it.

        `low` is what this player is sure of already, `high` what the other one will allow.
        """
        best, chosen = -inf, None
        for move in state.legal_moves():
            worth = worth_of(state.after(move), low, high)
            if worth > best:
                best, chosen = worth, move
            if best >= high:
                break
            low = max(low, best)
        return best, chosen
