"""Study 2: alpha-beta search. Both players share one loop, with the signs of negamax."""

from math import inf

from tictactoe import NodeCounter, Search, counted


class AlphaBeta:
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
        if state.to_move == player:
            return self.best_for_mover(state, player, 1, alpha, beta)
        score, move = self.best_for_mover(state, player, -1, -beta, -alpha)
        return -score, move

    def best_for_mover(self, state, player, sign, low, high):
        """Score and move from the mover's view, inside the mover's window (low, high)."""
        best, choice = -inf, None
        for move in state.legal_moves():
            window = (low, high) if sign > 0 else (-high, -low)
            score = sign * self.value(state.after(move), player, *window)[0]
            if score > best:
                best, choice = score, move
                if best >= high:
                    break
                low = max(low, best)
        return best, choice
