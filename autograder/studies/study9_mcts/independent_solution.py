"""Study 9: a second answer, written only from the students' text, with one descent of the tree.

The `select` and `expand` methods of both trees share a step, and nodes are compared by a table of
bounds. Totals are added up along a list on the way back.
"""

import math
import random
from typing import NamedTuple

from sequence.agents.beliefs import sample


class Row(NamedTuple):
    """The statistics of one move."""

    move: object
    visits: int
    mean: float


class Node:
    """A node of the tree, reached by a `move` of the player `mover`."""

    def __init__(self, move=None, mover=None, parent=None):
        self.move, self.mover, self.parent = move, mover, parent
        self.children = {}
        self.visits = 0
        self.total = 0.0
        self.available = 0

    @property
    def mean(self):
        """The mean reward for the mover; only for nodes that were visited."""
        return self.total / self.visits

    def rows(self):
        """The visited children as a tuple of `Row`s, in the order of their moves."""
        return tuple(
            Row(move, child.visits, child.mean)
            for move, child in sorted(self.children.items())
            if child.visits
        )


def reward(state, player):
    """The reward of `player` at the end of a game, from 0 to 1: (1 + utility) / 2.

    UCB1 assumes rewards between 0 and 1. A win is worth 1, a draw 0.5 and a loss 0.
    """
    return 0.5 + state.utility(player) / 2


def ucb(mean, visits, parent_visits, c):
    """UCB1, an upper bound for a child: mean + c * sqrt(ln(parent_visits) / visits).

    Auer, Cesa-Bianchi and Fischer (2002) use c = sqrt(2). The bound of a child without visits is
    infinite.
    """
    return mean + c * math.log(parent_visits) ** 0.5 / visits**0.5 if visits else math.inf


def first_of(rows, *keys):
    """The move of the first row that is best by each of the keys in turn."""
    left = list(rows)
    for key in keys:
        most = max(key(row) for row in left)
        left = [row for row in left if key(row) == most]
    return left[0].move


def best_mean(rows):
    """The move with the highest mean; of equal ones, the first in the order of `rows`."""
    return first_of(rows, lambda row: row.mean)


def most_visited(rows):
    """The move with the most visits; of equal ones, the one with the higher mean, then the first.

    Chaslot et al. (2008) call it the robust child, because the mean of a move that was tried only
    twice is unreliable.
    """
    return first_of(rows, lambda row: row.visits, lambda row: row.mean)


class MonteCarlo:
    """The base class of all agents: a random generator, simulated games, and sums of rewards."""

    def __init__(self, seed=None):
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers."""
        self.rng = random.Random(seed)

    def moves(self, state):
        """The moves to consider, in order."""
        return state.legal_moves()

    def value(self, state, player):
        """A player's reward at the end of a simulated game."""
        return reward(state, player)

    def simulate(self, state):
        """Play a random game from `state` and return its last state.

        Each move is drawn by `self.rng.choice` from `state.legal_moves()`. If the game is already
        over, nothing is drawn.
        """
        if state.is_terminal():
            return state
        legal = state.legal_moves()
        return MonteCarlo.simulate(self, state.after(legal[self.rng.randrange(len(legal))]))

    def backup(self, node, end):
        """Add a simulated game with the last state `end` to `node` and to all nodes above it.

        Each gets one more visit, and all except the root get the reward of `end` for their own
        mover.

        Hint: `self.value` is a player's reward at the end.
        """
        line = []
        while node.parent:
            line.append(node)
            node = node.parent
        node.visits += 1
        for one in reversed(line):
            one.visits += 1
            one.total += self.value(end, one.mover)


class FlatMonteCarlo(MonteCarlo):
    """Flat Monte Carlo: the same number of random games after every move, without a tree below."""

    def __init__(self, playouts=10, seed=None):
        super().__init__(seed)
        self.playouts = playouts

    def search(self, state):
        """Simulate `playouts` games after each move, and return the root with a child for each.

        All games of a move are played before those of the next, in the order of
        `self.moves(state)`.
        """
        root = Node()
        root.children = {move: Node(move, state.to_move, root) for move in self.moves(state)}
        for move, child in root.children.items():
            after = state.after(move)
            for end in (self.simulate(after) for _ in range(self.playouts)):
                self.backup(child, end)
        return root

    def choose(self, state):
        """The move with the best mean."""
        return best_mean(self.search(state).rows())


