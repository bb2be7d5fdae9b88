"""Right: search defines its own counted function inside; negamax, as (move, value)."""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


def count_search(ask, state):
    """`Search` for the player to move, whose `(value, move)` is found by `ask(state, player)`."""
    with NodeCounter() as nodes:
        value, move = ask(state, state.to_move)
    return Search(move, value, nodes.visited)


def negamax(state, player, known=None):
    """The pair `(value, move)` for `player`; `known` is a table of such pairs, or None."""
    def for_mover(node):
        """The pair (move, value) as the player to move in `node` sees it."""
        if node.is_terminal():
            return None, node.utility(node.to_move)
        best_move, best = None, -inf
        for move in node.legal_moves():
            child = node.after(move)
            worth = for_other(child)
            if worth > best:
                best_move, best = move, worth
        return best_move, best

    def for_other(child):
        """What `child` is worth to the player who has just moved."""
        if known is None:
            return -entered(child)[1]
        if (child, player) not in known:
            move, worth = entered(child)
            known[child, player] = (worth if child.to_move == player else -worth), move
        worth = known[child, player][0]
        return -worth if child.to_move == player else worth

    @counted
    def entered(node):
        return for_mover(node)

    move, worth = for_mover(state)
    return (worth if state.to_move == player else -worth), move


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
        return negamax(state, player)


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
        """As `Minimax.value`, except that the successors' values come from the table."""
        return negamax(state, player, self.table)


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
