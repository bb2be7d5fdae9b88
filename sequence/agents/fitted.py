"""`FittedLookAhead`, a player that searches a few actions ahead with a fitted evaluation function.

The evaluation function is for the draft rules with two players. It is linear in features of the
position. Two of these are the numbers of jacks that a side holds, by kind. Most others are numbers
of the side's open lines, which are classified by how many chips are missing, for how many of the
missing cells the side holds a card, and for how many a card is in the draft row. There are four
tables of weights: for the side to move and the other side, each without and with a completed
sequence. The difference between the two sides' sums is the log-odds that the side to move wins.

The weights in `fitted.toml` were fitted by logistic regression, with Newton's method, to positions
from 18,000 games that players with earlier weights played against themselves with all cards
visible. Buro (1995) fitted the evaluation function of an Othello program in this way.
"""

import random
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action, ranked
from sequence.board.actions import REMOVERS, WILD, Action
from sequence.board.cards import BOARD_KINDS
from sequence.board.layout import CELLS, FIVE, HEART_CELLS, LINES
from sequence.board.rules import DRAFT
from sequence.engine.observation import Observation
from sequence.engine.state import State

WEIGHTS = Path(__file__).with_suffix(".toml")
MAX_PLAYS = 12  # maximum number of plays evaluated, each with every card to take
SIMULATED_ACTIONS = 2  # number of actions of the fast player in a simulation
# The kinds of open lines: (heart or line of five, missing chips, cards held, cards in the row).
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

_BYTES = 12  # bytes of a bitboard: its 96 cells without the corners
_IN_LINE = np.array(
    [[CELLS[bit] in line for line in (*LINES, HEART_CELLS)] for bit in range(8 * _BYTES)],
    np.float32,
)
_SIZES = _IN_LINE.sum(axis=0)
_IS_HEART = np.arange(len(_SIZES)) == len(LINES)
_MAX_LOCKED = np.where(_IS_HEART, FIVE, 1)  # chips of sequences in a line that is still open
_NUMBERS = np.zeros(
    (2, *3 * (FIVE + 1,)), np.int64
)  # the number of the line's kind; 0 for closed lines
for _number, _kind in enumerate(LINE_KINDS, 1):
    _NUMBERS[int(_kind[0]), *_kind[1:]] = _number


