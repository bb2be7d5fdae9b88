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
        ### BEGIN SOLUTION
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move)
        return Search(move, value, nodes.visited)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        if state.is_terminal():
            return state.utility(player), None
        best_move = None
        if state.to_move == player:
            best = -inf
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), player)
                if value > best:
                    best, best_move = value, move
        else:
            best = inf
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), player)
                if value < best:
                    best, best_move = value, move
        return best, best_move
        ### END SOLUTION


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
        ### BEGIN SOLUTION
        with NodeCounter() as nodes:
            value, move = self.look_up(state, state.to_move)
        return Search(move, value, nodes.visited)
        ### END SOLUTION

    def look_up(self, state, player):
        """The table's `(value, move)` for `state` and `player`, computed on the first request.

        Hint: if the pair `(state, player)` is not a key of the table yet, call `value` and keep
        what it returns.
        """
        ### BEGIN SOLUTION
        if (state, player) not in self.table:
            self.table[state, player] = self.value(state, player)
        return self.table[state, player]
        ### END SOLUTION

    @counted
    def value(self, state, player):
        """As `Minimax.value`, except that the successors' values come from `look_up`.

        `look_up` alone fills the table, so after a call of `value` it holds the states below
        `state`, but not `state` itself.

        Hint: the two branches differ only in whether the largest or the smallest value wins; the
        built-in `max` and `min` return the *first* of equals when they are given a key.
        """
        ### BEGIN SOLUTION
        if state.is_terminal():
            return state.utility(player), None
        best = max if state.to_move == player else min
        entries = [
            (self.look_up(state.after(move), player)[0], move) for move in state.legal_moves()
        ]
        return best(entries, key=lambda entry: entry[0])
        ### END SOLUTION


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
        ### BEGIN SOLUTION
        return self.random.choice(self.best_moves(state))
        ### END SOLUTION

    def best_moves(self, state):
        """All moves whose value is the value of `state`, as a list in the order of `legal_moves()`.

        The values are looked up, so the table holds afterwards what `search(state)` leaves there.

        Hint: look up the value of the state, then keep the moves whose successor has that value,
        all from the view of the player to move in `state`.
        """
        ### BEGIN SOLUTION
        player = state.to_move
        best, _ = self.look_up(state, player)
        return [
            move
            for move in state.legal_moves()
            if self.look_up(state.after(move), player)[0] == best
        ]
        ### END SOLUTION
