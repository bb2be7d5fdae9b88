"""Study 1, a second answer written from the students' text alone: one loop for MAX and MIN.

A sign says who moves: +1 where MAX moves, -1 where MIN does. Both look for the largest value
times their sign, so there is only one branch.
"""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


def best_of(moves, value_after, sign):
    """The pair `(value, move)` for the first move with the largest `sign * value_after(move)`."""
    best_value, best_move = -sign * inf, None
    for move in moves:
        found = value_after(move)
        if sign * found > sign * best_value:
            best_value, best_move = found, move
    return best_value, best_move


def sign_of(state, player):
    """+1 where `player` is to move in `state`, -1 where the opponent is."""
    return 1 if state.to_move == player else -1


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
        return best_of(
            state.legal_moves(),
            lambda move: self.value(state.after(move), player)[0],
            sign_of(state, player),
        )


class Tabular:
    """Minimax that computes every state once: `table[state, player]` keeps `(value, move)`."""

    def __init__(self):
        self.table = {}

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """As `Minimax.search`, with `nodes` counting only what the table did not know yet."""
        return count_search(self.look_up, state)

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`, computed on the first request."""
        try:
            return self.table[state, player]
        except KeyError:
            pass  # so that an error in `value` does not drag the KeyError along
        entry = self.table[state, player] = self.value(state, player)
        return entry

    @counted
    def value(self, state, player):
        """As `Minimax.value`, except that the successors' values come from `look_up`."""
        if state.is_terminal():
            return state.utility(player), None
        return best_of(
            state.legal_moves(),
            lambda move: self.look_up(state.after(move), player)[0],
            sign_of(state, player),
        )


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
        worth = {move: self.look_up(state.after(move), player)[0] for move in state.legal_moves()}
        largest = max(worth.values(), default=None)
        return [move for move, value in worth.items() if value == largest]
