"""Study 4: Q-learning on Qubic: rewards, two Q tables, self-play, and values shared over lanes.

You fill in this module. Notebook 06 explains every part; hand in this file with it.
"""

import random
from collections import Counter
from itertools import permutations, product
from math import tanh

from tictactoe import opponent
from tictactoe.games.qubic import CELLS, LANE_MASKS, LANES_THROUGH, SIZE, Qubic, cell_at, mask_of

# The choices of the report that notebook 06 follows.
WIN, DRAW, LOSS = 1, 0.5, -1  # the rewards of a finished game
FILLED = -5  # the reward of an attempt to take a filled cell
INITIAL = 1  # the Q value of a move that was never tried
EPSILON = 0.2  # the share of moves that explore
ALPHA = 0.3  # learning rate
GAMMA = 0.9  # discount

# Our own choices. The kinds of lanes that count, each by the marks of the player who just moved and
# those of the opponent. A learning rate that begins small, since some twenty lanes learn at once,
# and the number of games after which it is half as large.
KINDS = ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2), (0, 3))
LANE_ALPHA = 0.01
HALVED_AFTER = 500


# ---- The report's agent: a table


def step(state, move):
    """Make a move and return `(following, own, other)`.

    `following` is the next state, `own` the reward of the player who moves, `other` that of the
    opponent. A win gives `WIN` and `LOSS`, a draw `DRAW` to both; while the game goes on there are
    no rewards. An attempt to take a filled cell changes nothing on the board and gives `FILLED` to
    the player who made it.

    Hint: what `state.legal_moves()` does not list is filled.
    """
    raise NotImplementedError("step: write this function")


def greedy_moves(values):
    """All moves with the largest value, as a list; `values` maps moves to numbers."""
    raise NotImplementedError("greedy_moves: write this function")


def epsilon_greedy(values, epsilon, chance):
    """Choose a move: with probability `epsilon` any legal move, else one of the greedy moves.

    `values` maps the legal moves to numbers, `chance` is a `random.Random`. Either way, all the
    moves to choose from have the same probability: ties are broken at random.

    Hint: `chance.random()` is a number from 0 to 1, `chance.choice(moves)` an item of a list.
    """
    raise NotImplementedError("epsilon_greedy: write this function")


class QPlayer:
    """Keeps a Q table and plays epsilon-greedily by it.

    `table` maps (state, move) to the Q value; a pair that was never tried is not in it. `epsilon`,
    `alpha` and `gamma` can be set at any time: an agent should not explore while it is measured.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.table = {}
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers; what was learned stays."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def move_values(self, state):
        """The Q value of every legal move, by move."""
        return {move: self.q(state, move) for move in state.legal_moves()}

    def q(self, state, move):
        """Q(state, move), `INITIAL` if it was never tried. Reading does not fill the table."""
        raise NotImplementedError("QPlayer.q: write this method")

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a)).

        `reward` is all that this player was given from its `move` until its next turn; `following`
        (s') is the state in which it has its next turn, or the terminal state.

        Hint: after a terminal state nothing follows, so the future is worth 0.
        """
        raise NotImplementedError("QPlayer.update: write this method")


def play_episode(players, start):
    """Play one game from `start` in which both players learn; returns the final state.

    `players` maps "x" and "o" to players with `choose(state)` and `update(state, move, reward,
    following)`. A player's update for a move is made when it is to move again, before it chooses,
    with the sum of the rewards that it was given since then; or at the end of the game. After an
    attempt to take a filled cell the same player is to move again, so its update comes at once.

    Hint: for each player, remember its last state and move and the rewards since then.
    """
    raise NotImplementedError("play_episode: write this function")


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes; call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared over lanes


def lane_kinds(state, player):
    """The pair (marks of `player`, marks of the opponent) for each of the 76 lanes, in order.

    Hint: `LANE_MASKS` are the lanes as bitboards, `state.mask(player)` are a player's marks, and
    `(a & b).bit_count()` is the number of bits that two masks share.
    """
    raise NotImplementedError("lane_kinds: write this function")


class LaneLearner:
    """Learns what an afterstate is worth: the state that a player's move leaves to the opponent.

    `weights` has a weight for each of `KINDS`; all other lanes, empty or dead, weigh nothing. All
    lanes of a kind share its weight, on all boards and for both players.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=LANE_ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.weights = dict.fromkeys(KINDS, 0.0)
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers; what was learned stays."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def value(self, state, player):
        """What `state` is worth for `player`, who has just moved: tanh of the sum of all weights.

        The hyperbolic tangent brings any sum between -1, a loss, and +1, a win.
        """
        raise NotImplementedError("LaneLearner.value: write this method")

    def move_values(self, state):
        """The value, for the player to move, of the afterstate of every legal move, by move.

        Hint: do not make the afterstates. A move changes only the lanes through its cell,
        `LANES_THROUGH[move]` has their numbers, and each of them gets one more mark.
        """
        raise NotImplementedError("LaneLearner.move_values: write this method")

    def target(self, state, player):
        """What the afterstate `state` of `player` should be worth, judged by what follows.

        For a terminal state, its utility. Otherwise the opponent moves, and the better its best
        afterstate is for the opponent, the worse for `player`: -gamma times that value.
        """
        raise NotImplementedError("LaneLearner.target: write this method")

    def update(self, state, move):
        """Move the value of the afterstate of `move` towards its target.

        Each kind's weight grows by alpha, times the error (target - value), times the number of
        lanes of the kind in the afterstate.

        Hint: a `Counter` counts the kinds.
        """
        raise NotImplementedError("LaneLearner.update: write this method")


def self_play(learner, start):
    """Play one game of the learner against itself; it learns from every move as it is made.

    The moves are those of `learner.choose(state)`. Returns the final state.
    """
    raise NotImplementedError("self_play: write this function")


def train_lanes(learner, games, start, after_each=lambda done: None):
    """Play `games` games of self-play, learning ever more slowly: alpha falls like 1 / games.

    `after_each(done)` is called after each game, for progress and curves.
    """
    for done in range(games):
        learner.alpha = LANE_ALPHA / (1 + done / HALVED_AFTER)
        self_play(learner, start)
        after_each(done + 1)


# ---- Symmetry (extra credit)


def symmetries():
    """The 192 ways to rearrange the cells that map lanes to lanes, each a tuple of 64 cells.

    Item i of a tuple is the cell that cell i goes to. Each way combines three things: the axes
    (layer, row, column) change places; any axis is reversed; and on all three axes alike, the
    coordinates 0 to 3 are rearranged so that opposite ones (0 and 3, 1 and 2) stay opposite.

    Hint: the parts overlap, since reversing all three axes is such a rearrangement too: keep each
    tuple once. `cell_at(layer, row, column)` numbers the cells.
    """
    raise NotImplementedError("symmetries: write this function")


def canonical(state, ways):
    """One state for all states that are equal by symmetry; `ways` is what `symmetries()` returned.

    Hint: take the smallest pair of masks among all rearrangements of the two.
    """
    raise NotImplementedError("canonical: write this function")
