"""Study 6: the whole board is judged by shifting a second bitboard, row by row with a margin, so that
the costs of all 192 lines are added up at once in binary digits; single lines are asked directly.
"""

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


# ---- Notebook 9: where a card can go


def places(observation, card):
    """The cells on which `card` can be used now, row by row.

    Those are the card's empty cells; for a two-eyed jack all empty cells; for a one-eyed jack the
    cells of the other side's chips that are in no completed sequence.

    Hint: `observation.empty_mask` is a bitboard, `Chips.of(observation)` holds three more, and
    `cells_of` lists the cells of one. `mask_of(cells_with(card))` is the one of a card's two cells.
    """
    chips = Chips.of(observation)
    if card in ONE_EYED:
        allowed = chips.others & ~chips.locked
    else:
        allowed = observation.empty_mask
        if card not in TWO_EYED:
            allowed &= mask_of(cells_with(card))
    return cells_of(allowed)


# ---- Notebook 10: the recipe's evaluator


def can_be_finished(line, chips):
    """Whether a line of five can ever become an own sequence."""
    locked = line & chips.locked
    return not locked & chips.others and (locked & chips.own).bit_count() < 2


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    An own chip or a corner needs none, an empty cell 1 (place), a chip of the others 2 (remove and
    place). A line that cannot be finished costs `NEVER`: it holds a chip of one of *their*
    completed sequences, which nobody may remove, or two or more chips of *our* completed ones,
    since a new sequence may share one chip with an old one.

    Hint: `(line & mask).bit_count()` says how many cells of the line are in a mask.
    """
    if not can_be_finished(line, chips):
        return NEVER
    free = (line & (chips.own | CORNERS)).bit_count()
    hostile = (line & chips.others).bit_count()
    return OTHERS_COST * hostile + EMPTY_COST * (FIVE - free - hostile)


def cell_score(cell, chips):
    """The cost of the cheapest line through `cell`, plus 1 if an own chip stands on it.

    Hint: `LINES_THROUGH[BIT[cell]]` holds the lines through a cell, as bitboards.
    """
    bit = BIT[cell]
    cheapest = NEVER
    for line in LINES_THROUGH[bit]:
        cheapest = min(cheapest, line_cost(line, chips))
    return cheapest + OWN_CHIP_COST * (chips.own >> bit & 1)


# The second bitboard: row by row, with six empty columns behind each row, so that no line
# that leaves the board comes back on the other side.
WIDTH = SIZE + 6
SPOT = [row * WIDTH + col for row, col in sorted(BIT, key=BIT.get)]  # by bit
STEPS = (WIDTH, 1, WIDTH + 1, WIDTH - 1)  # down, right, both diagonals


def laid_out(mask):
    """A bitboard of the course as one of ours."""
    ours = 0
    while mask:
        low = mask & -mask
        ours |= 1 << SPOT[low.bit_length() - 1]
        mask ^= low
    return ours


def packed(ours):
    """One of our bitboards as one of the course, corners left out."""
    mask = 0
    for bit, spot in enumerate(SPOT[:PLAYABLE.bit_length()]):
        mask |= (ours >> spot & 1) << bit
    return mask


BOARD = laid_out(PLAYABLE | CORNERS)


def add_up(mask, step):
    """How many of the five cells of each line are in the mask: the binary digits of all sums.

    A line is the bit of its first cell.
    """
    one = two = four = 0
    for k in range(FIVE):
        more = mask >> k * step
        carry = one & more
        one ^= more
        four |= two & carry
        two ^= carry
    return one, two, four


def lines_by_cost(chips):
    """For each cost up to `NEVER` the first cells of such lines, for each of the four steps."""
    hostile, locked = laid_out(chips.others), laid_out(chips.locked)
    empty = BOARD & ~(laid_out(chips.own | CORNERS) | hostile)
    found = [[0] * len(STEPS) for _ in range(NEVER + 1)]
    for number, step in enumerate(STEPS):
        starts = BOARD
        for k in range(1, FIVE):
            starts &= BOARD >> k * step
        dead = 0
        for k in range(FIVE):
            dead |= (locked & hostile) >> k * step
        _, two, four = add_up(locked & ~hostile, step)
        dead = starts & (dead | two | four)
        # empty + 2 * hostile, four digits
        a, b, c = add_up(empty, step)
        d, e, f = add_up(hostile, step)
        digits = [a, b ^ d]
        carry = b & d
        digits.append(c ^ e ^ carry)
        carry = c & e | c & carry | e & carry
        digits.append(f ^ carry)
        for cost in range(NEVER + 1):
            lines = starts & ~dead
            for place, digit in enumerate(digits):
                lines &= digit if cost >> place & 1 else ~digit
            found[cost][number] = lines
        found[NEVER][number] |= dead
    return found


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells but the corners: the higher the better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    total = BOARD_MAX - OWN_CHIP_COST * (chips.own & PLAYABLE).bit_count()
    for cost, mask in enumerate(cells_by_cost(chips)):
        total -= cost * mask.bit_count()
    return total


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    if cell is not None:
        return NEVER - min(line_cost(line, chips) for line in LINES_THROUGH[BIT[cell]])
    for cost, lines in enumerate(lines_by_cost(chips)):
        if any(lines):
            return NEVER - cost


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """The bitboards of the cells by the cost of their cheapest line, for each cost up to `NEVER`.

    Item 0 holds the cells with a line that costs 0, item `NEVER` those without one that can be
    finished. Corners are left out. This is only for speed: `board_gain` can do without it, and you
    may leave it out. The results for the latest boards are remembered.
    """
    left, found = laid_out(PLAYABLE), []
    for starts in lines_by_cost(chips):
        cells = 0
        for first, step in zip(starts, STEPS):
            for k in range(FIVE):
                cells |= first << k * step
        found.append(packed(cells & left))
        left &= ~cells
    return tuple(found)


def board_gain(chips, kind, cell):
    """How much the board score rises by an own "place" on, or "remove" from `cell`.

    Hint: two board scores will do. The section "Faster" of notebook 10 shows a way that is much
    quicker; the agent evaluates up to a hundred cells for one action.
    """
    cheapest, improved = cells_by_cost(chips), 0
    for line in LINES_THROUGH[BIT[cell]]:
        if can_be_finished(line, chips):
            improved |= line & cheapest[line_cost(line, chips)]
    return improved.bit_count() - (OWN_CHIP_COST if kind == PLACE else 0)


def edge_distance(cell):
    """The steps from `cell` to the nearest edge of the board: 0 on the edge, 4 in the middle."""
    row, col = cell
    return min(row, col, SIZE - 1 - row, SIZE - 1 - col)


def parts(observation, kind, cell):
    """The three numbers that judge a "place" on, or "remove" from `cell`: sequence, line, board.

    *sequence*: the own sequences after the action. *line*: the line score through the cell after
    it, with completed sequences as they were before. *board*: the board gain plus the distance to
    the edge, for a removal too.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` says whether the heart counts.
    """
    before = Chips.of(observation)
    after = before.after(kind, cell)
    sequence = observation.sequences[observation.side]
    if kind == PLACE:
        sequence += new_sequences(
            after.own, after.locked, BIT[cell], observation.rules.heart)[0]
    return sequence, line_score(after, cell), board_gain(before, kind, cell) + edge_distance(cell)


def score(sequence, line, board, weights=RECIPE):
    """The recipe's formula: each part to the power of its exponent times its weight, added up."""
    return (weights.sequence * sequence ** weights.sequence_exponent
            + weights.line * line ** weights.line_exponent
            + weights.board * board ** weights.board_exponent)


def threat(chips, cell):
    """The line score through `cell` that the others would have with a chip of theirs on it.

    Theirs takes the place of an own chip on the cell. Completed sequences stay as they are.
    """
    return line_score(chips.without(cell).swapped().after(PLACE, cell), cell)


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
    none. A jack is not tried out, nor does it need a place: instead of a play score it has the
    `score` of the present number of own sequences, line 0 and `JACK_VALUE` for the board.
    """
    if card in JACK_VALUE:
        side = observation.side
        return DISCOUNT * score(observation.sequences[side], 0, JACK_VALUE[card], weights)
    found = [play_score(observation, PLACE, cell, weights) for cell in places(observation, card)]
    return DISCOUNT * max(found) if found else 0


def best_action(observation, play, draft):
    """The legal action that is worth most; among equals the first in the documented order.

    An action is worth `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of the
    card that it takes, if it takes one. So a trade is worth the card that it takes.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Ask for each
    only once: `functools.cache` remembers what a function has returned.
    """
    plays, drafts = {}, {}
    best = most = None
    for action in observation.legal_actions():
        worth = 0
        if action.coords:
            key = action.kind, action.coords
            if key not in plays:
                plays[key] = play(*key)
            worth += plays[key]
        if action.draft_card:
            if action.draft_card not in drafts:
                drafts[action.draft_card] = draft(action.draft_card)
            worth += drafts[action.draft_card]
        if best is None or worth > most:
            best, most = action, worth
    return best


class Evaluator:
    """The recipe's agent: plays the action with the best score, without look-ahead.

    What it plays depends on the observation and on its own weights alone.
    """

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        return best_action(
            observation,
            lambda kind, cell: play_score(observation, kind, cell, self.weights),
            lambda card: draft_score(observation, card, self.weights))


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips, cell):
    """What the lines through `cell` are worth to the own side, with the chips as they are.

    A chip of the others on the cell spoils all of them; `simple_score` asks with the cell emptied.
    The sum, over the lines that can be finished and hold no chip of the others, of `LINE_BASE` to
    the power of the number of own chips (and corners) in the line.
    """
    total = 0
    for line in LINES_THROUGH[BIT[cell]]:
        if not line & chips.others and can_be_finished(line, chips):
            total += LINE_BASE ** (line & (chips.own | CORNERS)).bit_count()
    return total


def simple_score(observation, kind, cell):
    """What a "place" on, or "remove" from `cell` is worth, found by counting lines.

    The sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for each
    sequence that a placement completes (the heart is two).
    """
    chips = Chips.of(observation)
    bare = chips.without(cell)
    total = line_count(bare, cell) + line_count(bare.swapped(), cell)
    if kind == PLACE:
        own, _, locked = chips.after(PLACE, cell)
        total += SURE * new_sequences(own, locked, BIT[cell], observation.rules.heart)[0]
    return total


class LineCounter:
    """An agent that counts lines: `simple_score` for what is played and for what is taken."""

    def choose(self, observation):
        """The best legal action.

        A card that is taken, a jack too, is worth `DISCOUNT` times the best simple score among its
        places, 0 if it has none. A one-eyed jack removes there, every other card places.
        """
        known = {}

        def play(kind, cell):
            if (kind, cell) not in known:
                known[kind, cell] = simple_score(observation, kind, cell)
            return known[kind, cell]

        def draft(card):
            kind = REMOVE if card in ONE_EYED else PLACE
            return DISCOUNT * max((play(kind, cell) for cell in places(observation, card)), default=0)

        return best_action(observation, play, draft)
