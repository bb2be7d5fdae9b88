"""Study 2: alpha-beta search, fail-hard: after a cut, the result is the alpha or beta reached."""

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
        is_max = state.to_move == player
        chosen, best = None, None
        for move in state.legal_moves():
            v = self.value(state.after(move), player, alpha, beta)[0]
            if best is None or (v > best if is_max else v < best):
                best, chosen = v, move
            if is_max and best >= beta:
                return beta, chosen
            if not is_max and best <= alpha:
                return alpha, chosen
            if is_max:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
        return best, chosen
