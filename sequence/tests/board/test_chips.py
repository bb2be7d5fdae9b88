"""Tests of sequences: hand-made cases, and random boards against the slow implementation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence.board.chips import bits, new_sequences, nth_bit
from sequence.board.layout import BIT, CELLS, HEART_CELLS, cells_of
from sequence.tests.support.positions import board_of, masks_of
from sequence.tests.support.slow_rules import CARD, sequences_by


def board_with(own=(), used=(), other=()):
    """A board with plain chips of side 0, chips in its sequences, and chips of side 1."""
    board = dict.fromkeys(CARD, "")
    for cells, chip in ((own, "0"), (used, "0!"), (other, "1")):
        board.update(dict.fromkeys(cells, chip))
    return board


def found(board, cell, heart=True):
    """The engine's count and marked cells for side 0; the slow implementation must agree."""
    assert board[cell] == "0"
    chips, locked = masks_of(board)
    count, marks = new_sequences(chips[0], locked, BIT[cell], heart)
    assert (count, set(cells_of(marks))) == sequences_by(board, cell, 0, heart)
    return count, cells_of(marks)


def row(number, columns):
    """Cells of one row."""
    return [(number, col) for col in columns]


def test_four_are_nothing():
    """Four in a row are not a sequence."""
    assert found(board_with(row(2, range(1, 5))), (2, 1)) == (0, ())


def test_five_are_one():
    """Five in a row are one sequence, wherever the last chip was placed."""
    cells = row(2, range(3, 8))
    for last in cells:
        assert found(board_with(cells), last) == (1, tuple(cells))


@pytest.mark.parametrize("length", [6, 7, 8])
def test_longer_runs_mark_the_first_five(length):
    """Of six to eight plain chips, only the first five from the left are marked."""
    cells = row(2, range(1, 1 + length))
    assert found(board_with(cells), (2, 5)) == (1, tuple(cells[:5]))


def test_nine_are_two():
    """Nine plain chips around the new one are two sequences, and all are marked."""
    cells = row(2, range(9))
    assert found(board_with(cells), (2, 4)) == (2, tuple(cells))


def test_nine_not_around_the_new_chip_are_one():
    """In a run of ten, a new chip near the edge makes only one sequence."""
    assert found(board_with(row(2, range(10))), (2, 0)) == (1, tuple(row(2, range(5))))


def test_nine_with_a_corner():
    """A corner counts as a plain chip in a run of nine, and is not marked."""
    cells = row(0, range(1, 9))
    assert found(board_with(cells), (0, 4)) == (2, tuple(cells))


def test_corner_in_a_five():
    """A corner and four chips are a sequence, in which only the four are marked."""
    for cells in (row(0, range(1, 5)), row(9, range(5, 9)), [(k, k) for k in range(1, 5)]):
        assert found(board_with(cells), cells[2]) == (1, tuple(cells))


def test_corner_is_never_used_up():
    """A corner can be used in a second sequence, and does not count as a shared chip."""
    used, new = row(0, range(1, 5)), [(k, 0) for k in range(1, 5)]
    assert found(board_with(new, used), (4, 0)) == (1, tuple(new))


def test_crossing_fives_are_two():
    """A chip that completes a row and a column completes two sequences."""
    across, down = row(3, range(1, 6)), [(r, 3) for r in range(1, 6)]
    assert found(board_with(across + down), (3, 3)) == (2, tuple(sorted({*across, *down})))


def test_four_directions_at_once():
    """All four directions count, each on the board as it was at the time of the placement."""
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    cells = {(5 + k * down, 5 + k * right) for k in range(-2, 3) for down, right in steps}
    assert found(board_with(cells), (5, 5), heart=False)[0] == 4
    assert found(board_with(cells), (5, 5))[0] == 6


