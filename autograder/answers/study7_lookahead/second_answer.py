"""A second answer to study 7, written from the text alone: look-ahead in Sequence.

Lines are texts, replies are a dictionary by square, values are made of two remembered functions.
"""

from collections import Counter
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from sequence.agents.beliefs import sample
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import CARDS, COPIES, ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    DIRECTIONS,
    FIVE,
    HEART_CELLS,
    PLAYABLE,
    card_at,
    cells_of,
    cells_with,
    mask_of,
)  # fmt: skip

HEAT_PEAK = 4.0  # what a cell of the heart is worth in itself
HEAT_DECAY = 0.5  # the factor for each step away from the heart
LINK_MADE = (0, 1, 4, 16, 64, 1024)  # by the own chips in the best five, the new one included
LINK_BROKEN = (0, 2, 8, 32, 512)  # by the other side's chips in its best five: about half of that
SHARED = 1  # chips of an earlier sequence that a new one may use (the rules)
REPLY_DISCOUNT = 0.9  # of the opponent's best reply
DRAFT_DISCOUNT = 0.8  # of the card that is taken
TWO_EYED_VALUE = 500.0  # of a drafted jack; below a card that completes a sequence
ONE_EYED_VALUE = 400.0  # two-eyed before one-eyed, and both before other cards
WIN = 100_000.0  # more than all rewards of a search together


class Chips(NamedTuple):
    """The chips on a board from the view of one side, as bitboards (`sequence.board.layout`).

    `own` and `others` are all chips of the two sides, `locked` those in completed sequences.
    `heart` says whether the heart of the board counts. This class is given.
    """

    own: int
    others: int
    locked: int
    heart: bool = True

    @classmethod
    def seen_by(cls, position, player: int | None = None) -> "Chips":
        """The chips of an observation or a state, by default as the player to move sees them."""
        side = position.rules.side(position.to_move if player is None else player)
        return cls(
            position.chip_masks[side],
            position.chip_masks[1 - side],
            position.locked_mask,
            position.rules.heart,
        )

    def turned(self) -> "Chips":
        """The same chips from the other side's view."""
        return self._replace(own=self.others, others=self.own)

    def after(self, action: Action) -> "Chips":
        """The chips after an action of the own side; completed sequences are locked."""
        if not action.coords:
            return self
        bit = BIT[action.coords]
        if action.kind == REMOVE:
            return self._replace(others=self.others & ~(1 << bit))
        own = self.own | 1 << bit
        _, marks = new_sequences(own, self.locked, bit, self.heart)
        return self._replace(own=own, locked=self.locked | marks)

    def mark(self, cell: tuple[int, int]) -> str:
        """ "x" an own chip, "o" another, "X" and "O" in a sequence, "*" a corner, "_" empty."""
        chip = 1 << BIT[cell]
        if chip & CORNERS:
            return "*"
        marks = "XO" if chip & self.locked else "xo"
        return marks[0] if chip & self.own else marks[1] if chip & self.others else "_"

    @property
    def empty(self) -> int:
        """The bitboard of the cells without a chip, corners left out."""
        return PLAYABLE & ~(self.own | self.others)

    @property
    def removable(self) -> int:
        """The bitboard of the other side's chips that a one-eyed jack may take."""
        return self.others & ~self.locked


# ---- What a square is worth

FIXED_VALUES = {
    **dict.fromkeys(TWO_EYED, TWO_EYED_VALUE),
    **dict.fromkeys(ONE_EYED, ONE_EYED_VALUE),
}


@cache
def _path(cell, direction):
    """The cells within four of `cell` in a direction, itself included, in reading order."""
    steps = ((cell[0] + k * direction[0], cell[1] + k * direction[1]) for k in range(-4, 5))
    return tuple(place for place in steps if place in BIT)


def _count(five, side):
    """The chips of a side in a five, small and capital letters, corners too."""
    return sum(mark in (side, side.upper(), "*") for mark in five)


def _open_to(five, side, other):
    """Whether a side may still make a sequence of a five."""
    return other not in five.lower() and five.count(side.upper()) <= SHARED


def _heat_of(play):
    """The heat of a placement's cell, nothing for a removal."""
    return heat(play.coords) if play.kind == PLACE else 0


class _Reply(NamedTuple):
    """A reply of the opponent: what it does on its square, and its reward in parts."""

    kind: str
    lines: list
    heat: float

    @property
    def total(self):
        """The whole reward."""
        return sum(self.lines) + self.heat


def _plays_on(cell, kind, cards):
    """What the opponent can do on a square on which we have just placed or removed a chip."""
    if kind == PLACE:
        takers = [card for card in ONE_EYED if card in cards]
        return [Action(REMOVE, card, coords=cell) for card in takers[:1]]
    fitting = [card for card in (*TWO_EYED, card_at(cell)) if card in cards]
    return [Action(PLACE, card, coords=cell) for card in fitting[:1]]


