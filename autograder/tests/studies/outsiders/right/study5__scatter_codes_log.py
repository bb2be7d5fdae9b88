"""Study 5 with marks scattered onto lane codes (5 * own + opponent's, a table of 25 weights), an
episode that keeps a log of all that happened and looks back into it, and ties broken by sort keys.
"""

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
    mover = state.to_move
    if move in set(state.legal_moves()):
        following = state.after(move)
        over = following.is_terminal()
        rewards = [over and {1: a, 0: DRAW, -1: b}[following.utility(mover)] or 0
                   for a, b in ((WIN, LOSS), (LOSS, WIN))]
        return following, *rewards
    return state, FILLED, 0


def greedy_moves(values):
    by_value = {}
    for move in values:
        by_value.setdefault(values[move], []).append(move)
    return by_value[max(by_value)]


def epsilon_greedy(values, epsilon, chance):
    explores = chance.random() < epsilon

    def key(move):
        luck = chance.random()
        return luck if explores else (values[move], luck)

    return max(values, key=key)


class QPlayer:
    """Keeps a Q table and plays epsilon-greedily by it.

    `table` maps (state, move) to the Q value; a pair that was never tried is not in it. `epsilon`,
    `alpha` and `gamma` can be set at any time: an agent should not explore while it is measured.
    Two players share nothing.
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
        try:
            return self.table[state, move]
        except KeyError:
            return INITIAL

    def update(self, state, move, reward, following):
        replies = () if following.is_terminal() else following.legal_moves()
        future = max((self.q(following, reply) for reply in replies), default=0)
        old = self.q(state, move)
        error = (reward + self.gamma * future) - old
        self.table.update({(state, move): old + self.alpha * error})


def play_episode(players, start):
    log = []  # of every attempt: who, state, move, rewards by name

    def settle(name, now):
        """The update of the last thing that `name` did, if it did anything."""
        for place in range(len(log) - 1, -1, -1):
            who, state, move, _ = log[place]
            if who == name:
                reward = sum(rewards[name] for _, _, _, rewards in log[place:])
                players[name].update(state, move, reward, now)
                return

    state = start
    while not state.is_terminal():
        name = state.to_move
        settle(name, state)
        move = players[name].choose(state)
        following, own, other = step(state, move)
        log.append((name, state, move, {name: own, opponent(name): other}))
        state = following
    settle("o", state)
    settle("x", state)
    return state


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes; call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared over lanes


OWN, OTHER = 5, 1  # what a mark adds to the code of its lanes
PAIRS = [divmod(code, OWN) for code in range(5 * OWN)]


def lane_codes(state, player):
    """The codes of all lanes: every mark is added to the lanes through its cell."""
    codes = [0] * len(LANE_MASKS)
    for mask, one in ((state.mask(player), OWN), (state.mask(opponent(player)), OTHER)):
        cell = 0
        while mask:
            if mask & 1:
                for number in LANES_THROUGH[cell]:
                    codes[number] += one
            mask >>= 1
            cell += 1
    return codes


def table_of(weights):
    """The weights by code, 0 for all kinds without one."""
    table = [0.0] * len(PAIRS)
    for own, other in KINDS:
        table[OWN * own + OTHER * other] = weights.get((own, other), 0.0)
    return table


def lane_kinds(state, player):
    return tuple(PAIRS[code] for code in lane_codes(state, player))


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
        return tanh(sum(map(table_of(self.weights).__getitem__, lane_codes(state, player))))

    def move_values(self, state):
        codes, table = lane_codes(state, state.to_move), table_of(self.weights)
        gained = [table[code + OWN] - table[code] if code + OWN < len(table) else 0 for code in codes]
        before = sum([table[code] for code in codes])
        return {move: tanh(before + sum([gained[number] for number in LANES_THROUGH[move]]))
                for move in state.legal_moves()}

    def target(self, state, player):
        return (state.utility(player) if state.is_terminal()
                else -self.gamma * max(self.move_values(state).values()))

    def update(self, state, move):
        player, state = state.to_move, state.after(move)
        step_size = self.alpha * (self.target(state, player) - self.value(state, player))
        for code in lane_codes(state, player):  # lane by lane
            if PAIRS[code] in self.weights:
                self.weights[PAIRS[code]] += step_size


def self_play(learner, start):
    states = [start]
    while not states[-1].is_terminal():
        move = learner.choose(states[-1])
        learner.update(states[-1], move)
        states.append(states[-1].after(move))
    return states.pop()


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
    keeps = [p for p in permutations(range(SIZE)) if all(p[i] + p[3 - i] == 3 for i in range(SIZE))]
    cells = [(cell >> 4, cell >> 2 & 3, cell & 3) for cell in CELL_NUMBERS]
    return list({
        tuple((p[at[i]] ^ a) << 4 | (p[at[j]] ^ b) << 2 | p[at[k]] ^ c for at in cells): None
        for i, j, k in permutations((0, 1, 2))
        for a, b, c in product((0, 3), repeat=3)  # 3 - n is n ^ 3
        for p in keeps})


CELL_NUMBERS = range(CELLS)


def canonical(state, ways):
    xs = [cell for cell in CELL_NUMBERS if state.x_mask >> cell & 1]
    os = [cell for cell in CELL_NUMBERS if state.o_mask >> cell & 1]
    xs, os = min((sorted([way[cell] for cell in xs]), sorted([way[cell] for cell in os]))
                 for way in ways)
    return Qubic.from_masks(mask_of(xs), mask_of(os))
