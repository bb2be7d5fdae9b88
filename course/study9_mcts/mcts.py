"""Study 9: Monte Carlo tree search with random games, UCT, and trees for hidden cards.

You complete this module. Notebooks 17 and 18 explain every part; submit this file with them.

Each agent draws from one generator, `self.rng`, in a fixed order, so that the same seed gives the
same tree. Draw only what the docstrings specify.
"""

from math import inf, log, sqrt
from random import Random
from typing import NamedTuple

from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action, chances, ranked

PLAYS, HORIZON = 8, 4  # for `SequenceUCT`: plays that are ranked, actions of a quick game


class Row(NamedTuple):
    """The statistics of one move: its visits and the mean of its rewards. This class is given."""

    move: object
    visits: int
    mean: float


class Node:
    """A node of the tree, reached by a `move` of the player `mover`. This class is given.

    `visits` is the number of simulated games that went through the node, and `total` is the sum of
    their rewards from the view of the `mover`, the player who chooses between this node and its
    siblings. The root has no move, mover or parent. `children` maps moves to nodes. `available`
    counts how often the node could have been chosen; only `ISUCT` needs it.
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
    """The reward of `player` at the end of a game, from 0 to 1: (1 + utility) / 2.

    UCB1 assumes rewards between 0 and 1. A win is worth 1, a draw 0.5 and a loss 0.
    """
    raise NotImplementedError("reward: write this function")


def ucb(mean, visits, parent_visits, c):
    """UCB1, an upper bound for a child: mean + c * sqrt(ln(parent_visits) / visits).

    Auer, Cesa-Bianchi and Fischer (2002) use c = sqrt(2). The bound of a child without visits is
    infinite.
    """
    raise NotImplementedError("ucb: write this function")


def best_mean(rows):
    """The move with the highest mean; of equal ones, the first in the order of `rows`."""
    raise NotImplementedError("best_mean: write this function")


def most_visited(rows):
    """The move with the most visits; of equal ones, the one with the higher mean, then the first.

    Chaslot et al. (2008) call it the robust child, because the mean of a move that was tried only
    twice is unreliable.
    """
    raise NotImplementedError("most_visited: write this function")


class MonteCarlo:
    """The base class of all agents here: a generator, simulated games, and sums of rewards.

    Subclasses may override `moves` and `value`, which are given, and `simulate`.
    """

    def __init__(self, seed=None):
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers; matches call this before every game. Given."""
        self.rng = Random(seed)

    def moves(self, state):
        """The moves to consider, in order. Given."""
        return state.legal_moves()

    def value(self, state, player):
        """A player's reward at the end of a simulated game. Given."""
        return reward(state, player)

    def simulate(self, state):
        """Play a random game from `state` and return its last state.

        Each move is drawn by `self.rng.choice` from `state.legal_moves()`. If the game is already
        over, nothing is drawn.
        """
        raise NotImplementedError("MonteCarlo.simulate: write this method")

    def backup(self, node, end):
        """Add a simulated game with the last state `end` to `node` and to all nodes above it.

        Each gets one more visit, and all except the root get the reward of `end` for their own
        mover.

        Hint: `self.value` is a player's reward at the end.
        """
        raise NotImplementedError("MonteCarlo.backup: write this method")


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
        raise NotImplementedError("FlatMonteCarlo.search: write this method")

    def choose(self, state):
        """The move with the best mean."""
        raise NotImplementedError("FlatMonteCarlo.choose: write this method")


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
        """The full state in which an iteration begins: here the position itself. Given."""
        return position

    def search(self, position):
        """Grow a new tree from `position` and return its root.

        Each iteration begins at the root, in the state `self.world(position)`, and takes four
        steps: `select`, `expand`, `simulate`, `backup`. Nothing is kept from an earlier search.
        """
        raise NotImplementedError("UCT.search: write this method")

    def select(self, node, state):
        """Descend from `node` while the game is not over and every move already has a child.

        Each step goes to the child with the highest `ucb`; of equal ones, to the first in the order
        of `self.moves(state)`. Returns the pair `(node, state)` at which it stops.
        """
        raise NotImplementedError("UCT.select: write this method")

    def expand(self, node, state):
        """Add a child for one untried move, and return the pair `(child, state after the move)`.

        The move is drawn by `self.rng.choice` from the list of untried moves, in the order of
        `self.moves(state)`. If the game is over, return `node` and `state` without drawing.
        """
        raise NotImplementedError("UCT.expand: write this method")

    def choose(self, position):
        """The most visited move after a search."""
        raise NotImplementedError("UCT.choose: write this method")


# ---- Notebook 18: hidden cards


class EnsembleUCT(UCT):
    """Determinisation: a separate tree for each of several sampled worlds, added up at the root."""

    def __init__(self, worlds=5, iterations=100, c=1.0, seed=None):
        super().__init__(iterations, c, seed)
        self.worlds = worlds

    def world(self, position):
        """A full state that fits the observation, drawn by `sample(position, self.rng)`."""
        raise NotImplementedError("EnsembleUCT.world: write this method")

    def tree(self, state):
        """The root of a `UCT` tree for one world, with this agent's settings and generator. Given."""
        single = UCT(self.iterations, self.c)
        single.rng, single.moves = self.rng, self.moves
        single.simulate, single.value = self.simulate, self.value
        return single.search(state)

    def search(self, position):
        """Search `worlds` worlds, each with a separate tree, and return one root for all.

        Each world is searched before the next one is drawn. The root's visits, and the visits and
        totals of each child, are the sums over all trees.
        """
        raise NotImplementedError("EnsembleUCT.search: write this method")


class ISUCT(UCT):
    """UCT on information sets: one tree for all worlds (Cowling, Powley and Whitehouse 2012).

    Every iteration descends the same tree in another world, in which other moves may be legal.
    """

    world = EnsembleUCT.world

    def select(self, node, state):
        """Like `UCT.select`, but only among the children whose moves are in `self.moves(state)`.

        It stops at a node where the game is over or one of these moves has no child yet. UCB1 uses
        a child's `available` instead of its parent's visits. At every step, after the child is
        chosen, `available` increases by one for each child whose move is in `self.moves(state)`,
        including the chosen one.
        """
        raise NotImplementedError("ISUCT.select: write this method")

    def expand(self, node, state):
        """Like `UCT.expand`; then `available` increases by one for each child whose move is in
        `self.moves(state)`, including the new one.
        """
        raise NotImplementedError("ISUCT.expand: write this method")


class SequenceUCT(ISUCT):
    """`ISUCT` with optional knowledge of Sequence. Given.

    `leaf` determines how a new node is evaluated: "random" plays a random game to its end, "judged"
    uses the estimate `chances` of the state itself, and "quick" uses it after a few actions of the
    quick player. `width` is the number of most promising actions that a node considers; None means
    all.
    """

    def __init__(self, iterations=10, c=0.2, seed=None, leaf="quick", width=5):
        super().__init__(iterations, c, seed)
        self.leaf, self.width = leaf, width

    def moves(self, state):
        """The most promising actions, best first, or all actions."""
        if self.width is None:
            return super().moves(state)
        return ranked(state, PLAYS)[: self.width]

    def simulate(self, state):
        """Play a random game, a short game of the quick player, or none."""
        if self.leaf == "random":
            return super().simulate(state)
        for _ in range(HORIZON if self.leaf == "quick" else 0):
            if state.is_terminal():
                break
            state = state.after(best_action(state))
        return state

    def value(self, state, player):
        """The result of a random game, or the estimated probability of winning."""
        if self.leaf == "random":
            return super().value(state, player)
        return chances(state)[state.rules.side(player)]
