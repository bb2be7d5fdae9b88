"""Fast evaluation of cells, cards and positions in a full state, for use in searches.

The evaluation uses the open lines: those of the 192 lines that contain no chip of another side and
can still become a sequence. If the rules count the heart, it is an additional line, of four cells.
Corners belong to all sides and are not part of lines here, so a line is complete when no cell is
missing. Lines are evaluated in groups (the lines through a cell in one direction, or those of a
row, column or diagonal), and the value of a group is cached by its chips.
"""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter

from sequence.board.actions import (
    FORGO,
    JACKS,
    PASS,
    PLACE,
    REMOVE,
    REMOVERS,
    TRADE,
    WILD,
    Action,
)
from sequence.board.cards import BOARD_KINDS, CARDS, NO_CARD, ONE
from sequence.board.chips import bits
from sequence.board.layout import CELLS, HEART, LINES, NEIGHBOURHOODS, NO_CELL, PLAYABLE, mask_of
from sequence.engine.state import State

CACHE_SIZE = 1 << 15  # cached groups of lines for each kind of value: about 10 MB
SEQUENCE_VALUE = 100_000  # more than the total value of all lines through a cell
LINE_VALUES = (
    1,
    4,
    16,
    64,
    256,
    1024,
)  # value of one more chip in a line, by the number of chips in it
# The value of a chip in an open line, by the number of cells missing before the chip is placed: the
# value of one more chip or, for the last chip, of a sequence.
CHIP_VALUES: tuple[int, ...] = (0, SEQUENCE_VALUE, *reversed(LINE_VALUES[:4]))
JACK_VALUE = 300  # value of keeping a jack: more than a chip in a few lines of three
# Rounded contributions to a side's log-odds of winning, from a logistic regression on the final
# phases of 1,500 games of `best_action` against itself, in which a tenth of the actions were chosen
# randomly among the promising ones.
LINE_ODDS = (0.0, 0.25, 0.05, 0.03, 0.02, 0.0)  # of an open line, by missing chips
HEART_ODDS = (0.0, 0.8, 0.4, 0.2, 0.0)
# Added if the side holds the cards of all missing cells; indexed by whether it is to move.
HELD_ODDS = (0.0, 0.8, 0.6, 0.5, 0.0, 0.0), (0.0, 1.4, 0.6, 0.3, 0.0, 0.0)
SEQUENCE_ODDS = 1.4
JACK_ODDS = 0.5  # for a jack in a hand
TURN_ODDS = 0.2  # for being to move

_Play = tuple[int, str, int, int]  # a play without the card taken: value, kind, card, cell


def best_action(state: State) -> Action:
    """The action with the best immediate value; this is the fast player of simulated games."""
    return ranked(state, plays=1)[0]


def ranked(state: State, plays: int) -> list[Action]:
    """Promising legal actions, best first: the `plays` best plays, each with every card to take.

    The list contains only one jack of each kind. It contains a two-eyed jack on a cell that does
    not complete a line only if no cell does and there is no other play. While a dead card may be
    traded, the list contains only trades and, if the rules allow it, forgoing them. It is empty if
    the game is over.
    """
    if state.is_over:
        return []
    best_plays = sorted(_plays(state), key=_first, reverse=True)[:plays]
    if not best_plays:
        return [PASS]
    if not state.row_pile:
        return [_action(play, -1) for play in best_plays]
    pairs = [
        (2 * play[0] + value, play, card)
        for play in best_plays
        for value, card in _draft_values(state, play)
    ]
    if plays == 1:
        return [_action(*max(pairs, key=_first)[1:])]
    pairs.sort(key=_first, reverse=True)
    actions = [_action(play, card) for _, play, card in pairs]
    if best_plays[0][1] == TRADE and state.rules.forgo:
        actions.append(FORGO)
    return actions