class FittedLookAhead:
    """Plays the action with the best average evaluation after a short simulation.

    All promising actions are evaluated in `first` sampled states, immediately after the action. The
    best `width` of them compete by sequential halving (Karnin, Koren and Somekh 2013): in each
    round, `simulations` simulations are divided equally among the remaining actions, and the worse
    half is dropped. A simulation plays the action in another sampled state, then two actions of the
    fast player, and evaluates the result. All actions are simulated in the same states. With a
    `width` of 1, there is no search. The same seed gives the same actions.
    """

    def __init__(
        self,
        width: int = 8,
        simulations: int = 64,
        first: int = 4,
        evaluation: "Evaluation | None" = None,
        seed: int | None = None,
    ) -> None:
        """Set the size of the search and, optionally, a different evaluation function."""
        self._width, self._simulations, self._initial_samples = width, simulations, first
        self._evaluation = evaluation or fitted_evaluation()
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `play` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """The action that remains after all rounds; there is no search if only one is legal.

        Raises IndexError if there is no legal action (the game is over or another player is to
        move), and ValueError unless the game is played by the draft rules with two players.
        """
        if observation.rules != DRAFT:
            raise ValueError(f"FittedLookAhead plays {DRAFT} only, not {observation.rules}")
        legal = observation.legal_actions()
        if len(legal) < 2:
            return legal[0]
        states = self._samples(observation, self._initial_samples)
        actions = ranked(states[0], MAX_PLAYS)
        sums = self._total_values(actions, states, actions_ahead=0)
        actions = [actions[place] for place in np.argsort(-sums, kind="stable")[: self._width]]
        sums = np.zeros(len(actions))
        while len(actions) > 1:
            states = self._samples(observation, max(1, self._simulations // len(actions)))
            sums += self._total_values(actions, states, SIMULATED_ACTIONS)
            kept = np.argsort(-sums, kind="stable")[: len(actions) // 2]
            actions, sums = [actions[place] for place in kept], sums[kept]
        return actions[0]

    def _samples(self, observation: Observation, number: int) -> list[State]:
        return [sample(observation, self._random) for _ in range(number)]

    def _total_values(
        self, actions: Sequence[Action], states: Sequence[State], actions_ahead: int
    ) -> np.ndarray:
        """For each action, the sum of the evaluations of the positions to which it leads."""
        side = states[0].to_move
        leaves = [
            _simulate(state.after(action), actions_ahead) for action in actions for state in states
        ]
        chances = self._evaluation.chances(leaves, side)
        sums: np.ndarray = chances.reshape(len(actions), -1).sum(axis=1)
        return sums


class Evaluation:
    """An evaluation function: for each of the `TABLES`, a row with a weight for each of `KINDS`.

    The weight of a closed line should be 0.
    """

    def __init__(self, weights: np.ndarray | Sequence[Sequence[float]]) -> None:
        self._weights = np.array(weights, float).reshape(len(TABLES), len(KINDS))

    @classmethod
    def read(cls, path: Path = WEIGHTS) -> "Evaluation":
        """The evaluation function with the weights of a TOML file."""
        tables = tomllib.loads(path.read_text("utf-8"))
        return cls([[tables[table][kind] for kind in KINDS] for table in TABLES])

    def chances(self, states: Sequence[State], side: int) -> np.ndarray:
        """The side's probability of winning in each state; in a terminal state, the result."""
        odds = np.zeros(len(states))
        for moves, sign in ((False, -1), (True, 1)):
            table, lines, others = features(states, moves)
            odds += sign * (
                self._weights[table[:, None], lines].sum(axis=1)
                + (self._weights[table, -others.shape[1] :] * others).sum(axis=1)
            )
        chances = 1 / (1 + np.exp(-odds))  # for the side to move
        return np.array(
            [
                0.5 + 0.5 * state.utility(side)
                if state.is_over
                else chance
                if state.to_move == side
                else 1 - chance
                for state, chance in zip(states, chances, strict=True)
            ]
        )


@cache
def fitted_evaluation() -> Evaluation:
    """The evaluation function with the weights of this version."""
    return Evaluation.read()


def features(states: Sequence[State], moves: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features of one side in n states: the side to move if `moves` is set, or else the other.

    Return the numbers of the tables, of shape (n,); the kinds of all lines and of the heart, as
    numbers of shape (n, 193); and the counts of the last three kinds, of shape (n, 3).
    """
    masks: list[int] = []
    table, others = [], []
    for state in states:
        side = state.to_move if moves else 1 - state.to_move
        hand, empty = state.hand_piles[side], state.empty_mask
        held = (hand & BOARD_KINDS) * 3 & empty
        row = (state.row_pile & BOARD_KINDS) * 3 & empty & ~held
        masks += state.chip_masks[side], state.chip_masks[1 - side], held, row, state.locked_mask
        table.append(2 * moves + (state.sequences[side] > 0))
        others.append((_jacks(hand, WILD), _jacks(hand, REMOVERS), 1))
    cells = (_bits(masks) @ _IN_LINE).astype(np.int64).reshape(len(states), 5, len(_SIZES))
    own, theirs, in_hand, in_row, locked = cells.transpose(1, 0, 2)
    kinds = _NUMBERS[_IS_HEART.astype(int), _SIZES.astype(int) - own, in_hand, in_row]
    return (
        np.array(table),
        np.where((theirs == 0) & (locked <= _MAX_LOCKED), kinds, 0),
        np.array(others),
    )


def _simulate(state: State, actions: int) -> State:
    """The state after a number of actions of the fast player, or after the end of the game."""
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
