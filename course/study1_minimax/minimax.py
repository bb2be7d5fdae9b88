"""Study 1: minimax, minimax with a table, and mixed play.

You complete this module. Notebook 1 explains every part; submit this file with the notebook.

The agents use a state only for the five questions in the notebook. They therefore play any such
game, not just tic-tac-toe, and utilities may be any numbers, which are compared without rounding.
The checks also use Connect Four and a made-up game, `NumberTree` in `course.checks.toy_games`. Keep
all methods, such as `value`: the checks also call them directly.
"""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


class Minimax:
    """Searches the complete game tree (Russell and Norvig 2021, figure 5.3)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`.

        `move` is the first best move in the order of `legal_moves()`, `value` is its value from the
        view of the player to move, and `nodes` is the number of nodes that this search visited,
        including the root.

        Hint: a `NodeCounter()` counts the nodes that are visited within its `with` statement.
        """
        raise NotImplementedError("Minimax.search: write this method")

    @counted
    def value(self, state, player):
        """Return `(value, move)`: the minimax value of `state` for `player`, and the best move.

        `player` is MAX, whether or not it is to move in `state`. If the opponent is to move, the
        best move is the opponent's. Of equally good moves, either player chooses the first. The
        move of a terminal state is None.

        Hint: the function calls itself for the successors, always with the same `player`.
        """
        raise NotImplementedError("Minimax.value: write this method")


class Tabular:
    """Minimax that computes every state once: `table[state, player]` stores `(value, move)`.

    A look-up in the table is not a node. A pair of state and player that is in the table adds no
    nodes; the same state for the other player is computed separately.
    """

    def __init__(self):
        self.table = {}

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Like `Minimax.search`, but `nodes` counts only states that were not in the table yet.

        Hint: which method must the root use, so that a second search of the same state visits no
        node?
        """
        raise NotImplementedError("Tabular.search: write this method")

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`, which is computed on the first
        call.

        """
        raise NotImplementedError("Tabular.look_up: write this method")

    @counted
    def value(self, state, player):
        """Like `Minimax.value`, except that the successors' values come from `look_up`.

        After a call of `value`, the table therefore contains every state below `state`.

        Hint: of equal items, the built-in functions `max` and `min` return the *first* if they are
        called with a key.
        """
        raise NotImplementedError("Tabular.value: write this method")


class MixedTabular(Tabular):
    """Plays a mixed strategy: any of the best moves, each with the same probability.

    Only `self.random` determines which. The same seed gives the same moves, whatever other agents
    do.
    """

    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        """One of `best_moves(state)`, drawn with `self.random`; the game is not over.

        Hint: `random.Random` has a method that draws from a list.
        """
        raise NotImplementedError("MixedTabular.choose: write this method")

    def best_moves(self, state):
        """All moves whose value is the value of `state`, as a list in the order of `legal_moves()`.

        The values are looked up, so afterwards the table contains every state below `state`.

        Hint: compare values from the view of the same player, the one to move in `state`.
        """
        raise NotImplementedError("MixedTabular.best_moves: write this method")
