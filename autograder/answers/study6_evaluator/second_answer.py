"""A second answer to study 6, written from the text alone: an evaluator for Sequence.

The board is a dictionary from cells to what stands there; a view of a board holds all its costs.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from sequence.board.actions import PLACE, REMOVE
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    LINE_MASKS,
    LINES_THROUGH,
    PLAYABLE,
    SIZE,
    cells_of,
    cells_with,
    mask_of,
)

# "The recipe" is the description of an evaluator that this study rebuilds.
# The costs of a line, in actions: to place on an empty cell; to remove a chip of the opponent and
# place.
# Then the extra cost of a cell on which an own chip stands already.
EMPTY_COST, OTHERS_COST, OWN_CHIP_COST = 1, 2, 1
NEVER = 10  # the cost of a line that cannot be finished; one that can costs at most 9
BOARD_MAX = NEVER * PLAYABLE.bit_count()  # so that no board is negative; the recipe names no number
DISCOUNT = 0.75  # of a card that is played next turn at the earliest; the recipe names no number
# The recipe asks for fixed values but names none: more than making a four, less than a sequence.
JACK_VALUE = {"jd": 150, "jc": 150, "jh": 120, "js": 120}
LINE_BASE = 4  # in `line_count`: each chip makes a line four times as good
SURE = 10_000  # in `simple_score`: more than the 20 lines through a cell with 4 ** 4 each


class Weights(NamedTuple):
    """The parameters of `score`: the recipe's six, and one that the recipe does not have."""

    sequence: float = 100
    sequence_exponent: float = 2
    line: float = 1
    line_exponent: float = 2
    board: float = 1
    board_exponent: float = 1
    blocking: float = 0  # for `threat`, the remedy; with 0 it is the recipe's evaluator


RECIPE = Weights()
BLOCKING = Weights(blocking=1)


class Chips(NamedTuple):
    """The board as one side sees it, in bitboards: own chips, all others, those in sequences.

    Corners belong to nobody and are in none of the three. A Chips never changes.
    """

    own: int
    others: int
    locked: int

    @classmethod
    def of(cls, observation):
        """The chips that an observation shows, seen by its player's side."""
        own = observation.chip_masks[observation.side]
        return cls(own, PLAYABLE ^ (observation.empty_mask | own), observation.locked_mask)

    def after(self, kind, cell):
        """The chips after an own "place" on, or "remove" from `cell`; nothing gets locked."""
        bit = 1 << BIT[cell]
        if kind == PLACE:
            return self._replace(own=self.own | bit)
        return self._replace(others=self.others & ~bit)

    def without(self, cell):
        """The chips with nothing on `cell`."""
        bit = 1 << BIT[cell]
        return self._replace(own=self.own & ~bit, others=self.others & ~bit)

    def swapped(self):
        """The same board as the others see it."""
        return self._replace(own=self.others, others=self.own)


# ---- The board as a dictionary: what stands on each cell, from the view of one side

FREE, OWN, THEIRS, USED, FIXED, CORNER = "empty", "own", "theirs", "own sequence", "fixed", "corner"
PRICE = {FREE: EMPTY_COST, OWN: 0, USED: 0, CORNER: 0, THEIRS: OTHERS_COST, FIXED: NEVER}


@cache
def _cells(mask):
    """The set of the cells of a bitboard."""
    return frozenset(cells_of(mask))


@lru_cache(maxsize=256)
def _table(chips):
    """What stands on every cell, by name. "own sequence" and "fixed" are chips in sequences."""
    own, others, locked = map(_cells_once, chips)
    table = dict.fromkeys(BIT, FREE) | dict.fromkeys(_cells(CORNERS), CORNER)
    table |= {cell: FIXED if cell in locked else THEIRS for cell in others}
    return table | {cell: USED if cell in locked else OWN for cell in own}


def _cells_once(mask):
    """The set of the cells of a bitboard that will not come back, so it is not remembered."""
    return frozenset(cells_of(mask))


@cache
def _star(cell):
    """The cells on a line with `cell`, itself included, corners left out."""
    return frozenset().union(*map(_cells, LINES_THROUGH[BIT[cell]])) - _cells(CORNERS)


@dataclass(frozen=True)
class _View:
    """What one board costs: by line, by cell without and with the price of an own chip."""

    costs: dict
    cheapest: dict
    scores: dict
    own: frozenset


