"""Tests of the solver against plain memoised minimax on texts, which shares no code with it."""

from functools import cache

import pytest

from tictactoe import Board, solver

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


@cache
def plain_value(text):
    """The value for x, by the definition of minimax."""
    for player, worth in (("x", 1), ("o", -1)):
        if any(all(text[int(cell)] == player for cell in line) for line in LINES):
            return worth
    if "_" not in text:
        return 0
    player, best = ("x", max) if text.count("x") == text.count("o") else ("o", min)
    return best(
        plain_value(text[:cell] + player + text[cell + 1 :])
        for cell in range(9)
        if text[cell] == "_"
    )


def test_every_value_is_the_minimax_value():
    """All 5,478 values agree with plain minimax, and no other position has one."""
    plain_value("_________")
    values = solver.values()
    assert len(values) == plain_value.cache_info().currsize == 5_478
    for board, value in values.items():
        assert value == plain_value(board.text), board


def test_masks_and_boards_have_the_same_values():
    """`solve` and `values` differ only in their keys."""
    values = solver.values()
    solved = solver.solve()
    assert len(solved) == len(values)
    assert all(solved[board.x_mask | board.o_mask << 9] == value for board, value in values.items())


def test_solving_needs_no_boards(monkeypatch):
    """`solve` keeps nothing between calls and makes no `Board`."""

    def refuse(*arguments):
        raise AssertionError("solve() made a Board")

    first = solver.solve()
    monkeypatch.setattr(Board, "_make", refuse)
    second = solver.solve()
    assert second == first
    assert second is not first


@pytest.mark.parametrize(("text", "value"), [
    ("_________", 0), ("xx_oo____", 1), ("x___o____", 0), ("xo_______", 1), ("xxxoo____", 1),
    ("ooox_xx__", -1), ("x_x_o____", 0), ("xx_oo_x__", -1),
])  # fmt: skip
def test_values_have_two_views(text, value):
    """A board's value for o is the negative of its value for x."""
    assert solver.value(Board(text)) == value
    assert solver.value(Board(text), "x") == value
    assert solver.value(Board(text), "o") == -value
