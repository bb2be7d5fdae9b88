"""Study 5: a second answer, written only from the students' text, with dictionaries and counts.

Lanes are counted by kind, and the counts are multiplied by the weights in the order of `KINDS`, so
that equal positions have exactly equal values and ties are exact. The symmetries are generated as a
group from five of them.
"""

import random
from collections import Counter
from itertools import product
from math import tanh

from tictactoe import opponent
from tictactoe.games.qubic import CELLS, LANES_THROUGH, SIZE, Qubic, cell_at

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
    """Make a move and return `(following, own, other)`."""
    if move not in state.legal_moves():
        return state, FILLED, 0
    following = state.after(move)
    if not following.is_terminal():
        return following, 0, 0
    if following.utility(state.to_move) == 0:
        return following, DRAW, DRAW
    return following, WIN, LOSS  # the player who completes the last lane has won


def greedy_moves(values):
    """All moves with the largest value, as a list; `values` maps moves to numbers."""
    by_value = {}
    for move, value in values.items():
        by_value.setdefault(value, []).append(move)
    return by_value[max(by_value)]


def epsilon_greedy(values, epsilon, chance):
    """Choose a move: with probability `epsilon` any legal move, otherwise one of the greedy moves."""
    explores = chance.random() < epsilon
    return chance.choice(list(values) if explores else greedy_moves(values))


class QPlayer:
    """Keeps a Q table and plays an epsilon-greedy policy based on it.

    `table` maps (state, move) to the Q value; it does not contain pairs that were never tried.
    `epsilon`, `alpha` and `gamma` can be set at any time, for example to stop exploring while an
    agent is measured.
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
        return self.table.get((state, move), INITIAL)

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a))."""
        future = max(self.move_values(following).values(), default=0)  # no moves at the end
        old = self.q(state, move)
        self.table[state, move] = old + self.alpha * (reward + self.gamma * future - old)


class Waiting:
    """A player's last move, and its rewards since then."""

    def __init__(self, player):
        self.player = player
        self.made = None  # (state, move), or None before the first move
        self.rewards = 0

    def learn(self, following):
        """Update the pending move, if there is one, and forget it."""
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
    """Play `episodes` episodes and call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared between lanes


def lane_kinds(state, player):
    """The pair (marks of `player`, marks of the opponent) for each lane, in the order of `LANES`."""
    text, rival = state.text, opponent(player)
    kinds = []
    for lane in state.lanes:
        marks = [text[cell] for cell in lane]
        kinds.append((marks.count(player), marks.count(rival)))
    return kinds


class LaneLearner:
    """Learns values of afterstates, the states that a player's moves leave to the opponent.

    `weights` contains a weight for each of `KINDS`; all other lanes, which are empty or dead, have
    no weight. All lanes of a kind share its weight, on all boards and for both players.
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

    def _worth(self, counts):
        """The value of a board with these numbers of lanes by kind."""
        return tanh(sum(counts[kind] * self.weights[kind] for kind in KINDS))

    def value(self, state, player):
        """The value of `state` for `player`, who has just moved: tanh of the sum of all weights.

        The hyperbolic tangent maps any sum to a number between -1, a loss, and +1, a win.
        """
        return self._worth(Counter(lane_kinds(state, player)))

    def move_values(self, state):
        """The value, for the player to move, of the afterstate of every legal move, by move."""
        kinds = lane_kinds(state, state.to_move)
        before = Counter(kinds)
        values = {}
        for move in state.legal_moves():
            counts = before.copy()
            for number in LANES_THROUGH[move]:
                own, other = kinds[number]
                counts[own, other] -= 1
                counts[own + 1, other] += 1
            values[move] = self._worth(counts)
        return values

    def target(self, state, player):
        """The value that the afterstate `state` of `player` should have, judged by the opponent's
        reply."""
        if state.is_terminal():
            return state.utility(player)
        return -self.gamma * max(self.move_values(state).values())

    def update(self, state, move):
        """Move the value of the afterstate of `move` towards its target."""
        player, after = state.to_move, state.after(move)
        counts = Counter(lane_kinds(after, player))
        error = self.target(after, player) - self._worth(counts)
        for kind in KINDS:
            self.weights[kind] += self.alpha * error * counts[kind]


def self_play(learner, start):
    """Play one game of the learner against itself; the learner learns from every move immediately."""
    state = start
    while not state.is_terminal():
        move = learner.choose(state)
        learner.update(state, move)
        state = state.after(move)
    return state


def train_lanes(learner, games, start, after_each=lambda done: None):
    """Play `games` games of self-play with a decreasing learning rate: alpha falls like 1 / games.

    `after_each(done)` is called after each game, for progress and curves.
    """
    for done in range(games):
        learner.alpha = LANE_ALPHA / (1 + done / HALVED_AFTER)
        self_play(learner, start)
        after_each(done + 1)


# ---- Symmetry


def arrangement(rule):
    """The tuple for a rule that maps a layer, row and column to their new ones."""
    places = product(range(SIZE), repeat=3)  # in the order of cell numbers
    return tuple(cell_at(*rule(*place)) for place in places)


def symmetries():
    """The 192 rearrangements of the cells that map lanes to lanes, each a tuple of 64 cells."""
    inside_out, twisted = (1, 0, 3, 2), (0, 2, 1, 3)
    generators = [
        arrangement(lambda layer, row, column: (row, layer, column)),
        arrangement(lambda layer, row, column: (row, column, layer)),
        arrangement(lambda layer, row, column: (3 - layer, row, column)),
        arrangement(lambda *place: tuple(inside_out[c] for c in place)),
        arrangement(lambda *place: tuple(twisted[c] for c in place)),
    ]
    found, to_do = set(), [tuple(range(CELLS))]
    while to_do:
        way = to_do.pop()
        if way not in found:
            found.add(way)
            to_do += [tuple(then[cell] for cell in way) for then in generators]
    return sorted(found)


def canonical(state, ways):
    """The representative of the states symmetric to this one; `ways` is from `symmetries()`."""
    marked = [(cell, mark) for cell, mark in enumerate(state.text) if mark in "xo"]
    # Each board is a number in base 3; the board with the smallest number is the representative.
    worth = {"x": 1, "o": 2}
    numbers = (sum(worth[mark] * 3 ** way[cell] for cell, mark in marked) for way in ways)
    number, text = min(numbers), ""
    for _ in range(CELLS):
        number, digit = divmod(number, 3)
        text += "_xo"[digit]
    return Qubic(text)