@lru_cache(maxsize=64)
def _view(chips):
    """The costs of a board, found once."""
    costs = {line: line_cost(line, chips) for line in LINE_MASKS}
    cheapest = {
        cell: min(costs[line] for line in LINES_THROUGH[BIT[cell]]) for cell in _cells(PLAYABLE)
    }
    own = _cells_once(chips.own)
    scores = {cell: cost + OWN_CHIP_COST * (cell in own) for cell, cost in cheapest.items()}
    return _View(costs, cheapest, scores, own)


def _completed(observation, kind, cell):
    """How many sequences an own placement completes; a removal none."""
    if kind != PLACE:
        return 0
    chips = Chips.of(observation).after(kind, cell)
    return new_sequences(chips.own, chips.locked, BIT[cell], observation.rules.heart)[0]


# ---- Notebook 9: where a card can go


def places(observation, card):
    """The cells on which `card` can be used now, row by row.

    Those are the card's empty cells; for a two-eyed jack all empty cells; for a one-eyed jack the
    cells of the other side's chips that are in no completed sequence.

    Hint: `observation.empty_mask` is a bitboard, `Chips.of(observation)` holds three more, and
    `cells_of` lists the cells of one. `mask_of(cells_with(card))` is that of a card's two cells.
    """
    chips = Chips.of(observation)
    if card in ONE_EYED:
        usable = _cells(chips.others) - _cells(chips.locked)
    else:
        usable = _cells(observation.empty_mask)
        if card not in TWO_EYED:
            usable &= set(cells_with(card))
    return sorted(usable)


