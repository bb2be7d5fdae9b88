"""Study 2: alpha-beta search.

You complete this module. Notebook 2 explains every part; submit this file with the notebook.

The search uses a state only for the five questions that define a game. It therefore plays any game,
not just tic-tac-toe, and utilities may be any numbers, which are compared without rounding. The
checks also use trees of numbers, as in the notebook: `NumberTree` in `course.checks.toy_games`. Keep
the method `value` with its arguments: the checks also call it directly.
"""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Minimax without the nodes that cannot matter (Russell and Norvig 2021, figure 5.7)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`.

        The root's window is (-infinity, +infinity). `move` is the first best move in the order of
        `legal_moves()`, `value` is its value from the view of the player to move, and `nodes` is
        the number of nodes that this search visited, including the root.

        Hint: `value` can handle the root like any other MAX node.
        """
        raise NotImplementedError("AlphaBeta.search: write this method")

    @counted
    def value(self, state, player, alpha, beta):
        """Return `(value, move)` for `player` (MAX), searching inside the window (alpha, beta).

        `alpha` is the value that MAX is already sure of elsewhere, and `beta` is that of MIN.
        `player` need not be to move in `state`: if the opponent is to move, the best move is the
        opponent's. Of equally good moves, either player chooses the first. The move of a terminal
        state is None.

        After a cut, the value is only a bound. You may return the best value so far, or the alpha
        or beta that it has reached: the result of the search is the same.

        Hint: start from your minimax. When can a node return early, and how does each value change
        the window for the next child?
        """
        raise NotImplementedError("AlphaBeta.value: write this method")
