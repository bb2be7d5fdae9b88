"""Right: each player is a generator that waits for its next turn; a table that misses."""

from contextlib import suppress
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
        self.table = Table()
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
        return self.table[state, move]

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a))."""
        future = max(self.move_values(following).values(), default=0)  # no moves after the end
        old = self.q(state, move)
        self.table[state, move] = old + self.alpha * (reward + self.gamma * future - old)


class Table(dict):
    """A Q table: what is missing is worth `INITIAL`, and stays missing."""

    def __missing__(self, key):
        return INITIAL


def learning(player):
    """A generator for one player of one game.

    It is sent ("turn", state), and yields a move; ("reward", number); and ("end", state).
    """
    made, rewards, answer = None, 0, None
    while True:
        what, value = yield answer
        answer = None
        if what == "reward":
            rewards += value
            continue
        if made:
            player.update(*made, rewards, value)
        if what == "end":
            return
        answer = player.choose(value)
        made, rewards = (value, answer), 0


def play_episode(players, start):
    """Play one game from `start` in which both players learn; returns the final state."""
    sides = {name: learning(player) for name, player in players.items()}
    for side in sides.values():
        next(side)  # to its first yield
    state = start
    while not state.is_terminal():
        mover, rival = sides[state.to_move], sides[opponent(state.to_move)]
        state, own, other = step(state, mover.send(("turn", state)))
        mover.send(("reward", own))
        rival.send(("reward", other))
    for side in sides.values():
        with suppress(StopIteration):
            side.send(("end", state))
    return state


def train(players, episodes, start, after_each=lambda done: None):
    """Play that many episodes; `after_each(done)` is called after each: for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What does work: values of afterstates, shared over lanes


def lane_kinds(state, player):
    """For each of the 76 lanes the pair (marks of `player`, marks of the opponent), in order."""
    text, rival = state.text, opponent(player)
    kinds = []
    for lane in state.lanes:
        marks = [text[cell] for cell in lane]
        kinds.append((marks.count(player), marks.count(rival)))
    return kinds


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

    def _worth(self, counts):
        """The value of a board with so many lanes of each kind."""
        return tanh(sum(counts[kind] * self.weights[kind] for kind in KINDS))

    def value(self, state, player):
        """What `state` is worth for `player`, who has just moved: tanh of the sum of all weights.

        The hyperbolic tangent brings any sum between -1, a loss, and +1, a win.
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
        """What the afterstate `state` of `player` should be worth, by what follows."""
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
    """Play one game of the learner against itself; it learns from every move when it is made."""
    if start.is_terminal():
        return start
    move = learner.choose(start)
    learner.update(start, move)
    return self_play(learner, start.after(move))


def train_lanes(learner, games, start, after_each=lambda done: None):
    """Play that many games of self-play, ever more cautiously: alpha falls like 1 / games.

    `after_each(done)` is called after each game: for progress and curves.
    """
    for done in range(games):
        learner.alpha = LANE_ALPHA / (1 + done / HALVED_AFTER)
        self_play(learner, start)
        after_each(done + 1)


# ---- Symmetry (extra credit)


def arrangement(rule):
    """The tuple of a rule that says for layer, row and column where they go."""
    places = product(range(SIZE), repeat=3)  # in the order of the cells' numbers
    return tuple(cell_at(*rule(*place)) for place in places)


def symmetries():
    """The 192 ways to rearrange the cells that take lanes to lanes, each a tuple of 64 cells."""
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
    """One state for all that are the same by symmetry; `ways` is what `symmetries()` returned."""
    marked = [(cell, mark) for cell, mark in enumerate(state.text) if mark in "xo"]
    # One number in base 3 stands for a board; the smallest of all is the representative.
    worth = {"x": 1, "o": 2}
    numbers = (sum(worth[mark] * 3 ** way[cell] for cell, mark in marked) for way in ways)
    number, text = min(numbers), ""
    for _ in range(CELLS):
        number, digit = divmod(number, 3)
        text += "_xo"[digit]
    return Qubic(text)
