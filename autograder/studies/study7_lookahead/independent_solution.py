"""Study 7: a second answer, written only from the students' text: look-ahead in Sequence.

Lines are texts, replies are a dictionary by square, and values combine two cached functions.
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
from tictactoe.contract import CHANCE

HEAT_PEAK = 4.0  # the value of a cell of the heart itself
HEAT_DECAY = 0.5  # the factor for each step away from the heart
LINK_MADE = (0, 1, 4, 16, 64, 1024)  # by our own chips in the best five, including the new one
LINK_BROKEN = (0, 2, 8, 32, 512)  # by the other side's chips in its best five: about half of that
SHARED = 1  # chips of an earlier sequence that a new one may use (the rules)
REPLY_DISCOUNT = 0.9  # for the opponent's best reply
DRAFT_DISCOUNT = 0.8  # for the card taken
TWO_EYED_VALUE = 500.0  # of a drafted jack; less than a card that completes a sequence
ONE_EYED_VALUE = 400.0  # less than a two-eyed jack, more than most other cards
WIN = 100_000.0  # more than the sum of all rewards of a search


class Chips(NamedTuple):
    """The chips on a board from the view of one side, as bitboards (`sequence.board.layout`).

    `own` and `others` are all chips of the two sides, and `locked` are those in completed
    sequences. `heart` states whether the heart of the board counts. This class is given.
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

    def flipped(self) -> "Chips":
        """The same chips from the other side's view."""
        return self._replace(own=self.others, others=self.own)

    def after(self, action: Action) -> "Chips":
        """The chips after an action of this side; completed sequences are locked."""
        if not action.coords:
            return self
        bit = BIT[action.coords]
        if action.kind == REMOVE:
            return self._replace(others=self.others & ~(1 << bit))
        own = self.own | 1 << bit
        _, marks = new_sequences(own, self.locked, bit, self.heart)
        return self._replace(own=own, locked=self.locked | marks)

    def mark(self, cell: tuple[int, int]) -> str:
        """ "x" for our chip, "o" for theirs, "X" and "O" in a sequence, "*" for a corner, "_" if
        empty.
        """
        chip = 1 << BIT[cell]
        if chip & CORNERS:
            return "*"
        marks = "XO" if chip & self.locked else "xo"
        return marks[0] if chip & self.own else marks[1] if chip & self.others else "_"

    @property
    def empty(self) -> int:
        """The bitboard of the cells without a chip, excluding the corners."""
        return PLAYABLE & ~(self.own | self.others)

    @property
    def removable(self) -> int:
        """The bitboard of the other side's chips that a one-eyed jack may remove."""
        return self.others & ~self.locked


# ---- A game with three cards


def strategy_value(state, strategy):
    """The value of a state of `Kuhn` for x if both players follow a strategy.

    `strategy[state.information]` is the probability of the second legal move, "bet" or "call". A
    terminal state has x's utility. Otherwise the value is the mean of the values after each move,
    weighted by the probabilities: those of the strategy, or those of the cards if `CHANCE` is to
    move. Moves with probability 0 are not followed, so a strategy may leave out information sets
    that are never reached.

    Hint: `expectimax` in notebook 11 has the same cases.
    """
    total, reached = 0, [(state, 1)]
    while reached:
        state, probability = reached.pop()
        if state.is_terminal():
            total += probability * state.utility("x")
            continue
        for second, move in enumerate(state.legal_moves()):
            if state.to_move == CHANCE:
                share = state.probability(move)
            else:
                share = strategy[state.information]
                share = share if second else 1 - share
            if share:
                reached.append((state.after(move), probability * share))
    return total


# ---- The value of a square

FIXED_VALUES = {
    **dict.fromkeys(TWO_EYED, TWO_EYED_VALUE),
    **dict.fromkeys(ONE_EYED, ONE_EYED_VALUE),
}


@cache
def _path(cell, direction):
    """The cells within four of `cell` in a direction, including the cell itself, in reading order."""
    steps = ((cell[0] + k * direction[0], cell[1] + k * direction[1]) for k in range(-4, 5))
    return tuple(place for place in steps if place in BIT)


def _count(five, side):
    """The number of chips of a side in a five: small letters, capital letters and corners."""
    return sum(mark in (side, side.upper(), "*") for mark in five)


def _open_to(five, side, other):
    """Whether a side can still make a five into a sequence."""
    return other not in five.lower() and five.count(side.upper()) <= SHARED


def _heat_of(play):
    """The heat of a placement's cell; 0 for a removal."""
    return heat(play.coords) if play.kind == PLACE else 0


class _Reply(NamedTuple):
    """A reply of the opponent: its effect on its square, and the parts of its reward."""

    kind: str
    lines: list
    heat: float

    @property
    def total(self):
        """The total reward."""
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
    """The heat of a cell: `HEAT_PEAK` in the heart, times `HEAT_DECAY` for each step away from it.

    A step leads to any of the eight neighbours, like a king's move in chess; steps are counted from
    the nearest of the four `HEART_CELLS`. This function is given.
    """
    steps = min(max(abs(cell[0] - row), abs(cell[1] - col)) for row, col in HEART_CELLS)
    return HEAT_PEAK * HEAT_DECAY**steps


