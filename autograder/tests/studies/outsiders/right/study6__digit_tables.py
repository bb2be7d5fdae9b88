"""Study 6 by table: every cell is a digit from 0 to 4, a line a number in base 5, and what a line costs
or counts is looked up in two tables that a recursion fills when the module is loaded.
"""

from itertools import product
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
    digits = digits_of(Chips.of(observation))
    wanted, asked = (VACANT,), cells_with(card)
    if card in TWO_EYED + ONE_EYED:
        asked = ALL_CELLS
    if card in ONE_EYED:
        wanted = (THEIRS,)
    return [cell for cell in asked if digits[BIT[cell]] in wanted]


# What is on a cell: nothing; an own chip or a corner; one of their chips; and the same in a sequence.
VACANT, MINE, THEIRS, MINE_LOCKED, THEIRS_LOCKED = STATES = range(5)
ALL_CELLS = [cell for cell in product(range(SIZE), repeat=2) if 1 << BIT[cell] & PLAYABLE]
LINE_BITS = {line: [bit for bit in range(SIZE * SIZE) if line >> bit & 1] for line in LINE_MASKS}


@lru_cache(maxsize=256)
def digits_of(chips):
    """What is on each cell, by bit."""
    digits, here = [], 1
    for _ in range(PLAYABLE.bit_length()):
        locked = 2 if chips.locked & here else 0
        digits.append(MINE + locked if chips.own & here else
                      THEIRS + locked if chips.others & here else VACANT)
        here <<= 1
    return digits + [MINE] * CORNERS.bit_count()


def fill_tables():
    """What all lines cost, and what they count for the own side, by their number."""
    costs, counts = [], []

    def grow(length, cost, chips, shared, is_open):
        """Append what becomes of a line of which some cells are known."""
        if length == FIVE:
            possible = shared < 2
            costs.append(cost if possible else NEVER)
            counts.append(LINE_BASE ** chips if possible and is_open else 0)
            return
        for state in STATES:
            if state == VACANT:
                grow(length + 1, cost + EMPTY_COST, chips, shared, is_open)
            elif state == MINE:
                grow(length + 1, cost, chips + 1, shared, is_open)
            elif state == THEIRS:
                grow(length + 1, cost + OTHERS_COST, chips, shared, False)
            elif state == MINE_LOCKED:
                grow(length + 1, cost, chips + 1, shared + 1, is_open)
            else:
                grow(length + 1, cost, chips, shared + 2, False)

    grow(0, 0, 0, 0, True)
    return tuple(costs), tuple(counts)


COSTS, COUNTS = fill_tables()


def number_of(line, digits):
    """The number of a line."""
    if line not in LINE_BITS:  # any other five cells
        LINE_BITS[line] = [bit for bit in range(line.bit_length()) if line >> bit & 1]
    a, b, c, d, e = LINE_BITS[line]
    return (((digits[a] * 5 + digits[b]) * 5 + digits[c]) * 5 + digits[d]) * 5 + digits[e]


# ---- Notebook 10: the recipe's evaluator


def line_cost(line, chips):
    """The fewest actions that finish a line of five, given as a bitboard.

    An own chip or a corner needs none, an empty cell 1 (place), a chip of the others 2 (remove and
    place). A line that cannot be finished costs `NEVER`: it holds a chip of one of *their*
    completed sequences, which nobody may remove, or two or more chips of *our* completed ones,
    since a new sequence may share one chip with an old one.

    Hint: `(line & mask).bit_count()` says how many cells of the line are in a mask.
    """
    return COSTS[number_of(line, digits_of(chips))]


def cell_score(cell, chips):
    """The cost of the cheapest line through `cell`, plus 1 if an own chip stands on it.

    Hint: `LINES_THROUGH[BIT[cell]]` holds the lines through a cell, as bitboards.
    """
    digits = digits_of(chips)
    return (NEVER - line_score(chips, cell)
            + OWN_CHIP_COST * (digits[BIT[cell]] in (MINE, MINE_LOCKED) and cell in ALL_CELLS))


