"""Right: no recursion: a stack of half-finished nodes, and a counted step into each."""

import random
from math import inf

from tictactoe import NodeCounter, Search, counted


def walk(root, player, enter, table, keep):
    """Minimax from `root` with a stack of `[state, moves left, best value, best move]`."""
    def opened(state):
        if state.is_terminal():
            return [state, iter(()), state.utility(player), None]
        return [state, iter(state.legal_moves()), None, None]

    stack, came_by = [opened(root)], []
    while True:
        node = stack[-1]
        state = node[0]
        move = next(node[1], None)
        if move is not None:
            child = state.after(move)
            if keep and (child, player) in table:
                offer(node, table[child, player][0], move, player)
            else:
                enter(child)
                stack.append(opened(child))
                came_by.append(move)
            continue
        stack.pop()
        found = (node[2], node[3])
        if not stack:
            return found  # `look_up` keeps the root
        if keep:
            table[state, player] = found
        offer(stack[-1], node[2], came_by.pop(), player)


def offer(node, value, move, player):
    """Take `move` as the node's best if it is the first, or strictly better."""
    state, _, best, _ = node
    if best is None or (value > best if state.to_move == player else value < best):
        node[2:] = value, move


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
        return walk(state, player, self._enter, {}, keep=False)

    @counted
    def _enter(self, state):
        """One more node; the root is counted by `value`."""


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
        """As `Minimax.value`, except that successors in the table are not entered."""
        return walk(state, player, self._enter, self.table, keep=True)

    @counted
    def _enter(self, state):
        """One more state that is computed; the first is counted by `value`."""


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
