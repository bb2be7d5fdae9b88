"""Study 7 as pipelines: itertools, reduce, groupby and heapq; a line is cut out of a map of the board,
and the quick replies merge a dictionary of changed rewards into the old one, without any sorting.
"""

from functools import partial, reduce
from heapq import nlargest
from itertools import chain, groupby, islice, takewhile
from operator import add, attrgetter, sub
from statistics import fmean
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

HEAT_PEAK = 4.0  # of the kernel: what a cell of the heart is worth in itself
HEAT_DECAY = 0.5  # of the kernel: the factor for each step away from the heart
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
        return cls(position.chip_masks[side], position.chip_masks[1 - side],
                   position.locked_mask, position.rules.heart)

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
        """"x" an own chip, "o" another, "X" and "O" in a sequence, "*" a corner, "_" empty."""
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


@cache
def heat(cell):
    """The heat of a cell: `HEAT_PEAK` in the heart, times `HEAT_DECAY` for each step from it.

    A step goes to any of the eight neighbours, like a king in chess; steps are counted from the
    nearest of the four `HEART_CELLS`.
    """
    (row, col) = cell
    steps = min(max(abs(row - r), abs(col - c)) for r, c in HEART_CELLS)
    return reduce(lambda worth, _: worth * HEAT_DECAY, range(steps), HEAT_PEAK)


def line_text(chips, cell, direction):
    """The line through `cell` in one of the `DIRECTIONS`, as text: the cells within four of it.

    In reading order, that is from (row - 4 * down, col - 4 * right) to (row + 4 * down, ...), cells
    beyond the edge left out. Each is written as `chips.mark` says, and `cell` itself as "#".

    Hint: a cell is on the board if it is in `BIT`.
    """
    board = {**dict.fromkeys(BIT, "_"),
             **dict.fromkeys(cells_of(chips.own), "x"), **dict.fromkeys(cells_of(chips.others), "o"),
             **dict.fromkeys(cells_of(chips.own & chips.locked), "X"),
             **dict.fromkeys(cells_of(chips.others & chips.locked), "O"),
             **dict.fromkeys(cells_of(CORNERS), "*"), cell: "#"}
    ks = range(-(FIVE - 1), FIVE)
    return "".join(board.get((cell[0] + k * direction[0], cell[1] + k * direction[1]), "")
                   for k in ks)


def links(text):
    """What a chip on "#" makes and breaks in this line: the pair `(made, broken)`.

    Look at every five neighbouring cells of the line ("#" is always among them, as the line reaches
    four cells to either side). `made` is the most own chips in a five without a chip of the other
    side, the new one on "#" counted; `broken` is the most chips of the other side in a five without
    an own chip. A corner counts as a chip of either side, and spoils a five for neither. A five
    that has more than `SHARED` chips of a completed sequence of the side in question does not
    count, as it can become no new sequence. Where there is no five, the number is 0.
    """
    fives = ["".join(five) for five in zip(*(islice(text, k, None) for k in range(FIVE)))]
    swapped = [five.replace("#", "_").translate(SIDES_CHANGED) for five in fives]
    made, broken = (max((len(five) - five.count("_") for five in each
                         if "o" not in five.lower() and five.count("X") <= SHARED), default=0)
                    for each in (fives, swapped))
    return made, broken


SIDES_CHANGED = str.maketrans("xXoO", "oOxX")


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
    return scan(Chips(*(mask & reach(cell, direction) for mask in chips[:3]), chips.heart),
                cell, direction)


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
    if not action.coords:
        return 0
    lines = map(partial(line_reward, chips, action.coords, kind=action.kind), DIRECTIONS)
    return sum(chain([heat(action.coords)] if action.kind == PLACE else [], lines))


