"""The whole search is one expression: a `reduce` over the moves, in which finished nodes do not
change.

Study 2: alpha-beta search. The window has defaults, so the root needs none.
"""

from functools import reduce
from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    def choose(self, state):
        move, *_ = self.search(state)
        return move

    def search(self, state):
        with NodeCounter() as n:
            pair = self.value(state, state.to_move)
        return Search(pair[1], pair[0], n.visited)

    @counted
    def value(self, state, player, alpha=-inf, beta=inf):
        return (state.utility(player), None) if state.is_terminal() else reduce(
            self._max_step(state, player, alpha, beta) if state.to_move == player
            else self._min_step(state, player, alpha, beta), state.legal_moves(), None)

    def _max_step(self, state, player, alpha, beta):
        def step(best, move):
            # best is None before the first move, later the pair (value, move)
            if best and best[0] >= beta:
                return best
            low = max(alpha, best[0]) if best else alpha
            new = self.value(state.after(move), player, low, beta)[0], move
            return new if not best or new[0] > best[0] else best
        return step

    def _min_step(self, state, player, alpha, beta):
        def step(best, move):
            if best and best[0] <= alpha:
                return best
            high = min(beta, best[0]) if best else beta
            new = self.value(state.after(move), player, alpha, high)[0], move
            return new if not best or new[0] < best[0] else best
        return step
