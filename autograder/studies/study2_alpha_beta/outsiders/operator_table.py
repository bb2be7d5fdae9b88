"""One branch for both players: the window is a list of two, and a table states who uses which end."""
from math import inf
from operator import ge, gt, le, lt

from tictactoe import NodeCounter, Search, counted

ALPHA, BETA = 0, 1

#            better  reached  own end  the other's end
MAX_RULES = (gt,     ge,      ALPHA,   BETA)
MIN_RULES = (lt,     le,      BETA,    ALPHA)


class AlphaBeta:
    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as counter:
            value, move = self.value(state, state.to_move, -inf, +inf)
        return Search(move, value, counter.visited)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None

        better, reached, own, other = MAX_RULES if state.to_move == player else MIN_RULES
        window = [alpha, beta]
        result = ()
        for move in state.legal_moves():
            number, _ = self.value(state.after(move), player, *window)
            if not result or better(number, result[0]):
                result = number, move
                if reached(number, window[other]):
                    break
                if better(number, window[own]):
                    window[own] = number
        return result
