"""Right: bitboards and gains of lanes, added up in floats as the notebook says."""

import random
from collections import Counter
from itertools import permutations, product
from math import tanh

from tictactoe import opponent
from tictactoe.games.qubic import CELLS, LANE_MASKS, LANES_THROUGH, SIZE, Qubic, cell_at, mask_of

# The choices of the report that notebook 07 follows.
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
    """Make a move: returns `(following, own, other)`."""
    if move not in state.legal_moves():
        return state, FILLED, 0
    following = state.after(move)
    if not following.is_terminal():
        return following, 0, 0
    if following.utility(state.to_move) == 0:
        return following, DRAW, DRAW
    return following, WIN, LOSS  # whoever makes the last lane has won


def greedy_moves(values):
    """All moves of the largest value, as a list; `values` maps moves to numbers."""
    by_value = {}
    for move, value in values.items():
        by_value.setdefault(value, []).append(move)
    return by_value[max(by_value)]


def epsilon_greedy(values, epsilon, chance):
    """A move: with probability `epsilon` any one, else one of the greedy moves."""
    explores = chance.random() < epsilon
    return chance.choice(list(values) if explores else greedy_moves(values))


class QPlayer:
    """Keeps a Q table and plays epsilon-greedily by it.

    `table` maps (state, move) to the Q value; what was never tried is not in it. `epsilon`, `alpha`
    and `gamma` can be set at any time: an agent that is measured explores no more.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.table = {}
        self.reset(seed)

    def reset(self, seed):
        """Start the random numbers anew; what was learned stays."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def move_values(self, state):
        """The Q value of every legal move, by move."""
        return {move: self.q(state, move) for move in state.legal_moves()}

    def q(self, state, move):
        """Q(state, move): `INITIAL` for what was never tried. Looking does not fill the table."""
        return self.table.get((state, move), INITIAL)

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a))."""
        future = max(self.move_values(following).values(), default=0)  # no moves after the end
        old = self.q(state, move)
        self.table[state, move] = old + self.alpha * (reward + self.gamma * future - old)


class Waiting:
    """A player's last move, and what it was given since."""

    def __init__(self, player):
        self.player = player
        self.made = None  # (state, move), or None before the first move
        self.rewards = 0

    def learn(self, following):
        """Update the move that waits, if there is one, and forget it."""
        if self.made is not None:
            self.player.update(*self.made, self.rewards, following)
        self.made, self.rewards = None, 0


def play_episode(players, start):
    """Play one game from `start` in which both players learn; returns the final state."""
    seats = {name: Waiting(player) for name, player in players.items()}
    state = start
    while not state.is_terminal():
        mover, rival = seats[state.to_move], seats[opponent(state.to_move)]
        mover.learn(state)
        move = mover.player.choose(state)
        following, own, other = step(state, move)
        mover.made, mover.rewards = (state, move), own
        rival.rewards += other
        state = following
    for seat in seats.values():
        seat.learn(state)
    return state


def train(players, episodes, start, after_each=lambda done: None):
    """Play that many episodes; `after_each(done)` is called after each: for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What does work: values of afterstates, shared over lanes


def lane_kinds(state, player):
    """For each of the 76 lanes the pair (marks of `player`, marks of the opponent), in order."""
    own, other = state.mask(player), state.mask(opponent(player))
    return tuple(((own & lane).bit_count(), (other & lane).bit_count()) for lane in LANE_MASKS)


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
        """Start the random numbers anew; what was learned stays."""
        self.chance = random.Random(seed)

    def choose(self, state):
        """An epsilon-greedy move."""
        return epsilon_greedy(self.move_values(state), self.epsilon, self.chance)

    def _weight(self, own, other):
        """The weight of a lane; empty and dead ones weigh nothing."""
        return self.weights.get((own, other), 0)

    def value(self, state, player):
        """What `state` is worth for `player`, who has just moved: tanh of all its weights."""
        return tanh(sum(self.weights.get(kind, 0) for kind in lane_kinds(state, player)))

    def move_values(self, state):
        """The value, for the player to move, of the afterstate of every legal move, by move."""
        kinds = lane_kinds(state, state.to_move)
        total = sum(self._weight(*kind) for kind in kinds)
        gains = [self._weight(own + 1, other) - self._weight(own, other) for own, other in kinds]
        return {move: tanh(total + sum(gains[number] for number in LANES_THROUGH[move]))
                for move in state.legal_moves()}

    def target(self, state, player):
        """What the afterstate `state` of `player` should be worth, by what follows."""
        if state.is_terminal():
            return state.utility(player)
        return -self.gamma * max(self.move_values(state).values())

    def update(self, state, move):
        """Move the value of the afterstate of `move` towards its target."""
        player, after = state.to_move, state.after(move)
        change = self.alpha * (self.target(after, player) - self.value(after, player))
        for kind in lane_kinds(after, player):
            if kind in self.weights:
                self.weights[kind] += change


def self_play(learner, start):
    """Play one game of the learner against itself; it learns from every move when it is made."""
    state = start
    while not state.is_terminal():
        move = learner.choose(state)
        learner.update(state, move)
        state = state.after(move)
    return state


def train_lanes(learner, games, start, after_each=lambda done: None):
    """Play that many games of self-play, ever more cautiously: alpha falls like 1 / games.

    `after_each(done)` is called after each game: for progress and curves.
    """
    for done in range(games):
        learner.alpha = LANE_ALPHA / (1 + done / HALVED_AFTER)
        self_play(learner, start)
        after_each(done + 1)


# ---- Symmetry (extra credit)


def symmetries():
    """The 192 ways to rearrange the cells that take lanes to lanes, each a tuple of 64 cells."""
    same_for_all = [p for p in permutations(range(SIZE)) if p[0] + p[3] == 3 == p[1] + p[2]]
    ways = set()
    for axes, turned, places in product(permutations(range(3)), product((0, 1), repeat=3),
                                        same_for_all):
        way = []
        for cell in product(range(SIZE), repeat=3):
            moved = [places[3 - cell[axis] if turn else cell[axis]]
                     for axis, turn in zip(axes, turned, strict=True)]
            way.append(cell_at(*moved))
        ways.add(tuple(way))
    return list(ways)


def canonical(state, ways):
    """One state for all that are the same by symmetry; `ways` is what `symmetries()` returned."""
    cells = [[cell for cell in range(CELLS) if state.mask(player) >> cell & 1] for player in "xo"]
    return Qubic.from_masks(*min(tuple(sum(1 << way[cell] for cell in marks) for marks in cells)
                                 for way in ways))
