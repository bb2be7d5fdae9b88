"""A node is a dict {move: score}; `Tabular.value` writes its own entry; moves are drawn until one
is best.

Study 1: minimax, minimax with a table, and mixed play.
"""
from random import Random

from tictactoe import NodeCounter, Search, counted


def arg_best(scores, maximise):
    """(score, move) of the first best move; a dict keeps the order of legal_moves()."""
    best = (max if maximise else min)(scores, key=scores.get)
    return scores[best], best


class Minimax:
    choose = lambda self, state: self.search(state).move

    def search(self, state):
        with NodeCounter() as counter:
            answer = self.value(state, state.to_move)
        return Search(answer[1], answer[0], counter.visited)

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return state.utility(player), None
        scores = {}
        for move in state.legal_moves():
            scores[move], _ = self.value(state.after(move), player)
        return arg_best(scores, state.to_move == player)


class Tabular:
    choose = lambda self, state: self.search(state).move

    def __init__(self):
        self.table = {}

    def search(self, state):
        with NodeCounter() as counter:
            answer = self.look_up(state, state.to_move)
        return Search(answer[1], answer[0], counter.visited)

    def look_up(self, state, player):
        return self.table.get((state, player)) or self.value(state, player)

    @counted
    def value(self, state, player):
        # Every result goes into the table, whichever method requested it.
        if state.is_terminal():
            answer = state.utility(player), None
        else:
            scores = {}
            for move in state.legal_moves():
                scores[move] = self.look_up(state.after(move), player)[0]
            answer = arg_best(scores, state.to_move == player)
        self.table[state, player] = answer
        return answer


class MixedTabular(Tabular):
    def __init__(self, seed=None):
        super().__init__()
        self.random = Random(seed)

    def choose(self, state):
        moves, best = state.legal_moves(), self.best_moves(state)
        while True:                                     # all best moves are equally likely
            move = moves[int(self.random.random() * len(moves))]
            if move in best:
                return move

    def best_moves(self, state):
        me = state.to_move
        scores = {move: self.look_up(state.after(move), me)[0] for move in state.legal_moves()}
        best = max(scores.values())
        return [move for move in scores if scores[move] == best]
