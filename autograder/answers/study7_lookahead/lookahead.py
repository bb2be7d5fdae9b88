"""Study 7: look-ahead in Sequence: what an action brings, minus the best reply of the opponent.

You fill in this module. Notebooks 12 and 13 explain every part; hand in this file with them. The
parts and the two discounts follow the description of an agent for two players; the other numbers
are choices made here.
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


@cache
def heat(cell):
    """The heat of a cell: `HEAT_PEAK` in the heart, times `HEAT_DECAY` for each step from it.

    A step goes to any of the eight neighbours, like a king in chess; steps are counted from the
    nearest of the four `HEART_CELLS`.
    """
    ### BEGIN SOLUTION
    steps = min(max(abs(cell[0] - row), abs(cell[1] - col)) for row, col in HEART_CELLS)
    return HEAT_PEAK * HEAT_DECAY**steps
    ### END SOLUTION


def line_text(chips, cell, direction):
    """The line through `cell` in one of the `DIRECTIONS`, as text: the cells within four of it.

    In reading order, that is from (row - 4 * down, col - 4 * right) to (row + 4 * down, ...), cells
    beyond the edge left out. Each is written as `chips.mark` says, and `cell` itself as "#".

    Hint: a cell is on the board if it is in `BIT`.
    """
    ### BEGIN SOLUTION
    down, right = direction
    path = [(cell[0] + k * down, cell[1] + k * right) for k in range(1 - FIVE, FIVE)]
    return "".join("#" if place == cell else chips.mark(place) for place in path if place in BIT)
    ### END SOLUTION


def links(text):
    """What a chip on "#" makes and breaks in this line: the pair `(made, broken)`.

    Look at every five neighbouring cells of the line ("#" is always among them, as the line reaches
    four cells to either side). `made` is the most own chips in a five without a chip of the other
    side, the new one on "#" counted; `broken` is the most chips of the other side in a five without
    an own chip. A corner counts as a chip of either side, and spoils a five for neither. A five
    that has more than `SHARED` chips of a completed sequence of the side in question does not
    count, as it can become no new sequence. Where there is no five, the number is 0.
    """
    ### BEGIN SOLUTION
    made = broken = 0
    for start in range(len(text) - FIVE + 1):
        five = text[start : start + FIVE]
        own = five.count("x") + five.count("X")
        others = five.count("o") + five.count("O")
        if not others and five.count("X") <= SHARED:
            made = max(made, own + five.count("*") + 1)
        if not own and five.count("O") <= SHARED:
            broken = max(broken, others + five.count("*"))
    return made, broken
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    line = reach(cell, direction)
    return scan(Chips(chips.own & line, chips.others & line, chips.locked & line), cell, direction)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    if not action.coords:
        return 0.0
    lines = sum(
        line_reward(chips, action.coords, direction, action.kind) for direction in DIRECTIONS
    )
    return lines + (heat(action.coords) if action.kind == PLACE else 0.0)
    ### END SOLUTION


def draft_value(chips, card):
    """What a card is worth in the hand on this board, before the discount.

    A jack has its fixed value. Another card is worth the best placement that it allows, 0 if both
    its cells are taken (or if there is no card).
    """
    ### BEGIN SOLUTION
    if card in TWO_EYED:
        return TWO_EYED_VALUE
    if card in ONE_EYED:
        return ONE_EYED_VALUE
    return max((reward(chips, action) for action in plays_of(chips, [card])), default=0.0)
    ### END SOLUTION


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

    Known are the cards that the opponent was seen to draft and has neither played nor traded since.
    (If it plays a card of which it drafted a copy, that copy counts as played. In one action the
    card is played first, and then the other is drafted.) Possible are these
    and, if they are not the whole hand, every card of which you have not seen all `COPIES`: in your
    own hand, in the draft row, among those played or traded by either player, or known to be the
    opponent's.

    Hint: `observation.plays()` gives every action so far with its player. In an action, "" stands
    for no card.
    """
    ### BEGIN SOLUTION
    known = Counter()
    seen = Counter(observation.hand + observation.draft_row)
    for player, action in observation.plays():
        if action.play_card:
            seen[action.play_card] += 1
        if player != observation.player:
            if known[action.play_card]:
                known[action.play_card] -= 1
            if action.draft_card:
                known[action.draft_card] += 1
    all_known = known.total() == observation.rules.hand
    return Catalogue(
        tuple(card for card in CARDS for _ in range(known[card])),
        tuple(
            card
            for card in CARDS
            if known[card] or (not all_known and seen[card] + known[card] < COPIES)
        ),
    )
    ### END SOLUTION


