"""Study 10: your own agent for the Sequence league.

You complete this module. Notebook 19 explains the league; submit this file with the notebook. The
agent may be anything that follows the rules and keeps within the time limits: a method from studies
6 to 9, a search, or an idea of your own. It must not need files of other studies, so copy what you
want to use.

You may use everything in `sequence` except the built-in players. `Greedy`, `ISMCTS` and
`FittedLookAhead` are opponents: in the ladder they cannot be imported, and an agent that plays like
a built-in player, or contains its code, earns only the point for legal play.
"""

### BEGIN SOLUTION
# The values of all lines, for all actions in one product. The agent of study 7 rewards the square
# that is played on; this one evaluates the complete board after each action. The value of a line is
# the product of the probabilities that its missing cells get filled, by cards in the hand, in the
# draft row and unseen. The value of the opponent's best reply is an expectation over the cards that
# it may hold. One matrix product evaluates all actions of a turn. The numbers were chosen by hand
# and by matches against modified versions.

import numpy as np

from sequence.agents.beliefs import excluded_cards, unknown_cards, unseen_cards
from sequence.board.actions import PLACE
from sequence.board.cards import BOARD_CARDS, CARDS, NUMBER, ONE_EYED, TWO_EYED, numbers
from sequence.board.chips import new_sequences
from sequence.board.layout import BIT, CORNERS, FIVE, HEART, LINE_MASKS

IN_HAND = 0.55  # the probability that a cell is filled by a card in the hand
IN_ROW, ROW_OPPONENT = 0.30, 0.40  # by a card in the draft row, from which the opponent takes next
UNSEEN = (0.03, 0.09, 0.175)  # by the unseen copies of its card
WILD, WILD_IN_ROW = 0.45, 0.20  # by a two-eyed jack
TAKEN, TAKEN_IN_ROW, TAKEN_ELSE = 0.35, 0.15, 0.04  # that a chip is removed by a one-eyed jack
SEQUENCE = 4.0  # a completed sequence, if a certain line counts 1
SECOND = 1.6  # factor for the lines of a side that has a sequence
HEART_FACTOR = 2.4  # the heart counts as two sequences
REPLY = 0.5  # the discount of the opponent's expected reply
WIN = 1_000.0
LOSS = 60.0  # times the probability that the reply wins

WIDTH = 100  # bits of a bitboard
PATTERNS = (*LINE_MASKS, HEART)
LINES = np.array([[mask >> bit & 1 for bit in range(WIDTH)] for mask in PATTERNS], np.float32)
LENGTH = LINES.sum(axis=1)[:, None]
EVERYBODYS = np.array([[CORNERS >> bit & 1] for bit in range(WIDTH)], np.float32)
KINDS = len(BOARD_CARDS)
WILD_CARDS, TAKERS = [NUMBER[card] for card in TWO_EYED], [NUMBER[card] for card in ONE_EYED]
IMPOSSIBLE = -20.0  # the logarithm of a negligible probability
### END SOLUTION


class MyAgent:
    """Your agent, which the league creates for every game and queries for every action."""

    def choose(self, observation):
        """The action to play, one of `observation.legal_actions()`, within a second of computing
        time.

        If you use random numbers, define `reset(self, seed)`, which is called before the first
        action, so that games can be repeated.

        Hint: start with something that works, such as the legal action with the best evaluation by
        one of your functions from studies 6 to 8, and play it in your own league. Then change one
        thing at a time and measure the effect.
        """
        ### BEGIN SOLUTION
        legal = list(observation.legal_actions())
        if len(legal) == 1:
            return legal[0]
        return legal[int(np.argmax(values(observation, legal)))]
        ### END SOLUTION


### BEGIN SOLUTION
def values(observation, legal):
    """The value of each of these actions, as an array."""
    board = _Boards(observation, legal)
    own_chance, opponent_chance, held = board.chances(observation)
    own_taken = _taken(board.hands[TAKERS].any(axis=0), board.row[TAKERS].any(axis=0))
    opponent_taken = _taken(1 - np.prod(1 - held[TAKERS]), board.row[TAKERS].any(axis=0))
    own, _, _ = _promises(board.own, board.others, board.locked, own_chance, own_taken)
    others, missing, open_lines = _promises(
        board.others, board.own, board.locked, opponent_chance, opponent_taken
    )
    own *= np.where(board.score > 0, SECOND, 1)
    others *= SECOND if board.opponent_score else 1
    value = own.sum(axis=0) - others.sum(axis=0) + SEQUENCE * board.score

    # The effects of each reply: our lines through its square die, and the opponent's get closer.
    loss, gain = LINES.T @ own, LINES.T @ others * (1 / opponent_chance - 1)
    double = np.where(LENGTH < FIVE, 2, 1)
    completed = LINES.T @ (open_lines * (missing == 1) * double)
    weight = SEQUENCE * (SECOND if board.opponent_score else 1)
    placing = loss * (1 - own_taken) + np.where(completed > 0, completed * weight, gain)
    wins = board.opponent_score + completed >= 2
    placing = np.where(board.empty, placing + LOSS / REPLY * wins, 0)
    removing = np.where((board.own > 0) & (board.locked == 0), loss * (1 - own_chance), 0)
    replies = np.zeros((len(CARDS), len(legal)))
    replies[:KINDS] = placing[: 2 * KINDS].reshape(KINDS, 2, -1).max(axis=1)
    replies[WILD_CARDS] = placing.max(axis=0)
    replies[TAKERS] = removing[: 2 * KINDS].max(axis=0)
    return value - REPLY * _expected_best(replies, held) + WIN * (board.score >= 2)


