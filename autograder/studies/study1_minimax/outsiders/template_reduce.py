"""One template class for all agents, which differ in how they `reach` a child; `reduce` selects
moves.

Study 1: minimax, minimax with a table, and mixed play.
"""

import operator
import random
from functools import reduce

from tictactoe import NodeCounter, Search, counted


class GameTreeSearch:
    """The common part of the agents, which differ in `reach`, that is, in how a node gets its pair."""

    def reach(self, state, player):
        raise NotImplementedError

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        counter = NodeCounter()
        with counter:
            pair = self.reach(state, state.to_move)
        return Search(*reversed(pair), counter.visited)

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return state.utility(player), None

        better = operator.gt if state.to_move == player else operator.lt
        reach = self.reach

        def duel(champion, challenger):
            return challenger if better(challenger[0], champion[0]) else champion

        return reduce(duel, ((reach(state.after(move), player)[0], move)
                             for move in state.legal_moves()))


class Minimax(GameTreeSearch):
    """Searches every node each time."""

    def reach(self, state, player):
        return self.value(state, player)


class Tabular(GameTreeSearch):
    """Searches every node once."""

    def __init__(self):
        self.table = {}

    def look_up(self, state, player):
        if (state, player) not in self.table:
            self.table[state, player] = self.value(state, player)
        return self.table[state, player]

    reach = look_up


class MixedTabular(Tabular):
    """Plays each of the best moves from time to time."""

    def __init__(self, seed=None):
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        moves = self.best_moves(state)
        self.random.shuffle(moves)
        return moves.pop()

    def best_moves(self, state):
        mover = state.to_move
        goal = self.look_up(state, mover)[0]

        def is_best(move):
            return self.look_up(state.after(move), mover)[0] == goal

        return list(filter(is_best, state.legal_moves()))
