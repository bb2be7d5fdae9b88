"""Study 5: the 76 lanes are the bits of one number, and all of them are counted at once (bit slices);
an episode swaps "mine" and "yours" after every turn; one weighted draw chooses the move.
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
    """Make a move and return `(following, own, other)`.

    `following` is the next state, `own` the reward of the player who moves, `other` that of the
    opponent. A win gives `WIN` and `LOSS`, a draw `DRAW` to both; while the game goes on both
    rewards are 0. An attempt to take a filled cell changes nothing, so that the same player is to
    move: it gives `FILLED` to that player and 0 to the opponent. `state` is not terminal.

    Hint: what `state.legal_moves()` does not list is filled.
    """
    if move not in state.legal_moves():
        return state, FILLED, 0
    following = state.after(move)
    if not following.is_terminal():
        return following, 0, 0
    result = following.utility(state.to_move)
    if result == 0:
        return following, DRAW, DRAW
    return (following, WIN, LOSS) if result > 0 else (following, LOSS, WIN)


def greedy_moves(values):
    """All moves with the largest value, as a list.

    `values` maps moves to numbers of any size. They are compared as they are, without rounding, and
    the dictionary stays as it is.
    """
    top, found = None, []
    for move, value in values.items():
        if not found or value > top:
            top, found = value, [move]
        elif value == top:
            found.append(move)
    return found


def epsilon_greedy(values, epsilon, chance):
    """Choose a move: with probability `epsilon` any legal move, else one of the greedy moves.

    `values` maps the legal moves to numbers and stays as it is. Either way, all the moves to choose
    from have the same probability: ties are broken at random. All random numbers are drawn from
    `chance`, a `random.Random`, so equal seeds give equal moves; how many are drawn, and in what
    order, is up to you.

    Hint: `chance.random()` is a number from 0 to 1, `chance.choice(moves)` an item of a list.
    """
    # One draw does it: every move has its share of epsilon, the greedy ones share the rest.
    best = greedy_moves(values)
    if epsilon <= 0:
        return chance.choices(best)[0]
    moves = list(values)
    shares = [epsilon / len(moves)] * len(moves)
    for move in best:
        shares[moves.index(move)] += (1 - epsilon) / len(best)
    return chance.choices(moves, shares)[0]


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
        """Q(state, move), `INITIAL` if it was never tried. Reading does not fill the table."""
        return self.table.get((state, move), INITIAL)

    def update(self, state, move, reward, following):
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a)).

        `reward` is all that this player was given from its `move` until its next turn; `following`
        (s') is the state in which it has its next turn, or the terminal state. The maximum is over
        all legal moves of s', whether they were tried or not, and may be negative.

        Hint: after a terminal state nothing follows, so the future is worth 0.
        """
        target = reward
        if not following.is_terminal():
            target += self.gamma * max(self.move_values(following).values())
        self.table[state, move] = (1 - self.alpha) * self.q(state, move) + self.alpha * target


def play_episode(players, start):
    """Play one game from `start` in which both players learn; returns the final state.

    `players` maps "x" and "o" to players with `choose(state)` and `update(state, move, reward,
    following)`; both may be the same player. A player's update for a move is made when it is to
    move again, before it chooses, or else at the end of the game. The update's reward is the sum of
    all that the player was given from this move on. After an attempt to take a filled cell the same
    player is to move again, so its update comes at once. Who has not moved yet learns nothing. A
    player learns from its own moves alone, and nothing else about it changes.

    Hint: for each player, remember its last state and move and the rewards since then.
    """
    state = start
    # [name, state of the last move, the move, what was given since]; no move yet: None
    me, you = [state.to_move, None, None, 0], [opponent(state.to_move), None, None, 0]

    def learn(who, now):
        name, before, move, reward = who
        if before is not None:
            players[name].update(before, move, reward, now)

    while not state.is_terminal():
        learn(me, state)
        me[1], me[2] = state, players[me[0]].choose(state)
        state, me[3], given = step(state, me[2])
        you[3] += given
        if state.to_move != me[0]:
            me, you = you, me
    learn(me, state)
    learn(you, state)
    return state


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes; call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared over lanes


# Lane number n is bit n. `THROUGH[cell]` has the bits of the lanes that pass through a cell.
THROUGH = [sum(1 << number for number in LANES_THROUGH[cell]) for cell in range(CELLS)]
EVERY = (1 << len(LANE_MASKS)) - 1


