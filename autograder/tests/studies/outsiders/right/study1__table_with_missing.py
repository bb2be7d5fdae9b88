"""Right: the table is a dict whose `__missing__` computes; generators of pairs."""

from operator import itemgetter

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


class Table(dict):
    """Computes an entry on the first request."""

    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    def __missing__(self, key):
        entry = self[key] = self.compute(*key)
        return entry


def best_of(state, player, pairs):
    """The first pair of the best value among `pairs` of value and move."""
    pick = max if state.to_move == player else min
    return pick(pairs, key=itemgetter(0))


def count_search(ask, state):
    """`Search` for the player to move, whose `(value, move)` is found by `ask(state, player)`."""
    with NodeCounter() as nodes:
        value, move = ask(state, state.to_move)
    return Search(move, value, nodes.visited)


class Minimax:
    """Searches the whole game tree (Russell and Norvig, 4th edition, figure 5.3)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`."""
        return count_search(self.value, state)

    @counted
    def value(self, state, player):
        """Return `(value, move)`: the minimax value of `state` for `player`, and the best move."""
        if state.is_terminal():
            return state.utility(player), None
        return best_of(state, player, ((self.value(state.after(move), player)[0], move)
                                       for move in state.legal_moves()))


class Tabular:
    """Minimax that computes every state once: `table[state, player]` keeps `(value, move)`."""

    def __init__(self):
        self.table = Table(self.value)

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """As `Minimax.search`, with `nodes` counting only what the table did not know yet."""
        return count_search(self.look_up, state)

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`, computed on the first request."""
        return self.table[state, player]

    @counted
    def value(self, state, player):
        """As `Minimax.value`, except that the successors' values come from `look_up`."""
        if state.is_terminal():
            return state.utility(player), None
        return best_of(state, player, ((self.look_up(state.after(move), player)[0], move)
                                       for move in state.legal_moves()))


class MixedTabular(Tabular):
    """Plays a mixed strategy: any of the best moves, each with the same probability."""

    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        """One of `best_moves(state)`, drawn by `self.random`."""
        return self.random.choice(self.best_moves(state))

    def best_moves(self, state):
        """All moves whose value is the value of `state`, as a list in board order."""
        player = state.to_move
        wanted, _ = self.look_up(state, player)
        return list(filter(lambda move: self.look_up(state.after(move), player)[0] == wanted,
                           state.legal_moves()))
