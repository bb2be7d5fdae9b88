"""Study 9, a second answer written from the students' text alone: one walk down the tree.

`select` and `expand` of both trees share a step, and what a node may be compared by is a table of
bounds. Totals are added up on the way back along a list.
"""

import math
import random
from typing import NamedTuple

from sequence.agents.beliefs import sample


class Row(NamedTuple):
    """What a tree says of one move."""

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
        """The mean reward for the mover."""
        return self.total / self.visits

    def rows(self):
        """The visited children as rows, in the order of their moves."""
        return tuple(
            Row(move, child.visits, child.mean)
            for move, child in sorted(self.children.items())
            if child.visits
        )


def reward(state, player):
    """A loss is worth 0, a win 1, and everything else lies between."""
    return 0.5 + state.utility(player) / 2


def ucb(mean, visits, parent_visits, c):
    """The mean, and c times the square root of the ratio of the logarithm to the visits."""
    return mean + c * math.log(parent_visits) ** 0.5 / visits**0.5 if visits else math.inf


def first_of(rows, *keys):
    """The move of the first row that has the largest of each key in turn."""
    left = list(rows)
    for key in keys:
        most = max(key(row) for row in left)
        left = [row for row in left if key(row) == most]
    return left[0].move


def best_mean(rows):
    """The first move with the highest mean."""
    return first_of(rows, lambda row: row.mean)


def most_visited(rows):
    """The most visits, then the highest mean, then the first."""
    return first_of(rows, lambda row: row.visits, lambda row: row.mean)


class MonteCarlo:
    """A generator, simulated games, and adding up rewards."""

    def __init__(self, seed=None):
        self.reset(seed)

    def reset(self, seed):
        """Begin the random numbers again."""
        self.rng = random.Random(seed)

    def moves(self, state):
        """The moves to look at, in their order."""
        return state.legal_moves()

    def value(self, state, player):
        """What the end of a simulated game is worth to a player."""
        return reward(state, player)

    def simulate(self, state):
        """Random moves to the end."""
        if state.is_terminal():
            return state
        legal = state.legal_moves()
        return MonteCarlo.simulate(self, state.after(legal[self.rng.randrange(len(legal))]))

    def backup(self, node, end):
        """From the root down again."""
        line = []
        while node.parent:
            line.append(node)
            node = node.parent
        node.visits += 1
        for one in reversed(line):
            one.visits += 1
            one.total += self.value(end, one.mover)


class FlatMonteCarlo(MonteCarlo):
    """The same number of random games after every move."""

    def __init__(self, playouts=10, seed=None):
        super().__init__(seed)
        self.playouts = playouts

    def search(self, state):
        """A root with a child for each move."""
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
    """A tree that grows by one node an iteration."""

    def __init__(self, iterations=100, c=1.0, seed=None):
        super().__init__(seed)
        self.iterations = iterations
        self.c = c

    def world(self, position):
        """The position itself."""
        return position

    def search(self, position):
        """Select, expand, simulate, back up."""
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
        """What stands for the parent's visits in the bound of a child."""
        return node.visits

    def seen(self, node, state):
        """A child of the node is about to be gone to."""

    def select(self, node, state):
        """Down to the child with the highest bound."""
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
        """One untried move."""
        untried = self.untried(node, state)
        if not untried:
            return node, state
        move = untried[self.rng.randrange(len(untried))]
        node.children[move] = Node(move, state.to_move, node)
        self.seen(node, state)
        return node.children[move], state.after(move)

    def choose(self, position):
        """The most visited move."""
        return most_visited(self.search(position).rows())


class EnsembleUCT(UCT):
    """A separate tree for each world."""

    def __init__(self, worlds=5, iterations=100, c=1.0, seed=None):
        super().__init__(iterations, c, seed)
        self.worlds = worlds

    def world(self, position):
        """A sampled state."""
        return sample(position, self.rng)

    def tree(self, state):
        """The root of a tree over one world."""
        single = UCT(self.iterations, self.c)
        single.rng, single.moves = self.rng, self.moves
        single.simulate, single.value = self.simulate, self.value
        return single.search(state)

    def search(self, position):
        """The sums over all trees."""
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
    """One tree for all worlds."""

    world = EnsembleUCT.world

    def tries(self, node, child):
        """How often the child could have been chosen."""
        return child.available

    def seen(self, node, state):
        """Each child that can be reached in this world has been available once more."""
        for move in self.moves(state):
            if move in node.children:
                node.children[move].available += 1