def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells but the corners: the higher the better.

    Hint: `cells_of(PLAYABLE)` lists those cells.
    """
    return BOARD_MAX - sum(cell_score(cell, chips) for cell in ALL_CELLS)


def line_score(chips, cell=None):
    """`NEVER` minus the cost of the cheapest line: of all lines, or of those through `cell`."""
    digits = digits_of(chips)
    lines = LINE_MASKS if cell is None else LINES_THROUGH[BIT[cell]]
    return NEVER - min([COSTS[number_of(line, digits)] for line in lines])


@lru_cache(maxsize=64)
def cells_by_cost(chips):
    """The bitboards of the cells by the cost of their cheapest line, for each cost up to `NEVER`.

    Item 0 holds the cells with a line that costs 0, item `NEVER` those without one that can be
    finished. Corners are left out. This is only for speed: `board_gain` can do without it, and you
    may leave it out. The results for the latest boards are remembered.
    """
    masks = [0] * (NEVER + 1)
    for cell in ALL_CELLS:
        masks[NEVER - line_score(chips, cell)] += 1 << BIT[cell]
    return masks


@lru_cache(maxsize=64)
def cheapest_costs(chips):
    """The cost of the cheapest line through each cell, by bit."""
    digits, cheapest = digits_of(chips), [NEVER] * len(BIT)
    for line in LINE_MASKS:
        cost = COSTS[number_of(line, digits)]
        if cost < NEVER:
            for bit in LINE_BITS[line]:
                if cost < cheapest[bit]:
                    cheapest[bit] = cost
    return cheapest


def board_gain(chips, kind, cell):
    """How much the board score rises by an own "place" on, or "remove" from `cell`.

    Hint: two board scores will do. The section "Faster" of notebook 10 shows a way that is much
    quicker; the agent evaluates up to a hundred cells for one action.
    """
    before, after = digits_of(chips), digits_of(chips.after(kind, cell))
    cheapest = cheapest_costs(chips)
    falls = {}  # by how much the cheapest cost of each cell falls
    for line in LINES_THROUGH[BIT[cell]]:
        now = COSTS[number_of(line, after)]
        if now < COSTS[number_of(line, before)]:
            for bit in LINE_BITS[line]:
                if now < cheapest[bit] and bit < PLAYABLE.bit_length():
                    falls[bit] = max(falls.get(bit, 0), cheapest[bit] - now)
    gain = sum(falls.values())
    return gain - OWN_CHIP_COST if kind == PLACE else gain


def edge_distance(cell):
    """The steps from `cell` to the nearest edge of the board: 0 on the edge, 4 in the middle."""
    return min(map(RING.__getitem__, cell))


RING = (0, 1, 2, 3, 4, 4, 3, 2, 1, 0)


def parts(observation, kind, cell):
    """The three numbers that judge a "place" on, or "remove" from `cell`: sequence, line, board.

    *sequence*: the own sequences after the action. *line*: the line score through the cell after
    it, with completed sequences as they were before. *board*: the board gain plus the distance to
    the edge, for a removal too.

    Hint: `new_sequences(own, locked, bit, heart)[0]` counts the sequences that a chip completes,
    with the chip already in `own`; `observation.rules.heart` says whether the heart counts.
    """
    side, chips = observation.side, Chips.of(observation)
    after = chips.after(kind, cell)
    made = (0, 0)
    if kind == PLACE:
        made = new_sequences(after.own, chips.locked, BIT[cell], observation.rules.heart)
    board = board_gain(chips, kind, cell)
    return (observation.sequences[side] + made[0],
            line_score(after, cell),
            board + edge_distance(cell))


def score(sequence, line, board, weights=RECIPE):
    """The recipe's formula: each part to the power of its exponent times its weight, added up."""
    triples = ((weights.sequence, sequence, weights.sequence_exponent),
               (weights.line, line, weights.line_exponent),
               (weights.board, board, weights.board_exponent))
    return sum([weight * part ** exponent for weight, part, exponent in triples])


def threat(chips, cell):
    """The line score through `cell` that the others would have with a chip of theirs on it.

    Theirs takes the place of an own chip on the cell. Completed sequences stay as they are.
    """
    own, others, locked = chips.without(cell)
    return line_score(Chips(others, own, locked).after("place", cell), cell)


