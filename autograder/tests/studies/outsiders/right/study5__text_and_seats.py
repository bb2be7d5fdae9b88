"""Study 5 with the cube read as text, a `Seat` object for each side of a game, a table that fills in
missing values by itself, and the symmetries grown as a group from a handful of turns.
"""

from operator import itemgetter
import random
from collections import Counter
from itertools import permutations, product
from math import tanh

from tictactoe import IllegalMove, opponent
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
    """One move: the state that follows, and what both are given for it."""
    mover = state.to_move
    try:
        following = state.after(move)
    except IllegalMove:
        return (state, FILLED, 0)
    own = other = 0
    if following.is_terminal():
        own, other = PAID[following.utility(mover)]
    return (following, own, other)


# By the utility for the player who has moved.
PAID = {1: (WIN, LOSS), 0: (DRAW, DRAW), -1: (LOSS, WIN)}


def greedy_moves(values):
    """The best moves."""
    *_, (_, top) = sorted(values.items(), key=itemgetter(1))
    return list(filter(lambda move: values[move] == top, values))


def epsilon_greedy(values, epsilon, chance):
    """Shuffle the moves; then the first one will do, or the first of the best."""
    moves = list(values)
    chance.shuffle(moves)
    if chance.random() < epsilon:
        return moves[0]
    return max(moves, key=values.get)


class Table(dict):
    """A dictionary that says `INITIAL` for what it does not have, without putting it in."""

    def __missing__(self, _key):
        return INITIAL


class QPlayer:
    """Keeps a Q table and plays epsilon-greedily by it.

    `table` maps (state, move) to the Q value; a pair that was never tried is not in it. `epsilon`,
    `alpha` and `gamma` can be set at any time: an agent should not explore while it is measured.
    Two players share nothing.
    """

    def __init__(self, seed=None, epsilon=EPSILON, alpha=ALPHA, gamma=GAMMA):
        self.epsilon, self.alpha, self.gamma = epsilon, alpha, gamma
        self.table = Table()
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
        """Q(state, move), `INITIAL` if it was never tried."""
        return self.table[state, move]

    def update(self, state, move, reward, following):
        """Move Q(state, move) towards the reward and what the best move in `following` is worth."""
        future = 0 if following.is_terminal() else max(
            self.q(following, reply) for reply in following.legal_moves())
        before = self.q(state, move)
        self.table[state, move] = before + self.alpha * (reward + self.gamma * future - before)


class Seat:
    """One side of one game: its player, its last move, and what it was given since then."""

    def __init__(self, player):
        self.player = player
        self.waiting = None
        self.given = 0

    def learn(self, now):
        """Make the update that is still open, if there is one."""
        if self.waiting:
            state, move = self.waiting
            self.player.update(state, move, self.given, now)
        self.waiting, self.given = None, 0

    def turn(self, state):
        """Learn, choose, and play; returns the next state and what the other one gets."""
        self.learn(state)
        move = self.player.choose(state)
        self.waiting = (state, move)
        following, own, other = step(state, move)
        self.receive(own)
        return following, other

    def receive(self, reward):
        """Be given a reward; who has not moved yet does not keep it."""
        if self.waiting:
            self.given += reward


def play_episode(players, start):
    """One game from `start` in which both learn; returns the final state."""
    seats = {name: Seat(player) for name, player in players.items()}
    state = start
    while not state.is_terminal():
        name = state.to_move
        state, reward = seats[name].turn(state)
        seats[opponent(name)].receive(reward)
    for seat in seats.values():
        seat.learn(state)
    return state


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes; call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared over lanes


PICKERS = [itemgetter(*(cell for cell in range(CELLS) if lane >> cell & 1)) for lane in LANE_MASKS]


def lane_kinds(state, player):
    """For each lane how many of its four letters are the player's, and how many the opponent's."""
    text, rival = state.text, opponent(player)
    lanes = [pick(text) for pick in PICKERS]
    return [(lane.count(player), lane.count(rival)) for lane in lanes]


class LaneLearner:
    """Learns what an afterstate is worth: the state that a player's move leaves to the opponent.

    `weights` has a weight for each of `KINDS`; all other lanes, empty or dead, weigh nothing. All
    lanes of a kind share its weight, on all boards and for both players. Weights can be set at any
    time, as can `epsilon`, `alpha` and `gamma`. Two learners share nothing.
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
        """tanh of the weights of all lanes."""
        return tanh(sum(self.weigh(*kind) for kind in lane_kinds(state, player)))

    def weigh(self, own, others):
        """The weight of a lane; empty and dead ones have none."""
        if own and others or not own and not others:
            return 0.0
        return self.weights.get((own, others), 0.0)

    def move_values(self, state):
        """The value of each move, from the lanes through its cell."""
        kinds = lane_kinds(state, state.to_move)
        now = [self.weigh(own, others) for own, others in kinds]
        then = [self.weigh(own + 1, others) for own, others in kinds]
        base = sum(now)
        values = {}
        for move in state.legal_moves():
            total = base
            for number in LANES_THROUGH[move]:
                total = total - now[number] + then[number]
            values[move] = tanh(total)
        return values

    def target(self, state, player):
        """What the afterstate should be worth: its utility, or minus the best that can follow."""
        if state.is_terminal():
            return state.utility(player)
        best = max(self.move_values(state).items(), key=itemgetter(1))[1]
        return -(self.gamma * best)

    def update(self, state, move):
        """Learn from one move."""
        player = state.to_move
        after = state.after(move)
        kinds = lane_kinds(after, player)
        error = self.target(after, player) - self.value(after, player)
        self.weights = {kind: weight + self.alpha * error * kinds.count(kind)
                        for kind, weight in self.weights.items()}


def self_play(learner, start):
    """One game of the learner against itself."""
    if start.is_terminal():
        return start
    move = learner.choose(start)
    learner.update(start, move)
    return self_play(learner, start.after(move))


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
    """All ways that the generators lead to, one after the other, in any order and number.

    The generators: two axes change places, all three go round, one axis is reversed, and two of
    the rearrangements of the coordinates, which make all others.
    """
    places = list(product(range(SIZE), repeat=3))
    turns = [
        tuple(cell_at(b, a, c) for a, b, c in places),
        tuple(cell_at(b, c, a) for a, b, c in places),
        tuple(cell_at(3 - a, b, c) for a, b, c in places),
        tuple(cell_at(*("1032".index(str(i)) for i in place)) for place in places),
        tuple(cell_at(*("3120".index(str(i)) for i in place)) for place in places),
    ]
    ways = [tuple(range(CELLS))]
    known = set(ways)
    for way in ways:  # which grows meanwhile
        for turn in turns:
            both = itemgetter(*way)(turn)
            if both not in known:
                known.add(both)
                ways.append(both)
    return ways


def canonical(state, ways):
    """The rearranged cube whose text comes last in the alphabet."""
    text = state.text
    marks = [(cell, mark) for cell, mark in enumerate(text) if mark != "_"]
    last = ""
    for way in ways:
        letters = ["_"] * CELLS
        for cell, mark in marks:
            letters[way[cell]] = mark
        last = max(last, "".join(letters))
    return Qubic(last)