# ---- Notebook 10: the recipe's evaluator


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    An own chip or a corner needs none, an empty cell 1 (place), a chip of the others 2 (remove and
    place). A line that cannot be finished costs `NEVER`: it holds a chip of one of *their*
    completed sequences, which nobody may remove, or two or more chips of *our* completed ones,
    since a new sequence may share one chip with an old one.

    Hint: `(line & mask).bit_count()` says how many cells of the line are in a mask.
    """
    cost = 0
    shared = 0
    for cell in _cells(line):
        kind = _table(chips)[cell]
        if kind == FIXED:
            return NEVER
        shared += kind == USED
        cost += PRICE[kind]
    return NEVER if shared > 1 else cost


def cell_score(cell, chips):
    """The cost of the cheapest line through `cell`, plus 1 if an own chip stands on it.

    Hint: `LINES_THROUGH[BIT[cell]]` holds the lines through a cell, as bitboards.
    """
    cost = min(line_cost(line, chips) for line in LINES_THROUGH[BIT[cell]])
    return cost + OWN_CHIP_COST * (_table(chips)[cell] in (OWN, USED))


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells but the corners: the higher the better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    return BOARD_MAX - sum(_view(chips).scores.values())


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    lines = LINE_MASKS if cell is None else LINES_THROUGH[BIT[cell]]
    return NEVER - min(line_cost(line, chips) for line in lines)


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """For each cost from 0 to `NEVER`, the bitboard of the cells whose cheapest line costs that.

    Corners are left out. This is only for speed: `board_gain` can do without it. The results for
    the latest boards are remembered.
    """
    cheapest = _view(chips).cheapest
    return tuple(
        mask_of(cell for cell, cost in cheapest.items() if cost == wanted)
        for wanted in range(NEVER + 1)
    )


def board_gain(chips, kind, cell):
    """How much the board score rises by an own "place" on, or "remove" from `cell`.

    Hint: two board scores will do. The section "Faster" of notebook 10 shows a way that is much
    quicker; the agent evaluates up to a hundred cells for one action.
    """
    before, after = _view(chips), chips.after(kind, cell)
    new = {line: line_cost(line, after) for line in LINES_THROUGH[BIT[cell]]}
    lost = 0
    for near in _star(cell):
        cheapest = min(
            new[line] if line in new else before.costs[line] for line in LINES_THROUGH[BIT[near]]
        )
        own = _table(after)[cell] in (OWN, USED) if near == cell else near in before.own
        lost += cheapest + OWN_CHIP_COST * own - before.scores[near]
    return -lost


def edge_distance(cell):
    """The steps from `cell` to the nearest edge of the board: 0 on the edge, 4 in the middle."""
    row, col = cell
    return min(row, col, SIZE - 1 - row, SIZE - 1 - col)


def parts(observation, kind, cell):
    """The three numbers that judge a "place" on, or "remove" from `cell`: sequence, line, board.

    *sequence*: the own sequences after the action. *line*: the line score through the cell after
    it, with completed sequences as they were before. *board*: the board gain plus the distance to
    the edge.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` says whether the heart counts.
    """
    before = Chips.of(observation)
    after = before.after(kind, cell)
    return (
        observation.sequences[observation.side] + _completed(observation, kind, cell),
        line_score(after, cell),
        board_gain(before, kind, cell) + edge_distance(cell),
    )


def score(sequence, line, board, weights=RECIPE):
    """The recipe's formula: each part to the power of its exponent times its weight, added up."""
    return (
        weights.sequence * sequence**weights.sequence_exponent
        + weights.line * line**weights.line_exponent
        + weights.board * board**weights.board_exponent
    )


def threat(chips, cell):
    """The line score through `cell` that the others would have with a chip of theirs on it."""
    theirs = chips.without(cell).swapped()
    return line_score(theirs.after(PLACE, cell), cell)


def play_score(observation, kind, cell, weights=RECIPE):
    """What a "place" on, or "remove" from `cell` is worth: `score` of its parts.

    Where `weights.blocking` is not 0, that many times the square of the cell's `threat` is added.
    """
    worth = score(*parts(observation, kind, cell), weights)
    if weights.blocking:
        worth += weights.blocking * threat(Chips.of(observation), cell) ** 2
    return worth


def draft_score(observation, card, weights=RECIPE):
    """What it is worth to take `card` now and to play it in a later turn.

    `DISCOUNT` times the best play score among the card's places on the present board, 0 if it has
    none. A jack is not tried out: in place of a play score it has the `score` of the present number
    of own sequences, line 0 and `JACK_VALUE` for the board.
    """
    if card in JACK_VALUE:
        held = observation.sequences[observation.side]
        return DISCOUNT * score(held, 0, JACK_VALUE[card], weights)
    return DISCOUNT * max(
        (play_score(observation, PLACE, cell, weights) for cell in places(observation, card)),
        default=0,
    )


def best_action(observation, play, draft):
    """The legal action that is worth most; among equals the first in the documented order.

    An action is worth `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of the
    card that it takes, if it takes one.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Ask for each
    only once: `functools.cache` remembers what a function has returned.
    """
    legal = list(observation.legal_actions())
    played = {
        key: play(*key)
        for key in dict.fromkeys((action.kind, action.coords) for action in legal if action.coords)
    }
    taken = {
        card: draft(card)
        for card in dict.fromkeys(action.draft_card for action in legal if action.draft_card)
    }
    worth = [
        played.get((action.kind, action.coords), 0) + taken.get(action.draft_card, 0)
        for action in legal
    ]
    return legal[worth.index(max(worth))]


class Evaluator:
    """The recipe's agent: plays the action with the best score, without look-ahead."""

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        return best_action(
            observation,
            lambda kind, cell: play_score(observation, kind, cell, self.weights),
            lambda card: draft_score(observation, card, self.weights),
        )


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips, cell):
    """What the lines through `cell` are worth to the own side, the cell itself being empty.

    The sum, over the lines that can be finished and hold no chip of the others, of `LINE_BASE` to
    the power of the number of own chips (and corners) in the line.
    """
    table = _table(chips)
    total = 0
    for line in LINES_THROUGH[BIT[cell]]:
        kinds = [table[place] for place in _cells(line)]
        if kinds.count(USED) <= 1 and not {THEIRS, FIXED} & set(kinds):
            total += LINE_BASE ** sum(kind in (OWN, USED, CORNER) for kind in kinds)
    return total


def simple_score(observation, kind, cell):
    """What a "place" on, or "remove" from `cell` is worth, found by counting lines.

    The sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for each
    sequence that a placement completes.
    """
    board = Chips.of(observation).without(cell)
    return (
        line_count(board, cell)
        + line_count(board.swapped(), cell)
        + SURE * _completed(observation, kind, cell)
    )


class LineCounter:
    """An agent that counts lines: `simple_score` for what is played and for what is taken."""

    def choose(self, observation):
        """The best legal action.

        A card that is taken, a jack too, is worth `DISCOUNT` times the best simple score among its
        places, 0 if it has none.
        """

        def play(kind, cell):
            return simple_score(observation, kind, cell)

        def draft(card):
            kind = REMOVE if card in ONE_EYED else PLACE
            found = [play(kind, cell) for cell in places(observation, card)]
            return DISCOUNT * max(found, default=0)

        return best_action(observation, play, draft)
