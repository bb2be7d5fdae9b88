"""Study 6 with one survey per board: a frozen dataclass that computes all lines once, lazily, and
yields all gains; type hints throughout; the best action is the first item of a stable sort.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from functools import lru_cache
from typing import NamedTuple

from sequence.board.actions import PLACE, REMOVE
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    FIVE,
    LINE_MASKS,
    LINES_THROUGH,
    PLAYABLE,
    SIZE,
    cells_of,
    cells_with,
    mask_of,
)

# "The original" is the evaluator that this study reproduces from its author's description. The
# costs of a line, in actions: to place a chip on an empty cell; to remove a chip of the opponent
# and place one; and the additional cost of a cell that already has one of our own chips.
EMPTY_COST, OTHERS_COST, OWN_CHIP_COST = 1, 2, 1
NEVER = 10  # the cost of a line that cannot be finished; others cost at most 9
BOARD_MAX = NEVER * PLAYABLE.bit_count()  # so that no board score is negative; our choice
DISCOUNT = 0.75  # for a card that can be played next turn at the earliest; our choice
# The original has fixed values but does not state them; ours are above the value of making a four
# and below that of a sequence.
JACK_VALUE = {"jd": 150, "jc": 150, "jh": 120, "js": 120}
LINE_BASE = 4  # in `line_count`: each chip makes a line four times as valuable
SURE = 10_000  # in `simple_score`: more than the 20 lines through a cell with 4 ** 4 each


class Weights(NamedTuple):
    """The parameters of `score`: the six of the original, and an additional one."""

    sequence: float = 100
    sequence_exponent: float = 2
    line: float = 1
    line_exponent: float = 2
    board: float = 1
    board_exponent: float = 1
    blocking: float = 0  # for `threat`, our remedy; 0 gives the original evaluator


RECIPE = Weights()
BLOCKING = Weights(blocking=1)


class Chips(NamedTuple):
    """The board from one side's view, as bitboards: own chips, all others, and those in sequences.

    Corners belong to no side and are in none of the three. A `Chips` object is immutable.
    """

    own: int
    others: int
    locked: int

    @classmethod
    def of(cls, observation):
        """The chips in an observation, from the view of its player's side."""
        own = observation.chip_masks[observation.side]
        return cls(own, PLAYABLE ^ (observation.empty_mask | own), observation.locked_mask)

    def after(self, kind, cell):
        """The chips after we "place" on, or "remove" from, `cell`; no chips are locked."""
        bit = 1 << BIT[cell]
        if kind == PLACE:
            return self._replace(own=self.own | bit)
        return self._replace(others=self.others & ~bit)

    def without(self, cell):
        """The chips with nothing on `cell`."""
        bit = 1 << BIT[cell]
        return self._replace(own=self.own & ~bit, others=self.others & ~bit)

    def swapped(self):
        """The same board from the others' view."""
        return self._replace(own=self.others, others=self.own)


# ---- Notebook 9: where a card can go


Cell = tuple[int, int]


def places(observation, card: str) -> tuple[Cell, ...]:
    """The cells on which `card` can be used now, row by row."""
    chips = Chips.of(observation)
    mask = {
        **dict.fromkeys(TWO_EYED, observation.empty_mask),
        **dict.fromkeys(ONE_EYED, chips.others ^ chips.others & chips.locked),
    }.get(card)
    if mask is None:
        mask = observation.empty_mask & mask_of(cells_with(card))
    return cells_of(mask)


# ---- Notebook 10: the original evaluator


def line_cost(line: int, chips: Chips) -> int:
    """The fewest actions that finish a line of five, given as a bitboard."""
    if _is_lost(line, chips):
        return NEVER
    todo = line & ~(chips.own | CORNERS)
    # Each missing cell costs one action, and one more if it has a chip of the others.
    return todo.bit_count() * EMPTY_COST + (todo & chips.others).bit_count() * (
        OTHERS_COST - EMPTY_COST)


