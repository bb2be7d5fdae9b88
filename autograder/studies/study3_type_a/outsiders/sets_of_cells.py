"""Sets of cells instead of loops over marks, a decision list for the priorities, explicit
iterators.

Study 3: Shannon's Type A agent.
"""

from math import inf

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent

NO_MORE = object()


def marks_of(state, player):
    """Two sets: the cells that the player has marked, and those that the opponent has."""
    cells = set().union(*state.lanes)
    foreign = opponent(player)
    return ({cell for cell in cells if state[cell] == player},
            {cell for cell in cells if state[cell] == foreign})


def owned(state, mine, theirs, number):
    """The numbers of the lanes with `number` cells in `mine` and none in `theirs`."""
    return {index for index, lane in enumerate(state.lanes)
            if theirs.isdisjoint(lane) and len(mine.intersection(lane)) == number}


def lane_counts(state, player):
    mine, theirs = marks_of(state, player)
    open_lanes = [lane for lane in state.lanes if theirs.isdisjoint(lane)]
    numbers = [len(mine.intersection(lane)) for lane in open_lanes]
    return numbers.count(2), numbers.count(1)


def in_tenths(state, player):
    p2, p1 = lane_counts(state, player)
    o2, o1 = lane_counts(state, opponent(player))
    return (3 * p2 + p1) - (3 * o2 + o1)


def heuristic(state, player):
    return in_tenths(state, player) / 10


def is_quiescent(state):
    xs, os = marks_of(state, "x")
    return not (owned(state, xs, os, 2) or owned(state, os, xs, 2))


class TypeA:
    def __init__(self, limit=2):
        self.limit = limit

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        nodes = NodeCounter()
        with nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit:
            if is_quiescent(state):
                return heuristic(state, player), None

        moves = iter(state.legal_moves())
        best_move = next(moves)
        best = self.value(state.after(best_move), player, depth + 1)[0]
        while (move := next(moves, NO_MORE)) is not NO_MORE:
            value = self.value(state.after(move), player, depth + 1)[0]
            if (value > best) if state.to_move == player else (value < best):
                best, best_move = value, move
        return best, best_move


# The first line that applies decides. Each function is called with the state before the move, the
# state after it, the player and the move.

def wins(before, after, player, move):
    return after.is_terminal() and after.utility(player) > 0


def blocks(before, after, player, move):
    mine, theirs = marks_of(before, player)
    return any(move in lane and mine.isdisjoint(lane) and len(theirs.intersection(lane)) == 2
               for lane in before.lanes)


def raises(before, after, player, move):
    return in_tenths(after, player) > in_tenths(before, player)


def keeps(before, after, player, move):
    return in_tenths(after, player) == in_tenths(before, player)


def otherwise(before, after, player, move):
    return True


DECISIONS = ((1, wins), (2, blocks), (3, raises), (4, keeps), (5, otherwise))


def priority(state, move, player):
    after = state.after(move)
    return next(number for number, applies in DECISIONS if applies(state, after, player, move))


def by_priority(state):
    left = {(priority(state, move, state.to_move), move) for move in state.legal_moves()}
    while left:
        first = min(left)
        left.remove(first)
        yield first[1]


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        nodes = NodeCounter()
        with nodes:
            value, move = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit:
            if is_quiescent(state):
                return heuristic(state, player), None

        moves = iter(self.order(state))
        best_move = next(moves)
        best = self.value(state.after(best_move), player, depth + 1, alpha, beta)[0]
        if state.to_move == player:
            while best < beta and (move := next(moves, NO_MORE)) is not NO_MORE:
                alpha = max(alpha, best)
                value = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
                if value > best:
                    best, best_move = value, move
        else:
            while best > alpha and (move := next(moves, NO_MORE)) is not NO_MORE:
                beta = min(beta, best)
                value = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
                if value < best:
                    best, best_move = value, move
        return best, best_move
