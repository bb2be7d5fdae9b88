"""Quick estimates for search: what cells, cards and positions are worth in a full state.

All of them use the open lines: those of the 192 lines that hold no chip of another side and may
still become a sequence. The heart, where it counts, is one more line, of four cells.
Corners belong to everyone and are left out of lines: a line is complete when no cell is missing.
Lines are evaluated in groups (those through a cell in one direction, those of a row, column or
diagonal), and the worth of a group is remembered by the chips in it.
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
)  # fmt: skip
from sequence.board.cards import BOARD_KINDS, CARDS, NO_CARD, ONE
from sequence.board.chips import bits
from sequence.board.layout import CELLS, HEART, LINES, NO_CELL, PLAYABLE, REACHES, mask_of
from sequence.engine.state import State

REMEMBERED = 1 << 15  # groups of lines with chips in them, of each kind of worth: about 10 MB
SEQUENCE_WORTH = 100_000  # more than all lines through a cell can be worth together
LINE_WORTH = (1, 4, 16, 64, 256, 1024)  # of one more chip, by those in the line already
# What a chip in an open line is worth by the cells that are missing before it: as much as one more
# chip in a line, and a sequence for the last.
CHIP_WORTH: tuple[int, ...] = (0, SEQUENCE_WORTH, *reversed(LINE_WORTH[:4]))
JACK_WORTH = 300  # of a jack that is kept: more than a chip in a few lines of three
# A side's odds of winning, as logarithms: logistic regression over the ends of 1,500 games of
# `best_action` against itself, with a tenth of the actions random among the promising, rounded.
LINE_ODDS = (0.0, 0.25, 0.05, 0.03, 0.02, 0.0)  # of an open line, by the chips that are missing
HEART_ODDS = (0.0, 0.8, 0.4, 0.2, 0.0)
# What is added if the cards of all its missing cells are held, by whether the side is to move.
HELD_ODDS = (0.0, 0.8, 0.6, 0.5, 0.0, 0.0), (0.0, 1.4, 0.6, 0.3, 0.0, 0.0)
SEQUENCE_ODDS = 1.4
JACK_ODDS = 0.5  # of a jack in a hand
TURN_ODDS = 0.2  # of being to move

_Play = tuple[int, str, int, int]  # a play without the card taken: worth, kind, card, cell


def best_action(state: State) -> Action:
    """The legal action that looks best at once: the quick player of simulated games."""
    return ranked(state, plays=1)[0]


def ranked(state: State, plays: int) -> list[Action]:
    """Promising legal actions, the best first: the best `plays` plays with each card to take.

    Left out are: a second jack of the same kind; a two-eyed jack on a cell that is not the last
    one of a line, as long as there is such a cell or another play; anything but trades (and, where
    the rules know it, forgoing them) while a dead card may be traded. Empty if the game is over.
    """
    if state.is_over:
        return []
    found = sorted(_plays(state), key=_first, reverse=True)[:plays]
    if not found:
        return [PASS]
    if not state.row_pile:
        return [_action(play, -1) for play in found]
    pairs = [
        (2 * play[0] + worth, play, card) for play in found for worth, card in _takes(state, play)
    ]
    if plays == 1:
        return [_action(*max(pairs, key=_first)[1:])]
    pairs.sort(key=_first, reverse=True)
    actions = [_action(play, card) for _, play, card in pairs]
    if found[0][1] == TRADE and state.rules.forgo:
        actions.append(FORGO)
    return actions


def chances(state: State) -> tuple[float, ...]:
    """Each side's estimated chance to win, 0 to 1; in a terminal state, the result.

    A tie is 0.5. With three sides the chances need not add up to 1: each is that against the best
    of the others.
    """
    sides = range(state.rules.teams)
    if state.is_over:
        return tuple(0.5 + 0.5 * state.utility(side) for side in sides)
    odds = [_odds(state, side) for side in sides]
    return tuple(
        1 / (1 + math.exp(max(odds[:side] + odds[side + 1 :]) - odds[side])) for side in sides
    )


def _plays(state: State) -> list[_Play]:
    """What the player to move may do without regard to the card taken: worth, kind, card, cell."""
    hand, empty = state.hand_piles[state.to_move], state.empty_mask
    dead = 0 if state.traded else hand & BOARD_KINDS & ~(empty | empty >> 1)
    if dead:
        return [(0, TRADE, bit >> 1, -1) for bit in bits(dead)]
    own, others = _sides(state, state.to_move)
    board = own, others, state.locked_mask, state.rules.heart
    found = [
        (_cell(*board, bit), PLACE, bit >> 1, bit) for bit in bits((hand & BOARD_KINDS) * 3 & empty)
    ]
    if not hand & JACKS:
        return found
    removable = others & ~state.locked_mask
    remover = next((jack for jack in REMOVERS if hand & ONE[jack]), None)
    if remover is not None:
        found += [
            (_cell(*board, bit) - JACK_WORTH, REMOVE, remover, bit) for bit in bits(removable)
        ]
    wild = next((jack for jack in WILD if hand & ONE[jack]), None)
    if wild is not None:
        cells = _last_cells(*board) or (0 if found else empty)
        found += [(_cell(*board, bit) - JACK_WORTH, PLACE, wild, bit) for bit in bits(cells)]
    return found


def _takes(state: State, play: _Play) -> list[tuple[int, int]]:
    """The cards of the row with what each is worth once the play is made: worth, card."""
    _, kind, _, bit = play
    (own, others), empty = _sides(state, state.to_move), state.empty_mask
    if kind == PLACE:
        own |= 1 << bit
        empty ^= 1 << bit
    elif kind == REMOVE:
        others ^= 1 << bit
        empty ^= 1 << bit
    board = own, others, state.locked_mask, state.rules.heart
    found = []
    for place in bits(state.row_pile & _KINDS):
        card = place >> 1
        cells = 0b11 << place & empty
        if card in REMOVERS:
            worth = JACK_WORTH
        elif card in WILD:
            worth = JACK_WORTH + (SEQUENCE_WORTH if _last_cells(*board) else 0)
        else:
            worth = max([_cell(*board, cell) for cell in bits(cells)], default=0)
        found.append((worth, card))
    return found


def _action(play: _Play, take: int) -> Action:
    _, kind, card, bit = play
    return Action(
        kind,
        CARDS[card],
        CARDS[take] if take >= 0 else NO_CARD,
        CELLS[bit] if bit >= 0 else NO_CELL,
    )


# On boards: the chips of one side, of all others, of completed sequences, whether the heart counts.


def _sides(state: State, player: int) -> tuple[int, int]:
    own = state.chip_masks[player % state.rules.teams]
    return own, PLAYABLE ^ (state.empty_mask | own)


def _cell(own: int, others: int, locked: int, heart: bool, bit: int) -> int:
    """What a chip on an empty cell is worth, or the removal of the one that stands there.

    The open lines of the own side through the cell, and half as much for those of the others.
    """
    return sum(
        [
            _chip_worth(group, own & mask, others & mask, locked & mask)
            for group, mask in _THROUGH[heart][bit]
        ]
    )


def _last_cells(own: int, others: int, locked: int, heart: bool) -> int:
    """The empty cells where one more chip completes a line of any side."""
    cells = 0
    for group, mask in _STRAIGHTS[heart]:
        cells |= _last(group, own & mask, others & mask, locked & mask)
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


# On groups of lines.


def _open(group: int, own: int, others: int, locked: int) -> Iterator[int]:
    """The cells that are missing in each open line of a group."""
    for line in _GROUPS[group]:
        if not others & line and ((locked & line).bit_count() <= 1 or line == HEART):
            yield line & ~own


@lru_cache(REMEMBERED)
def _chip_worth(group: int, own: int, others: int, locked: int) -> int:
    mine = sum(CHIP_WORTH[cells.bit_count()] for cells in _open(group, own, others, locked))
    theirs = sum(CHIP_WORTH[cells.bit_count()] for cells in _open(group, others, own, locked))
    return mine + theirs // 2


@lru_cache(REMEMBERED)
def _line_odds(group: int, own: int, others: int, locked: int, held: int, turn: bool) -> float:
    odds = 0.0
    for cells in _open(group, own, others, locked):
        missing = cells.bit_count()
        odds += HEART_ODDS[missing] if group == _HEART[0] else LINE_ODDS[missing]
        if not cells & ~held:
            odds += HELD_ODDS[turn][missing]
    return odds


@lru_cache(REMEMBERED)
def _last(group: int, own: int, others: int, locked: int) -> int:
    last = 0
    for missing in (*_open(group, own, others, locked), *_open(group, others, own, locked)):
        if missing.bit_count() == 1:
            last |= missing
    return last


_GROUPS: list[tuple[int, ...]] = []  # by number: the lines of a group, as masks


def _group(lines: Iterable[int]) -> tuple[int, int]:
    """The number of a new group, and all its cells."""
    lines = tuple(line & PLAYABLE for line in lines)
    _GROUPS.append(lines)
    cells = 0
    for line in lines:
        cells |= line
    return len(_GROUPS) - 1, cells


def _straights() -> tuple[tuple[int, int], ...]:
    """Every row, column and diagonal with room for a line, as a group."""
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
_REACHES = tuple(
    tuple(_group(line for line, _ in reach.fives) for reach in REACHES[bit])
    for bit in bits(PLAYABLE)
)
# By whether the heart counts (False, True): the groups through each cell, and those of the board.
_THROUGH = (
    _REACHES,
    tuple(groups + (_HEART,) * (HEART >> bit & 1) for bit, groups in enumerate(_REACHES)),
)
_STRAIGHT = _straights()
_STRAIGHTS = (_STRAIGHT, (*_STRAIGHT, _HEART))