def chances(state: State) -> tuple[float, ...]:
    """Each side's estimated probability of winning; in a terminal state, the result.

    A tie is 0.5. With three sides, the probabilities need not add up to 1, because each is computed
    against the best of the others.
    """
    sides = range(state.rules.teams)
    if state.is_over:
        return tuple(0.5 + 0.5 * state.utility(side) for side in sides)
    odds = [_odds(state, side) for side in sides]
    return tuple(
        1 / (1 + math.exp(max(odds[:side] + odds[side + 1 :]) - odds[side])) for side in sides
    )


def _plays(state: State) -> list[_Play]:
    """The plays of the player to move, without the card taken: value, kind, card, cell."""
    hand, empty = state.hand_piles[state.to_move], state.empty_mask
    dead = 0 if state.traded else hand & BOARD_KINDS & ~(empty | empty >> 1)
    if dead:
        return [(0, TRADE, bit >> 1, -1) for bit in bits(dead)]
    own, others = _sides(state, state.to_move)
    board = own, others, state.locked_mask, state.rules.heart
    plays = [
        (_cell_value(*board, bit), PLACE, bit >> 1, bit)
        for bit in bits((hand & BOARD_KINDS) * 3 & empty)
    ]
    if hand & JACKS:
        _add_jack_plays(plays, hand, empty, board)
    return plays


def _add_jack_plays(
    plays: list[_Play], hand: int, empty: int, board: tuple[int, int, int, bool]
) -> None:
    """Add the plays of one jack of each kind in the hand."""
    _, others, locked, _ = board
    remover = next((jack for jack in REMOVERS if hand & ONE[jack]), None)
    if remover is not None:
        plays += [
            (_cell_value(*board, bit) - JACK_VALUE, REMOVE, remover, bit)
            for bit in bits(others & ~locked)
        ]
    wild = next((jack for jack in WILD if hand & ONE[jack]), None)
    if wild is not None:
        cells = _last_cells(*board) or (0 if plays else empty)
        plays += [(_cell_value(*board, bit) - JACK_VALUE, PLACE, wild, bit) for bit in bits(cells)]


def _draft_values(state: State, play: _Play) -> list[tuple[int, int]]:
    """The cards of the row, each as a pair of its value after the play and the card."""
    _, kind, _, bit = play
    (own, others), empty = _sides(state, state.to_move), state.empty_mask
    if kind == PLACE:
        own |= 1 << bit
        empty ^= 1 << bit
    elif kind == REMOVE:
        others ^= 1 << bit
        empty ^= 1 << bit
    board = own, others, state.locked_mask, state.rules.heart
    values = []
    for place in bits(state.row_pile & _KINDS):
        card = place >> 1
        cells = 0b11 << place & empty
        if card in REMOVERS:
            value = JACK_VALUE
        elif card in WILD:
            value = JACK_VALUE + (SEQUENCE_VALUE if _last_cells(*board) else 0)
        else:
            value = max([_cell_value(*board, cell) for cell in bits(cells)], default=0)
        values.append((value, card))
    return values


def _action(play: _Play, take: int) -> Action:
    _, kind, card, bit = play
    return Action(
        kind,
        CARDS[card],
        CARDS[take] if take >= 0 else NO_CARD,
        CELLS[bit] if bit >= 0 else NO_CELL,
    )


# Functions on boards: the chips of one side, of all others and of completed sequences, and whether
# the heart counts.


def _sides(state: State, player: int) -> tuple[int, int]:
    own = state.chip_masks[player % state.rules.teams]
    return own, PLAYABLE ^ (state.empty_mask | own)


def _cell_value(own: int, others: int, locked: int, heart: bool, bit: int) -> int:
    """The value of a chip on an empty cell, or of removing the chip on a cell.

    It counts the open lines through the cell: the side's own lines fully, those of others at half.
    """
    return sum(
        [
            _chip_value(group, own & mask, others & mask, locked & mask)
            for group, mask in _THROUGH[heart][bit]
        ]
    )