def line_text(chips, cell, direction):
    """The line through `cell` in one of the `DIRECTIONS`, as text: the cells within four of `cell`.

    They are in reading order, that is, from (row - 4 * down, col - 4 * right) to (row + 4 * down,
    ...), without cells beyond the edge. Each is written as by `chips.mark`, and `cell` itself as
    "#".

    Hint: a cell is on the board if it is in `BIT`.
    """
    return "".join("#" if place == cell else chips.mark(place) for place in _path(cell, direction))


def links(text):
    """What a chip on "#" makes and breaks in this line: the pair `(made, broken)`.

    A five consists of five neighbouring cells of the line ("#" is always among them, because the
    line extends four cells to either side). `made` is the largest number of our own chips,
    including the new one on "#", in a five without a chip of the other side; `broken` is the
    largest number of the other side's chips in a five without one of ours. A corner counts as a
    chip of both sides. A five with more than `SHARED` chips of a completed sequence of the side in
    question does not count, because it cannot become a new sequence. If there is no five, the
    number is 0.
    """
    fives = [text[start : start + FIVE] for start in range(len(text) - FIVE + 1)]
    return (
        max((1 + _count(five, "x") for five in fives if _open_to(five, "x", "o")), default=0),
        max((_count(five, "o") for five in fives if _open_to(five, "o", "x")), default=0),
    )


@lru_cache(maxsize=1 << 17)
def scan(chips, cell, direction):
    """`links` of a line, cached by the three arguments. This function is given."""
    return links(line_text(chips, cell, direction))


@cache
def reach(cell, direction):
    """The bitboard of the cells in the result of `line_text`. This function is given."""
    down, right = direction
    path = ((cell[0] + k * down, cell[1] + k * right) for k in range(1 - FIVE, FIVE))
    return mask_of(place for place in path if place in BIT)


def line_links(chips, cell, direction):
    """`links` of the line through `cell`, scanned only if these chips of the line are new.

    Hint: for `scan`, a board with one more chip anywhere is a new argument.
    `reach(cell, direction)` is the bitboard of the cells in the line.
    """
    line = reach(cell, direction)
    near = Chips(chips.own & line, chips.others & line, chips.locked & line)
    return scan(near, cell, direction)


def line_reward(chips, cell, direction, kind):
    """The reward of one line for placing on a cell (`kind` is `PLACE`) or removing the chip there.

    A placement earns `LINK_MADE[made] + LINK_BROKEN[broken]`, a removal `LINK_BROKEN[broken]`.
    This function is given.
    """
    made, broken = line_links(chips, cell, direction)
    return LINK_BROKEN[broken] + (LINK_MADE[made] if kind == PLACE else 0)


def reward(chips, action):
    """The immediate reward of an action for our side of `chips`.

    It is the sum of the rewards of the four lines through the action's cell plus, for a placement,
    the heat of the cell. An action that changes no chip has the reward 0.
    """
    if action.kind not in (PLACE, REMOVE):
        return 0
    cell = action.coords
    lines = [line_reward(chips, cell, direction, action.kind) for direction in DIRECTIONS]
    return sum(lines) + (heat(cell) if action.kind == PLACE else 0)


def draft_value(chips, card):
    """The value of a card in the hand on this board, before the discount.

    A jack has its fixed value. The value of another card is the reward of the best placement that
    it allows. It is 0 if both cells of the card are taken, or if there is no card ("").
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
    """The placements and removals that this side could make with these cards.

    Each square is listed once, and placements come before removals; the actions take no card. A
    two-eyed jack among the cards allows a placement on any empty cell. This function is given.
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

    Both are in card order; if both copies of a card are known, `known` lists it twice, and
    `possible` once.
    """

    known: tuple[str, ...]
    possible: tuple[str, ...]


def catalogue(observation):
    """The catalogue of the opponent's cards, derived from the cards drafted and played.

    Known are the cards that the opponent has drafted and has neither played nor traded since. (If
    it plays a card of which it drafted a copy, that copy counts as played. In one action the card
    is played first, and then another is drafted.) Possible are the known cards and, unless these
    are the whole hand, every card of which you have not seen all `COPIES`: in your own hand, in the
    draft row, among the cards played or traded by either player, or known to be the opponent's.

    Hint: `observation.plays()` yields every action so far with its player. In an action, "" means
    no card.
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
    """The highest reward of all placements and removals with these cards; 0 if there are none.

    `chips` is from the view of the side that replies.
    """
    return max((reward(chips, play) for play in plays_of(chips, cards)), default=0)


def plain_replies(chips, cards):
    """Return a function from our action to the opponent's best reply with these cards.

    `chips` is from our view, before the action. Every call evaluates all replies again, even
    those that the action does not affect. This function is given.
    """
    return lambda action: best_reply(chips.after(action).flipped(), cards)


@cache
def neighbours(cell):
    """The cells within four of `cell` on its lines: cell -> number of the direction. This is given."""
    return {
        (cell[0] + k * down, cell[1] + k * right): number
        for number, (down, right) in enumerate(DIRECTIONS)
        for k in range(1 - FIVE, FIVE)
        if k and (cell[0] + k * down, cell[1] + k * right) in BIT
    }