def draft_value(chips, card):
    """What a card is worth in the hand on this board, before the discount.

    A jack has its fixed value. Another card is worth the best placement that it allows, 0 if both
    its cells are taken (or if there is no card).
    """
    if not card:
        return 0
    if card in TWO_EYED + ONE_EYED:
        return TWO_EYED_VALUE if card in TWO_EYED else ONE_EYED_VALUE
    free = (cell for cell in cells_with(card) if chips.mark(cell) == "_")
    return max((reward(chips, Action(PLACE, coords=cell)) for cell in free), default=0)


def plays_of(chips, cards):
    """The placements and removals that the own side could make with these cards.

    Each square once, placements before removals; the actions take no card. With a two-eyed jack
    among the cards any empty cell will do. This function is given.
    """
    wild = next((card for card in TWO_EYED if card in cards), None)
    if wild is None:
        places = {cell: card for card in CARDS if card in cards for cell in cells_with(card)
                  if chips.empty >> BIT[cell] & 1}
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

    Known are the cards that the opponent was seen to draft and has neither played nor traded since.
    (If it plays a card of which it drafted a copy, that copy counts as played. In one action the
    card is played first, and then the other is drafted.) Possible are these
    and, if they are not the whole hand, every card of which you have not seen all `COPIES`: in your
    own hand, in the draft row, among those played by either player, or known to be the opponent's.

    Hint: `observation.plays()` gives every action so far with its player. In an action, "" stands
    for no card.
    """
    def follow(held, action):
        """The hand, as far as it is known, after an action."""
        if action.play_card in held:
            place = held.index(action.play_card)
            held = held[:place] + held[place + 1:]
        return held + (action.draft_card,) * bool(action.draft_card)

    theirs = (action for player, action in observation.plays() if player != observation.player)
    known = tuple(sorted(reduce(follow, theirs, ()), key=CARDS.index))
    seen = [*observation.hand, *observation.draft_row, *known,
            *map(attrgetter("play_card"), observation.history)]
    is_whole = len(known) >= observation.rules.hand
    return Catalogue(known, tuple(card for card in CARDS if card in known
                                  or not is_whole and seen.count(card) < COPIES))


def best_reply(chips, cards):
    """The highest reward of all placements and removals with these cards, 0 if there are none.

    `chips` is from the view of the side that replies.
    """
    return max(chain([0], map(partial(reward, chips), plays_of(chips, cards))))


def plain_replies(chips, cards):
    """Make a function from an own action to the opponent's best reply with these cards.

    `chips` is from the own view, before the action. This one evaluates every reply again, whatever
    the action changes. It is given.
    """
    return lambda action: best_reply(chips.after(action).turned(), cards)


@cache
def neighbours(cell):
    """The cells within four of `cell` on its four lines: cell -> number of the direction. Given."""
    return {(cell[0] + k * down, cell[1] + k * right): number
            for number, (down, right) in enumerate(DIRECTIONS)
            for k in range(1 - FIVE, FIVE)
            if k and (cell[0] + k * down, cell[1] + k * right) in BIT}


def quick_replies(chips, cards):
    """Make the same function as `plain_replies`, scanning only the lines that an action changes.

    (Extra credit.) Before any action all replies are rewarded line by line and sorted, the best
    first. An action on a square changes only the cells that are `neighbours` of it, and there only
    the line through both. Among all the others, the best reply stays the best. (The check counts
    the lines that are asked for, with `line_links` or otherwise: at most 60 for an action.)

    Hint: the replies on the square itself are new: a chip just placed can be removed, a cell just
    emptied can be taken. Where an action completes a sequence, more than a line changes: then ask
    `best_reply`.
    """
    lines, totals = {}, {}  # by square, since each square allows only one thing
    for play in plays_of(chips.turned(), cards):
        square = play.coords
        lines[square] = [line_reward(chips.turned(), square, way, play.kind) for way in DIRECTIONS]
        totals[square] = (sum(lines[square]) + (heat(square) if play.kind == PLACE else 0), play.kind)
    old = {square: total for square, (total, _) in totals.items()}

    def on_square(after, square):
        """The reply that the square itself allows after the action, in a list, if there is one."""
        return [reward(after, play) for play in islice(
            (play for play in plays_of(after, cards) if play.coords == square), 1)]

    def reply(action):
        after = chips.after(action)
        if after == chips:
            return max(old.values(), default=0)
        if after.locked != chips.locked:
            return best_reply(after.turned(), cards)
        after, square = after.turned(), action.coords
        new = {cell: old[cell] - lines[cell][way]
               + line_reward(after, cell, DIRECTIONS[way], totals[cell][1])
               for cell, way in neighbours(square).items() if cell in old}
        new[square] = max(on_square(after, square), default=0)
        return max((old | new).values())

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
        no reply is subtracted; after any other action one is, even if it ends the game. Every
        observation is judged by itself, whatever the agent was asked before.

        Hint: actions that differ only in the card they take have the same reward and the same
        reply. Find these once for each play.
        """
        chips, found = Chips.seen_by(observation), {}
        finder = self.replies and self.replies(chips, getattr(catalogue(observation), self.cards))

        def play(action):
            return action._replace(draft_card="")

        # Actions that differ only in the card they take stand side by side.
        for _, actions in groupby(observation.legal_actions(), key=play):
            actions = list(actions)
            after, now = chips.after(actions[0]), reward(chips, actions[0])
            reply = finder(actions[0]) if finder and actions[0].coords else 0
            found |= {action: now + DRAFT_DISCOUNT * draft_value(after, action.draft_card)
                      - REPLY_DISCOUNT * reply for action in actions}
        return found

    def choose(self, observation):
        """The action with the highest value; among equals the first in the documented order."""
        values = self.values(observation)
        most = max(values.values())
        return next(action for action in values if values[action] == most)


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

        There are none if the game is over here, because the real one is or the depth is used up.

        Hint: `sorted` keeps equal items in order, also with `reverse=True`.
        """
        gained = {} if self.is_terminal() else self._gains()
        return tuple(nlargest(self.k, gained, key=gained.__getitem__))

    def after(self, move):
        """The game after `move`: one depth less, and its gain added to the total, or subtracted.

        The gain is subtracted if the opponent of `root` makes the move. A trade takes one depth as
        well, though the same player goes on. The game itself does not change.
        """
        mine = self.to_move == self.root
        return TopK(self.state.after(move), self.k, self.depth - 1, self.rate, root=self.root,
                    total=(add if mine else sub)(self.total, self._gains()[move]))

    def is_terminal(self):
        """Whether the real game is over, or the depth is used up."""
        return any((self.state.is_terminal(), not self.depth > 0))

    def utility(self, player):
        """Plus or minus `WIN`, or 0, if the real game is over; else the total.

        All as `player` sees it, who may be either one. What was gained before a win does not count.
        """
        if not self.state.is_terminal():
            return {True: self.total, False: -self.total}[player == self.root]
        return (0, WIN, -WIN)[self.state.utility(player)]


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
        """Restart the random numbers; `play` calls this before every game.

        The same seed brings the same samples again. Every agent has random numbers of its own.
        """
        self.random = Random(seed)

    def values(self, observation):
        """The mean value of each of the top k actions over the sampled states, the best gain first.

        Each sample is drawn with `sample(observation, self.random)`, one after another, and the
        random numbers are used for nothing else. What an action is worth on it is the value that
        `self.search` finds in the game after the action, from the own view: after a trade it is
        still your turn. All samples have the same top k actions, as `rate` gives the same gains to
        all states that look the same to the player.
        """
        found = {}
        for state in (sample(observation, self.random) for _ in range(self.samples)):
            root = TopK(state, self.k, self.depth, self.rate)
            for action, child in zip(root.legal_moves(), map(root.after, root.legal_moves())):
                sign = 1 if child.to_move == root.to_move else -1
                found.setdefault(action, []).append(sign * self.search.search(child).value)
        return {action: fmean(each) for action, each in found.items()}

    def choose(self, observation):
        """The action with the highest mean, the first one among equals."""
        means = self.values(observation)
        return nlargest(1, means, key=means.get)[0]
