"""A value of Sequence's positions that was fitted to games, and an agent that plays by it.

For the draft of two players. What a side has is a sum: each of its open lines counts by how many
chips are missing, for how many of those cells the side holds the card, and for how many of the
others the card lies in the row; jacks count by their kind. There are four tables of such weights,
for the side to move and the other one, without a sequence and with one. The difference of the two
sums is the logarithm of the odds that the side to move wins: logistic regression, for which
`autograder.benchmarks.fitting` plays the games.
"""

import json
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from sequence import Action, State
from sequence.agents.beliefs import sample
from sequence.agents.worth import best_action, ranked
from sequence.board.actions import REMOVERS, WILD
from sequence.board.cards import BOARD_KINDS
from sequence.board.layout import CELLS, FIVE, HEART_CELLS, LINES
from sequence.engine.observation import Observation

WEIGHTS = Path(__file__).with_name("fitted.json")
# What counts: lines and the heart, by missing chips, cards held and cards in the row.
LINE_KINDS = tuple(
    (heart, missing, held, row)
    for heart in (False, True)
    for missing in range(1, FIVE + 1 - heart)
    for held in range(missing + 1)
    for row in range(missing + 1 - held)
)
KINDS = (
    "a closed line",
    *(
        f"{'heart' if heart else 'line'}, {missing} missing, {held} held, {row} in the row"
        for heart, missing, held, row in LINE_KINDS
    ),
    "a two-eyed jack",
    "a one-eyed jack",
    "the side",
)
TABLES = ("waits", "waits, with a sequence", "moves", "moves, with a sequence")

_BYTES = 12  # of a bitboard: its 96 cells without the corners
_IN_LINE = np.array(
    [[CELLS[bit] in line for line in (*LINES, HEART_CELLS)] for bit in range(8 * _BYTES)],
    np.float32,
)
_SIZES = _IN_LINE.sum(axis=0)
_IS_HEART = np.arange(len(_SIZES)) == len(LINES)
_MOST_LOCKED = np.where(_IS_HEART, FIVE, 1)  # chips of sequences in a line that is still open
_NUMBERS = np.zeros((2, *3 * (FIVE + 1,)), np.int64)  # of kinds of lines; 0 where nothing is
for _number, _kind in enumerate(LINE_KINDS, 1):
    _NUMBERS[int(_kind[0]), *_kind[1:]] = _number


class Value:
    """The value that some weights give: a row of `KINDS` for each of the `TABLES`.

    Closed lines have a weight, too: 0, as `features` does not count them.
    """

    def __init__(self, weights: np.ndarray) -> None:
        self._weights = np.array(weights, float).reshape(len(TABLES), len(KINDS))

    @classmethod
    def read(cls, path: Path = WEIGHTS) -> "Value":
        """With the weights that `bench fitting` wrote."""
        tables = json.loads(path.read_text("utf-8"))
        return cls([[tables[table][kind] for kind in KINDS] for table in TABLES])

    def chances(self, states: Sequence[State], side: int) -> np.ndarray:
        """The side's chance to win in each state, 0 to 1; where the game is over, its result."""
        odds = np.zeros(len(states))
        for turn, sign in ((False, -1), (True, 1)):
            table, lines, others = seen(states, turn)
            odds += sign * (
                self._weights[table[:, None], lines].sum(axis=1)
                + (self._weights[table, -others.shape[1] :] * others).sum(axis=1)
            )
        moves = 1 / (1 + np.exp(-odds))
        return np.array(
            [
                0.5 + 0.5 * state.utility(side)
                if state.is_over
                else chance
                if state.to_move == side
                else 1 - chance
                for state, chance in zip(states, moves, strict=True)
            ]
        )


