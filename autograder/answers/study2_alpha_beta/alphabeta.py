"""Study 2: alpha-beta search.

You fill in this module. Notebook 02 explains every part; hand in this file with the notebook.

The search asks a state only the five questions that make a game. So it plays any game, not just
tic-tac-toe, and its utilities may be any numbers. The checks also ask about trees of numbers, as in
the notebook: `NumberTree` in `course.probes.made_up`.
"""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Minimax without what cannot matter (Russell and Norvig 2021, figure 5.7)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`.

        The root's window is (-infinity, +infinity). `move` is the first best move in the order of
        `legal_moves()`, `value` its value from the view of the player to move, and `nodes` how many
        nodes this search visited, the root included.

        Hint: the root is an ordinary MAX node; let `value` handle it like any other.
        """
        ### BEGIN SOLUTION
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, -inf, inf)
        return Search(move, value, nodes.visited)
        ### END SOLUTION

    @counted
    def value(self, state, player, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta).

        `alpha` is what MAX is already sure of elsewhere, `beta` what MIN is. `player` need not be
        the one to move in `state`: where the opponent moves, the best move is the opponent's. The
        first of equally good moves counts, for either player. The move of a terminal state is None.

        After a cut the value is only a bound. Return the best value so far or the alpha or beta
        that it has reached, as you like: no search can tell the difference.

        Hint: begin with your minimax. A MAX node returns as soon as its value is at least beta, and
        otherwise raises alpha to its value; a MIN node returns as soon as its value is at most
        alpha, and otherwise lowers beta.
        """
        ### BEGIN SOLUTION
        if state.is_terminal():
            return state.utility(player), None
        best_move = None
        if state.to_move == player:
            best = -inf
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), player, alpha, beta)
                if value > best:
                    best, best_move = value, move
                if best >= beta:
                    break
                alpha = max(alpha, best)
        else:
            best = inf
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), player, alpha, beta)
                if value < best:
                    best, best_move = value, move
                if best <= alpha:
                    break
                beta = min(beta, best)
        return best, best_move
        ### END SOLUTION