def _is_lost(line: int, chips: Chips) -> bool:
    done = line & chips.locked
    ours = done & chips.own
    return bool(done & chips.others) or ours & (ours - 1) != 0


def cell_score(cell: Cell, chips: Chips) -> int:
    """The cost of the cheapest line through `cell`, plus 1 if one of our own chips is on it."""
    return survey(chips).cheapest[BIT[cell]] + bool(chips.own & mask_of([cell]))


@dataclass(frozen=True)
class Survey:
    """Everything that is known about the lines of one board."""

    chips: Chips

    @cached_property
    def costs(self) -> dict[int, int]:
        """The cost of every line, by its bitboard."""
        return {line: line_cost(line, self.chips) for line in LINE_MASKS}

    @cached_property
    def cheapest(self) -> list[int]:
        """For each bit, the cost of the cheapest line through its cell."""
        costs = self.costs
        return [min([costs[line] for line in lines]) for lines in LINES_THROUGH]

    @cached_property
    def total(self) -> int:
        """The sum of all cell scores."""
        return sum(self.cheapest[bit] + (self.chips.own >> bit & 1)
                   for bit in range(PLAYABLE.bit_length()))

    @cached_property
    def by_cost(self) -> tuple[int, ...]:
        """The bitboards of the cells, by the cost of their cheapest line."""
        cells: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in cells_of(PLAYABLE):
            cells[self.cheapest[BIT[cell]]].append(cell)
        return tuple(mask_of(cells[cost]) for cost in range(NEVER + 1))

    @cached_property
    def wins(self) -> dict[int, int]:
        """For each line, the cells for which it is among the cheapest; 0 if it cannot be finished."""
        return {line: 0 if _is_lost(line, self.chips) else line & self.by_cost[cost]
                for line, cost in self.costs.items()}

    def gain(self, kind: str, cell: Cell) -> int:
        """The increase in the board score."""
        better = 0
        for line in LINES_THROUGH[BIT[cell]]:
            better |= self.wins[line]
        return better.bit_count() - (kind == PLACE)


survey = lru_cache(maxsize=128)(Survey)


def board_score(chips: Chips) -> int:
    """`BOARD_MAX` minus the scores of all cells except the corners; higher is better."""
    return BOARD_MAX - survey(chips).total


def line_score(chips: Chips, cell: Cell | None = None) -> int:
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    lines: Iterable[int] = LINE_MASKS if cell is None else LINES_THROUGH[BIT[cell]]
    return max(NEVER - line_cost(line, chips) for line in lines)


def cells_by_cost(chips: Chips) -> tuple[int, ...]:
    """The bitboards of the cells by the cost of their cheapest line."""
    return survey(chips).by_cost


def board_gain(chips: Chips, kind: str, cell: Cell) -> int:
    """The increase in the board score if we "place" on, or "remove" from, `cell`."""
    return survey(chips).gain(kind, cell)


def edge_distance(cell: Cell) -> int:
    """The number of steps from `cell` to the nearest edge of the board: 0 on the edge, 4 in the
    middle."""
    last = SIZE - 1
    return min(abs(at - edge) for at in cell for edge in (0, last))


class Parts(NamedTuple):
    """The three numbers that evaluate an action."""

    sequence: int
    line: int
    board: int


def parts(observation, kind: str, cell: Cell) -> Parts:
    """The three numbers that evaluate a "place" on, or "remove" from, `cell`."""
    chips = Chips.of(observation)
    return Parts(
        sequence=observation.sequences[observation.side] + _new(observation, chips, kind, cell),
        line=line_score(chips.after(kind, cell), cell),
        board=edge_distance(cell) + board_gain(chips, kind, cell))


def _new(observation, chips: Chips, kind: str, cell: Cell) -> int:
    """The sequences that the action completes."""
    if kind == REMOVE:
        return 0
    bit = BIT[cell]
    return new_sequences(chips.own | 1 << bit, chips.locked, bit, observation.rules.heart)[0]