def _last_cells(own: int, others: int, locked: int, heart: bool) -> int:
    """The empty cells on which one more chip completes a line of any side."""
    cells = 0
    for group, mask in _STRAIGHTS[heart]:
        cells |= _completing_cells(group, own & mask, others & mask, locked & mask)
    return cells


def _odds(state: State, side: int) -> float:
    own, others = _sides(state, side)
    locked, turn = state.locked_mask, state.to_move % state.rules.teams == side
    odds, held = SEQUENCE_ODDS * state.sequences[side] + TURN_ODDS * turn, 0
    for player in state.rules.members(side):
        hand = state.hand_piles[player]
        held |= (hand & BOARD_KINDS) * 3
        odds += JACK_ODDS * (hand >> _FIRST_JACK).bit_count()
    for group, mask in _STRAIGHTS[state.rules.heart]:
        odds += _line_odds(group, own & mask, others & mask, locked & mask, held & mask, turn)
    return odds


# Functions on groups of lines.


def _missing_cells(group: int, own: int, others: int, locked: int) -> Iterator[int]:
    """The cells missing in each open line of a group."""
    for line in _GROUPS[group]:
        if not others & line and ((locked & line).bit_count() <= 1 or line == HEART):
            yield line & ~own


@lru_cache(CACHE_SIZE)
def _chip_value(group: int, own: int, others: int, locked: int) -> int:
    own_value = sum(
        CHIP_VALUES[cells.bit_count()] for cells in _missing_cells(group, own, others, locked)
    )
    other_value = sum(
        CHIP_VALUES[cells.bit_count()] for cells in _missing_cells(group, others, own, locked)
    )
    return own_value + other_value // 2


@lru_cache(CACHE_SIZE)
def _line_odds(group: int, own: int, others: int, locked: int, held: int, turn: bool) -> float:
    odds = 0.0
    for cells in _missing_cells(group, own, others, locked):
        missing = cells.bit_count()
        odds += HEART_ODDS[missing] if group == _HEART[0] else LINE_ODDS[missing]
        if not cells & ~held:
            odds += HELD_ODDS[turn][missing]
    return odds


@lru_cache(CACHE_SIZE)
def _completing_cells(group: int, own: int, others: int, locked: int) -> int:
    last = 0
    for missing in (
        *_missing_cells(group, own, others, locked),
        *_missing_cells(group, others, own, locked),
    ):
        if missing.bit_count() == 1:
            last |= missing
    return last


_GROUPS: list[tuple[int, ...]] = []  # the lines of each group, as masks


def _group(lines: Iterable[int]) -> tuple[int, int]:
    """Add a group, and return its number and all its cells."""
    lines = tuple(line & PLAYABLE for line in lines)
    _GROUPS.append(lines)
    cells = 0
    for line in lines:
        cells |= line
    return len(_GROUPS) - 1, cells


def _straights() -> tuple[tuple[int, int], ...]:
    """Every row, column and diagonal that is long enough for a line, as a group."""
    lines: dict[tuple[int, int, int], list[int]] = {}
    for line in LINES:
        (row, col), (next_row, next_col) = line[:2]
        down, right = next_row - row, next_col - col
        lines.setdefault((down, right, row * right - col * down), []).append(mask_of(line))
    return tuple(_group(masks) for masks in lines.values())


_first = itemgetter(0)
_KINDS = sum(ONE)
_FIRST_JACK = 2 * WILD[0]
_HEART = _group([HEART])
_CELL_GROUPS = tuple(
    tuple(_group(line for line, _ in neighbourhood.fives) for neighbourhood in NEIGHBOURHOODS[bit])
    for bit in bits(PLAYABLE)
)
# Indexed by whether the heart counts: the groups through each cell, and all groups of the board.
_THROUGH = (
    _CELL_GROUPS,
    tuple(groups + (_HEART,) * (HEART >> bit & 1) for bit, groups in enumerate(_CELL_GROUPS)),
)
_STRAIGHT = _straights()
_STRAIGHTS = (_STRAIGHT, (*_STRAIGHT, _HEART))
