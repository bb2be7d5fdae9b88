"""Study 2: a second answer, written only from the students' text, which uses negamax internally.

`value` returns values from MAX's view, as required. Internally, a node is evaluated from the view
of its player to move, so at a MIN node the window and the values change their sign.
"""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Minimax without the nodes that cannot matter (Russell and Norvig 2021, figure 5.7)."""

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
        """The best `(worth, move)` from the view of the player to move in `state`.

        `low` is the value of which this player is already sure, and `high` is the highest value
        that the other player will allow.
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
