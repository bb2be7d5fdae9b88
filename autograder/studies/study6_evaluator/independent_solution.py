"""Study 6: a second answer, written only from the students' text: an evaluator for Sequence.

The board is a dictionary that maps cells to their contents; a view of a board contains all its
costs.
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


ORIGINAL_WEIGHTS = Weights()
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

    def flipped(self):
        """The same board from the others' view."""
        return self._replace(own=self.others, others=self.own)


# ---- The board as a dictionary: the contents of each cell, from the view of one side

FREE, OWN, THEIRS, USED, FIXED, CORNER = "empty", "own", "theirs", "own sequence", "fixed", "corner"
PRICE = {FREE: EMPTY_COST, OWN: 0, USED: 0, CORNER: 0, THEIRS: OTHERS_COST, FIXED: NEVER}


@cache
def _cells(mask):
    """The set of the cells of a bitboard."""
    return frozenset(cells_of(mask))


@lru_cache(maxsize=256)
def _table(chips):
    """The contents of every cell, by name. "own sequence" and "fixed" are chips in sequences."""
    own, others, locked = map(_cells_once, chips)
    table = dict.fromkeys(BIT, FREE) | dict.fromkeys(_cells(CORNERS), CORNER)
    table |= {cell: FIXED if cell in locked else THEIRS for cell in others}
    return table | {cell: USED if cell in locked else OWN for cell in own}


def _cells_once(mask):
    """The set of the cells of a bitboard that will not recur, so the result is not cached."""
    return frozenset(cells_of(mask))


@cache
def _star(cell):
    """The cells on a line with `cell`, including the cell itself but not the corners."""
    return frozenset().union(*map(_cells, LINES_THROUGH[BIT[cell]])) - _cells(CORNERS)


@dataclass(frozen=True)
class _View:
    """The costs of a board: by line, and by cell without and with the cost of our own chip."""

    costs: dict
    cheapest: dict
    scores: dict
    own: frozenset


@lru_cache(maxsize=64)
def _view(chips):
    """The costs of a board, computed only once."""
    costs = {line: line_cost(line, chips) for line in LINE_MASKS}
    cheapest = {
        cell: min(costs[line] for line in LINES_THROUGH[BIT[cell]]) for cell in _cells(PLAYABLE)
    }
    own = _cells_once(chips.own)
    scores = {cell: cost + OWN_CHIP_COST * (cell in own) for cell, cost in cheapest.items()}
    return _View(costs, cheapest, scores, own)


def _completed(observation, kind, cell):
    """The number of sequences that one of our own placements completes; 0 for a removal."""
    if kind != PLACE:
        return 0
    chips = Chips.of(observation).after(kind, cell)
    return new_sequences(chips.own, chips.locked, BIT[cell], observation.rules.heart)[0]


# ---- Notebook 9: where a card can go


def places(observation, card):
    """The cells on which `card` can be used now, row by row.

    These are the card's empty cells; for a two-eyed jack, all empty cells; for a one-eyed jack, the
    cells of the other side's chips that are not in a completed sequence.

    Hint: `observation.empty_mask` is a bitboard, `Chips.of(observation)` contains three more, and
    `cells_of` lists the cells of a bitboard. `mask_of(cells_with(card))` is that of a card's two
    cells.
    """
    chips = Chips.of(observation)
    if card in ONE_EYED:
        usable = _cells(chips.others) - _cells(chips.locked)
    else:
        usable = _cells(observation.empty_mask)
        if card not in TWO_EYED:
            usable &= set(cells_with(card))
    return sorted(usable)


# ---- Notebook 10: the original evaluator


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    One of our own chips or a corner needs none, an empty cell 1 (place), and one of their chips 2
    (remove and place). A line that cannot be finished costs `NEVER`: it contains a chip of one of
    *their* completed sequences, which cannot be removed, or two or more chips of *our* completed
    ones, because a new sequence may share only one chip with an old one.

    Hint: `(line & mask).bit_count()` is the number of the line's cells that are in a mask.
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
    """The cost of the cheapest line through `cell`, plus 1 if one of our own chips is on it.

    Hint: `LINES_THROUGH[BIT[cell]]` contains the lines through a cell, as bitboards.
    """
    cost = min(line_cost(line, chips) for line in LINES_THROUGH[BIT[cell]])
    return cost + OWN_CHIP_COST * (_table(chips)[cell] in (OWN, USED))


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells except the corners; higher is better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    return BOARD_MAX - sum(_view(chips).scores.values())


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    lines = LINE_MASKS if cell is None else LINES_THROUGH[BIT[cell]]
    return NEVER - min(line_cost(line, chips) for line in lines)


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """The bitboards of the cells by the cost of their cheapest line, for each cost up to `NEVER`.

    Item 0 contains the cells with a line that costs 0, and item `NEVER` those without a line that
    can be finished. Corners are omitted. This function is only for speed: `board_gain` can be
    written without it, so you may omit it. The results for the latest boards are cached.
    """
    cheapest = _view(chips).cheapest
    return tuple(
        mask_of(cell for cell, cost in cheapest.items() if cost == wanted)
        for wanted in range(NEVER + 1)
    )


