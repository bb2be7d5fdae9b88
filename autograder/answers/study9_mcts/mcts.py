"""Study 9: Monte Carlo tree search: random games, UCT, and trees for hidden cards.

You fill in this module. Notebooks 17 and 18 explain every part; hand in this file with them.

Each agent draws from one generator, `self.rng`, in a fixed order, so that the same seed grows the
same tree. Draw what the text says, and nothing else.
"""

from math import inf, log, sqrt
from random import Random
from typing import NamedTuple

from sequence.agents.beliefs import sample
from sequence.agents.worth import best_action, chances, ranked

PLAYS, HORIZON = 8, 4  # of `SequenceUCT`: plays that are ranked, actions of a quick game


class Row(NamedTuple):
    """What a tree says of one move: its visits and the mean of its rewards. This class is given."""

    move: object
    visits: int
    mean: float


class Node:
    """A node of the tree, reached by a `move` of the player `mover`. This class is given.

    `visits` counts the simulated games that went through the node, and `total` adds up their
    rewards, from the view of the `mover`: that is the player who chooses between this node and its
    siblings. The root has no move, no mover and no parent. `children` maps moves to nodes.
    `available` counts how often the node could have been chosen; only `ISUCT` needs it.
    """

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


# ---- Notebook 17: random games, and a tree of them


def reward(state, player):
    """What the end of a game is worth to `player`, from 0 to 1: (1 + utility) / 2.

    UCB1 assumes rewards between 0 and 1. A win is worth 1, a draw 0.5 and a loss 0.
    """
    ### BEGIN SOLUTION
    return (1 + state.utility(player)) / 2
    ### END SOLUTION


def ucb(mean, visits, parent_visits, c):
    """UCB1, an upper bound for a child: mean + c * sqrt(ln(parent_visits) / visits).

    Auer, Cesa-Bianchi and Fischer (2002) use c = sqrt(2). The bound of a child without visits is
    infinite.
    """
    ### BEGIN SOLUTION
    if visits == 0:
        return inf
    return mean + c * sqrt(log(parent_visits) / visits)
    ### END SOLUTION


def best_mean(rows):
    """The move with the highest mean; among equals the first in the order of `rows`."""
    ### BEGIN SOLUTION
    return max(rows, key=lambda row: row.mean).move
    ### END SOLUTION


def most_visited(rows):
    """The move with the most visits; among equals the one with the higher mean, then the first.

    Chaslot et al. (2008) call it the robust child: the mean of a move that was tried twice says
    little.
    """
    ### BEGIN SOLUTION
    return max(rows, key=lambda row: (row.visits, row.mean)).move
    ### END SOLUTION


class MonteCarlo:
    """What all agents here have in common: a generator, simulated games, and adding up rewards.

    Subclasses may override `moves` and `value`, which are given, and `simulate`.
    """

    def __init__(self, seed=None):
        self.reset(seed)

    def reset(self, seed):
        """Begin the random numbers again; matches call this before every game. Given."""
        self.rng = Random(seed)

    def moves(self, state):
        """The moves to look at, in their order. Given."""
        return state.legal_moves()

    def value(self, state, player):
        """What the end of a simulated game is worth to a player. Given."""
        return reward(state, player)

    def simulate(self, state):
        """Play a random game from `state` and return its last state.

        Each move is drawn by `self.rng.choice` from `state.legal_moves()`. Where the game is over
        already, nothing is drawn.
        """
        ### BEGIN SOLUTION
        while not state.is_terminal():
            state = state.after(self.rng.choice(state.legal_moves()))
        return state
        ### END SOLUTION

    def backup(self, node, end):
        """Add a simulated game with the last state `end` to `node` and to all nodes above it.

        Each gets one more visit, and all but the root the reward of `end` for their own mover.

        Hint: `self.value` says what the end is worth to a player.
        """
        ### BEGIN SOLUTION
        while node is not None:
            node.visits += 1
            if node.parent is not None:
                node.total += self.value(end, node.mover)
            node = node.parent
        ### END SOLUTION


class FlatMonteCarlo(MonteCarlo):
    """Flat Monte Carlo: the same number of random games after every move, and no tree below."""

    def __init__(self, playouts=10, seed=None):
        super().__init__(seed)
        self.playouts = playouts

    def search(self, state):
        """Simulate `playouts` games after each move, and return the root with a child for each.

        All games of a move come first, then those of the next, in the order of `self.moves(state)`.
        """
        ### BEGIN SOLUTION
        root = Node()
        for move in self.moves(state):
            root.children[move] = child = Node(move, state.to_move, root)
            for _ in range(self.playouts):
                self.backup(child, self.simulate(state.after(move)))
        return root
        ### END SOLUTION

    def choose(self, state):
        """The move with the best mean."""
        ### BEGIN SOLUTION
        return best_mean(self.search(state).rows())
        ### END SOLUTION