def play_score(observation, kind, cell, weights=RECIPE):
    """What a "place" on, or "remove" from `cell` is worth: `score` of its parts.

    Where `weights.blocking` is not 0, that many times the square of the cell's `threat` is added.
    """
    sequence, line, board = parts(observation, kind, cell)
    if weights.blocking == 0:
        return score(sequence, line, board, weights)
    danger = threat(Chips.of(observation), cell)
    return score(sequence, line, board, weights) + weights.blocking * (danger * danger)


def draft_score(observation, card, weights=RECIPE):
    """What it is worth to take `card` now and to play it in a later turn.

    `DISCOUNT` times the best play score among the card's places on the present board, 0 if it has
    none. A jack is not tried out, nor does it need a place: instead of a play score it has the
    `score` of the present number of own sequences, line 0 and `JACK_VALUE` for the board.
    """
    try:
        value = score(observation.sequences[observation.side], 0, JACK_VALUE[card], weights)
    except KeyError:  # no jack
        cells = places(observation, card)
        value = max([play_score(observation, PLACE, c, weights) for c in cells]) if cells else 0
    return value * DISCOUNT


def best_action(observation, play, draft):
    """The legal action that is worth most; among equals the first in the documented order.

    An action is worth `play(kind, cell)` of its cell, if it has one, plus `draft(card)` of the
    card that it takes, if it takes one. So a trade is worth the card that it takes.

    Hint: there may be a thousand actions, but only a hundred cells and five cards. Ask for each
    only once: `functools.cache` remembers what a function has returned.
    """
    # The cards and the cells first, then the sums.
    actions = list(observation.legal_actions())
    of_cell = {key: play(*key) for key in {(kind, coords): 0 for kind, _, _, coords in actions
                                           if coords}}
    of_card = {card: draft(card) for card in {action.draft_card: 0 for action in actions} if card}
    worth = [of_cell.get((kind, coords), 0) + of_card.get(card, 0)
             for kind, _, card, coords in actions]
    return actions[worth.index(max(worth))]


class Evaluator:
    """The recipe's agent: plays the action with the best score, without look-ahead.

    What it plays depends on the observation and on its own weights alone.
    """

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action by `play_score` and `draft_score`."""
        from functools import partial
        return best_action(observation, partial(play_score, observation, weights=self.weights),
                           partial(draft_score, observation, weights=self.weights))


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips, cell):
    """What the lines through `cell` are worth to the own side, with the chips as they are.

    A chip of the others on the cell spoils all of them; `simple_score` asks with the cell emptied.
    The sum, over the lines that can be finished and hold no chip of the others, of `LINE_BASE` to
    the power of the number of own chips (and corners) in the line.
    """
    digits = digits_of(chips)
    return sum([COUNTS[number_of(line, digits)] for line in LINES_THROUGH[BIT[cell]]])


def simple_score(observation, kind, cell):
    """What a "place" on, or "remove" from `cell` is worth, found by counting lines.

    The sum of the cell's line counts for both sides, as if it were empty, plus `SURE` for each
    sequence that a placement completes (the heart is two).
    """
    chips = Chips.of(observation)
    bare = chips.without(cell)
    worth = sum(line_count(each, cell) for each in (bare, bare.swapped()))
    if kind == REMOVE:
        return worth
    count, _ = new_sequences(chips.own | 1 << BIT[cell], chips.locked, BIT[cell],
                             observation.rules.heart)
    return worth + SURE * count


class LineCounter:
    """An agent that counts lines: `simple_score` for what is played and for what is taken."""

    def choose(self, observation):
        """The best legal action.

        A card that is taken, a jack too, is worth `DISCOUNT` times the best simple score among its
        places, 0 if it has none. A one-eyed jack removes there, every other card places.
        """
        @cache
        def play(kind, cell):
            return simple_score(observation, kind, cell)

        @cache
        def draft(card):
            kind = (PLACE, REMOVE)[card in ONE_EYED]
            return DISCOUNT * max([play(kind, cell) for cell in places(observation, card)] or [0])

        return best_action(observation, play, draft)
