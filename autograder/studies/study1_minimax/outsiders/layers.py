"""The tree is built layer by layer and then backed up from the deepest layer, without recursion.

Study 1: minimax, minimax with a table, and mixed play.

`value` is nevertheless called once for every node. The call for the root gets no results of its
successors, so it creates all layers below, and calls `value` for each of their nodes, the deepest
layer first, with the results of the successors as a third argument.
"""

import random
from operator import itemgetter

from tictactoe import NodeCounter, Search, counted

by_value = itemgetter(0)


def moves_of(state):
    return () if state.is_terminal() else state.legal_moves()


def best_of(pairs, state, player):
    """The first of the best (value, move) pairs for the player to move in `state`."""
    if state.to_move == player:
        return max(pairs, key=by_value)
    return min(pairs, key=by_value)


class Minimax:

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, below=None):
        """`below` contains the successors as (value, move) pairs, if they are already known."""
        if state.is_terminal():
            return state.utility(player), None
        if below is None:
            below = self._from_below(state, player)
        return best_of(below, state, player)

    def _from_below(self, root, player):
        # 1. down: every layer is a list of states in which the children of a state are adjacent
        layers = []
        layer = [root]
        while layer:
            layers.append(layer)
            layer = [state.after(move) for state in layer for move in moves_of(state)]
        # 2. up: the layer above consumes the values of a layer in the same order
        values = iter(())
        for layer in layers[:0:-1]:
            found = []
            for state in layer:
                pairs = [(next(values), move) for move in moves_of(state)]
                found.append(self.value(state, player, pairs)[0])
            values = iter(found)
        return [(next(values), move) for move in moves_of(root)]


class Tabular:

    def __init__(self):
        self.table = {}

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.look_up(state, state.to_move)
        return Search(move, value, nodes.visited)

    def look_up(self, state, player):
        # A state is computed once all of its successors are in the table.
        table = self.table
        waiting = [state]
        while waiting:
            last = waiting[-1]
            if (last, player) not in table:
                missing = [child for child in map(last.after, moves_of(last))
                           if (child, player) not in table]
                if missing:
                    waiting += missing
                    continue
                table[last, player] = self.value(last, player)
            waiting.pop()
        return table[state, player]

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return state.utility(player), None
        pairs = [(self.look_up(state.after(move), player)[0], move)
                 for move in state.legal_moves()]
        return best_of(pairs, state, player)


class MixedTabular(Tabular):

    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        moves = self.best_moves(state)
        return moves[self.random.randrange(len(moves))]

    def best_moves(self, state):
        player = state.to_move
        value, _ = self.look_up(state, player)
        moves = state.legal_moves()
        values = (self.look_up(state.after(move), player)[0] for move in moves)
        return [move for move, found in zip(moves, values) if found == value]
