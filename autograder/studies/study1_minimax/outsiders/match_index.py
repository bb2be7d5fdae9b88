"""Tables inherit from Minimax; uses match statements, complete lists and `index`; caches best
moves.
"""

from itertools import compress
from random import Random

from tictactoe import NodeCounter, Search, counted


class Minimax:
    def choose(self, state): return self.search(state).move

    def search(self, state):
        with NodeCounter() as n:
            v, m = self._ask(state, state.to_move)
        return Search(m, v, n.visited)

    @counted
    def value(self, state, player):
        match bool(state.is_terminal()), bool(state.to_move == player):
            case True, _:
                return state.utility(player), None
            case False, True:
                extreme = max
            case False, False:
                extreme = min
        moves = [*state.legal_moves()]
        values = [self._ask(state.after(m), player)[0] for m in moves]
        return (v := extreme(values)), moves[values.index(v)]

    def _ask(self, state, player): return self.value(state, player)


class Tabular(Minimax):
    def __init__(self):
        self.table = {}

    def look_up(self, state, player):
        try:
            return self.table[state, player]
        except KeyError:
            pass
        self.table[state, player] = pair = self.value(state, player)
        return pair

    def _ask(self, state, player): return self.look_up(state, player)


class MixedTabular(Tabular):
    def __init__(self, seed=None):
        super().__init__()
        self.random, self._best = Random(seed), {}

    def choose(self, state):
        moves = self.best_moves(state)
        return self.random.choices(moves)[0]

    def best_moves(self, state):
        match self._best.get(state):
            case None:
                me, moves = state.to_move, state.legal_moves()
                v, _ = self.look_up(state, me)
                is_best = [self.look_up(state.after(m), me)[0] == v for m in moves]
                self._best[state] = tuple(compress(moves, is_best))
        return list(self._best[state])