def bits_of(mask):
    """The numbers of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask -= lowest


def lanes_by_marks(marks):
    """Five bitboards of lanes: those with 0, 1, 2, 3 and 4 of these marks.

    A counter of three binary digits for all lanes at once: one, two and four are its digits.
    """
    one = two = four = 0
    for cell in bits_of(marks):
        carry = one & THROUGH[cell]
        one ^= THROUGH[cell]
        four ^= two & carry
        two ^= carry
    return (EVERY & ~(one | two | four), one & ~two, two & ~one, one & two, four)


def census(state, player):
    """The lanes of each kind that occurs, as a bitboard, by kind."""
    mine = lanes_by_marks(state.mask(player))
    theirs = lanes_by_marks(state.mask(opponent(player)))
    return {(i, j): mine[i] & theirs[j] for i in range(5) for j in range(5 - i)
            if mine[i] & theirs[j]}


def lane_kinds(state, player):
    """The pair (marks of `player`, marks of the opponent) for each lane, in the order of `LANES`.

    Hint: `LANE_MASKS` are the lanes as bitboards, `state.mask(player)` are a player's marks, and
    `(a & b).bit_count()` is the number of bits that two masks share.
    """
    kinds = [None] * len(LANE_MASKS)
    for kind, lanes in census(state, player).items():
        for number in bits_of(lanes):
            kinds[number] = kind
    return kinds


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
        """What `state` is worth for `player`, who has just moved: tanh of its lanes' weights.

        The weights of all 76 lanes are added up, and the hyperbolic tangent brings any sum between
        -1 and +1. A finished state is no exception: its utility has a place in `target` alone.
        """
        found = census(state, player)
        return tanh(sum(self._weight(kind) * lanes.bit_count() for kind, lanes in found.items()))

    def _weight(self, kind):
        return self.weights.get(kind, 0) if kind in KINDS else 0

    def move_values(self, state):
        """The value, for the player to move, of the afterstate of every legal move, by move.

        Hint: do not make the afterstates. A move changes only the lanes through its cell,
        `LANES_THROUGH[move]` has their numbers, and each of them gets one more mark.
        """
        found = census(state, state.to_move)
        total, gains = 0, []
        for kind, lanes in found.items():
            own, others = kind
            total += self._weight(kind) * lanes.bit_count()
            gain = self._weight((own + 1, others)) - self._weight(kind)
            if gain:
                gains.append((lanes, gain))
        return {move: tanh(total + sum(gain * (lanes & THROUGH[move]).bit_count()
                                       for lanes, gain in gains))
                for move in state.legal_moves()}

    def target(self, state, player):
        """What the afterstate `state` of `player` should be worth, judged by what follows.

        For a terminal state that is its utility for `player`; a draw is 0, not `DRAW`. Otherwise
        the opponent moves, and the better its best afterstate is for the opponent, the worse for
        `player`: -gamma times that value.
        """
        if state.is_terminal():
            return state.utility(player)
        return -self.gamma * max(self.move_values(state).values())

    def update(self, state, move):
        """Move the value of the afterstate of `move` towards its target.

        The weight of each kind grows by alpha x error x number, where the error is the target minus
        the value, both from before the update, and the number that of the lanes of this kind in the
        afterstate.

        Hint: a `Counter` counts the kinds.
        """
        player, after = state.to_move, state.after(move)
        error = self.target(after, player) - self.value(after, player)
        for kind, lanes in census(after, player).items():
            if kind in KINDS:
                self.weights[kind] = self._weight(kind) + self.alpha * error * lanes.bit_count()


def self_play(learner, start):
    """Play one game of the learner against itself from `start`; returns the final state.

    The moves are those of `learner.choose(state)`, and the learner learns from each of them before
    it chooses the next. Nothing but its weights changes.
    """
    state = start
    while not state.is_terminal():
        move = learner.choose(state)
        learner.update(state, move)
        state = state.after(move)
    return state


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
    """The 192 ways to rearrange the cells that map lanes to lanes: a list, in any order.

    Each is a tuple of 64 cells, and item i is the cell that cell i goes to. It combines three
    things: the axes (layer, row, column) change places; any axis is reversed; and on all three axes
    alike, the coordinates 0 to 3 are rearranged so that opposite ones (0 and 3, 1 and 2) stay
    opposite.

    Hint: the parts overlap, since reversing all three axes is such a rearrangement too: keep each
    tuple once. `cell_at(layer, row, column)` numbers the cells.
    """
    found = set()
    for axes in permutations(range(3)):
        for flips in product((False, True), repeat=3):
            for first, second in product(range(SIZE), repeat=2):
                if second in (first, SIZE - 1 - first):
                    continue
                there = (first, second, SIZE - 1 - second, SIZE - 1 - first)
                way = []
                for place in product(range(SIZE), repeat=3):
                    moved = [place[axis] for axis in axes]
                    moved = [SIZE - 1 - at if flip else at for at, flip in zip(moved, flips)]
                    way.append(cell_at(*(there[at] for at in moved)))
                found.add(tuple(way))
    return sorted(found)


def canonical(state, ways):
    """The representative of `state`: one of the states that `ways` make of it.

    It is the same one for all of them. `ways` is what `symmetries()` returned, or the identity
    alone, with which each state represents itself. The marks of x stay those of x.

    Hint: take the smallest pair of masks among all rearrangements of the two.
    """
    xs, os = list(bits_of(state.x_mask)), list(bits_of(state.o_mask))
    best = None
    for way in ways:
        pair = (sum([1 << way[cell] for cell in xs]), sum([1 << way[cell] for cell in os]))
        if best is None or pair < best:
            best = pair
    return Qubic.from_masks(*best)