def score(sequence: float, line: float, board: float, weights: Weights = RECIPE) -> float:
    """The original formula: the sum of each part to the power of its exponent, times its weight."""
    w = weights
    return (board ** w.board_exponent * w.board + line ** w.line_exponent * w.line
            + sequence ** w.sequence_exponent * w.sequence)


def threat(chips: Chips, cell: Cell) -> int:
    """The line score through `cell` that the others would have with their own chip on it."""
    view = chips.swapped().without(cell)
    return line_score(view._replace(own=view.own | 1 << BIT[cell]), cell)


def play_score(observation, kind: str, cell: Cell, weights: Weights = RECIPE) -> float:
    """The value of a "place" on, or "remove" from, `cell`: the `score` of its parts, plus the
    threat.
    """
    value = score(*parts(observation, kind, cell), weights)
    return value + weights.blocking * threat(Chips.of(observation), cell) ** 2 if (
        weights.blocking) else value


def draft_score(observation, card: str, weights: Weights = RECIPE) -> float:
    """The value of taking `card` now and playing it in a later turn."""
    if card in TWO_EYED + ONE_EYED:
        present = observation.sequences[observation.side]
        best = score(sequence=present, line=0, board=JACK_VALUE[card], weights=weights)
    else:
        best = max(map(partial(play_score, observation, PLACE, weights=weights),
                       places(observation, card)), default=0)
    return best * DISCOUNT


def best_action(observation, play: Callable[[str, Cell], float], draft: Callable[[str], float]):
    """The legal action with the highest value; of equal ones, the first in the documented order."""
    play, draft = lru_cache(maxsize=None)(play), lru_cache(maxsize=None)(draft)

    def worth(action) -> float:
        on_board = play(action.kind, action.coords) if action.coords else 0
        in_hand = draft(action.draft_card) if action.draft_card else 0
        return on_board + in_hand

    return sorted(observation.legal_actions(), key=worth, reverse=True)[0]


class Evaluator:
    """The original agent: plays the action with the best score, without look-ahead.

    Its actions depend only on the observation and its own weights.
    """

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        weights = self.weights
        play = {}  # the cards in the draft row and in the hand often need the same results

        def on(kind: str, cell: Cell) -> float:
            if (kind, cell) not in play:
                play[kind, cell] = play_score(observation, kind, cell, weights)
            return play[kind, cell]

        def take(card: str) -> float:
            if card in JACK_VALUE:
                return draft_score(observation, card, weights)
            return DISCOUNT * max((on(PLACE, cell) for cell in places(observation, card)), default=0)

        return best_action(observation, on, take)


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips: Chips, cell: Cell) -> int:
    """The value of the lines through `cell` for our side, with these chips."""
    ours = chips.own | CORNERS
    exponents = ((line & ours).bit_count() for line in LINES_THROUGH[BIT[cell]]
                 if not line & chips.others and not _is_lost(line, chips))
    return sum(LINE_BASE ** exponent for exponent in exponents)


def simple_score(observation, kind: str, cell: Cell) -> int:
    """The value of a "place" on, or "remove" from, `cell`, by counting lines."""
    chips = Chips.of(observation)
    alone = chips.without(cell)
    return (SURE * _new(observation, chips, kind, cell)
            + line_count(alone, cell) + line_count(alone.swapped(), cell))


class LineCounter:
    """An agent that counts lines: it uses `simple_score` for the play and for the card taken."""

    def choose(self, observation):
        """The best legal action by `simple_score`; a card counts its best score, discounted."""
        play = lru_cache(maxsize=None)(partial(simple_score, observation))

        def take(card: str) -> float:
            how = REMOVE if card in ONE_EYED else PLACE
            worths = [play(how, cell) for cell in places(observation, card)]
            return DISCOUNT * max(worths) if worths else 0

        return best_action(observation, play, take)
