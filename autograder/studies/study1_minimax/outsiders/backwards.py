"""Examines the moves from last to first (so a tie REPLACES), and counts nodes in its own attribute."""
import random

from tictactoe import Search, counted


class Minimax:
    def __init__(self):
        self.visited = 0      # all nodes of all searches of this agent so far

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        before = self.visited
        value, move = self.value(state, state.to_move)
        return Search(move, value, self.visited - before)

    @counted
    def value(self, state, player):
        self.visited += 1

        if state.is_terminal():
            return (state.utility(player), None)

        # From right to left: a move that comes later is further to the left in legal_moves(), so it
        # has to win a tie.
        rest = list(state.legal_moves())
        best_move = rest.pop()
        best, _ = self.value(state.after(best_move), player)

        if state.to_move == player:
            while rest:
                move = rest.pop()
                value, _ = self.value(state.after(move), player)
                if value >= best:
                    best = value
                    best_move = move
        else:
            while rest:
                move = rest.pop()
                value, _ = self.value(state.after(move), player)
                if value <= best:
                    best = value
                    best_move = move

        return (best, best_move)


class Tabular:
    def __init__(self):
        self.table = {}
        self.visited = 0

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        before = self.visited
        value, move = self.look_up(state, state.to_move)
        return Search(move, value, self.visited - before)

    def look_up(self, state, player):
        if (state, player) in self.table:
            return self.table[(state, player)]
        pair = self.value(state, player)
        self.table[(state, player)] = pair
        return pair

    @counted
    def value(self, state, player):
        self.visited += 1

        if state.is_terminal():
            return (state.utility(player), None)

        i_am_max = state.to_move == player
        first = True
        for move in reversed(state.legal_moves()):
            value, _ = self.look_up(state.after(move), player)
            if first:
                take_it = True
                first = False
            elif i_am_max:
                take_it = not value < best
            else:
                take_it = not value > best
            if take_it:
                best, best_move = value, move

        return (best, best_move)


class MixedTabular(Tabular):
    def __init__(self, seed=None):
        Tabular.__init__(self)
        self.random = random.Random(seed)

    def choose(self, state):
        return self.random.sample(self.best_moves(state), 1)[0]

    def best_moves(self, state):
        player = state.to_move
        result = []
        for move in state.legal_moves():
            value = self.look_up(state.after(move), player)[0]
            if not result or value > best:
                best = value
                result = [move]
            elif value == best:
                result.append(move)
        return result
