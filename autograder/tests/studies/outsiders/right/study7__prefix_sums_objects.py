"""Study 7 with running sums over a line in place of windows, a callable object for the quick replies
that looks at near squares by a bitboard, and plays that are worth a number before a card is taken.
"""

from itertools import accumulate
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
    """What a cell is worth for its place: rings around the heart, each half of the one inside."""
    ring = set(HEART_CELLS)
    worth = HEAT_PEAK
    while cell not in ring:
        ring |= {(row + down, col + right) for row, col in ring
                 for down in (-1, 0, 1) for right in (-1, 0, 1)}
        worth *= HEAT_DECAY
    return worth


@cache
def path(cell, direction):
    """The cells of a line in reading order, and how many of them come before the cell itself."""
    down, right = direction
    cells = [(cell[0] + k * down, cell[1] + k * right) for k in range(1 - FIVE, FIVE)]
    cells = [place for place in cells if place in BIT]
    return cells, cells.index(cell)


def line_text(chips, cell, direction):
    """The line through `cell` as text."""
    cells, middle = path(cell, direction)
    letters = list(map(chips.mark, cells))
    letters[middle] = "#"
    return "".join(letters)


class Side:
    """One side's letters, and how often they occurred before each place of a line."""

    def __init__(self, text, chips, against, used):
        self.chips = self.sums(text, chips)
        self.against = self.sums(text, against)
        self.used = self.sums(text, used)
        self.fives = range(len(text) - FIVE + 1)

    @staticmethod
    def sums(text, letters):
        return list(accumulate((letter in letters for letter in text), initial=0))

    @property
    def best(self):
        """The most chips in a five that counts."""
        numbers = [0]
        for start in self.fives:
            end = start + FIVE
            if (self.against[end] == self.against[start]
                    and self.used[end] - self.used[start] <= SHARED):
                numbers.append(self.chips[end] - self.chips[start])
        return max(numbers)


def links(text):
    """The pair (made, broken)."""
    made = Side(text, chips="#xX*", against="oO", used="X")
    broken = Side(text, chips="oO*", against="xX", used="O")
    return made.best, broken.best


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
    """`links` of the line through `cell`, scanned only if its chips have not been seen before."""
    mask = reach(cell, direction)
    own, others, locked, _ = chips
    return scan(chips._replace(own=own & mask, others=others & mask, locked=locked & mask),
                cell, direction)


def line_reward(chips, cell, direction, kind):
    """What one line adds to placing on a cell (`kind` is `PLACE`) or to removing the chip there.

    A placement earns `LINK_MADE[made] + LINK_BROKEN[broken]`, a removal `LINK_BROKEN[broken]`.
    This function is given.
    """
    made, broken = line_links(chips, cell, direction)
    return LINK_BROKEN[broken] + (LINK_MADE[made] if kind == PLACE else 0)


def reward(chips, action):
    """What an action is worth at once."""
    if action.coords:
        lines = [line_reward(chips, action.coords, d, action.kind) for d in DIRECTIONS]
        return sum(lines) + (action.kind == PLACE) * heat(action.coords)
    return 0


def draft_value(chips, card):
    """What a card is worth in the hand."""
    fixed = {**dict.fromkeys(TWO_EYED, TWO_EYED_VALUE), **dict.fromkeys(ONE_EYED, ONE_EYED_VALUE)}
    if card in fixed:
        return fixed[card]
    return best_reply(chips, [card])


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
    """What is known of the opponent's hand, and what is possible."""
    held, gone = Counter(), Counter()
    for player, action in observation.plays():
        gone[action.play_card] += 1
        if player != observation.player:
            held[action.play_card] = max(0, held[action.play_card] - 1)
            held[action.draft_card] += 1
    for counts in (held, gone):
        counts.pop("", None)  # no card
    known = tuple(card for card in CARDS for _ in range(held[card]))
    possible = set(known)
    if len(known) < observation.rules.hand:
        seen = held + gone + Counter(observation.hand) + Counter(observation.draft_row)
        possible.update(card for card in CARDS if seen[card] < COPIES)
    return Catalogue(known=known, possible=tuple(filter(possible.__contains__, CARDS)))


def best_reply(chips, cards):
    """The highest reward of all replies, 0 if there are none."""
    return max([reward(chips, action) for action in plays_of(chips, cards)], default=0)


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


