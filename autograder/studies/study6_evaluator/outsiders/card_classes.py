"""Study 6 with classes: each sort of card is a class, and each line of five is an object that
evaluates itself; `match` statements; the gain is the difference of two board scores (no
cells_by_cost).
"""

from dataclasses import dataclass
from math import inf
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


class Card:
    """A card that is on the board: where it can be played, and its effect."""

    kind = PLACE
    is_jack = False

    def __init__(self, name):
        self.name = name

    def mask(self, observation):
        return mask_of(cells_with(self.name)) & observation.empty_mask

    def places(self, observation):
        return list(cells_of(self.mask(observation)))

    @staticmethod
    def named(name):
        """The card of this name, an object of the right class."""
        match name:
            case _ if name in TWO_EYED:
                return TwoEyed(name)
            case _ if name in ONE_EYED:
                return OneEyed(name)
            case _:
                return Card(name)


class TwoEyed(Card):
    """Can be played on any empty cell."""

    is_jack = True

    def mask(self, observation):
        return observation.empty_mask


class OneEyed(Card):
    """Removes a chip from a cell."""

    kind = REMOVE
    is_jack = True

    def mask(self, observation):
        chips = Chips.of(observation)
        return chips.others & ~chips.locked


def places(observation, card):
    """The cells on which `card` can be used now, row by row."""
    return Card.named(card).places(observation)


# ---- Notebook 10: the original evaluator


@dataclass(frozen=True)
class Line:
    """A line of five from one side's view: the number of its cells in each state."""

    own: int
    corners: int
    others: int
    own_locked: int
    others_locked: int

    @classmethod
    def seen(cls, line, chips):
        """Count the chips and empty cells of the line."""
        return cls(*((line & mask).bit_count() for mask in (
            chips.own, CORNERS, chips.others, chips.own & chips.locked,
            chips.others & chips.locked)))

    @property
    def possible(self):
        """Whether the line can be finished."""
        return self.others_locked == 0 and self.own_locked <= 1

    @property
    def mine(self):
        """The number of cells that need no action."""
        return self.own + self.corners

    @property
    def cost(self):
        """The number of actions that the line needs."""
        match self:
            case Line(others_locked=theirs) if theirs:
                return NEVER
            case Line(own_locked=0 | 1):
                return FIVE - self.mine + self.others * (OTHERS_COST - EMPTY_COST)
            case _:
                return NEVER


def line_cost(line, chips):
    """The fewest actions that finish a line of five."""
    return Line.seen(line, chips).cost


def cell_score(cell, chips):
    """The cost of the cheapest line through the cell, plus 1 for one of our own chips."""
    costs = sorted(line_cost(line, chips) for line in LINES_THROUGH[BIT[cell]])
    return costs[0] + (OWN_CHIP_COST if cell in cells_of(chips.own) else 0)


# For speed: the cells with the numbers of their lines, and the costs of all lines of the board.
NUMBERS = {line: number for number, line in enumerate(LINE_MASKS)}
NUMBERS_THROUGH = [[NUMBERS[line] for line in LINES_THROUGH[BIT[cell]]]
                   for cell in cells_of(PLAYABLE)]


@lru_cache(maxsize=256)
def all_costs(chips):
    """The cost of every line."""
    own, others, locked = chips
    free, ours, theirs = own | CORNERS, own & locked, others & locked
    costs = []
    for line in LINE_MASKS:
        if line & theirs or (line & ours).bit_count() > 1:
            costs.append(NEVER)
        else:
            costs.append(FIVE - (line & free).bit_count() + (line & others).bit_count())
    return costs


@lru_cache(maxsize=1024)
def board_score(chips):
    """`BOARD_MAX` minus the scores of all cells except the corners."""
    costs = all_costs(chips)
    spent = sum(min([costs[number] for number in numbers]) for numbers in NUMBERS_THROUGH)
    return BOARD_MAX - spent - OWN_CHIP_COST * chips.own.bit_count()


def line_score(chips, cell=None):
    """`NEVER` minus the lowest cost of all lines, or of those through the cell."""
    match cell:
        case None:
            return NEVER - min(all_costs(chips))
        case row, col:
            return NEVER - min(line_cost(line, chips) for line in LINES_THROUGH[BIT[row, col]])


def board_gain(chips, kind, cell):
    """The board score after the action minus the score before it."""
    return board_score(chips.after(kind, cell)) - board_score(chips)


