"""MIN is MAX in a mirror: one branch on signed numbers; after a cut it returns the bound it reached."""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Every node is looked at from the side of the one who moves there.

    sign = +1: MAX moves, numbers are as they are, and the window is (alpha, beta).
    sign = -1: MIN moves. Turn all numbers round and MIN wants a large one, too. Then the window
    is (-beta, -alpha). Only inside this method: what goes in and out is always in MAX's numbers.
    """

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None

        sign = 1 if state.to_move == player else -1
        low, high = (alpha, beta) if sign == 1 else (-beta, -alpha)
        moves = iter(state.legal_moves())

        best_move = next(moves)
        best = self._signed(state, best_move, player, sign, low, high)
        while best < high:
            low = max(low, best)
            move = next(moves, self)          # no move is an agent, so this says: no more
            if move is self:
                return sign * best, best_move
            value = self._signed(state, move, player, sign, low, high)
            if value > best:
                best, best_move = value, move
        return sign * high, best_move         # a cut

    def _signed(self, state, move, player, sign, low, high):
        alpha, beta = (low, high) if sign == 1 else (-high, -low)
        return sign * self.value(state.after(move), player, alpha, beta)[0]
