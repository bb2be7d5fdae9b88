"""Study 1: max_value and min_value as in the textbook; the counted method only dispatches."""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


class Minimax:
    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move)
        return Search(move=move, value=value, nodes=nodes.visited)

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return (state.utility(player), None)
        if state.to_move == player:
            return self._max_value(state, player)
        return self._min_value(state, player)

    def child_value(self, child, player):
        """The value of a successor; a subclass may look it up instead."""
        return self.value(child, player)[0]

    def _max_value(self, state, player):
        v, move = -inf, None
        for action in state.legal_moves():
            v2 = self.child_value(state.after(action), player)
            if v2 > v:
                v, move = v2, action
        return v, move

    def _min_value(self, state, player):
        v, move = inf, None
        for action in state.legal_moves():
            v2 = self.child_value(state.after(action), player)
            if v2 < v:
                v, move = v2, action
        return v, move


class Tabular(Minimax):
    def __init__(self):
        self.table = {}

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.look_up(state, state.to_move)
        return Search(move=move, value=value, nodes=nodes.visited)

    def look_up(self, state, player):
        entry = self.table.get((state, player))
        if entry is None:
            entry = self.table[(state, player)] = self.value(state, player)
        return entry

    def child_value(self, child, player):
        return self.look_up(child, player)[0]


class MixedTabular(Tabular):
    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        return self.random.choice(self.best_moves(state))

    def best_moves(self, state):
        player, best = state.to_move, self.look_up(state, state.to_move)[0]

        def is_best(move):
            return self.child_value(state.after(move), player) == best

        return list(filter(is_best, state.legal_moves()))