class UCT(MonteCarlo):
    """UCT: a tree that grows by one node per iteration, guided by UCB1 (Kocsis and Szepesvári
    2006).

    `iterations` is the number of simulated games per move, and `c` is the constant of UCB1.
    """

    def __init__(self, iterations=100, c=1.0, seed=None):
        super().__init__(seed)
        self.iterations = iterations
        self.c = c

    def world(self, position):
        """The position itself."""
        return position

    def search(self, position):
        """Grow a new tree from `position` and return its root.

        Each iteration begins at the root, in the state `self.world(position)`, and takes four
        steps: `select`, `expand`, `simulate`, `backup`. Nothing is kept from an earlier search.
        """
        root = Node()
        for _ in range(self.iterations):
            leaf, state = self.expand(*self.select(root, self.world(position)))
            self.backup(leaf, self.simulate(state))
        return root

    def untried(self, node, state):
        """The moves without a child; none at the end of a game."""
        if state.is_terminal():
            return []
        return [move for move in self.moves(state) if move not in node.children]

    def tries(self, node, child):
        """The number that a child's bound uses as the visits of its parent."""
        return node.visits

    def seen(self, node, state):
        """Called when a child of the node is about to be entered."""

    def select(self, node, state):
        """Descend from `node` while the game is not over and every move already has a child.

        Each step goes to the child with the highest `ucb`; of equal ones, to the first in the order
        of `self.moves(state)`. Returns the pair `(node, state)` at which it stops.
        """
        while not self.untried(node, state) and not state.is_terminal():
            bounds = {}
            for move in self.moves(state):
                child = node.children[move]
                bounds[move] = ucb(child.mean, child.visits, self.tries(node, child), self.c)
            highest = max(bounds.values())
            move = next(move for move, bound in bounds.items() if bound == highest)
            self.seen(node, state)
            node, state = node.children[move], state.after(move)
        return node, state

    def expand(self, node, state):
        """Add a child for one untried move, and return the pair `(child, state after the move)`.

        The move is drawn by `self.rng.choice` from the list of untried moves, in the order of
        `self.moves(state)`. If the game is over, return `node` and `state` without drawing.
        """
        untried = self.untried(node, state)
        if not untried:
            return node, state
        move = untried[self.rng.randrange(len(untried))]
        node.children[move] = Node(move, state.to_move, node)
        self.seen(node, state)
        return node.children[move], state.after(move)

    def choose(self, position):
        """The most visited move after a search."""
        return most_visited(self.search(position).rows())


class EnsembleUCT(UCT):
    """Determinisation: a separate tree for each of several sampled worlds, added up at the root."""

    def __init__(self, worlds=5, iterations=100, c=1.0, seed=None):
        super().__init__(iterations, c, seed)
        self.worlds = worlds

    def world(self, position):
        """A full state that fits the observation, drawn by `sample(position, self.rng)`."""
        return sample(position, self.rng)

    def tree(self, state):
        """The root of a tree for one world."""
        single = UCT(self.iterations, self.c)
        single.rng, single.moves = self.rng, self.moves
        single.simulate, single.value = self.simulate, self.value
        return single.search(state)

    def search(self, position):
        """Search `worlds` worlds, each with a separate tree, and return one root for all.

        Each world is searched before the next one is drawn. The root's visits, and the visits and
        totals of each child, are the sums over all trees.
        """
        trees = [self.tree(self.world(position)) for _ in range(self.worlds)]
        root = Node()
        root.visits = sum(tree.visits for tree in trees)
        for tree in trees:
            for move, child in tree.children.items():
                if move not in root.children:
                    root.children[move] = Node(move, child.mover, root)
                root.children[move].visits += child.visits
                root.children[move].total += child.total
        return root


class ISUCT(UCT):
    """UCT on information sets: one tree for all worlds (Cowling, Powley and Whitehouse 2012).

    Every iteration descends the same tree in another world, in which other moves may be legal.
    """

    world = EnsembleUCT.world

    def tries(self, node, child):
        """The number of times that the child could have been chosen."""
        return child.available

    def seen(self, node, state):
        """Increase `available` of each child that can be reached in this world."""
        for move in self.moves(state):
            if move in node.children:
                node.children[move].available += 1
