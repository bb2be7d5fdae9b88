"""Study 1: minimax, minimax with a table, and mixed play.

You fill in this module. Notebook 01 explains every part; hand in this file with the notebook.

The agents ask a state only the five questions of the notebook. So they play any such game, not just
tic-tac-toe, and its utilities may be any numbers. The checks also ask about a made-up game,
`NumberTree` in `course.probes.made_up`.
"""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


class Minimax:
    """Searches the whole game tree (Russell and Norvig 2021, figure 5.3)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """Search from `state` and return `Search(move, value, nodes)`.

        `move` is the first best move in the order of `legal_moves()`, `value` its value from the
        view of the player to move, and `nodes` how many nodes this search visited, the root
        included.

        Hint: open a `NodeCounter()` in a `with` statement, call `value` on the root inside it, and
        read the counter's `visited`.
        """
        raise NotImplementedError("Minimax.search: write this method")

    @counted
    def value(self, state, player):
        """Return `(value, move)`: the minimax value of `state` for `player`, and the best move.

        `player` is MAX, whether or not it is to move in `state`. Where the opponent moves, the best
        move is the opponent's. The first of equally good moves counts, for either player. The move
        of a terminal state is None.

        Hint: three cases. A terminal state has its utility for `player`. Where `player` moves, the
        value is the largest among the successors; where the opponent moves, the smallest. Replace
        the best move only when a value is strictly better.
        """
        raise NotImplementedError("Minimax.value: write this method")


class Tabular:
    """Minimax that computes every state once: `table[state, player]` keeps `(value, move)`.

    A look-up in the table is not a node. A pair of state and player that is in the table costs
    nothing; the same state asked for the other player is computed anew.
    """

    def __init__(self):
        self.table = {}

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state):
        """As `Minimax.search`, with `nodes` counting only what the table did not know yet.

        Hint: the same three lines as in `Minimax`, with `look_up` in the place of `value`.
        """
        raise NotImplementedError("Tabular.search: write this method")

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`, computed on the first request.

        Hint: if the pair `(state, player)` is not a key of the table yet, call `value` and keep
        what it returns.
        """
        raise NotImplementedError("Tabular.look_up: write this method")

    @counted
    def value(self, state, player):
        """As `Minimax.value`, except that the successors' values come from `look_up`.

        `look_up` alone fills the table, so after a call of `value` it holds the states below
        `state`, but not `state` itself.

        Hint: the two branches differ only in whether the largest or the smallest value wins; the
        built-in `max` and `min` return the *first* of equals when they are given a key.
        """
        raise NotImplementedError("Tabular.value: write this method")


class MixedTabular(Tabular):
    """Plays a mixed strategy: any of the best moves, each with the same probability.

    Only `self.random` decides which. The same seed gives the same moves, whatever other agents do.
    """

    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        """One of `best_moves(state)`, drawn by `self.random`; the game is not over.

        Hint: `random.Random` has a method that draws from a list.
        """
        raise NotImplementedError("MixedTabular.choose: write this method")

    def best_moves(self, state):
        """All moves whose value is the value of `state`, as a list in the order of `legal_moves()`.

        The values are looked up, so the table holds afterwards what `search(state)` leaves there.

        Hint: look up the value of the state, then keep the moves whose successor has that value,
        all from the view of the player to move in `state`.
        """
        raise NotImplementedError("MixedTabular.best_moves: write this method")
