"""Study 6: an evaluator for Sequence, which assigns values to cells, placements and cards.

You complete this module. Notebooks 9, 10 and 10b explain every part; submit this file with them.
"""

from functools import cache, lru_cache
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
# and place one; and the additional cost of a cell that already has one of your chips.
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


ORIGINAL_WEIGHTS = Weights()  # the weights of the original
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
        """The chips after an own "place" on, or "remove" from, `cell`; no chips are locked."""
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


# ---- Notebook 9: where a card can go


def places(observation, card):
    """The cells on which `card` can be used now, row by row.

    These are the card's empty cells; for a two-eyed jack, all empty cells; for a one-eyed jack, the
    cells of the other side's chips that are not in a completed sequence.

    Hint: `observation.empty_mask` is a bitboard, `Chips.of(observation)` contains three more, and
    `cells_of` lists the cells of a bitboard. `mask_of(cells_with(card))` is that of a card's two
    cells.
    """
    ### BEGIN SOLUTION
    if card in ONE_EYED:
        chips = Chips.of(observation)
        return list(cells_of(chips.others & ~chips.locked))
    if card in TWO_EYED:
        return list(cells_of(observation.empty_mask))
    return list(cells_of(mask_of(cells_with(card)) & observation.empty_mask))
    ### END SOLUTION