@cache
def heat(cell):
    """The heat of a cell: `HEAT_PEAK` in the heart, times `HEAT_DECAY` for each step from it.

    A step goes to any of the eight neighbours, like a king in chess; steps are counted from the
    nearest of the four `HEART_CELLS`.
    """
    steps = min(max(abs(cell[0] - row), abs(cell[1] - col)) for row, col in HEART_CELLS)
    return HEAT_PEAK * HEAT_DECAY**steps


def line_text(chips, cell, direction):
    """The line through `cell` in one of the `DIRECTIONS`, as text: the cells within four of it.

    In reading order, that is from (row - 4 * down, col - 4 * right) to (row + 4 * down, ...), cells
    beyond the edge left out. Each is written as `chips.mark` says, and `cell` itself as "#".

    Hint: a cell is on the board if it is in `BIT`.
    """
    return "".join("#" if place == cell else chips.mark(place) for place in _path(cell, direction))


def links(text):
    """What a chip on "#" makes and breaks in this line: the pair `(made, broken)`.

    Look at every five neighbouring cells of the line ("#" is always among them, as the line reaches
    four cells to either side). `made` is the most own chips in a five without a chip of the other
    side, the new one on "#" counted; `broken` is the most chips of the other side in a five without
    an own chip. A corner is everybody's chip. A five that has more
    than `SHARED` chips of a completed sequence of the side in question does not count, as it can
    become no new sequence. Where there is no five, the number is 0.
    """
    fives = [text[start : start + FIVE] for start in range(len(text) - FIVE + 1)]
    return (
        max((1 + _count(five, "x") for five in fives if _open_to(five, "x", "o")), default=0),
        max((_count(five, "o") for five in fives if _open_to(five, "o", "x")), default=0),
    )


@lru_cache(maxsize=1 << 17)
def scan(chips, cell, direction):
    """`links` of a line, remembered for exactly these `chips`. This function is given."""
    return links(line_text(chips, cell, direction))


@cache
def reach(cell, direction):
    """The bitboard of the cells that `line_text` writes down. This function is given."""
    down, right = direction
    path = ((cell[0] + k * down, cell[1] + k * right) for k in range(1 - FIVE, FIVE))
    return mask_of(place for place in path if place in BIT)


def line_links(chips, cell, direction):
    """`links` of the line through `cell`, scanned only if its chips have not been seen before.

    Hint: `scan` remembers whole boards. Pass it only the chips that lie in this line: then a chip
    elsewhere on the board makes no difference to it.
    """
    line = reach(cell, direction)
    near = Chips(chips.own & line, chips.others & line, chips.locked & line)
    return scan(near, cell, direction)


def line_reward(chips, cell, direction, kind):
    """What one line adds to placing on a cell (`kind` is `PLACE`) or to removing the chip there.

    A placement earns `LINK_MADE[made] + LINK_BROKEN[broken]`, a removal `LINK_BROKEN[broken]`.
    This function is given.
    """
    made, broken = line_links(chips, cell, direction)
    return LINK_BROKEN[broken] + (LINK_MADE[made] if kind == PLACE else 0)


def reward(chips, action):
    """What an action is worth at once to the own side of `chips`.

    The sum of the rewards of the four lines through the square and, for a placement, its heat. An
    action that changes no chip is worth 0.
    """
    if action.kind not in (PLACE, REMOVE):
        return 0
    cell = action.coords
    lines = [line_reward(chips, cell, direction, action.kind) for direction in DIRECTIONS]
    return sum(lines) + (heat(cell) if action.kind == PLACE else 0)


def draft_value(chips, card):
    """What a card is worth in the hand on this board, before the discount.

    A jack has its fixed value. Another card is worth the best placement that it allows, 0 if both
    its cells are taken (or if there is no card).
    """
    if not card or card in FIXED_VALUES:
        return FIXED_VALUES.get(card, 0)
    return max(
        (
            reward(chips, Action(PLACE, card, coords=cell))
            for cell in cells_with(card)
            if chips.mark(cell) == "_"
        ),
        default=0,
    )


def plays_of(chips, cards):
    """The placements and removals that the own side could make with these cards.

    Each square once, placements before removals; the actions take no card. With a two-eyed jack
    among the cards any empty cell will do. This function is given.
    """
    wild = next((card for card in TWO_EYED if card in cards), None)
    if wild is None:
        places = {
            cell: card
            for card in CARDS
            if card in cards
            for cell in cells_with(card)
            if chips.empty >> BIT[cell] & 1
        }
    else:
        places = dict.fromkeys(cells_of(chips.empty), wild)
    for cell, card in places.items():
        yield Action(PLACE, card, coords=cell)
    taker = next((card for card in ONE_EYED if card in cards), None)
    if taker is not None:
        for cell in cells_of(chips.removable):
            yield Action(REMOVE, taker, coords=cell)


