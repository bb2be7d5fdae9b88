"""Study 7: look-ahead in Sequence: the gain of an action minus the opponent's best reply.

You fill in this module. Notebooks 11 to 13 explain every part; submit this file with them. The
parts and the two discounts follow the description of an agent for two players; we chose the other
numbers. The board seen by one side, its lines and their links are given: read
`sequence/board/links.py`, from which this module imports them.
"""

from collections import Counter
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from sequence.agents.beliefs import sample
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import CARDS, COPIES, ONE_EYED, TWO_EYED
from sequence.board.layout import DIRECTIONS, HEART_CELLS, card_at
from sequence.board.links import Chips, line_text, links, neighbours, plays_of, reach
from tictactoe.contract import CHANCE

HEAT_PEAK = 4.0  # the heat of a cell of the heart
HEAT_DECAY = 0.5  # factor for each step away from the heart
LINK_MADE = (0, 1, 4, 16, 64, 1024)  # by the own chips in the best window, with the new one
LINK_BROKEN = (0, 2, 8, 32, 512)  # by the other side's chips in its best window: about half of that
REPLY_DISCOUNT = 0.9  # for the opponent's best reply
DRAFT_DISCOUNT = 0.8  # for the card taken
TWO_EYED_VALUE = 500.0  # of a drafted jack; less than a card that completes a sequence
ONE_EYED_VALUE = 400.0  # less than a two-eyed jack, more than most other cards
WIN = 100_000.0  # more than the sum of all rewards of a search


# ---- Notebook 11: a game with three cards


def strategy_value(state, strategy):
    """The value of a state of `Kuhn` for x if both players follow a strategy.

    `strategy[state.information]` is the probability of the second legal move, "bet" or "call". A
    terminal state has x's utility. Otherwise the value is the mean of the values after each move,
    weighted by the probabilities: those of the strategy, or those of the cards if `CHANCE` is to
    move. Moves with probability 0 are not followed, so a strategy may leave out information sets
    that are never reached.

    Hint: `expectimax` in notebook 11 has the same cases.
    """
    raise NotImplementedError("strategy_value: write this function")


# ---- The reward of an action


@cache
def heat(cell):
    """The heat of a cell: `HEAT_PEAK` in the heart, times `HEAT_DECAY` for each step away from it.

    A step leads to any of the eight neighbours, like a king's move in chess; steps are counted from
    the nearest of the four `HEART_CELLS`. This function is given.
    """
    steps = min(max(abs(cell[0] - row), abs(cell[1] - col)) for row, col in HEART_CELLS)
    return HEAT_PEAK * HEAT_DECAY**steps


@lru_cache(maxsize=1 << 17)
def scan(chips, cell, direction):
    """`links` of a line, cached by the three arguments. This function is given."""
    return links(line_text(chips, cell, direction))


def line_links(chips, cell, direction):
    """`links` of the line through `cell`, scanned only if these chips of the line are new.

    Hint: for `scan`, a board with one more chip anywhere is a new argument.
    `reach(cell, direction)` is the bitboard of the cells in the line.
    """
    raise NotImplementedError("line_links: write this function")


def line_reward(chips, cell, direction, kind):
    """The reward of one line for placing on a cell (`kind` is `PLACE`) or removing the chip there.

    A placement earns `LINK_MADE[made] + LINK_BROKEN[broken]`, a removal `LINK_BROKEN[broken]`.
    This function is given.
    """
    made, broken = line_links(chips, cell, direction)
    return LINK_BROKEN[broken] + (LINK_MADE[made] if kind == PLACE else 0)


def reward(chips, action):
    """The immediate reward of an action for the own side of `chips`.

    It is the sum of the rewards of the four lines through the action's cell plus, for a placement,
    the heat of the cell. An action that changes no chip has the reward 0.
    """
    raise NotImplementedError("reward: write this function")


def draft_value(chips, card):
    """The value of a card in the hand on this board, before the discount.

    A jack has its fixed value. The value of another card is the reward of the best placement that
    it allows. It is 0 if both cells of the card are taken, or if there is no card ("").
    """
    raise NotImplementedError("draft_value: write this function")


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
    raise NotImplementedError("catalogue: write this function")


def best_reply(chips, cards):
    """The highest reward of all placements and removals with these cards; 0 if there are none.

    `chips` is from the view of the side that replies.
    """
    raise NotImplementedError("best_reply: write this function")


def plain_replies(chips, cards):
    """Return a function from an own action to the opponent's best reply with these cards.

    `chips` is from the own view, before the action. Every call evaluates all replies again, even
    those that the action does not affect. This function is given.
    """
    return lambda action: best_reply(chips.after(action).flipped(), cards)


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
    raise NotImplementedError("quick_replies: write this function")


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
        raise NotImplementedError("LookAhead.values: write this method")

    def choose(self, observation):
        """The action with the highest value; of equal ones, the first in the documented order."""
        raise NotImplementedError("LookAhead.choose: write this method")


# ---- Notebook 13: the top k actions on sampled states


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
        raise NotImplementedError("TopK.legal_moves: write this method")

    def after(self, move):
        """The game after `move`: the depth is one less, and the gain is added to the total or
        subtracted.

        The gain is subtracted if the opponent of `root` makes the move. A trade also uses one
        depth, although the same player moves again. The object itself does not change.
        """
        raise NotImplementedError("TopK.after: write this method")

    def is_terminal(self):
        """Whether the real game is over or the depth is used up."""
        raise NotImplementedError("TopK.is_terminal: write this method")

    def utility(self, player):
        """Plus or minus `WIN`, or 0, if the real game is over; otherwise the total.

        It is from the view of `player`, who may be either player. Gains before a win do not count.
        """
        raise NotImplementedError("TopK.utility: write this method")


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
        """Restart the random numbers; `play` calls this before every game.

        The same seed leads to the same samples. Each agent has its own random numbers.
        """
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
        raise NotImplementedError("SampledSearch.values: write this method")

    def choose(self, observation):
        """The action with the highest mean; the first one among equals."""
        raise NotImplementedError("SampledSearch.choose: write this method")
