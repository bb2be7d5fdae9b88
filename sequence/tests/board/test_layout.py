"""Tests of the board and its lines, against the table in the rule book."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sequence import LINES, TABLE, card_at, cells_with
from sequence.board.cards import (
    BOARD_CARDS,
    CARDS,
    DECK,
    is_jack,
    names,
    numbers,
    pile_of,
    shuffle,
    unseen,
    with_card,
    without_card,
)
from sequence.board.layout import (
    BIT,
    CELLS,
    CORNERS,
    HEART,
    LINE_MASKS,
    LINES_THROUGH,
    NEIGHBOURHOODS,
    PLAYABLE,
    cells_of,
    mask_of,
)
from sequence.tests.support.slow_rules import CARD, where


def test_table_is_the_rule_books():
    """Every cell has the same card as in the rule book's table."""
    assert {(r, c): card for r, row in enumerate(TABLE) for c, card in enumerate(row)} == CARD


def test_every_card_but_jacks_is_on_two_cells():
    """48 cards are on two cells each, jacks are on none, and the corners are free."""
    on_board = Counter(card_at(cell) for cell in CELLS)
    assert on_board == Counter(dict.fromkeys(BOARD_CARDS, 2)) + Counter({"": 4})
    assert [card for card in CARDS if not cells_with(card)] == ["jd", "jc", "jh", "js"]
    assert all(cells_with(card) == tuple(where(card)) for card in CARDS)
    assert [card for card in CARDS if is_jack(card)] == ["jd", "jc", "jh", "js"]


def test_bits_are_in_card_order():
    """Bits 2k and 2k + 1 are the cells of card k, and the last four bits are the corners."""
    assert [card_at(CELLS[bit]) for bit in range(96)] == [c for c in BOARD_CARDS for _ in "12"]
    assert cells_of(CORNERS) == ((0, 0), (0, 9), (9, 0), (9, 9))
    assert PLAYABLE ^ CORNERS == (1 << 100) - 1
    assert sorted(BIT.values()) == list(range(100))
    assert all(mask_of(cells_of(1 << bit)) == 1 << bit for bit in range(100))


def test_heart_is_the_middle():
    """The heart of the board consists of the four cells of 2h to 5h in the middle."""
    assert {card_at(cell) for cell in cells_of(HEART)} == {"2h", "3h", "4h", "5h"}


def test_192_lines():
    """There are 192 different lines of five neighbours in one direction."""
    assert len(LINES) == len(set(LINE_MASKS)) == 192
    for line in LINES:
        steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(line)}
        assert len(line) == 5
        assert len(steps) == 1
        assert steps <= {(1, 0), (0, 1), (1, 1), (1, -1)}
        assert all(0 <= row <= 9 and 0 <= col <= 9 for row, col in line)
    directions = Counter((line[1][0] - line[0][0], line[1][1] - line[0][1]) for line in LINES)
    assert directions == {(1, 0): 60, (0, 1): 60, (1, 1): 36, (1, -1): 36}


def test_lines_through_a_cell():
    """The lines through a cell are those that contain it: 20 in the middle, 3 for a corner."""
    for cell, lines in zip(CELLS, LINES_THROUGH, strict=True):
        assert set(lines) == {mask for mask in LINE_MASKS if mask >> BIT[cell] & 1}
    assert len(LINES_THROUGH[BIT[4, 4]]) == 20
    assert len(LINES_THROUGH[BIT[0, 0]]) == 3


def test_reach_holds_all_lines_through_a_cell():
    """A cell's neighbourhood covers exactly the lines of five through it."""
    for bit, reaches in enumerate(NEIGHBOURHOODS):
        fives = [five for reach in reaches for five, _ in reach.fives]
        assert sorted(fives) == sorted(LINES_THROUGH[bit])
        assert all(reach.mask.bit_count() in range(5, 10) for reach in reaches)


def test_cells_off_the_board_are_errors():
    """A cell or a card that does not exist raises KeyError."""
    for ask in (lambda: card_at((10, 0)), lambda: cells_with("1s"), lambda: mask_of([(0, -1)])):
        with pytest.raises(KeyError):
            ask()


def test_piles():
    """A pile contains up to two copies of each card and lists them in card order."""
    pile = pile_of(["js", "2d", "2d"])
    assert names(pile) == ("2d", "2d", "js")
    assert names(without_card(pile, 0)) == ("2d", "js")
    assert with_card(without_card(pile, 0), 0) == pile
    assert numbers(unseen()) == DECK
    assert unseen(pile_of(DECK)) == 0
    assert names(unseen(pile_of(DECK[:100]), pile_of([50]))) == ("jh", "js", "js")


@pytest.mark.parametrize("cards", [["2d"] * 3, ["1d"], [52], [None]])
def test_impossible_piles_are_errors(cards):
    """A third copy, or something that is not a card, raises ValueError with an explanation."""
    with pytest.raises(ValueError, match=r"two copies|not a card"):
        pile_of(cards)


@given(st.integers(), st.integers(0, 120))
def test_a_shuffle_is_pythons(seed, size):
    """A seed gives the same order as `random.shuffle`, and uses the same number of random numbers."""
    ours, theirs, chance, other = [*range(size)], [*range(size)], Random(seed), Random(seed)
    shuffle(ours, chance)
    other.shuffle(theirs)
    assert ours == theirs
    assert chance.random() == other.random()
