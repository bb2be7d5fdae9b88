"""Study 2: alpha-beta search. A generator offers the children; the node sends back its window."""

from math import inf

from tictactoe import NodeCounter, Search, counted


def narrowed(window, value, is_max):
    """The window of the next child after a child with this value."""
    alpha, beta = window
    return (max(alpha, value), beta) if is_max else (alpha, min(beta, value))


def is_cut(window, value, is_max):
    """Whether a node with this best value can return."""
    alpha, beta = window
    return value >= beta if is_max else value <= alpha


class AlphaBeta:
    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            found = self.value(state, state.to_move, -inf, inf)
        return Search(found[1], found[0], nodes.visited)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        is_max, results = state.to_move == player, []
        children = self._results(state, player, is_max, (alpha, beta))
        results.extend(children)
        pick = max if is_max else min
        return pick(results, key=lambda result: result[0])

    def _results(self, state, player, is_max, window):
        for move in state.legal_moves():
            value = self.value(state.after(move), player, *window)[0]
            yield value, move
            if is_cut(window, value, is_max):
                return
            window = narrowed(window, value, is_max)
