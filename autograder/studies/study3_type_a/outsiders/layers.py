"""TypeA builds the tree layer by layer and backs it up from the deepest one; lanes omit empty
cells.

Study 3: Shannon's Type A agent. `value` is called once for every node, but not by the node above
it: the call for the root creates all layers, then calls `value` for the nodes from the deepest
layer up, with the results of their successors as an additional argument.
"""

from bisect import insort
from math import inf
from operator import itemgetter

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


def contents(state):
    """The marks of each lane, without the empty cells."""
    return [[state[cell] for cell in lane if state[cell] != EMPTY] for lane in state.lanes]


def counts(lanes, player):
    return lanes.count([player] * 2), lanes.count([player])


def h_of(lanes, player):
    (p2, p1), (o2, o1) = counts(lanes, player), counts(lanes, opponent(player))
    return 3 * p2 + p1 - 3 * o2 - o1


def lane_counts(state, player):
    return counts(contents(state), player)


def heuristic(state, player):
    return h_of(contents(state), player) / 10


def is_quiescent(state):
    lanes = contents(state)
    return ["x", "x"] not in lanes and ["o", "o"] not in lanes


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
    def value(self, state, player, depth, below=None):
        """`below` contains the (value, move) pairs of the successors; none for a state that is cut
        off.
        """
        if state.is_terminal():
            return state.utility(player), None
        if below is None:
            below = self.look_below(state, player, depth)
        if not below:
            return heuristic(state, player), None
        return (max if state.to_move == player else min)(below, key=itemgetter(0))

    def moves(self, state, depth):
        """The moves that are searched."""
        if state.is_terminal() or depth >= self.limit and is_quiescent(state):
            return ()
        return state.legal_moves()

    def look_below(self, root, player, depth):
        layers = [[(root, self.moves(root, depth))]]
        while layers[-1]:
            at = depth + len(layers)
            children = (state.after(move) for state, moves in layers[-1] for move in moves)
            layers.append([(child, self.moves(child, at)) for child in children])

        values = iter(())
        for number in range(len(layers) - 1, 0, -1):
            found = []
            for state, moves in layers[number]:
                pairs = [(next(values), move) for move in moves]
                found.append(self.value(state, player, depth + number, pairs)[0])
            values = iter(found)
        return [(next(values), move) for move in layers[0][0][1]]


def priority(state, move, player):
    return rank(state, contents(state), move, player)


def rank(state, before, move, player):
    after = state.after(move)
    if after.is_terminal() and after.utility(player) == 1:
        return 1
    then, pair = contents(after), [opponent(player)] * 2
    if then.count(pair) != before.count(pair):
        return 2
    old, new = h_of(before, player), h_of(then, player)
    return [4, 3, 5][(new > old) - (new < old)]


def by_priority(state):
    before, line = contents(state), []
    for move in state.legal_moves():
        insort(line, (rank(state, before, move, state.to_move), move))
    for _, move in line:
        yield move


class TypeAPlus:
    def __init__(self, limit=2, order=by_priority):
        self.limit = limit
        self.order = order

    def choose(self, state):
        return self.search(state).move

    def search(self, state):
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0, -inf, +inf)
        return Search(move, value, nodes.visited)

    @counted
    def value(self, state, player, depth, alpha, beta):
        if state.is_terminal():
            return state.utility(player), None
        if depth >= self.limit and is_quiescent(state):
            return heuristic(state, player), None
        maximise = state.to_move == player
        best = None
        for move in self.order(state):
            value = self.value(state.after(move), player, depth + 1, alpha, beta)[0]
            if best and not (value > best[0] if maximise else value < best[0]):
                continue
            best = value, move
            if maximise:
                if value >= beta:
                    return beta, move        # the bound that was reached
                alpha = max(alpha, value)
            else:
                if value <= alpha:
                    return alpha, move
                beta = min(beta, value)
        return best