# ---- What the opponent can do


class Catalogue(NamedTuple):
    """The opponent's cards: those `known` to be in the hand, and all that are `possible`.

    Both are in card order; `known` lists a card twice if both copies are there, `possible` once.
    """

    known: tuple[str, ...]
    possible: tuple[str, ...]


def catalogue(observation):
    """The catalogue of the opponent's cards, kept from what was drafted and played.

    Known are the cards that the opponent was seen to draft and has not played since. (If it plays a
    card of which it drafted a copy, that copy counts as played.) If these are not the whole hand,
    the rest may be any card of which you have not seen all `COPIES`: in your own hand, in the draft
    row, among those played by either player, or known to be the opponent's.

    Hint: `observation.plays()` gives every action so far with its player. In an action, "" stands
    for no card.
    """
    other = 1 - observation.player
    known, seen = Counter(), Counter(observation.hand) + Counter(observation.draft_row)
    for player, action in observation.plays():
        if action.play_card:
            seen[action.play_card] += 1
        if player == other:
            if known[action.play_card]:
                known[action.play_card] -= 1
            if action.draft_card:
                known[action.draft_card] += 1
    possible = {card for card in CARDS if known[card]}
    if known.total() < observation.rules.hand:
        possible |= {card for card in CARDS if seen[card] + known[card] < COPIES}
    return Catalogue(
        tuple(card for card in CARDS for _ in range(known[card])),
        tuple(card for card in CARDS if card in possible),
    )


def best_reply(chips, cards):
    """The highest reward of all placements and removals with these cards, 0 if there are none.

    `chips` is from the view of the side that replies.
    """
    return max((reward(chips, play) for play in plays_of(chips, cards)), default=0)


def plain_replies(chips, cards):
    """Make a function from an own action to the opponent's best reply with these cards.

    `chips` is from the own view, before the action. This one evaluates every reply again, whatever
    the action changes. It is given.
    """
    return lambda action: best_reply(chips.after(action).turned(), cards)


@cache
def neighbours(cell):
    """The cells within four of `cell` on its four lines: cell -> number of the direction. Given."""
    return {
        (cell[0] + k * down, cell[1] + k * right): number
        for number, (down, right) in enumerate(DIRECTIONS)
        for k in range(1 - FIVE, FIVE)
        if k and (cell[0] + k * down, cell[1] + k * right) in BIT
    }


def quick_replies(chips, cards):
    """Make the same function as `plain_replies`, scanning only the lines that an action changes.

    (Extra credit.) Before any action all replies are rewarded line by line and sorted, the best
    first. An action on a square changes only the cells that are `neighbours` of it, and there only
    the line through both. Among all the others, the best reply stays the best.

    Hint: the replies on the square itself are new: a chip just placed can be removed, a cell just
    emptied can be taken. Where an action completes a sequence, more than a line changes: then ask
    `best_reply`.
    """
    cards = tuple(cards)
    before = chips.turned()
    replies = {}
    for play in plays_of(before, cards):
        lines = [line_reward(before, play.coords, direction, play.kind) for direction in DIRECTIONS]
        replies[play.coords] = _Reply(play.kind, lines, _heat_of(play))
    ranking = sorted(replies, key=lambda cell: replies[cell].total, reverse=True)

    def reply(action):
        if not action.coords:
            return replies[ranking[0]].total if ranking else 0
        after = chips.after(action).turned()
        if after.locked != before.locked:
            return best_reply(after, cards)
        square, near = action.coords, neighbours(action.coords)
        found = [
            next(
                (replies[cell].total for cell in ranking if cell != square and cell not in near), 0
            )
        ]
        for cell, number in near.items():
            if cell in replies:
                old = replies[cell]
                line = line_reward(after, cell, DIRECTIONS[number], old.kind)
                found.append(old.total - old.lines[number] + line)
        found += [reward(after, play) for play in _plays_on(square, action.kind, cards)]
        return max(found)

    return reply


# ---- The agent