def seen(states: Sequence[State], turn: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the sides to move (`turn`) or the others have in these n states.

    The number of their table, of shape (n,); the number of the kind of each line and the heart,
    (n, 193); and the numbers of the last three kinds, (n, 3).
    """
    table, masks, others = [], [], []
    for state in states:
        side = state.to_move if turn else 1 - state.to_move
        hand, empty = state.hand_piles[side], state.empty_mask
        held = (hand & BOARD_KINDS) * 3 & empty
        row = (state.row_pile & BOARD_KINDS) * 3 & empty & ~held
        masks += state.chip_masks[side], state.chip_masks[1 - side], held, row, state.locked_mask
        table.append(2 * turn + (state.sequences[side] > 0))
        others.append((_jacks(hand, WILD), _jacks(hand, REMOVERS), 1))
    cells = (_bits(masks) @ _IN_LINE).astype(np.int64).reshape(len(states), 5, len(_SIZES))
    own, theirs, held, row, locked = cells.transpose(1, 0, 2)
    kinds = _NUMBERS[_IS_HEART.astype(int), _SIZES.astype(int) - own, held, row]
    return (
        np.array(table),
        np.where((theirs == 0) & (locked <= _MOST_LOCKED), kinds, 0),
        np.array(others),
    )


def features(states: Sequence[State]) -> np.ndarray:
    """How many there are of each kind in each table: a row for each state, for a regression.

    What the side has that is not to move counts as negative. The shape is (n, 4 * 93).
    """
    found = np.zeros((len(states), len(TABLES), len(KINDS)), np.int16)
    rows = np.arange(len(states))
    for turn, sign in ((False, -1), (True, 1)):
        table, lines, others = seen(states, turn)
        counts = np.bincount(
            (lines + len(KINDS) * rows[:, None]).ravel(), minlength=len(KINDS) * len(states)
        ).reshape(len(states), len(KINDS))
        counts[:, 0] = 0
        counts[:, -others.shape[1] :] = others
        found[rows, table] = sign * counts
    return found.reshape(len(states), -1)


class Fitted:
    """Plays what is worth most a few actions later, on average over states it could be in.

    All promising actions are judged in `first` sampled states, as soon as they are played. The best
    `width` of them go on: `looks` times, shared among them, two quick actions follow in another
    state before its value is taken; then the worse half is left out, and so on until one is left
    (sequential halving: Z. Karnin, T. Koren and O. Somekh, "Almost optimal exploration in
    multi-armed bandits", ICML 2013). All meet the same states. With a `width` of 1 there is no
    search. The same seed plays the same actions.
    """

    PLAYS = 12  # the most plays that are judged, each with every card to take
    AHEAD = 2  # quick actions

    def __init__(
        self,
        width: int = 8,
        looks: int = 64,
        first: int = 4,
        value: Value | None = None,
        seed: int | None = None,
    ) -> None:
        self._width, self._looks, self._first = width, looks, first
        self._value = value or fitted()
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `play` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """The action that is left; without a search if only one is legal.

        Raises IndexError if there is no legal action: the game is over or another is to move.
        """
        legal = observation.legal_actions()
        if len(legal) < 2:
            return legal[0]
        states = self._sampled(observation, self._first)
        actions = ranked(states[0], self.PLAYS)
        sums = self._sums(actions, states, ahead=0)
        actions = [actions[place] for place in np.argsort(-sums, kind="stable")[: self._width]]
        sums = np.zeros(len(actions))
        while len(actions) > 1:
            states = self._sampled(observation, max(1, self._looks // len(actions)))
            sums += self._sums(actions, states, self.AHEAD)
            kept = np.argsort(-sums, kind="stable")[: len(actions) // 2]
            actions, sums = [actions[place] for place in kept], sums[kept]
        return actions[0]

    def _sampled(self, observation: Observation, number: int) -> list[State]:
        return [sample(observation, self._random) for _ in range(number)]

    def _sums(self, actions: Sequence[Action], states: Sequence[State], ahead: int) -> np.ndarray:
        """For each action the sum of the chances to which it leads from these states."""
        side = states[0].to_move
        leaves = [_later(state.after(action), ahead) for action in actions for state in states]
        return self._value.chances(leaves, side).reshape(len(actions), -1).sum(axis=1)


@cache
def fitted() -> Value:
    """The value with the weights of this version."""
    return Value.read()


def _later(state: State, actions: int) -> State:
    """The state after so many actions of the quick player, or at the end of the game."""
    for _ in range(actions):
        if state.is_over:
            break
        state = state.after(best_action(state))
    return state


def _bits(masks: Sequence[int]) -> np.ndarray:
    """A row of zeros and ones for each bitboard, by cell."""
    read = np.frombuffer(b"".join(mask.to_bytes(_BYTES, "little") for mask in masks), np.uint8)
    return np.unpackbits(read.reshape(-1, _BYTES), axis=1, bitorder="little").astype(np.float32)


def _jacks(hand: int, kinds: Iterable[int]) -> int:
    return sum((hand >> 2 * jack & 0b11).bit_count() for jack in kinds)
