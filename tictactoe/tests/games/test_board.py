"""Tests of the board: every reachable position against a slow independent implementation."""

import contextlib
import copy
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import EMPTY, LANES, Board, IllegalMove, InvalidBoard, State, opponent


def slow_winner(text):
    """The player with three in a row, found by walking from every cell in every direction."""
    grid = [text[0:3], text[3:6], text[6:9]]
    for row, column in itertools.product(range(3), repeat=2):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            end_row, end_column = row + 2 * down, column + 2 * right
            if end_row > 2 or not 0 <= end_column <= 2:
                continue
            cells = {grid[row + k * down][column + k * right] for k in range(3)}
            if cells in ({"x"}, {"o"}):
                return cells.pop()
    return None


def slow_moves(text):
    """The open cells of the text; none if a player has won."""
    return () if slow_winner(text) else tuple(i for i in range(9) if text[i] == EMPTY)


def slow_to_move(text):
    """The player whose turn it is, by counting marks."""
    return "x" if text.count("x") == text.count("o") else "o"


def slow_reachable():
    """All texts that a game can reach, generated from the empty board with the slow rules."""
    known, waiting = {EMPTY * 9}, [EMPTY * 9]
    while waiting:
        text = waiting.pop()
        for move in slow_moves(text):
            child = text[:move] + slow_to_move(text) + text[move + 1 :]
            if child not in known:
                known.add(child)
                waiting.append(child)
    return known


REACHABLE = sorted(slow_reachable())
WALKS = st.tuples(st.permutations(range(9)), st.integers(0, 9))


def walk(plan):
    """The boards of a game that plays the cells of a permutation, up to a maximum number."""
    cells, most = plan
    boards = [Board()]
    for cell in cells[:most]:
        if boards[-1].is_terminal():
            break
        boards.append(boards[-1].after(cell))
    return boards


def test_reachable_boards_are_5478_of_which_4520_go_on():
    """The numbers of reachable positions and of unfinished positions match the known numbers."""
    boards = [Board(text) for text in REACHABLE]
    assert len(boards) == 5_478
    assert sum(not board.is_terminal() for board in boards) == 4_520


def test_exactly_the_reachable_texts_make_a_board():
    """Of the 19,683 ways to fill nine cells, exactly those that no game reaches raise InvalidBoard."""
    accepted = set()
    for text in map("".join, itertools.product("xo_", repeat=9)):
        with contextlib.suppress(InvalidBoard):
            accepted.add(Board(text).text)
    assert accepted == set(REACHABLE)


def test_every_board_agrees_with_the_slow_rules():
    """Winner, player to move, legal moves and terminal test are correct on all 5,478 boards."""
    for text in REACHABLE:
        board = Board(text)
        assert board.winner == slow_winner(text), text
        assert board.to_move == slow_to_move(text), text
        assert board.legal_moves() == slow_moves(text), text
        assert board.is_terminal() is (not slow_moves(text)), text


def test_every_move_marks_one_cell():
    """`after` changes the moved cell and nothing else, on every board and for every move."""
    for text in REACHABLE:
        board = Board(text)
        for move in board.legal_moves():
            child = board.after(move)
            assert child.text == text[:move] + board.to_move + text[move + 1 :]
            assert child.to_move == opponent(board.to_move)
            assert board.text == text


def test_utility_of_every_finished_game():
    """The utility is +1 for the winner, -1 for the loser and 0 for both in a draw."""
    signs = {"x": (1, -1), "o": (-1, 1), None: (0, 0)}
    finished = [Board(text) for text in REACHABLE if not slow_moves(text)]
    assert len(finished) == 958
    for board in finished:
        assert (board.utility("x"), board.utility("o")) == signs[slow_winner(board.text)], board


def test_unfinished_games_have_no_utility():
    """Requesting the utility of an unfinished game is an error whose message shows the position."""
    with pytest.raises(ValueError, match=r'Board\("x_o______"\) is not terminal'):
        Board("x_o______").utility("x")


