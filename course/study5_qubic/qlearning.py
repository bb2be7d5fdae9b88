"""Study 5: Q-learning on Qubic: rewards, two Q tables, self-play, and values shared over lanes.

You complete this module. Notebooks 7 and 8 explain every part; submit this file with them.
"""

import random
from collections import Counter
from itertools import permutations, product
from math import tanh

from tictactoe import opponent
from tictactoe.games.qubic import CELLS, LANE_MASKS, LANES_THROUGH, SIZE, Qubic, cell_at, mask_of

# The choices of the homework on which notebook 7 is based.
WIN, DRAW, LOSS = 1, 0.5, -1  # the rewards of a finished game
FILLED = -5  # the reward for an attempt to take a filled cell
INITIAL = 1  # the Q value of a move that was never tried
EPSILON = 0.2  # the share of exploratory moves
ALPHA = 0.3  # learning rate
GAMMA = 0.9  # discount

# Our own choices: the kinds of lanes that count, each given by the marks of the player who just
# moved and those of the opponent; a learning rate that is small, because about twenty lanes learn
# simultaneously; and the number of games after which it is halved.
KINDS = ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2), (0, 3))
LANE_ALPHA = 0.01
HALVED_AFTER = 500


# ---- The agent of the homework: a table


def step(state, move):
    """Make a move and return `(following, own, other)`.

    `following` is the next state, `own` is the reward of the player who moves, and `other` is that
    of the opponent. A win gives `WIN` and `LOSS`, a draw gives `DRAW` to both, and until the game
    is over both rewards are 0. An attempt to take a filled cell changes nothing, so the same player
    is to move again; it gives `FILLED` to that player and 0 to the opponent. `state` is not
    terminal.

    Hint: cells that `state.legal_moves()` does not list are filled.
    """
    raise NotImplementedError("step: write this function")


def greedy_moves(values):
    """All moves with the largest value, as a list.

    `values` maps moves to numbers of any size. They are compared without rounding, and the
    dictionary is not changed.
    """
    raise NotImplementedError("greedy_moves: write this function")


def epsilon_greedy(values, epsilon, chance):
    """Choose a move: with probability `epsilon` any legal move, otherwise one of the greedy moves.

    `values` maps the legal moves to numbers, and is not changed. In either case, all moves to
    choose from have the same probability, so ties are broken at random. All random numbers are
    drawn from `chance`, a `random.Random`, so equal seeds give equal moves; how many are drawn, and
    in what order, is up to you.

    Hint: `chance.random()` is a number from 0 to 1, `chance.choice(moves)` an item of a list.
    """
    raise NotImplementedError("epsilon_greedy: write this function")


class QPlayer:
    """Keeps a Q table (Watkins 1989) and plays an epsilon-greedy policy based on it.

    `table` maps (state, move) to the Q value; it does not contain pairs that were never tried.
    `epsilon`, `alpha` and `gamma` can be set at any time, for example to stop exploring while an
    agent is measured. Two players share nothing.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.table = {}
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers, but keep everything that was learned."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def move_values(self, state):
        """The Q value of every legal move, by move."""
        return {move: self.q(state, move) for move in state.legal_moves()}

    def q(self, state, move):
        """Q(state, move), or `INITIAL` if it was never tried. Reading does not add it to the table."""
        raise NotImplementedError("QPlayer.q: write this method")

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a)).

        `reward` is the sum of this player's rewards from its `move` until its next turn;
        `following` (s') is the state in which it has its next turn, or the terminal state. The
        maximum is over all legal moves of s', whether they were tried or not, and may be negative.

        Hint: nothing follows a terminal state, so its future value is 0.
        """
        raise NotImplementedError("QPlayer.update: write this method")


def play_episode(players, start):
    """Play one game from `start` in which both players learn; returns the final state.

    `players` maps "x" and "o" to players with `choose(state)` and `update(state, move, reward,
    following)`; both may be the same object, which then plays both sides, with separate updates for
    its moves as x and as o. A side's update for a move is made at the beginning of its next turn,
    before `choose` is called, or at the end of the game if there is no next turn. The update's
    reward is the sum of the side's rewards since this move. After an attempt to take a filled cell,
    the same side is to move again, so its update is made immediately. A side that has not moved yet
    learns nothing. A side learns only from its own moves, and nothing else about its player
    changes.

    Hint: store, for each side, its last state and move and the rewards since then.
    """
    raise NotImplementedError("play_episode: write this function")


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes and call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared between lanes