# ---- Notebook 10: the original evaluator


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    One of your chips or a corner needs none, an empty cell 1 (place), and a chip of the others 2
    (remove and place). A line that cannot be finished costs `NEVER`: it contains a chip of one of
    *their* completed sequences, which cannot be removed, or two or more chips of *your* completed
    ones, because a new sequence may share only one chip with an old one.

    Hint: `(line & mask).bit_count()` is the number of the line's cells that are in a mask.
    """
    ### BEGIN SOLUTION
    if line & chips.others & chips.locked or (line & chips.own & chips.locked).bit_count() > 1:
        return NEVER
    theirs = (line & chips.others).bit_count()
    empty = FIVE - theirs - (line & (chips.own | CORNERS)).bit_count()
    return EMPTY_COST * empty + OTHERS_COST * theirs
    ### END SOLUTION


def cell_score(cell, chips):
    """The cost of the cheapest line through `cell`, plus 1 if one of your chips is on it.

    Hint: `LINES_THROUGH[BIT[cell]]` contains the lines through a cell, as bitboards.
    """
    ### BEGIN SOLUTION
    cheapest = min(line_cost(line, chips) for line in LINES_THROUGH[BIT[cell]])
    return cheapest + OWN_CHIP_COST * bool(chips.own & 1 << BIT[cell])
    ### END SOLUTION


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells except the corners; higher is better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    ### BEGIN SOLUTION
    return BOARD_MAX - sum(cell_score(cell, chips) for cell in cells_of(PLAYABLE))
    ### END SOLUTION


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    ### BEGIN SOLUTION
    lines = LINE_MASKS if cell is None else LINES_THROUGH[BIT[cell]]
    return NEVER - min(line_cost(line, chips) for line in lines)
    ### END SOLUTION


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """The bitboards of the cells by the cost of their cheapest line, for each cost up to `NEVER`.

    Item 0 contains the cells with a line that costs 0, and item `NEVER` those without a line that
    can be finished. Corners are omitted. This function is only for speed: `board_gain` can be
    written without it, so you may omit it. The results for the latest boards are cached.
    """
    ### BEGIN SOLUTION
    reached, found = 0, [0] * (NEVER + 1)
    by_cost = [0] * NEVER
    for line in LINE_MASKS:
        cost = line_cost(line, chips)
        if cost < NEVER:
            by_cost[cost] |= line
    for cost, cells in enumerate(by_cost):  # a cell belongs to the first cost that reaches it
        found[cost] = cells & PLAYABLE & ~reached
        reached |= cells
    found[NEVER] = PLAYABLE & ~reached
    return tuple(found)
    ### END SOLUTION


def board_gain(chips, kind, cell):
    """The increase in the board score from an own "place" on, or "remove" from, `cell`.

    Hint: two board scores are enough. The section "Faster" of notebook 10 shows a much faster way;
    the agent evaluates up to a hundred cells for one action.
    """
    ### BEGIN SOLUTION
    # In both cases, each line through the cell gets cheaper by one, unless it cannot be finished. A
    # cell's score therefore falls by one exactly if one of these lines was its cheapest.
    by_cost, cheaper = cells_by_cost(chips), 0
    for line in LINES_THROUGH[BIT[cell]]:
        cost = line_cost(line, chips)
        if cost < NEVER:
            cheaper |= line & by_cost[cost]
    if kind == PLACE:  # the new chip adds one to its own cell
        return cheaper.bit_count() - 1
    return cheaper.bit_count()
    ### END SOLUTION


def edge_distance(cell):
    """The number of steps from `cell` to the nearest edge: 0 on the edge, 4 in the middle."""
    ### BEGIN SOLUTION
    row, col = cell
    return min(row, col, SIZE - 1 - row, SIZE - 1 - col)
    ### END SOLUTION


def parts(observation, kind, cell):
    """The three numbers that evaluate a "place" on, or "remove" from, `cell`: sequence, line,
    board.

    *sequence*: the number of own sequences after the action. *line*: the line score through the
    cell after it, with the completed sequences of before. *board*: the board gain plus the distance
    to the edge, also for a removal.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` states whether the heart counts.
    """
    ### BEGIN SOLUTION
    before = Chips.of(observation)
    after = before.after(kind, cell)
    sequence = observation.sequences[observation.side]
    if kind == PLACE:
        sequence += new_sequences(after.own, after.locked, BIT[cell], observation.rules.heart)[0]
    return (sequence, line_score(after, cell), board_gain(before, kind, cell) + edge_distance(cell))
    ### END SOLUTION


def score(sequence, line, board, weights=ORIGINAL_WEIGHTS):
    """The original formula: the sum of each part to the power of its exponent, times its weight."""
    ### BEGIN SOLUTION
    return (
        weights.sequence * sequence**weights.sequence_exponent
        + weights.line * line**weights.line_exponent
        + weights.board * board**weights.board_exponent
    )
    ### END SOLUTION


def play_score(observation, kind, cell, weights=ORIGINAL_WEIGHTS):
    """The value of a "place" on, or "remove" from, `cell`: the `score` of its parts.

    If `weights.blocking` is not 0, `weights.blocking` times the square of the cell's `threat` is
    added.
    """
    ### BEGIN SOLUTION
    worth = score(*parts(observation, kind, cell), weights)
    if weights.blocking:
        worth += weights.blocking * threat(Chips.of(observation), cell) ** 2
    return worth
    ### END SOLUTION


def draft_score(observation, card, weights=ORIGINAL_WEIGHTS):
    """The value of taking `card` now and playing it in a later turn.

    This is `DISCOUNT` times the best play score among the card's places on the current board, or 0
    if it has none. Jacks are not tried out and need no place: instead of a play score, a jack has
    the `score` of the current number of own sequences, line 0, and `JACK_VALUE` for the board.
    """
    ### BEGIN SOLUTION
    if card in JACK_VALUE:
        own = observation.sequences[observation.side]
        return DISCOUNT * score(own, 0, JACK_VALUE[card], weights)
    return DISCOUNT * max(
        (play_score(observation, PLACE, cell, weights) for cell in places(observation, card)),
        default=0,
    )
    ### END SOLUTION


def best_action(observation, play, draft):
    """The legal action with the highest value; of equal ones, the first in the documented order.

    The value of an action is `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of
    the card that it takes, if it takes one. The value of a trade is therefore that of the card
    taken.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Evaluate each
    only once: `functools.cache` stores the results of a function.
    """
    ### BEGIN SOLUTION
    play, draft = cache(play), cache(draft)

    def worth(action):
        return (play(action.kind, action.coords) if action.coords else 0) + (
            draft(action.draft_card) if action.draft_card else 0
        )

    return max(observation.legal_actions(), key=worth)
    ### END SOLUTION


class Evaluator:
    """The original agent: plays the action with the best score, without look-ahead.

    Its actions depend only on the observation and its own weights.
    """

    def __init__(self, weights=ORIGINAL_WEIGHTS):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        ### BEGIN SOLUTION
        return best_action(
            observation,
            lambda kind, cell: play_score(observation, kind, cell, self.weights),
            lambda card: draft_score(observation, card, self.weights),
        )
        ### END SOLUTION


# ---- Notebook 10b: threats, and something simpler


def threat(chips, cell):
    """The line score through `cell` that the others would have with their own chip on it.

    Their chip replaces one of your chips on the cell. Completed sequences do not change.
    """
    ### BEGIN SOLUTION
    return line_score(chips.without(cell).flipped().after(PLACE, cell), cell)
    ### END SOLUTION


def line_count(chips, cell):
    """The value of the lines through `cell` for the own side, with these chips.

    It is the sum of `LINE_BASE` to the power of the number of own chips (and corners) in a line,
    over the lines that can be finished and contain no chip of the others. A chip of the others on
    the cell spoils all lines; `simple_score` calls it with the cell emptied.
    """
    ### BEGIN SOLUTION
    return sum(
        LINE_BASE ** (line & (chips.own | CORNERS)).bit_count()
        for line in LINES_THROUGH[BIT[cell]]
        if not line & chips.others and line_cost(line, chips) < NEVER
    )
    ### END SOLUTION


def simple_score(observation, kind, cell):
    """The value of a "place" on, or "remove" from, `cell`, by counting lines.

    This is the sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for
    each sequence that a placement completes (the heart counts as two).
    """
    ### BEGIN SOLUTION
    chips = Chips.of(observation).without(cell)
    worth = line_count(chips, cell) + line_count(chips.flipped(), cell)
    if kind == PLACE:
        own, heart = chips.after(PLACE, cell).own, observation.rules.heart
        worth += SURE * new_sequences(own, chips.locked, BIT[cell], heart)[0]
    return worth
    ### END SOLUTION


class LineCounter:
    """An agent that counts lines: it uses `simple_score` for the play and for the card taken."""

    def choose(self, observation):
        """The best legal action.

        The value of the card taken, even of a jack, is `DISCOUNT` times the best simple score among
        its places, or 0 if it has none. A one-eyed jack removes chips there; all other cards place
        them.
        """

        ### BEGIN SOLUTION
        @cache
        def play(kind, cell):
            return simple_score(observation, kind, cell)

        def draft(card):
            kind = REMOVE if card in ONE_EYED else PLACE
            return DISCOUNT * max(
                (play(kind, cell) for cell in places(observation, card)), default=0
            )

        return best_action(observation, play, draft)
        ### END SOLUTION
