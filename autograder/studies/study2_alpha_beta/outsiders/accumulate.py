"""The loop over moves is a lazy `itertools.accumulate` of (window, best pair), which a cut ends.

Study 2: alpha-beta search.
"""

from itertools import accumulate
from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Minimax without the nodes that cannot matter."""

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, float("-inf"), inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        rest = iter(state.legal_moves())
        move = next(rest)
        value, _ = self.value(state.after(move), player, alpha, beta)

        # What is known after some of the moves: (alpha, beta, best value, best move). Nothing is
        # computed before it is requested, and nothing is requested after a cut.
        if state.to_move == player:
            def one_more(known, move):
                alpha, beta, best, best_move = known
                value, _ = self.value(state.after(move), player, alpha, beta)
                if value > best:
                    return max(alpha, value), beta, value, move
                return known

            for known in accumulate(rest, one_more,
                                    initial=(max(alpha, value), beta, value, move)):
                if known[2] >= beta:
                    break
        else:
            def one_more(known, move):
                alpha, beta, best, best_move = known
                value, _ = self.value(state.after(move), player, alpha, beta)
                if value < best:
                    return alpha, min(beta, value), value, move
                return known

            for known in accumulate(rest, one_more,
                                    initial=(alpha, min(beta, value), value, move)):
                if known[2] <= alpha:
                    break

        return known[2:]