class LookAhead:
    """Plays what brings most: reward, plus the card taken, minus the opponent's best reply.

    `replies` makes the function that finds the best reply (`plain_replies` or `quick_replies`), or
    is None for an agent without the reply term. `cards` says which of the opponent's cards reply:
    "possible" or "known". For two players.
    """

    def __init__(self, replies=plain_replies, cards="possible"):
        self.replies = replies
        self.cards = cards

    def values(self, observation):
        """The value of every legal action: a dictionary in the documented order of actions.

        It is `reward + DRAFT_DISCOUNT * draft_value - REPLY_DISCOUNT * reply`. The card is valued
        and the reply found on the board after the action. After a trade, a forgone trade or a pass,
        no reply is subtracted.

        Hint: actions that differ only in the card they take have the same reward and the same
        reply. Find these once for each play.
        """
        chips = Chips.seen_by(observation)
        reply = None
        if self.replies is not None:
            reply = self.replies(chips, getattr(catalogue(observation), self.cards))

        @cache
        def played(kind, cell):
            action = Action(kind, coords=cell)
            cost = REPLY_DISCOUNT * reply(action) if reply is not None and cell else 0
            return chips.after(action), reward(chips, action) - cost

        @cache
        def taken(kind, cell, card):
            return DRAFT_DISCOUNT * draft_value(played(kind, cell)[0], card)

        return {
            action: played(action.kind, action.coords)[1]
            + taken(action.kind, action.coords, action.draft_card)
            for action in observation.legal_actions()
        }

    def choose(self, observation):
        """The action with the highest value; among equals the first in the documented order."""
        values = self.values(observation)
        return max(values, key=values.get)


# ---- Deeper: the top k actions on sampled states


def gains(state):
    """What each legal action of a state brings at once: reward and card, without a reply. Given."""
    return LookAhead(replies=None).values(state.observation())


class TopK:
    """A game in which only the `k` best actions are legal and that ends after `depth` actions.

    It wraps a full state and has the members of `tictactoe.State`, so that any search of study 2
    can be used on it unchanged. `rate(state)` gives the gain of every legal action; `total` is what
    the player `root` has gained on the way here, minus what the opponent has gained.
    """

    def __init__(self, state, k=4, depth=3, rate=gains, *, root=None, total=0.0):
        self.state, self.k, self.depth, self.rate = state, k, depth, rate
        self.root = state.to_move if root is None else root
        self.total = total
        self.rated = None

    @property
    def to_move(self):
        """The player to move."""
        return self.state.to_move

    def _gains(self):
        """The gains of the legal actions, computed only once. This method is given."""
        if self.rated is None:
            self.rated = self.rate(self.state)
        return self.rated

    def legal_moves(self):
        """The `k` actions with the highest gain, the best first; equal ones in documented order.

        There are none if the game is over here.

        Hint: `sorted` keeps equal items in order, also with `reverse=True`.
        """
        if self.is_terminal():
            return []
        gains_now = self._gains()
        return sorted(gains_now, key=gains_now.get, reverse=True)[: self.k]

    def after(self, move):
        """The game after `move`: one depth less, and its gain added to the total, or subtracted.

        The gain is subtracted if the opponent of `root` makes the move.
        """
        gain = self._gains()[move]
        return TopK(
            self.state.after(move),
            self.k,
            self.depth - 1,
            self.rate,
            root=self.root,
            total=self.total + (gain if self.to_move == self.root else -gain),
        )

    def is_terminal(self):
        """Whether the real game is over, or the depth is used up."""
        return self.depth <= 0 or self.state.is_terminal()

    def utility(self, player):
        """Plus or minus `WIN`, or 0, if the real game is over; else the total, as `player` sees it."""
        if self.state.is_terminal():
            return WIN * self.state.utility(player)
        return self.total if player == self.root else -self.total


class SampledSearch:
    """Searches the top k actions on sampled states and plays the best on average.

    `search` is an agent of study 2: `search.search(state)` returns `Search(move, value, nodes)`.
    Looking into the opponent's hand is cheating; looking into `samples` hands that it could be,
    and taking the mean, is called averaging over clairvoyance (Russell and Norvig, section 5.7).
    """

    def __init__(self, search, k=4, depth=3, samples=4, seed=None, rate=gains):
        self.search, self.k, self.depth, self.samples, self.rate = search, k, depth, samples, rate
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers; `play` calls this before every game."""
        self.random = Random(seed)

    def values(self, observation):
        """The mean value of each of the top k actions over the sampled states, the best gain first.

        Each sample is drawn with `sample(observation, self.random)`. What an action is worth on it
        is the value that `self.search` finds in the game after the action, from the own view.
        """
        found = {}
        for _ in range(self.samples):
            game = TopK(sample(observation, self.random), self.k, self.depth, self.rate)
            for move in game.legal_moves():
                after = game.after(move)
                value = self.search.search(after).value
                found.setdefault(move, []).append(value if after.to_move == game.root else -value)
        return {move: sum(values) / len(values) for move, values in found.items()}

    def choose(self, observation):
        """The action with the highest mean, the first one among equals."""
        values = self.values(observation)
        return max(values, key=values.get)
