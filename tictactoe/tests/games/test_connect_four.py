"""Tests of Connect Four: lanes, gravity, wins and pictures against slow implementations."""

import copy
import itertools
import pickle
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import ConnectFour, IllegalMove, InvalidBoard, Random, State, play
from tictactoe.boards.rendering import draw_state
from tictactoe.games.connect_four import (
    CELLS,
    COLUMNS,
    LANES,
    MAX_POTENTIAL,
    ROWS,
    centre_first,
    potential,
)

WALKS = st.lists(st.integers(0, COLUMNS - 1), max_size=60)
WON = ConnectFour.from_moves([3, 3, 2, 3, 4, 0, 5])  # x has four in the bottom row


def slow_walk(columns):
    """The game as a list of marks for each column, and its winner, by exhaustive search."""
    stacks, moves = [[] for _ in range(COLUMNS)], []
    for column in columns:
        if len(stacks[column]) == ROWS or slow_winner(stacks):
            continue
        stacks[column].append("xo"[len(moves) % 2])
        moves.append(column)
    return stacks, moves


def slow_winner(stacks):
    """The player with four marks in a row, in any direction."""
    at = {
        (column, height): mark
        for column, stack in enumerate(stacks)
        for height, mark in enumerate(stack)
    }
    for (column, height), mark in at.items():
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            if all(at.get((column + k * right, height + k * up)) == mark for k in range(4)):
                return mark
    return None


@given(WALKS)
def test_games_follow_the_slow_rules(columns):
    """Marks, winner, moves, player to move and terminal test are correct after any game."""
    stacks, moves = slow_walk(columns)
    state, winner = ConnectFour.from_moves(moves), slow_winner(stacks)
    for column, stack in enumerate(stacks):
        assert state.text[column::COLUMNS] == "".join(stack).ljust(ROWS, "_")[::-1]
    assert state.winner == winner
    assert state.legal_moves() == (
        () if winner else tuple(column for column, stack in enumerate(stacks) if len(stack) < ROWS)
    )
    assert state.is_terminal() is (not state.legal_moves())
    assert state.to_move == "xo"[len(moves) % 2]


@given(WALKS)
def test_a_position_comes_back(columns):
    """A position's text, repr, masks, pickle and copy all give an equal position."""
    state = ConnectFour.from_moves(slow_walk(columns)[1])
    for again in (
        ConnectFour(state.text),
        eval(repr(state)),
        pickle.loads(pickle.dumps(state)),
        ConnectFour.from_masks(state.x_mask, state.o_mask),
        copy.deepcopy(state),
    ):
        assert again == state and hash(again) == hash(state)
        assert (again.to_move, again.winner) == (state.to_move, state.winner)


def test_there_are_69_lanes():
    """There are 24 lanes in rows, 21 in columns and 12 in each diagonal direction."""
    steps = Counter(lane[1] - lane[0] for lane in LANES)
    assert steps == {1: 24, COLUMNS: 21, COLUMNS + 1: 12, COLUMNS - 1: 12}
    assert len(set(LANES)) == len(LANES) == 69
    assert all(len({b - a for a, b in itertools.pairwise(lane)}) == 1 for lane in LANES)


def test_there_are_as_many_positions_as_published():
    """The position counts after 0, 1, ... moves are 1, 7, 49, 238, 1120, 4263 (oeis.org/A212693)."""
    reached = {ConnectFour()}
    for number in (7, 49, 238, 1120, 4263):
        reached = {state.after(move) for state in reached for move in state.legal_moves()}
        assert len(reached) == number


def test_it_is_a_state():
    """Two built-in players can play a game to its end, and the utilities match the winner."""
    assert isinstance(ConnectFour(), State)
    final = play({"x": Random(1), "o": Random(2)}, ConnectFour()).final
    assert final.is_terminal()
    assert WON.utility("x") == 1 and WON.utility("o") == -1
    with pytest.raises(ValueError, match="no utility yet"):
        ConnectFour().utility("x")