@given(WALKS)
def test_order_of_marks_does_not_matter(plan):
    """A board reached by a random game is the same object as the one created from its text."""
    for board in walk(plan):
        assert Board(board.text) is board
        assert Board.from_masks(board.x_mask, board.o_mask) is board


@given(WALKS)
def test_repr_makes_the_board_again(plan):
    """`eval(repr(board))` is the board itself."""
    board = walk(plan)[-1]
    assert eval(repr(board), {"Board": Board}) is board


@given(WALKS, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_copies_and_pickles_are_the_board_itself(plan, protocol):
    """Equality is identity, so copying and pickling must give back the same object."""
    board = walk(plan)[-1]
    assert copy.copy(board) is board
    assert copy.deepcopy([board])[0] is board
    assert pickle.loads(pickle.dumps(board, protocol)) is board


@given(WALKS)
def test_random_games_end_in_time(plan):
    """Players alternate, marks are only added, and a game that has used all nine cells is over."""
    boards = walk(plan)
    for number, board in enumerate(boards):
        assert board.to_move == "xo"[number % 2]
        assert 9 - board.text.count(EMPTY) == number
    if len(boards) == 10:
        assert boards[-1].is_terminal()


@given(WALKS)
def test_masks_cells_and_text_tell_the_same(plan):
    """Item access, iteration, length, masks and text all describe the same position."""
    board = walk(plan)[-1]
    assert "".join(board) == "".join(board[cell] for cell in range(9)) == board.text
    assert len(board) == 9
    for player in "xo":
        cells = {cell for cell in range(9) if board.mask(player) >> cell & 1}
        assert cells == {cell for cell in range(9) if board.text[cell] == player}


@given(st.text(alphabet="xo_ \n\tXO0.-", max_size=14))
def test_any_text_is_a_board_or_invalid(text):
    """Apart from blanks, a text is either nine cells of a reachable position or rejected."""
    cells = "".join(text.split())
    if cells in REACHABLE:
        assert Board(text).text == cells
    else:
        with pytest.raises(InvalidBoard):
            Board(text)


@given(
    WALKS,
    st.one_of(st.integers(), st.text(max_size=2), st.none(), st.just([0]), st.floats(0.1, 0.9)),
)
def test_any_move_is_legal_or_names_itself(plan, move):
    """An illegal move raises IllegalMove, whose message contains the move and the board."""
    board = walk(plan)[-1]
    if move in board.legal_moves():
        assert board.after(move)[move] == board.to_move
    else:
        with pytest.raises(IllegalMove) as caught:
            board.after(move)
        assert repr(move) in str(caught.value)
        assert repr(board) in str(caught.value)


@pytest.mark.parametrize(("text", "move", "reason"), [
    ("x_o______", 2, "cell 2 is taken by o"),
    ("x_o______", 9, "9 is not a cell; cells are 0 to 8"),
    ("x_o______", -1, "-1 is not a cell; cells are 0 to 8"),
    ("x_o______", "1", "'1' is not a cell; cells are 0 to 8"),
    ("xxxoo____", 5, "the game is over"),
])  # fmt: skip
def test_illegal_moves_say_why(text, move, reason):
    """The three kinds of illegal moves are explained differently."""
    with pytest.raises(IllegalMove) as caught:
        Board(text).after(move)
    assert str(caught.value).endswith(reason)


def test_a_move_by_another_number_type_does_not_depend_on_history():
    """`after(4.0)` gives the same result before and after a call of `after(4)`."""
    board = Board("xo_______")

    def outcome():
        try:
            return board.after(4.0)
        except (IllegalMove, TypeError) as error:
            return type(error)

    board._children.clear()  # as in a fresh interpreter
    before = outcome()
    board.after(4)
    assert outcome() is before


@pytest.mark.parametrize(("text", "problem"), [
    ("xx_______", "there are 2 x and 0 o"),
    ("o________", "there are 0 x and 1 o"),
    ("xxxooo___", "both players have a lane"),
    ("xxxoo_o__", "o moved after x had won"),
    ("ooox_xxx_", "x moved after o had won"),
])  # fmt: skip
def test_unreachable_boards_say_why_and_are_shown(text, problem):
    """The message states the broken rule and shows the board as a grid."""
    with pytest.raises(InvalidBoard) as caught:
        Board(text)
    first, grid = str(caught.value).split(":\n")
    assert first == f"unreachable board, {problem}" or first.endswith(problem)
    assert grid.replace("|", "").replace("\n", "") == text


@pytest.mark.parametrize("text", ["", "x_o", "x_o_x_o__x", "X_O______", "x.o......", "x0_______"])
def test_malformed_texts_are_shown(text):
    """A text that is not nine cells of x, o and _ is quoted, with an example of a valid one."""
    with pytest.raises(InvalidBoard, match="nine cells, each x, o or _") as caught:
        Board(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("thing", [None, 5, ["x"] * 9, b"x_o_x_o__"])
def test_only_texts_are_read(thing):
    """Any argument that is not a text is rejected and shown."""
    with pytest.raises(InvalidBoard) as caught:
        Board(thing)
    assert repr(thing) in str(caught.value)


@pytest.mark.parametrize("masks", [(0b1, 0b1), (1 << 9, 0), (0, 1 << 9), (-1, 0)])
def test_masks_that_are_no_marks_are_refused(masks):
    """Two marks in one cell, or a mark outside the board, are rejected."""
    with pytest.raises(InvalidBoard, match="share a cell or leave the board"):
        Board.from_masks(*masks)


def test_white_space_in_a_text_is_ignored():
    """A board can be written in three lines."""
    assert Board("""
        x _ o
        _ x _
        o _ _
    """) is Board("x_o_x_o__")


@pytest.mark.parametrize("cell", [-1, 9, "0", None])
def test_cells_beside_the_board_do_not_exist(cell):
    """Negative cell numbers are rejected, so that off-by-one errors are detected."""
    with pytest.raises(IndexError, match="cells are 0 to 8"):
        Board()[cell]


@pytest.mark.parametrize("name", ["to_move", "x_mask", "winner", "colour"])
def test_boards_cannot_be_changed(name):
    """Setting or deleting an attribute raises AttributeError and leaves the board unchanged."""
    board = Board("x_o______")
    with pytest.raises(AttributeError, match="immutable"):
        setattr(board, name, "o")
    with pytest.raises(AttributeError):
        delattr(board, name)
    assert (board.to_move, board.x_mask, board.winner) == ("x", 1, None)
    assert not hasattr(board, "colour")


def test_boards_are_keys():
    """As dictionary keys, boards are equal exactly if their positions are equal."""
    assert len({Board(text): text for text in REACHABLE * 2}) == len(REACHABLE)


def test_a_board_is_a_state_with_eight_lanes():
    """The board has the members of `State`, and its lanes are those of the slow rules."""
    assert isinstance(Board(), State)
    assert Board().lanes == LANES
    lanes = {
        cells
        for cells in itertools.combinations(range(9), 3)
        if slow_winner("".join("x" if i in cells else EMPTY for i in range(9)))
    }
    assert {tuple(sorted(lane)) for lane in LANES} == lanes
    assert len(LANES) == len(lanes) == 8


def test_opponents_are_mutual():
    """The opponent's opponent is the player."""
    assert (opponent("x"), opponent("o")) == ("o", "x")


def test_a_board_prints_as_three_rows():
    """The printed board has three rows of three cells."""
    assert str(Board("x_o_x_o__")) == "x|_|o\n_|x|_\no|_|_"


@pytest.mark.parametrize(("text", "ending"), [
    ("x_o______", "x - o; - - -; - - -. x to move"),
    ("xxxoo____", "x x x; o o -; - - -. x has won"),
    ("xxoooxxox", "x x o; o o x; x o x. Draw"),
])  # fmt: skip
def test_boards_are_described_in_words(text, ending):
    """The description contains the three rows and the state of the game."""
    assert Board(text).describe() == ending