def best_reply(chips, cards):
    """The highest reward of all placements and removals with these cards, 0 if there are none.

    `chips` is from the view of the side that replies.
    """
    ### BEGIN SOLUTION
    return max((reward(chips, action) for action in plays_of(chips, cards)), default=0.0)
    ### END SOLUTION


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
    the line through both. Among all the others, the best reply stays the best. (The check counts
    the lines that are asked for, with `line_links` or otherwise: at most 60 for an action.)

    Hint: the replies on the square itself are new: a chip just placed can be removed, a cell just
    emptied can be taken. Where an action completes a sequence, more than a line changes: then ask
    `best_reply`.
    """
    ### BEGIN SOLUTION
    theirs = chips.turned()
    lines, total = {}, {}
    for reply in plays_of(theirs, cards):
        lines[reply.coords] = [
            line_reward(theirs, reply.coords, direction, reply.kind) for direction in DIRECTIONS
        ]
        total[reply] = reward(theirs, reply)
    ranked = sorted(total, key=total.get, reverse=True)

    def best(action):
        after = chips.after(action).turned()
        if after.locked != theirs.locked:
            return best_reply(after, cards)
        square = action.coords
        near = neighbours(square) if square else {}
        found = [
            next(
                (
                    total[reply]
                    for reply in ranked
                    if reply.coords not in near and reply.coords != square
                ),
                0.0,
            )
        ]
        for reply in ranked:
            if reply.coords in near:
                number = near[reply.coords]
                found.append(
                    total[reply]
                    - lines[reply.coords][number]
                    + line_reward(after, reply.coords, DIRECTIONS[number], reply.kind)
                )
        on_square, able = (
            (REMOVE, ONE_EYED)
            if action.kind == PLACE
            else (PLACE, (*TWO_EYED, card_at(square)))
            if square
            else (None, ())
        )
        if any(card in cards for card in able):
            found.append(reward(after, Action(on_square, coords=square)))
        return max(found)

    return best
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        chips = Chips.seen_by(observation)
        cards = getattr(catalogue(observation), self.cards)
        reply_to = self.replies(chips, cards) if self.replies else lambda action: 0.0
        plays, drafts, values = {}, {}, {}
        for action in observation.legal_actions():
            play = action.kind, action.coords
            if play not in plays:
                reply = reply_to(action) if action.coords else 0.0
                plays[play] = reward(chips, action) - REPLY_DISCOUNT * reply, chips.after(action)
            worth, after = plays[play]
            if (play, action.draft_card) not in drafts:
                drafts[play, action.draft_card] = draft_value(after, action.draft_card)
            values[action] = worth + DRAFT_DISCOUNT * drafts[play, action.draft_card]
        return values
        ### END SOLUTION

    def choose(self, observation):
        """The action with the highest value; among equals the first in the documented order."""
        ### BEGIN SOLUTION
        values = self.values(observation)
        return max(values, key=values.get)
        ### END SOLUTION


# ---- Notebook 13: the top k actions on sampled states


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

        An empty tuple if the game is over here, because the real one is or the depth is used up.

        Hint: `sorted` keeps equal items in order, also with `reverse=True`.
        """
        ### BEGIN SOLUTION
        if self.is_terminal():
            return ()
        rated = self._gains()
        return tuple(sorted(rated, key=rated.get, reverse=True)[: self.k])
        ### END SOLUTION

    def after(self, move):
        """The game after `move`: one depth less, and its gain added to the total, or subtracted.

        The gain is subtracted if the opponent of `root` makes the move. A trade takes one depth as
        well, though the same player goes on. The game itself does not change.
        """
        ### BEGIN SOLUTION
        gain = self._gains()[move]
        sign = 1 if self.to_move == self.root else -1
        return TopK(
            self.state.after(move),
            self.k,
            self.depth - 1,
            self.rate,
            root=self.root,
            total=self.total + sign * gain,
        )
        ### END SOLUTION

    def is_terminal(self):
        """Whether the real game is over, or the depth is used up."""
        ### BEGIN SOLUTION
        return self.depth <= 0 or self.state.is_terminal()
        ### END SOLUTION

    def utility(self, player):
        """Plus or minus `WIN`, or 0, if the real game is over; else the total.

        All as `player` sees it, who may be either one. What was gained before a win does not count.
        """
        ### BEGIN SOLUTION
        if self.state.is_terminal():
            return WIN * self.state.utility(player)
        return self.total if player == self.root else -self.total
        ### END SOLUTION


class SampledSearch:
    """Searches the top k actions on sampled states and plays the best on average.

    `search` is an agent of study 2: `search.search(state)` returns `Search(move, value, nodes)`.
    Looking into the opponent's hand is cheating; looking into `samples` hands that it could be,
    and taking the mean, is called averaging over clairvoyance (Russell and Norvig 2021, section
    5.6).
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
        ### BEGIN SOLUTION
        me, totals = observation.player, {}
        for _ in range(self.samples):
            game = TopK(sample(observation, self.random), self.k, self.depth, self.rate)
            for move in game.legal_moves():
                child = game.after(move)
                value = self.search.search(child).value
                totals[move] = totals.get(move, 0.0) + (value if child.to_move == me else -value)
        return {move: total / self.samples for move, total in totals.items()}
        ### END SOLUTION

    def choose(self, observation):
        """The action with the highest mean, the first one among equals."""
        ### BEGIN SOLUTION
        legal = observation.legal_actions()
        if len(legal) == 1:
            return legal[0]
        values = self.values(observation)
        return max(values, key=values.get)
        ### END SOLUTION