def edge_distance(cell):
    """The number of rings of cells around the cell."""
    rings = [(ring, SIZE - 1 - ring) for ring in range(SIZE // 2)]
    for distance, (low, high) in enumerate(rings):
        if cell[0] in (low, high) or cell[1] in (low, high):
            return distance
    raise ValueError(f"{cell} is not on the board")


def completed(observation, kind, cell):
    """The number of sequences that the action completes."""
    match kind:
        case "place":
            own, _, locked = Chips.of(observation).after(kind, cell)
            count, _ = new_sequences(own, locked, BIT[cell], observation.rules.heart)
            return count
        case _:
            return 0


def parts(observation, kind, cell):
    """The parts of the score: sequence, line and board."""
    chips = Chips.of(observation)
    return [
        observation.sequences[observation.side] + completed(observation, kind, cell),
        line_score(chips.after(kind, cell), cell),
        board_gain(chips, kind, cell) + edge_distance(cell),
    ]


def score(sequence, line, board, weights=RECIPE):
    """Each part to the power of its exponent times its weight, added up."""
    numbers = iter(weights)
    total = 0
    for part in (sequence, line, board):
        weight, exponent = next(numbers), next(numbers)
        total += weight * pow(part, exponent)
    return total


def threat(chips, cell):
    """The line score through the cell that the others would have with their chip on it."""
    bit = mask_of([cell])
    theirs = Chips(own=chips.others | bit, others=chips.own & ~bit, locked=chips.locked)
    return line_score(theirs, cell)


def play_score(observation, kind, cell, weights=RECIPE):
    """The `score` of the parts, plus the threat if it counts."""
    blocked = 0
    if weights.blocking != 0:
        blocked = weights.blocking * threat(Chips.of(observation), cell) ** 2
    return score(*parts(observation, kind, cell), weights=weights) + blocked


def draft_score(observation, card, weights=RECIPE):
    """What taking `card` is worth."""
    card = Card.named(card)
    if card.is_jack:
        now = observation.sequences[observation.side]
        return DISCOUNT * score(now, 0, JACK_VALUE[card.name], weights)
    best = -inf
    for cell in card.places(observation):
        best = max(best, play_score(observation, card.kind, cell, weights))
    return 0 if best == -inf else DISCOUNT * best


class Asked(dict):
    """Calls a function once for each key, and stores the results."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def __missing__(self, key):
        self[key] = self.function(*key)
        return self[key]


def best_action(observation, play, draft):
    """The legal action with the highest value; of equal ones, the first."""
    plays, drafts = Asked(play), Asked(draft)

    def worth(action):
        match action:
            case (kind, _, "", (row, col)):
                return plays[kind, (row, col)]
            case (kind, _, card, (row, col)):
                return plays[kind, (row, col)] + drafts[card,]
            case (_, _, "", ()):
                return 0
            case (_, _, card, ()):
                return drafts[card,]

    return max(observation.legal_actions(), key=worth)


class Evaluator:
    """The original agent: plays the action with the best score, without look-ahead.

    Its actions depend only on the observation and its own weights.
    """

    def __init__(self, weights=RECIPE):
        self.weights = weights

    def choose(self, observation):
        """The best legal action."""
        def play(kind, cell):
            return play_score(observation, kind, cell, self.weights)

        def draft(card):
            return draft_score(observation, card, self.weights)

        return best_action(observation, play, draft)


# ---- Notebook 10, second exercise: simpler and better


def line_count(chips, cell):
    """The sum of 4 ** (number of own chips) over the lines that can be finished without removals."""
    lines = [Line.seen(mask, chips) for mask in LINES_THROUGH[BIT[cell]]]
    return sum(LINE_BASE ** line.mine for line in lines if line.possible and line.others == 0)


def simple_score(observation, kind, cell):
    """The line counts of both sides, plus `SURE` for each sequence."""
    empty = Chips.of(observation).without(cell)
    counts = [line_count(side, cell) for side in (empty, empty.swapped())]
    return sum(counts, SURE * completed(observation, kind, cell))


class LineCounter:
    """An agent that counts lines: it uses `simple_score` for the play and for the card taken."""

    def choose(self, observation):
        """The best legal action by `simple_score`."""
        scores = Asked(lambda kind, cell: simple_score(observation, kind, cell))

        def draft(name):
            card = Card.named(name)
            found = [scores[card.kind, cell] for cell in card.places(observation)]
            return DISCOUNT * max(found, default=0)

        return best_action(observation, lambda *play: scores[play], draft)
