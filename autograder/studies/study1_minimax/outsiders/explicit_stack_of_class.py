"""Study 1: minimax with a stack of frames instead of recursion."""

import random
from dataclasses import dataclass, field

from tictactoe import NodeCounter, Search, counted


@dataclass
class Frame:
    """A node that is being searched."""

    state: object
    moves: list
    came_by: object = None
    tried: list = field(default_factory=list)  # pairs (value, move)


class Minimax:
    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player):
        stack = [Frame(state, list(state.legal_moves()))]
        while True:
            frame = stack[-1]
            if frame.moves:
                move = frame.moves.pop(0)
                stack.append(self._enter(frame.state.after(move), move))
                continue
            result = self._result(frame, player)
            stack.pop()
            if not stack:
                return result
            stack[-1].tried.append((result[0], frame.came_by))

    @counted
    def _enter(self, state, move):
        return Frame(state, list(state.legal_moves()), move)

    def _result(self, frame, player):
        if frame.state.is_terminal():
            return frame.state.utility(player), None
        best = frame.tried[0]
        for pair in frame.tried[1:]:
            better = pair[0] > best[0] if frame.state.to_move == player else pair[0] < best[0]
            if better:
                best = pair
        return best


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
        key = state, player
        if key in self.table:
            return self.table[key]
        result = self.value(*key)
        self.table[key] = result
        return result

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return state.utility(player), None
        is_max = state.to_move == player
        ranked = sorted(
            ((self.look_up(state.after(move), player)[0], move) for move in state.legal_moves()),
            key=lambda pair: -pair[0] if is_max else pair[0],
        )  # stable: equal values stay in the order of the moves
        return ranked[0]


class MixedTabular(Tabular):
    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        best = self.best_moves(state)
        return best[int(self.random.random() * len(best))]

    def best_moves(self, state):
        player = state.to_move
        wanted, _ = self.look_up(state, player)
        found = []
        for move in state.legal_moves():
            value, _ = self.look_up(state.after(move), player)
            found += [move] * (value == wanted)
        return found