class Reply:
    """A placement or removal with its reward, line by line."""

    def __init__(self, chips, action):
        self.kind, self.cell = action.kind, action.coords
        self.bit = 1 << BIT[self.cell]
        self.lines = {number: line_reward(chips, self.cell, direction, self.kind)
                      for number, direction in enumerate(DIRECTIONS)}
        self.total = sum(self.lines.values()) + (heat(self.cell) if self.kind == PLACE else 0)

    def again(self, chips, number):
        """The reward if one line has changed."""
        now = line_reward(chips, self.cell, DIRECTIONS[number], self.kind)
        return self.total + now - self.lines[number]


class QuickReplies:
    """Finds the best reply to an action; made once for a board."""

    def __init__(self, chips, cards):
        self.chips, self.cards = chips, cards
        self.replies = sorted((Reply(chips.turned(), action)
                               for action in plays_of(chips.turned(), cards)),
                              key=lambda reply: reply.total, reverse=True)
        self.at = {reply.cell: reply for reply in self.replies}

    def __call__(self, action):
        """The highest reward of a reply after `action`."""
        if not action.coords:
            return max((reply.total for reply in self.replies), default=0)
        after = self.chips.after(action)
        if after.locked != self.chips.locked:
            return best_reply(after.turned(), self.cards)
        after, square = after.turned(), action.coords
        near = neighbours(square)
        touched = mask_of(near) | 1 << BIT[square]
        best = next((reply.total for reply in self.replies if not reply.bit & touched), 0)
        for cell in near.keys() & self.at.keys():
            best = max(best, self.at[cell].again(after, near[cell]))
        for new in plays_of(self.only(after, square), self.cards):
            best = max(best, reward(after, new))
        return best

    @staticmethod
    def only(chips, square):
        """A board on which nothing can be done but on this square."""
        bit = 1 << BIT[square]
        rest = PLAYABLE & ~bit
        # Everywhere else stand own chips, which the own side can neither take nor cover.
        return chips._replace(own=chips.own & bit | rest, others=chips.others & bit)


def quick_replies(chips, cards):
    """As `plain_replies`, only faster."""
    return QuickReplies(chips, cards)


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
        """The value of every legal action."""
        chips = Chips.seen_by(observation)
        best = None
        if self.replies:
            best = self.replies(chips, catalogue(observation)._asdict()[self.cards])
        boards, plays, cards, found = {}, {}, {}, {}
        for action in observation.legal_actions():
            square = (action.kind, action.coords)
            if square not in plays:
                boards[square] = chips.after(action)
                # The play by itself; trades and passes have no square, and are not replied to.
                plays[square] = reward(chips, action)
                if best and action.coords:
                    plays[square] -= REPLY_DISCOUNT * best(action)
            taken = (*square, action.draft_card)
            if taken not in cards:
                cards[taken] = DRAFT_DISCOUNT * draft_value(boards[square], action.draft_card)
            found[action] = plays[square] + cards[taken]
        return found

    def choose(self, observation):
        """The action with the highest value; among equals the first in the documented order."""
        best = None
        for action, value in self.values(observation).items():
            if best is None or value > best[1]:
                best = action, value
        return best[0]


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
        """The `k` actions with the highest gain, the best first."""
        ranked = []
        if not self.is_terminal():
            gained = self._gains()
            order = {action: number for number, action in enumerate(self.state.legal_actions())}
            ranked = sorted(gained, key=lambda action: (-gained[action], order[action]))
        return tuple(ranked[:self.k])

    def after(self, move):
        """The game after `move`."""
        sign = 1 if self.state.to_move == self.root else -1
        total = self.total + sign * self._gains()[move]
        return type(self)(self.state.after(move), k=self.k, depth=self.depth - 1, rate=self.rate,
                          root=self.root, total=total)

    def is_terminal(self):
        """Whether the real game is over, or the depth is used up."""
        return self.state.is_over or self.depth < 1

    def utility(self, player):
        """As `player` sees it."""
        if self.state.is_over:
            winner = self.state.winner
            if winner is None:
                return 0
            return WIN if winner == self.state.rules.side(player) else -WIN
        return self.total * (1 if player == self.root else -1)


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
        """The mean value of each of the top k actions over the sampled states."""
        sums = {}
        for _ in range(self.samples):
            top = TopK(sample(observation, self.random), self.k, self.depth, self.rate)
            for action in top.legal_moves():
                sums[action] = sums.get(action, 0) + self.worth(top.after(action), top.root)
        return {action: total / self.samples for action, total in sums.items()}

    def worth(self, game, player):
        """What the search says of a game, as `player` sees it; nothing is searched if it is over."""
        if game.is_terminal():
            return game.utility(player)
        value = self.search.search(game).value
        return value if game.to_move == player else -value

    def choose(self, observation):
        """The action with the highest mean, the first one among equals."""
        return max(self.values(observation).items(), key=lambda item: item[1])[0]