def board_gain(chips, kind, cell):
    """The increase in the board score if we "place" on, or "remove" from, `cell`.

    Hint: two board scores are enough. The section "Faster" of notebook 10 shows a much faster way;
    the agent evaluates up to a hundred cells for one action.
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
    """The number of steps from `cell` to the nearest edge: 0 on the edge, 4 in the middle."""
    row, col = cell
    return min(row, col, SIZE - 1 - row, SIZE - 1 - col)


def parts(observation, kind, cell):
    """The three numbers that evaluate a "place" on, or "remove" from, `cell`: sequence, line,
    board.

    *sequence*: the number of our sequences after the action. *line*: the line score through the
    cell after it, with the completed sequences of before. *board*: the board gain plus the distance
    to the edge, also for a removal.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` states whether the heart counts.
    """
    before = Chips.of(observation)
    after = before.after(kind, cell)
    return (
        observation.sequences[observation.side] + _completed(observation, kind, cell),
        line_score(after, cell),
        board_gain(before, kind, cell) + edge_distance(cell),
    )


def score(sequence, line, board, weights=ORIGINAL_WEIGHTS):
    """The original formula: the sum of each part to the power of its exponent, times its weight."""
    return (
        weights.sequence * sequence**weights.sequence_exponent
        + weights.line * line**weights.line_exponent
        + weights.board * board**weights.board_exponent
    )


def threat(chips, cell):
    """The line score through `cell` that the others would have with their own chip on it.

    Their chip replaces one of ours on the cell. Completed sequences do not change.
    """
    theirs = chips.without(cell).flipped()
    return line_score(theirs.after(PLACE, cell), cell)


def play_score(observation, kind, cell, weights=ORIGINAL_WEIGHTS):
    """The value of a "place" on, or "remove" from, `cell`: the `score` of its parts.

    If `weights.blocking` is not 0, `weights.blocking` times the square of the cell's `threat` is
    added.
    """
    worth = score(*parts(observation, kind, cell), weights)
    if weights.blocking:
        worth += weights.blocking * threat(Chips.of(observation), cell) ** 2
    return worth


def draft_score(observation, card, weights=ORIGINAL_WEIGHTS):
    """The value of taking `card` now and playing it in a later turn.

    This is `DISCOUNT` times the best play score among the card's places on the current board, or 0
    if it has none. Jacks are not tried out and need no place: instead of a play score, a jack has
    the `score` of the current number of our sequences, line 0, and `JACK_VALUE` for the board.
    """
    if card in JACK_VALUE:
        held = observation.sequences[observation.side]
        return DISCOUNT * score(held, 0, JACK_VALUE[card], weights)
    return DISCOUNT * max(
        (play_score(observation, PLACE, cell, weights) for cell in places(observation, card)),
        default=0,
    )


def best_action(observation, play, draft):
    """The legal action with the highest value; of equal ones, the first in the documented order.

    The value of an action is `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of
    the card that it takes, if it takes one. The value of a trade is therefore that of the card
    taken.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Evaluate each
    only once: `functools.cache` stores the results of a function.
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
    """The original agent: plays the action with the best score, without look-ahead.

    Its actions depend only on the observation and its own weights.
    """

    def __init__(self, weights=ORIGINAL_WEIGHTS):
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
    """The value of the lines through `cell` for our side, with these chips.

    It is the sum of `LINE_BASE` to the power of the number of own chips (and corners) in a line,
    over the lines that can be finished and contain no chip of the others. A chip of the others on
    the cell spoils all lines; `simple_score` calls it with the cell emptied.
    """
    table = _table(chips)
    total = 0
    for line in LINES_THROUGH[BIT[cell]]:
        kinds = [table[place] for place in _cells(line)]
        if kinds.count(USED) <= 1 and not {THEIRS, FIXED} & set(kinds):
            total += LINE_BASE ** sum(kind in (OWN, USED, CORNER) for kind in kinds)
    return total


def simple_score(observation, kind, cell):
    """The value of a "place" on, or "remove" from, `cell`, by counting lines.

    This is the sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for
    each sequence that a placement completes (the heart counts as two).
    """
    board = Chips.of(observation).without(cell)
    return (
        line_count(board, cell)
        + line_count(board.flipped(), cell)
        + SURE * _completed(observation, kind, cell)
    )


class LineCounter:
    """An agent that counts lines: it uses `simple_score` for the play and for the card taken."""

    def choose(self, observation):
        """The best legal action.

        The value of the card taken, even of a jack, is `DISCOUNT` times the best simple score among
        its places, or 0 if it has none. A one-eyed jack removes chips there; all other cards place
        them.
        """

        def play(kind, cell):
            return simple_score(observation, kind, cell)

        def draft(card):
            kind = REMOVE if card in ONE_EYED else PLACE
            found = [play(kind, cell) for cell in places(observation, card)]
            return DISCOUNT * max(found, default=0)

        return best_action(observation, play, draft)