def test_one_shared_chip():
    """A sequence may contain one chip of an earlier one, at any of the five places."""
    for place in range(5):
        cells = row(2, range(3, 8))
        shared = cells.pop(place)
        assert found(board_with(cells, [shared]), cells[0]) == (1, tuple(row(2, range(3, 8))))


def test_two_shared_chips_are_nothing():
    """Five chips of which two are in earlier sequences are not a new sequence."""
    assert found(board_with(row(2, [3, 4, 5]), row(2, [6, 7])), (2, 3)) == (0, ())


def test_no_shared_chip_is_tried_first():
    """If there are also five plain chips, these are marked instead of the used chip."""
    assert found(board_with(row(2, range(3, 8)), row(2, [2])), (2, 4)) == (
        1,
        tuple(row(2, range(3, 8))),
    )


def test_shared_chip_last_goes_before_first():
    """With used chips at both ends of four, the five whose shared chip is the last one is marked."""
    assert found(board_with(row(2, range(3, 7)), row(2, [2, 7])), (2, 4)) == (
        1,
        tuple(row(2, range(3, 8))),
    )


def test_shared_place_goes_before_start():
    """The five whose shared chip is last goes before one that starts further left."""
    board = board_with(row(2, [0, 1, 2, 4, 5, 6, 7]), row(2, [3, 8]))
    assert found(board, (2, 4)) == (1, tuple(row(2, range(4, 9))))


def test_nine_with_a_used_chip_is_one():
    """Nine in a row that include a chip of an earlier sequence are one new sequence."""
    board = board_with(row(2, [0, 1, 2, 3, 4, 5, 6, 7]), row(2, [8]))
    assert found(board, (2, 4)) == (1, tuple(row(2, range(5))))


def test_used_chip_elsewhere_does_not_count():
    """A used chip outside the nine cells has no effect."""
    board = board_with(row(2, range(5)), row(2, [9]))
    assert found(board, (2, 0)) == (1, tuple(row(2, range(5))))


def test_opponents_break_a_run():
    """A chip of another side in the middle breaks the five."""
    assert found(board_with(row(2, [1, 2, 4, 5]), other=[(2, 3)]), (2, 1)) == (0, ())


def test_heart_is_two_and_only_where_it_counts():
    """The four cells in the middle are two sequences, but only under the heart rule."""
    board = board_with(HEART_CELLS)
    assert found(board, (4, 4)) == (2, HEART_CELLS)
    assert found(board, (4, 4), heart=False) == (0, ())


def test_heart_with_a_used_chip():
    """Chips of an earlier sequence also count for the heart."""
    assert found(board_with(HEART_CELLS[:3], HEART_CELLS[3:]), (4, 4)) == (2, HEART_CELLS)


def test_drawing():
    """A diagonal on a board drawn as text is read from the top; the shared chip is in the middle."""
    board = board_of("""
        *........*
        .......x..
        ......x...
        ..o..X....
        ....x.....
        ...x......
        ..........
        .....O....
        ..........
        *........*""")
    assert found(board, (5, 3)) == (1, ((1, 7), (2, 6), (3, 5), (4, 4), (5, 3)))


CELL = st.sampled_from(["", "0", "0", "0", "0", "0", "0!", "1", "1!"])


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
@settings(max_examples=800, deadline=None)
@given(st.lists(CELL, min_size=96, max_size=96), st.integers(0, 95), st.booleans())
def test_random_boards(chips, bit, heart):
    """On any board, both implementations find and mark the same sequences."""
    board = dict.fromkeys(CARD, "") | dict(zip(CELLS, chips, strict=False))
    board[CELLS[bit]] = "0"
    found(board, CELLS[bit], heart)


@given(st.integers(1, (1 << 104) - 1))
def test_nth_bit(mask):
    """The n-th bit is the n-th item of `bits`, in any mask of cells and any pile."""
    positions = list(bits(mask))
    assert positions == [k for k in range(104) if mask >> k & 1]
    assert [nth_bit(mask, index) for index in range(len(positions))] == positions
