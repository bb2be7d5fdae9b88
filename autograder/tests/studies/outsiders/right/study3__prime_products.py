"""A lane is a product of primes (own mark 2, foreign mark 3, empty 1); moves come from five buckets.

Study 3: Shannon's Type A agent. 4 is a lane with two own marks and nothing else, 2 one with one;
9 and 3 are the opponent's. Every other product is of no interest, however long the lanes are.
"""

from math import inf, prod

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def products(state, player):
    worth = {player: 2, opponent(player): 3, EMPTY: 1}
    return [prod([worth[state[cell]] for cell in lane]) for lane in state.lanes]


def lane_counts(state, player):
    numbers = products(state, player)
    return numbers.count(4), numbers.count(2)


def h(numbers):
    return 3 * numbers.count(4) + numbers.count(2) - 3 * numbers.count(9) - numbers.count(3)


def heuristic(state, player):
    return h(products(state, player)) / 10


def is_quiescent(state):
    numbers = products(state, "x")
    return 4 not in numbers and 9 not in numbers


class TypeA:
    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        moves = tuple(state.legal_moves())
        values = [self.value(state.after(move), player, depth + 1)[0] for move in moves]
        best = max(values) if state.to_move == player else min(values)
        return best, moves[values.index(best)]


def priority(state, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) > 0:
        return 1
    before, then = products(state, player), products(after, player)
    if then.count(9) < before.count(9):
        return 2
    change = h(then) - h(before)
    return 3 if change > 0 else 4 if change == 0 else 5


def by_priority(state):
    buckets = {number: [] for number in range(1, 6)}
    for move in sorted(state.legal_moves()):
        buckets[priority(state, move, state.to_move)].append(move)
    for bucket in buckets.values():
        yield from bucket


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        values, moves = [], []
        for move in self.order(state):
            value, _ = self.value(state.after(move), player, depth + 1, alpha, beta)
            values.append(value)
            moves.append(move)
            if state.to_move == player:
                if value >= beta:
                    break
                alpha = max(alpha, value)
            else:
                if value <= alpha:
                    break
                beta = min(beta, value)
        best = max(values) if state.to_move == player else min(values)
        return best, moves[values.index(best)]