class _Boards:
    """The boards, hands and rows after the actions, as arrays with a column for each action."""

    def __init__(self, observation, legal):
        side, count = observation.side, len(legal)
        own_mask, other_mask = observation.chip_masks[side], observation.chip_masks[1 - side]
        self.own, self.others, self.locked = (
            np.repeat(_bits(mask)[:, None], count, axis=1)
            for mask in (own_mask, other_mask, observation.locked_mask)
        )
        self.hands, self.row = (
            np.repeat(_counts(numbers(pile))[:, None], count, axis=1)
            for pile in (observation.hand_pile, observation.row_pile)
        )
        self.score = np.full(count, observation.sequences[side])
        self.opponent_score = observation.sequences[1 - side]
        for column, (kind, play, draft, coords) in enumerate(legal):
            if coords and kind == PLACE:
                bit = BIT[coords]
                self.own[bit, column] = 1
                done, marks = new_sequences(
                    own_mask | 1 << bit, observation.locked_mask, bit, observation.rules.heart
                )
                if done:
                    self.score[column] += done
                    self.locked[:, column] = _bits(observation.locked_mask | marks)
            elif coords:
                self.others[BIT[coords], column] = 0
            if play:
                self.hands[NUMBER[play], column] -= 1
            if draft:
                self.hands[NUMBER[draft], column] += 1
                self.row[NUMBER[draft], column] -= 1
        self.empty = (self.own + self.others + EVERYBODYS) == 0

    def chances(self, observation):
        """Our and the opponent's probabilities of filling cells, and those of its cards."""
        opponent = 1 - observation.player
        pool = _counts(NUMBER[card] for card in unseen_cards(observation))
        share = min(1, unknown_cards(observation, opponent) / max(1, pool.sum()))
        held = 1 - (1 - share) ** pool
        held[[NUMBER[card] for card in excluded_cards(observation, opponent)]] = 0
        held[[NUMBER[card] for card in observation.drafted(opponent)]] = 1
        later = np.array(UNSEEN)[pool.astype(int)][:, None]
        wild_row = WILD_IN_ROW * self.row[WILD_CARDS].any(axis=0)
        own = np.maximum.reduce(
            [
                IN_HAND * (self.hands > 0),
                IN_ROW * (self.row > 0),
                later + 0 * self.hands,
                np.maximum(WILD * self.hands[WILD_CARDS].any(axis=0), wild_row) + 0 * self.hands,
            ]
        )
        wild = WILD * (1 - np.prod(1 - held[WILD_CARDS]))
        others = np.maximum.reduce(
            [
                IN_HAND * held[:, None] + 0 * self.hands,
                ROW_OPPONENT * (self.row > 0),
                later + 0 * self.hands,
                np.maximum(wild, wild_row) + 0 * self.hands,
            ]
        )
        return _by_cell(own), _by_cell(others), held


def _promises(own, others, locked, chance, taken):
    """The value of each line (lines x actions), its missing chips, and whether it is open."""
    mine = np.minimum(1, own + EVERYBODYS)
    logarithms = np.where(mine > 0, 0, np.log(chance))
    logarithms += np.where(others > 0, np.log(taken) + IMPOSSIBLE * locked, 0)
    promise = np.exp(LINES @ logarithms.astype(np.float32))
    promise[LINES @ (locked * own) > 1] = 0  # a new sequence shares at most one chip
    promise[-1] *= HEART_FACTOR
    return promise, LENGTH - LINES @ mine, (LINES @ others == 0) & (promise > 0)


def _expected_best(replies, held):
    """The expectation, for each action, of the best reply whose card the opponent holds."""
    order = np.argsort(-replies, axis=0)
    there = held[order]
    none_before = np.cumprod(np.vstack([np.ones((1, there.shape[1])), 1 - there[:-1]]), axis=0)
    return (np.take_along_axis(replies, order, axis=0) * there * none_before).sum(axis=0)


def _taken(held, in_row):
    return np.maximum(TAKEN * held, np.where(in_row, TAKEN_IN_ROW, TAKEN_ELSE))


def _by_cell(chance):
    cells = np.ones((WIDTH, chance.shape[1]), np.float32)
    cells[: 2 * KINDS] = np.repeat(chance[:KINDS], 2, axis=0)
    return cells


def _bits(mask):
    octets = np.frombuffer(mask.to_bytes(13, "little"), np.uint8)
    return np.unpackbits(octets, bitorder="little")[:WIDTH].astype(np.float32)


def _counts(cards):
    counts = np.zeros(len(CARDS), np.float32)
    for number in cards:
        counts[number] += 1
    return counts


### END SOLUTION