class UCT(MonteCarlo):
    """UCT: a tree that grows by one node an iteration, guided by UCB1 (Kocsis and Szepesvári 2006).

    `iterations` is the number of simulated games for a move, `c` the constant of UCB1.
    """

    def __init__(self, iterations=100, c=1.0, seed=None):
        super().__init__(seed)
        self.iterations = iterations
        self.c = c

    def world(self, position):
        """The full state in which an iteration begins: here the position itself. Given."""
        return position

    def search(self, position):
        """Grow a new tree from `position` and return its root.

        Each iteration begins at the root, in the state `self.world(position)`, and takes four
        steps: `select`, `expand`, `simulate`, `backup`. Nothing is kept from an earlier search.
        """
        ### BEGIN SOLUTION
        root = Node()
        for _ in range(self.iterations):
            node, state = self.select(root, self.world(position))
            node, state = self.expand(node, state)
            self.backup(node, self.simulate(state))
        return root
        ### END SOLUTION

    def select(self, node, state):
        """Go down from `node` while the game is not over and every move has a child already.

        Each step goes to the child with the highest `ucb`, the first in the order of
        `self.moves(state)` among equals. Returns where it stops, as the pair `(node, state)`.
        """
        ### BEGIN SOLUTION
        while not state.is_terminal():
            moves = self.moves(state)
            if any(move not in node.children for move in moves):
                break
            parent = node
            node = max(
                (parent.children[move] for move in moves),
                key=lambda child: ucb(child.mean, child.visits, parent.visits, self.c),
            )
            state = state.after(node.move)
        return node, state
        ### END SOLUTION

    def expand(self, node, state):
        """Add a child for one untried move, and return the pair `(child, state after the move)`.

        The move is drawn by `self.rng.choice` from the list of untried moves, in the order of
        `self.moves(state)`. Where the game is over, return `node` and `state`; nothing is drawn.
        """
        ### BEGIN SOLUTION
        if state.is_terminal():
            return node, state
        move = self.rng.choice([move for move in self.moves(state) if move not in node.children])
        child = node.children[move] = Node(move, state.to_move, node)
        return child, state.after(move)
        ### END SOLUTION

    def choose(self, position):
        """The most visited move after a search."""
        ### BEGIN SOLUTION
        return most_visited(self.search(position).rows())
        ### END SOLUTION


# ---- Notebook 18: hidden cards


class EnsembleUCT(UCT):
    """Determinisation: a separate tree for each of several sampled worlds, added up at the root."""

    def __init__(self, worlds=5, iterations=100, c=1.0, seed=None):
        super().__init__(iterations, c, seed)
        self.worlds = worlds

    def world(self, position):
        """A full state that the player could be in, drawn by `sample(position, self.rng)`."""
        ### BEGIN SOLUTION
        return sample(position, self.rng)
        ### END SOLUTION

    def tree(self, state):
        """The root of a tree of `UCT` over one world, with this agent's settings and generator.
        Given.
        """
        single = UCT(self.iterations, self.c)
        single.rng, single.moves = self.rng, self.moves
        single.simulate, single.value = self.simulate, self.value
        return single.search(state)

    def search(self, position):
        """Search `worlds` worlds, each with a tree of its own, and return one root for all.

        A world is drawn and searched before the next one is drawn. The root's visits, and the
        visits and totals of each child, are the sums over all trees.
        """
        ### BEGIN SOLUTION
        root = Node()
        for _ in range(self.worlds):
            tree = self.tree(self.world(position))
            root.visits += tree.visits
            for move, child in tree.children.items():
                found = root.children.setdefault(move, Node(move, child.mover, root))
                found.visits += child.visits
                found.total += child.total
        return root
        ### END SOLUTION


class ISUCT(UCT):
    """UCT on information sets: one tree for all worlds (Cowling, Powley and Whitehouse 2012).

    Every iteration goes down the same tree in another world, where other moves may be legal.
    """

    world = EnsembleUCT.world

    def select(self, node, state):
        """As `UCT.select`, among the children whose moves are in `self.moves(state)`.

        The search stops at a node where the game is over or one of these moves has no child yet.
        In UCB1 a child's `available` stands in the place of its parent's visits. At every step,
        once the child is chosen, each child whose move is in `self.moves(state)` has been
        `available` once more, the chosen one included.
        """
        ### BEGIN SOLUTION
        while not state.is_terminal():
            moves = self.moves(state)
            if any(move not in node.children for move in moves):
                break
            able = [node.children[move] for move in moves]
            node = max(
                able, key=lambda child: ucb(child.mean, child.visits, child.available, self.c)
            )
            for child in able:
                child.available += 1
            state = state.after(node.move)
        return node, state
        ### END SOLUTION

    def expand(self, node, state):
        """As `UCT.expand`, and each child whose move is in `self.moves(state)` has been `available`
        once more, the new one included.
        """
        ### BEGIN SOLUTION
        child, after = super().expand(node, state)
        if child is not node:
            for move in self.moves(state):
                if move in node.children:
                    node.children[move].available += 1
        return child, after
        ### END SOLUTION


class SequenceUCT(ISUCT):
    """`ISUCT` with some knowledge of Sequence, which can be switched on and off. Given.

    `leaf` says what a new node is judged by: "random", a random game to its end; "judged", the
    estimate `chances` of the state as it is; "quick", the same after a few actions of the quick
    player. `width` is how many actions a node looks at, the most promising ones; None for all.
    """

    def __init__(self, iterations=10, c=0.2, seed=None, leaf="quick", width=5):
        super().__init__(iterations, c, seed)
        self.leaf, self.width = leaf, width

    def moves(self, state):
        """The most promising actions, the best first, or all."""
        if self.width is None:
            return super().moves(state)
        return ranked(state, PLAYS)[: self.width]

    def simulate(self, state):
        """A random game, a short one of the quick player, or none."""
        if self.leaf == "random":
            return super().simulate(state)
        for _ in range(HORIZON if self.leaf == "quick" else 0):
            if state.is_terminal():
                break
            state = state.after(best_action(state))
        return state

    def value(self, state, player):
        """The result of a random game, or the estimated chance to win."""
        if self.leaf == "random":
            return super().value(state, player)
        return chances(state)[state.rules.side(player)]