def lane_kinds(state, player):
    """The pair (marks of `player`, marks of the opponent) for each lane, in the order of `LANES`.

    Hint: `LANE_MASKS` contains the lanes as bitboards, `state.mask(player)` is the bitboard of a
    player's marks, and `(a & b).bit_count()` is the number of bits that two masks share.
    """
    raise NotImplementedError("lane_kinds: write this function")


class LaneLearner:
    """Learns values of afterstates, the states that a player's moves leave to the opponent.

    `weights` has a weight for each of `KINDS`, which include lanes that the player has completed.
    All other lanes have no weight: empty ones, dead ones, and those that the opponent has
    completed. All lanes of a kind share its weight, on all boards and for both players. Weights can
    be set at any time, as can `epsilon`, `alpha` and `gamma`. Two learners share nothing.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=LANE_ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.weights = dict.fromkeys(KINDS, 0.0)
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers, but keep everything that was learned."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def value(self, state, player):
        """The value of `state` for `player`, who has just moved: tanh of the sum of its lanes'
        weights.

        The weights of all 76 lanes are added up, and the hyperbolic tangent maps any sum to a
        number between -1 and +1. Terminal states are no exception: their utility is used only in
        `target`.
        """
        raise NotImplementedError("LaneLearner.value: write this method")

    def move_values(self, state):
        """The value, for the player to move, of the afterstate of every legal move, by move.

        Hint: you need not create the afterstates. A move changes only the lanes through its cell,
        whose numbers are in `LANES_THROUGH[move]`.
        """
        raise NotImplementedError("LaneLearner.move_values: write this method")

    def target(self, state, player):
        """The value that the afterstate `state` of `player` should have, judged by the opponent's
        reply.

        For a terminal state, it is its utility for `player`; a draw is 0, not `DRAW`. Otherwise,
        the opponent is to move, and the target is -gamma times the value, for the opponent, of the
        opponent's best afterstate.
        """
        raise NotImplementedError("LaneLearner.target: write this method")

    def update(self, state, move):
        """Move the value of the afterstate of `move` towards its target.

        The weight of each kind increases by alpha x error x number, where the error is the target
        minus the value, both from before the update, and the number is that of the lanes of this
        kind in the afterstate.

        Hint: a `Counter` counts the kinds.
        """
        raise NotImplementedError("LaneLearner.update: write this method")


def self_play(learner, start):
    """Play one game of the learner against itself from `start`; returns the final state.

    The moves are those of `learner.choose(state)`, and the learner learns from each move before it
    chooses the next. Only its weights change.
    """
    raise NotImplementedError("self_play: write this function")


def train_lanes(learner, games, start, after_each=lambda done: None):
    """Play `games` games of self-play with a decreasing learning rate: alpha falls like 1 / games.

    `after_each(done)` is called after each game, for progress and curves.
    """
    for done in range(games):
        learner.alpha = LANE_ALPHA / (1 + done / HALVED_AFTER)
        self_play(learner, start)
        after_each(done + 1)


# ---- Symmetry


def symmetries():
    """A list, in any order, of the 192 rearrangements of the cells that map lanes to lanes.

    Each is a tuple of 64 cells, in which item i is the cell to which cell i is moved. It combines
    three operations: the axes (layer, row, column) are permuted; any axes are reversed; and on all
    three axes in the same way, the coordinates 0 to 3 are permuted so that opposite ones (0 and 3,
    1 and 2) stay opposite.

    Hint: the operations overlap, because reversing all three axes is also such a permutation, so
    keep each tuple only once. `cell_at(layer, row, column)` is the number of a cell.
    """
    raise NotImplementedError("symmetries: write this function")


def canonical(state, ways):
    """The representative of `state`, a `Qubic`: one of the states to which `ways` map it.

    It is the same for all of them. `ways` is the result of `symmetries()`, or only the identity,
    with which each state represents itself. The marks of x remain those of x.

    Hint: pairs of masks can be compared.
    """
    raise NotImplementedError("canonical: write this function")
