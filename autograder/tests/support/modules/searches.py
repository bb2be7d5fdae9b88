"""Searching agents for tests: correct, pruning, failing and wrong ones, and positions for them."""

from math import inf

from tictactoe import Board, NodeCounter, Search, counted
from tictactoe.solver import values

FORK = Board("xoox__ox_")  # x to move: 4 blocks and makes two threats, 5 and 8 lose immediately
SMALL = sorted(
    (b for b in values() if b.text.count("_") <= 4 and not b.is_terminal()),
    key=lambda board: board.text,
)


class Full:
    """Minimax in as few lines as possible, as negamax, with the values from MAX's view."""

    def search(self, state):
        with NodeCounter() as nodes:
            value = self.value(state, state.to_move)
        return Search(None, value, nodes.visited)

    @counted
    def value(self, state, player):
        if state.is_terminal():
            return state.utility(player)
        pick = max if state.to_move == player else min
        return pick(self.value(state.after(move), player) for move in self.order(state))

    def order(self, state):
        return state.legal_moves()


class Backwards(Full):
    """The same, with the last move first."""

    def order(self, state):
        return reversed(state.legal_moves())


class Pruning(Full):
    """Alpha-beta in an unreadable form that still counts correctly."""

    def search(self, state):
        return self.value(state, state.to_move, -inf, inf)

    @counted
    def value(self, state, player, alpha, beta):
        if state.is_terminal():
            return state.utility(player)
        sign, best = (1, -inf) if state.to_move == player else (-1, inf)
        for move in state.legal_moves():
            value = self.value(state.after(move), player, alpha, beta)
            best = sign * max(sign * best, sign * value)
            if (best >= beta) if sign > 0 else (best <= alpha):
                break
            alpha, beta = (max(alpha, best), beta) if sign > 0 else (alpha, min(beta, best))
        return best


class Broken(Full):
    """Fails at the state with that many empty cells."""

    def __init__(self, open_cells, error=ZeroDivisionError):
        self.open_cells, self.error = open_cells, error

    def order(self, state):
        if state.text.count("_") == self.open_cells:
            raise self.error("oh")
        return state.legal_moves()


class NoRoot(Full):
    """Calls its value function for each move but not for the root: a common mistake."""

    def search(self, state):
        return [self.value(state.after(move), state.to_move) for move in state.legal_moves()]
