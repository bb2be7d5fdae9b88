"""Study 5 with type hints and small dataclasses: lanes push their gains to their open cells, ties are
broken while the moves go by (reservoir sampling), the symmetries come from turning an array.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import random
from collections import Counter
from itertools import permutations, product
from math import tanh

from tictactoe import opponent
from tictactoe.games.qubic import (
    CELLS, LANE_MASKS, LANES, LANES_THROUGH, SIZE, Qubic, cell_at, mask_of,
)

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


class Outcome(NamedTuple):
    """What comes of a move."""

    following: object
    own: float = 0
    other: float = 0


def step(state, move) -> Outcome:
    """Make a move and return `(following, own, other)`.

    `following` is the next state, `own` the reward of the player who moves, `other` that of the
    opponent. A win gives `WIN` and `LOSS`, a draw `DRAW` to both; while the game goes on both
    rewards are 0. An attempt to take a filled cell changes nothing, so that the same player is to
    move: it gives `FILLED` to that player and 0 to the opponent. `state` is not terminal.

    Hint: what `state.legal_moves()` does not list is filled.
    """
    if move not in state.legal_moves():
        return Outcome(following=state, own=FILLED)
    mover, following = state.to_move, state.after(move)
    if following.winner is not None:
        rewards = {following.winner: WIN}
        return Outcome(following, rewards.get(mover, LOSS), rewards.get(opponent(mover), LOSS))
    return Outcome(following, DRAW, DRAW) if following.is_terminal() else Outcome(following)


def greedy_moves(values: dict) -> list:
    """All moves with the largest value, as a list.

    `values` maps moves to numbers of any size. They are compared as they are, without rounding, and
    the dictionary stays as it is.
    """
    largest = max(values.values())
    return list(dict.fromkeys(move for move in values if values[move] == largest))


def epsilon_greedy(values: dict, epsilon: float, chance: random.Random):
    """Choose a move: with probability `epsilon` any legal move, else one of the greedy moves.

    `values` maps the legal moves to numbers and stays as it is. Either way, all the moves to choose
    from have the same probability: ties are broken at random. All random numbers are drawn from
    `chance`, a `random.Random`, so equal seeds give equal moves; how many are drawn, and in what
    order, is up to you.

    Hint: `chance.random()` is a number from 0 to 1, `chance.choice(moves)` an item of a list.
    """
    explores = epsilon > 0 and chance.uniform(0, 1) < epsilon
    pick, best, ties = None, None, 0
    for move, value in values.items():
        if ties == 0 or (not explores and value > best):
            pick, best, ties = move, value, 1
        elif explores or value == best:
            ties += 1
            if chance.randrange(ties) == 0:
                pick = move
    return pick


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

    def q(self, state, move) -> float:
        """Q(state, move), `INITIAL` if it was never tried. Reading does not fill the table."""
        key = state, move
        return self.table[key] if key in self.table else INITIAL

    def update(self, state, move, reward: float, following) -> None:
        """The Bellman update: Q(s, a) <- Q(s, a) + alpha (r + gamma max Q(s', a') - Q(s, a)).

        `reward` is all that this player was given from its `move` until its next turn; `following`
        (s') is the state in which it has its next turn, or the terminal state. The maximum is over
        all legal moves of s', whether they were tried or not, and may be negative.

        Hint: after a terminal state nothing follows, so the future is worth 0.
        """
        old, future = self.q(state, move), 0.0
        if not following.is_terminal():
            ahead = self.move_values(following)
            future = ahead[greedy_moves(ahead)[0]]
        self.table[state, move] = old + self.alpha * (reward + self.gamma * future - old)


@dataclass
class Open:
    """A move whose update is still to come."""

    state: object
    move: object
    reward: float = 0

    def close(self, player, now) -> None:
        """Make the update."""
        player.update(self.state, self.move, self.reward, now)


@dataclass
class Episode:
    """A game as it goes on: the state, and by name the moves that wait."""

    players: dict
    state: object
    waiting: dict[str, Open] = field(default_factory=dict)

    def close(self, name: str) -> None:
        """The update of the player's waiting move, if one waits."""
        if name in self.waiting:
            self.waiting.pop(name).close(self.players[name], self.state)

    def advance(self) -> None:
        """One attempt of the player to move."""
        name = self.state.to_move
        self.close(name)
        mine = Open(self.state, self.players[name].choose(self.state))
        self.state, mine.reward, other = step(mine.state, mine.move)
        self.waiting[name] = mine
        rival = self.waiting.get(opponent(name))
        if rival is not None:
            rival.reward += other


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
    episode = Episode(players, start)
    while not episode.state.is_terminal():
        episode.advance()
    for name in tuple(episode.waiting):
        episode.close(name)
    return episode.state


def train(players, episodes, start, after_each=lambda done: None):
    """Play `episodes` episodes; call `after_each(done)` after each, for progress and curves."""
    for done in range(1, episodes + 1):
        play_episode(players, start)
        after_each(done)


# ---- What works instead: values of afterstates, shared over lanes


class Kind(NamedTuple):
    """What stands in a lane."""

    own: int
    other: int

    def with_own(self) -> Kind:
        """One own mark more."""
        return Kind(self.own + 1, self.other)


def lane_kinds(state, player: str) -> list[Kind]:
    """The pair (marks of `player`, marks of the opponent) for each lane, in the order of `LANES`.

    Hint: `LANE_MASKS` are the lanes as bitboards, `state.mask(player)` are a player's marks, and
    `(a & b).bit_count()` is the number of bits that two masks share.
    """
    mine, others = state.mask(player), state.mask(opponent(player))
    return [Kind((lane & mine).bit_count(), (lane & others).bit_count()) for lane in LANE_MASKS]


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

    def value(self, state, player: str) -> float:
        """What `state` is worth for `player`, who has just moved: tanh of its lanes' weights.

        The weights of all 76 lanes are added up, and the hyperbolic tangent brings any sum between
        -1 and +1. A finished state is no exception: its utility has a place in `target` alone.
        """
        return tanh(sum(number * self.weights.get(kind, 0.0)
                        for kind, number in self._alive(state, player).items()))

    @staticmethod
    def _alive(state, player: str) -> Counter:
        """How many lanes there are of each kind that counts."""
        return Counter(kind for kind in lane_kinds(state, player) if (kind.own == 0) != (kind.other == 0))

    def move_values(self, state) -> dict:
        """The value, for the player to move, of the afterstate of every legal move, by move.

        Hint: do not make the afterstates. A move changes only the lanes through its cell,
        `LANES_THROUGH[move]` has their numbers, and each of them gets one more mark.
        """
        total, sums = 0.0, dict.fromkeys(state.legal_moves(), 0.0)
        worth = {kind: self.weights.get(kind, 0.0) for kind in KINDS}
        for lane, kind in zip(LANES, lane_kinds(state, state.to_move), strict=True):
            now = worth.get(kind, 0.0)
            gain = worth.get(kind.with_own(), 0.0) - now
            total += now
            if gain:
                for cell in lane:
                    if cell in sums:
                        sums[cell] += gain
        return {cell: tanh(total + more) for cell, more in sums.items()}

    def target(self, state, player: str) -> float:
        """What the afterstate `state` of `player` should be worth, judged by what follows.

        For a terminal state that is its utility for `player`; a draw is 0, not `DRAW`. Otherwise
        the opponent moves, and the better its best afterstate is for the opponent, the worse for
        `player`: -gamma times that value.
        """
        if state.is_terminal():
            return float(state.utility(player))
        return -self.gamma * sorted(self.move_values(state).values(), reverse=True)[0]

    def update(self, state, move) -> None:
        """Move the value of the afterstate of `move` towards its target.

        The weight of each kind grows by alpha x error x number, where the error is the target minus
        the value, both from before the update, and the number that of the lanes of this kind in the
        afterstate.

        Hint: a `Counter` counts the kinds.
        """
        after = state.after(move)
        counts = self._alive(after, state.to_move)
        error = self.target(after, state.to_move) - self.value(after, state.to_move)
        self.weights = {kind: self.weights.get(kind, 0.0) + self.alpha * error * counts[kind]
                        for kind in KINDS}


def self_play(learner, start):
    """Play one game of the learner against itself from `start`; returns the final state.

    The moves are those of `learner.choose(state)`, and the learner learns from each of them before
    it chooses the next. Nothing but its weights changes.
    """
    state = start
    for _ in range(CELLS):
        if state.is_terminal():
            break
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


def symmetries() -> list[tuple[int, ...]]:
    """The 192 ways to rearrange the cells that map lanes to lanes: a list, in any order.

    Each is a tuple of 64 cells, and item i is the cell that cell i goes to. It combines three
    things: the axes (layer, row, column) change places; any axis is reversed; and on all three axes
    alike, the coordinates 0 to 3 are rearranged so that opposite ones (0 and 3, 1 and 2) stay
    opposite.

    Hint: the parts overlap, since reversing all three axes is such a rearrangement too: keep each
    tuple once. `cell_at(layer, row, column)` numbers the cells.
    """
    cube = np.arange(CELLS).reshape(SIZE, SIZE, SIZE)
    ways = set()
    for order in ([0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 1, 3], [2, 0, 3, 1]):  # the rest are reversed
        mixed = cube[np.ix_(order, order, order)]
        for axes in permutations(range(3)):
            turned = mixed.transpose(axes)
            for flipped in product((1, -1), repeat=3):
                a, b, c = flipped
                ways.add(tuple(turned[::a, ::b, ::c].ravel().tolist()))
    return list(ways)


def canonical(state, ways) -> Qubic:
    """The representative of `state`: one of the states that `ways` make of it.

    It is the same one for all of them. `ways` is what `symmetries()` returned, or the identity
    alone, with which each state represents itself. The marks of x stay those of x.

    Hint: take the smallest pair of masks among all rearrangements of the two.
    """
    def rearranged(mask: int, way: tuple[int, ...]) -> int:
        image = 0
        while mask:
            low = mask & -mask
            image |= 1 << way[low.bit_length() - 1]
            mask ^= low
        return image

    return Qubic.from_masks(*max((rearranged(state.o_mask, way), rearranged(state.x_mask, way))
                                 for way in ways)[::-1])