@pytest.mark.parametrize(
    ("state", "move", "why"),
    [
        (ConnectFour.from_moves([2] * 6), 2, "column 2 is full"),
        (ConnectFour(), 7, "7 is not a column; columns are 0 to 6"),
        (WON, 0, "the game is over"),
        (ConnectFour(), "3", "'3' is not a column"),
        (ConnectFour(), [3], "is not a column"),
    ],
)
def test_an_illegal_move_says_why(state, move, why):
    """The error message contains the move, the reason and the position."""
    with pytest.raises(IllegalMove, match=why):
        state.after(move)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" + "_" * 41, "nothing below it"),
        ("_" * 40, "40 characters"),
        (42, "not from 42"),
        ("_" * 40 + "oo", "0 x, 2 o"),
        ("_" * 28 + "oooo___" + "xxxx___", "both players have a lane"),
        ("_" * 28 + "o______" + "xxxxoo_", None),
        ("_" * 28 + "oo_____" + "xxxxoo_", "o moved after"),
        ("_" * 28 + "oooo___" + "xxxoxxx", "x moved after"),
        ("_" * 28 + "oxox___" + "xxxxooo", "continued"),
    ],
)
def test_a_position_that_no_game_reaches_is_refused(text, why):
    """The error message gives the reason; reachable positions are accepted."""
    if why is None:
        assert ConnectFour(text).winner == "x"
        return
    with pytest.raises(InvalidBoard, match=why):
        ConnectFour(text)


@given(WALKS)
def test_potential_adds_the_squares_of_open_lanes(columns):
    """The potential matches a computation lane by lane; it is antisymmetric and less than 1."""
    state = ConnectFour.from_moves(slow_walk(columns)[1])
    lanes = ["".join(map(state.__getitem__, lane)) for lane in LANES]
    total = sum(lane.count("x") ** 2 for lane in lanes if "o" not in lane) - sum(
        lane.count("o") ** 2 for lane in lanes if "x" not in lane
    )
    assert potential(state, "x") == total / MAX_POTENTIAL == -potential(state, "o")
    assert abs(potential(state, "x")) < 1


def test_the_centre_comes_first():
    """Columns are sorted by their distance from the middle, without full ones."""
    assert centre_first(ConnectFour.from_moves([3] * 6)) == [2, 4, 1, 5, 0, 6]


def test_the_picture_is_whole():
    """The picture has 42 cells, 7 numbers, all marks and the winning lane; its places are columns."""
    picture = ET.fromstring(WON.svg())
    cells = [element for element in picture.iter() if element.get("stroke") == "#888"]
    assert len(cells) == CELLS
    assert sum(cell.get("fill") == "#e2e2e2" for cell in cells) == 4
    assert len([e for e in picture.iter() if e.tag.endswith("text")]) == COLUMNS
    assert len([e for e in picture.iter() if e.tag.endswith("circle")]) == 3
    assert list(WON.boxes()) == list(range(COLUMNS))
    drawing = draw_state(ConnectFour(), {"3": "column 3"})
    assert drawing.svg.count("data-move") == 1


def test_it_is_put_into_words():
    """The description contains each column from the bottom, and the player to move or the winner."""
    assert ConnectFour().describe() == "empty. x to move"
    assert WON.describe().startswith("column 0: o; column 2: x; column 3: x o o;")
    assert WON.describe().endswith("x has won")
    assert 'alt="Connect Four, empty. x to move"' in ConnectFour()._repr_html_()
    assert ConnectFour().describe_move(3) == "column 3"


def test_it_cannot_be_changed():
    """Attributes of a state cannot be changed, and a cell outside the board raises IndexError."""
    with pytest.raises(AttributeError, match="a ConnectFour is immutable"):
        ConnectFour().winner = "x"
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del WON.winner
    with pytest.raises(IndexError, match="cells are 0 to 41"):
        ConnectFour()[42]
