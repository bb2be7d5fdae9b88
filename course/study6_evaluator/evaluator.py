"""Study 6: an evaluator for Sequence: what a cell, a placement and a card are worth.

You fill in this module. Notebooks 09 and 10 explain every part; hand in this file with them.
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

# "The original" is the evaluator that this study rebuilds from its author's description.
# The costs of a line, in actions: to place on an empty cell; to remove a chip of the opponent and
# place.
# Then the extra cost of a cell on which an own chip stands already.
EMPTY_COST, OTHERS_COST, OWN_CHIP_COST = 1, 2, 1
NEVER = 10  # the cost of a line that cannot be finished; one that can costs at most 9
BOARD_MAX = NEVER * PLAYABLE.bit_count()  # so that no board is negative; our number
DISCOUNT = 0.75  # of a card that is played next turn at the earliest; our number
# The original has fixed values but does not name them: ours are above making a four, below a
# sequence.
JACK_VALUE = {"jd": 150, "jc": 150, "jh": 120, "js": 120}
LINE_BASE = 4  # in `line_count`: each chip makes a line four times as good
SURE = 10_000  # in `simple_score`: more than the 20 lines through a cell with 4 ** 4 each


class Weights(NamedTuple):
    """The parameters of `score`: the original's six, and one that the original does not have."""

    sequence: float = 100
    sequence_exponent: float = 2
    line: float = 1
    line_exponent: float = 2
    board: float = 1
    board_exponent: float = 1
    blocking: float = 0  # for `threat`, the remedy; with 0 it is the original evaluator


RECIPE = Weights()  # those of the original
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


# ---- Notebook 9: where a card can go


def places(observation, card):
    """The cells on which `card` can be used now, row by row.

    Those are the card's empty cells; for a two-eyed jack all empty cells; for a one-eyed jack the
    cells of the other side's chips that are in no completed sequence.

    Hint: `observation.empty_mask` is a bitboard, `Chips.of(observation)` holds three more, and
    `cells_of` lists the cells of one. `mask_of(cells_with(card))` is that of a card's two cells.
    """
    raise NotImplementedError("places: write this function")


# ---- Notebook 10: the original evaluator


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    An own chip or a corner needs none, an empty cell 1 (place), a chip of the others 2 (remove and
    place). A line that cannot be finished costs `NEVER`: it holds a chip of one of *their*
    completed sequences, which nobody may remove, or two or more chips of *our* completed ones,
    since a new sequence may share one chip with an old one.

    Hint: `(line & mask).bit_count()` says how many cells of the line are in a mask.
    """
    raise NotImplementedError("line_cost: write this function")


def cell_score(cell, chips):
    """The cost of the cheapest line through `cell`, plus 1 if an own chip stands on it.

    Hint: `LINES_THROUGH[BIT[cell]]` holds the lines through a cell, as bitboards.
    """
    raise NotImplementedError("cell_score: write this function")


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells but the corners: the higher the better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    raise NotImplementedError("board_score: write this function")


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    raise NotImplementedError("line_score: write this function")


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """The bitboards of the cells by the cost of their cheapest line, for each cost up to `NEVER`.

    Item 0 holds the cells with a line that costs 0, item `NEVER` those without one that can be
    finished. Corners are left out. This is only for speed: `board_gain` can do without it, and you
    may leave it out. The results for the latest boards are remembered.
    """
    raise NotImplementedError("cells_by_cost: write this function")


def board_gain(chips, kind, cell):
    """How much the board score rises by an own "place" on, or "remove" from `cell`.

    Hint: two board scores will do. The section "Faster" of notebook 10 shows a way that is much
    quicker; the agent evaluates up to a hundred cells for one action.
    """
    raise NotImplementedError("board_gain: write this function")


def edge_distance(cell):
    """The steps from `cell` to the nearest edge of the board: 0 on the edge, 4 in the middle."""
    raise NotImplementedError("edge_distance: write this function")


def parts(observation, kind, cell):
    """The three numbers that judge a "place" on, or "remove" from `cell`: sequence, line, board.

    *sequence*: the own sequences after the action. *line*: the line score through the cell after
    it, with completed sequences as they were before. *board*: the board gain plus the distance to
    the edge, for a removal too.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` says whether the heart counts.
    """
    raise NotImplementedError("parts: write this function")


def score(sequence, line, board, weights=RECIPE):
    """The original formula: each part to the power of its exponent times its weight, added up."""
    raise NotImplementedError("score: write this function")


def threat(chips, cell):
    """The line score through `cell` that the others would have with a chip of theirs on it.

    Theirs takes the place of an own chip on the cell. Completed sequences stay as they are.
    """
    raise NotImplementedError("threat: write this function")


def play_score(observation, kind, cell, weights=RECIPE):
    """What a "place" on, or "remove" from `cell` is worth: `score` of its parts.

    Where `weights.blocking` is not 0, that many times the square of the cell's `threat` is added.
    """
    raise NotImplementedError("play_score: write this function")


def draft_score(observation, card, weights=RECIPE):
    """What it is worth to take `card` now and to play it in a later turn.

    `DISCOUNT` times the best play score among the card's places on the present board, 0 if it has
    none. A jack is not tried out, nor does it need a place: instead of a play score it has the
    `score` of the present number of own sequences, line 0 and `JACK_VALUE` for the board.
    """
    raise NotImplementedError("draft_score: write this function")


def best_action(observation, play, draft):
    """The legal action that is worth most; among equals the first in the documented order.

    An action is worth `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of the
    card that it takes, if it takes one. So a trade is worth the card that it takes.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Ask for each
    only once: `functools.cache` remembers what a function has returned.
    """
    raise NotImplementedError("best_action: write this function")


class Evaluator:
    """The original agent: plays the action with the best score, without look-ahead.

    What it plays depends on the observation and on its own weights alone.
    """

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        raise NotImplementedError("Evaluator.choose: write this method")


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips, cell):
    """What the lines through `cell` are worth to the own side, with the chips as they are.

    A chip of the others on the cell spoils all of them; `simple_score` asks with the cell emptied.
    The sum, over the lines that can be finished and hold no chip of the others, of `LINE_BASE` to
    the power of the number of own chips (and corners) in the line.
    """
    raise NotImplementedError("line_count: write this function")


def simple_score(observation, kind, cell):
    """What a "place" on, or "remove" from `cell` is worth, found by counting lines.

    The sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for each
    sequence that a placement completes (the heart is two).
    """
    raise NotImplementedError("simple_score: write this function")


class LineCounter:
    """An agent that counts lines: `simple_score` for what is played and for what is taken."""

    def choose(self, observation):
        """The best legal action.

        A card that is taken, a jack too, is worth `DISCOUNT` times the best simple score among its
        places, 0 if it has none. A one-eyed jack removes there, every other card places.
        """

        raise NotImplementedError("LineCounter.choose: write this method")
