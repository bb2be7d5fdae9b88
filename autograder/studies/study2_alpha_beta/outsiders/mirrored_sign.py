"""MIN is a mirror image of MAX, so one branch handles signed numbers; a cut returns the bound
reached.
"""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
    """Every node is evaluated from the view of its player to move.

    If sign is +1, MAX moves, numbers are unchanged, and the window is (alpha, beta). If it is -1,
    MIN moves; with all numbers negated, MIN also wants a large one, and the window is (-beta,
    -alpha). This applies only inside the method: arguments and results are always from MAX's view.
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
            move = next(moves, self)          # no move is an agent, so this means that none is left
            if move is self:
                return sign * best, best_move
            value = self._signed(state, move, player, sign, low, high)
            if value > best:
                best, best_move = value, move
        return sign * high, best_move         # a cut

    def _signed(self, state, move, player, sign, low, high):
        alpha, beta = (low, high) if sign == 1 else (-high, -low)
        return sign * self.value(state.after(move), player, alpha, beta)[0]
