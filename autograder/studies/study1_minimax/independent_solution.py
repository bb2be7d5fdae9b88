"""Study 1: a second answer, written only from the students' text, with one loop for MAX and MIN.

A sign represents the player to move: +1 for MAX, -1 for MIN. Both maximise the value times their
sign, so there is only one branch.
"""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


def best_of(moves, value_after, sign):
    """The pair `(value, move)` of the first move with the largest `sign * value_after(move)`."""
    best_value, best_move = -sign * inf, None
    for move in moves:
        found = value_after(move)
        if sign * found > sign * best_value:
            best_value, best_move = found, move
    return best_value, best_move


def sign_of(state, player):
    """+1 if `player` is to move in `state`, -1 if the opponent is."""
    return 1 if state.to_move == player else -1


def count_search(ask, state):
    """The `Search` of the player to move, with the `(value, move)` that `ask(state, player)`
    returns."""
    with NodeCounter() as nodes:
        value, move = ask(state, state.to_move)
    return Search(move, value, nodes.visited)


class Minimax:
    """Searches the complete game tree (Russell and Norvig 2021, figure 5.3)."""

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
    """Minimax that computes every state once: `table[state, player]` stores `(value, move)`."""

    def __init__(self):
        self.table = {}

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Like `Minimax.search`, but `nodes` counts only states that were not in the table yet."""
        return count_search(self.look_up, state)

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`; the first call computes it."""
        try:
            return self.table[state, player]
        except KeyError:
            pass  # prevents an error in `value` from being chained to the KeyError
        entry = self.table[state, player] = self.value(state, player)
        return entry

    @counted
    def value(self, state, player):
        """Like `Minimax.value`, except that the successors' values come from `look_up`."""
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
        """One of `best_moves(state)`, drawn with `self.random`."""
        return self.random.choice(self.best_moves(state))

    def best_moves(self, state):
        """All moves whose value is the value of `state`, as a list in the order of `legal_moves()`."""
        player = state.to_move
        worth = {move: self.look_up(state.after(move), player)[0] for move in state.legal_moves()}
        largest = max(worth.values(), default=None)
        return [move for move, value in worth.items() if value == largest]