def quick_replies(chips, cards):
    """Return the same function as `plain_replies`, scanning only the lines that an action changes.

    First the rewards of all replies are computed line by line, and the replies are sorted, the best
    first. An action on a cell changes only the replies on its `neighbours`, and there only the line
    through both cells. Among all other replies, the best remains the best. (The check counts the
    lines that are scanned, with `line_links` or otherwise: at most 60 per action.)

    Hint: the replies on the cell itself are new: a chip just placed can be removed, and a cell just
    emptied can be taken. If an action completes a sequence, more than one line per cell changes:
    call `best_reply` in that case.
    """
    cards = tuple(cards)
    before = chips.flipped()
    replies = {}
    for play in plays_of(before, cards):
        lines = [line_reward(before, play.coords, direction, play.kind) for direction in DIRECTIONS]
        replies[play.coords] = _Reply(play.kind, lines, _heat_of(play))
    ranking = sorted(replies, key=lambda cell: replies[cell].total, reverse=True)

    def reply(action):
        if not action.coords:
            return replies[ranking[0]].total if ranking else 0
        after = chips.after(action).flipped()
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
    """Plays the action with the highest value: reward plus card taken minus the best reply.

    `replies` creates the function that finds the best reply (`plain_replies` or `quick_replies`).
    If it is None, the agent has no reply term. `cards` is "possible" or "known": the cards of the
    opponent that are considered for the reply. The agent is for two players.
    """

    def __init__(self, replies=plain_replies, cards="possible"):
        self.replies = replies
        self.cards = cards

    def values(self, observation):
        """The value of every legal action: a dictionary in the documented order of actions.

        It is `reward + DRAFT_DISCOUNT * draft_value - REPLY_DISCOUNT * reply`. The card is valued
        and the reply found on the board after the action. After a trade, a forgone trade or a pass,
        no reply is subtracted; after any other action one is, even if the action ends the game. The
        values depend on this observation only, not on earlier calls.

        Hint: actions that differ only in the card they take have the same reward and the same
        reply. Compute these only once.
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
        """The action with the highest value; of equal ones, the first in the documented order."""
        values = self.values(observation)
        return max(values, key=values.get)


# ---- Deeper: the top k actions on sampled states


def gains(state):
    """The gain of each legal action of a state: reward and card, without a reply. Given."""
    return LookAhead(replies=None).values(state.observation())


class TopK:
    """A game in which only the `k` best actions are legal, and which ends after `depth` actions.

    It wraps a full state and has the members of `tictactoe.State`, so any search of study 2 works
    on it unchanged. `rate(state)` returns the gain of every legal action. `total` is the sum of the
    gains of the player `root` on the way here, minus those of the opponent.
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
        """The `k` actions with the highest gain, best first; equal ones are in documented order.

        It is an empty tuple in a terminal state: if the real game is over or the depth is used up.

        Hint: `sorted` keeps equal items in order, even with `reverse=True`.
        """
        if self.is_terminal():
            return []
        gains_now = self._gains()
        return sorted(gains_now, key=gains_now.get, reverse=True)[: self.k]

    def after(self, move):
        """The game after `move`: the depth is one less, and the gain is added to the total or
        subtracted.

        The gain is subtracted if the opponent of `root` makes the move. A trade also uses one
        depth, although the same player moves again. The object itself does not change.
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
        """Whether the real game is over or the depth is used up."""
        return self.depth <= 0 or self.state.is_terminal()

    def utility(self, player):
        """Plus or minus `WIN`, or 0, if the real game is over; otherwise the total.

        It is from the view of `player`, who may be either player. Gains before a win do not count.
        """
        if self.state.is_terminal():
            return WIN * self.state.utility(player)
        return self.total if player == self.root else -self.total


class SampledSearch:
    """Searches the top k actions in sampled states and plays the best on average.

    `search` is an agent of study 2: `search.search(state)` returns `Search(move, value, nodes)`. To
    look at the opponent's hand would be cheating. To sample `samples` possible hands, search each
    and take the mean is averaging over clairvoyance (Russell and Norvig 2021, section 5.6).
    """

    def __init__(self, search, k=4, depth=3, samples=4, seed=None, rate=gains):
        self.search, self.k, self.depth, self.samples, self.rate = search, k, depth, samples, rate
        self.reset(seed)

    def reset(self, seed):
        """Restart the random numbers; `play` calls this before every game."""
        self.random = Random(seed)

    def values(self, observation):
        """The mean value of each of the top k actions over the sampled states, in order of their
        gains.

        Each sample is drawn with `sample(observation, self.random)`, one after another, and the
        random numbers are used for nothing else. The value of an action in a sample is the value
        that `self.search` finds in the game after the action, from the agent's own view: after a
        trade it is still the agent's turn. All samples have the same top k actions, because `rate`
        returns the same gains for all states that the player cannot distinguish.
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
        """The action with the highest mean; the first one among equals."""
        values = self.values(observation)
        return max(values, key=values.get)
