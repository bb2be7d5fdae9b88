"""Tests of Qubic: lanes, rules and pictures against slow implementations, and many random games."""

import copy
import itertools
import pickle
import random
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tictactoe import EMPTY, Board, IllegalMove, InvalidBoard, Qubic, Random, State, match, play
from tictactoe.games.playouts import random_games
from tictactoe.games.qubic import CELLS, LANES, LANES_THROUGH, cell_at, qubic_svg
from tictactoe.games.tactics import WinOrBlock, winning_cells

ROW = Qubic.from_moves([0, 16, 1, 17, 2, 18])  # x to move wins at 3, o would win at 19
DIAGONAL = Qubic.from_moves([0, 1, 21, 2, 42, 3, 63])  # through the cube, from corner to corner


def rays():
    """All lines of four cells inside the cube, from every cell in every direction."""
    for start in itertools.product(range(4), repeat=3):
        for direction in itertools.product((-1, 0, 1), repeat=3):
            places = [[s + k * d for s, d in zip(start, direction, strict=True)] for k in range(4)]
            if any(direction) and all(0 <= along < 4 for place in places for along in place):
                yield [cell_at(*place) for place in places]


RAYS = list(rays())  # each line twice, from both ends


def slow_winner(text):
    """The player with four in a line, found by following every ray from every cell."""
    for ray in RAYS:
        marks = {text[cell] for cell in ray}
        if marks in ({"x"}, {"o"}):
            return marks.pop()
    return None


def slow_moves(text):
    """The open cells of the text; none if a player has won."""
    return () if slow_winner(text) else tuple(i for i in range(CELLS) if text[i] == EMPTY)


WALKS = st.tuples(st.permutations(range(CELLS)), st.integers(0, CELLS))
TEXTS = st.text("xo_", min_size=CELLS, max_size=CELLS)


def walk(plan):
    """The states of a game that plays the cells of a permutation, up to a maximum number."""
    cells, most = plan
    states = [Qubic()]
    for cell in cells[:most]:
        if states[-1].is_terminal():
            break
        states.append(states[-1].after(cell))
    return states


# Lanes


def test_there_are_76_lanes():
    """There are 48 lanes along an axis, 24 diagonals of planes and 4 space diagonals."""

    def axes(lane):
        first, last = ((cell // 16, cell // 4 % 4, cell % 4) for cell in (lane[0], lane[-1]))
        return sum(a != b for a, b in zip(first, last, strict=True))

    assert len(LANES) == len(set(LANES)) == 76
    assert Counter(map(axes, LANES)) == {1: 48, 2: 24, 3: 4}
    assert all(len(set(lane)) == 4 and list(lane) == sorted(lane) for lane in LANES)


def test_a_cell_has_seven_lanes_or_four():
    """Seven lanes meet in each of the 8 corners and 8 inner cells, and four in every other cell."""
    rich = {
        cell_at(*place) for ends in ((0, 3), (1, 2)) for place in itertools.product(ends, repeat=3)
    }
    assert {cell for cell in range(CELLS) if len(LANES_THROUGH[cell]) == 7} == rich
    assert Counter(map(len, LANES_THROUGH)) == {7: 16, 4: 48}
    assert all(cell in LANES[number] for cell in range(CELLS) for number in LANES_THROUGH[cell])


@pytest.mark.parametrize("lane", LANES)
def test_each_lane_wins(lane):
    """A player who marks the four cells of a lane has won, and the slow rules agree."""
    others = [cell for cell in range(CELLS) if cell not in lane][:8:3]  # no lane of o
    game = [cell for pair in zip(lane, [*others, None], strict=True) for cell in pair][:-1]
    final = Qubic.from_moves(game)
    assert final.winner == slow_winner(final.text) == "x"
    assert final.is_terminal() and final.legal_moves() == ()


# Rules


@given(WALKS)
@settings(deadline=None)
def test_games_follow_the_slow_rules(plan):
    """Winner, moves, player to move and terminal test are correct throughout a random game."""
    states = walk(plan)
    for number, state in enumerate(states):
        if number % 8 == 0 or state is states[-1]:  # the slow rules are slow
            assert state.winner == slow_winner(state.text)
            assert state.legal_moves() == slow_moves(state.text)
            assert state.winner in (None, "ox"[number % 2])
        assert state.to_move == "xo"[number % 2]
        assert state.is_terminal() is (not state.legal_moves())
        assert CELLS - state.text.count(EMPTY) == number


@given(WALKS)
def test_every_move_marks_one_cell(plan):
    """`after` changes only the moved cell, in a copy."""
    states = walk(plan)
    for state, child in itertools.pairwise(states):
        changed = [cell for cell in range(CELLS) if state[cell] != child[cell]]
        assert len(changed) == 1 and child[changed[0]] == state.to_move
        assert state.after(changed[0]) == child


@given(TEXTS)
@settings(max_examples=50)
def test_texts_are_boards_or_told_why_not(text):
    """Almost no text is a position; the errors for the others give the reason and show the cube."""
    try:
        assert Qubic(text).text == text
    except InvalidBoard as error:
        assert "unreachable position" in str(error)
        assert str(error).count("\n") == 4


@given(WALKS)
def test_text_masks_repr_and_pickle_make_the_state_again(plan):
    """Every reachable position can be written and read again; equal states have equal hashes."""
    state = walk(plan)[-1]
    again = [
        Qubic(state.text),
        Qubic.from_masks(state.x_mask, state.o_mask),
        copy.copy(state),
        eval(repr(state), {"Qubic": Qubic}),
        pickle.loads(pickle.dumps(state)),
        copy.deepcopy(state),
    ]
    for other in again:
        assert other == state and hash(other) == hash(state)
        assert (other.winner, other.to_move) == (state.winner, state.to_move)
    assert state != state.text and (state == Qubic()) is (len(walk(plan)) == 1)


def test_the_order_of_moves_does_not_matter():
    """Two games with the same marks end in equal states."""
    assert Qubic.from_moves([0, 5, 9, 30]) == Qubic.from_moves([9, 30, 0, 5])


def test_utility_of_a_finished_game():
    """The utility is +1 for the winner and -1 for the loser; before the end, it is an error."""
    assert DIAGONAL.winner == "x"
    assert (DIAGONAL.utility("x"), DIAGONAL.utility("o")) == (1, -1)
    with pytest.raises(ValueError, match=r"not terminal, it has no utility yet:\nx\|x"):
        ROW.utility("x")


def drawn():
    """A full cube without a lane and with equal numbers of x and o, found by random search."""
    chance = random.Random(1)
    marks = ["x", "o"] * 32
    while slow_winner("".join(marks)):  # break up one lane at a time
        bad = next(lane for lane in LANES if len({marks[cell] for cell in lane}) == 1)
        i, j = (
            chance.choice(bad),
            chance.choice([c for c in range(CELLS) if marks[c] != marks[bad[0]]]),
        )
        marks[i], marks[j] = marks[j], marks[i]
    return "".join(marks)


def test_a_full_cube_without_a_lane_is_a_draw():
    """Draws exist, and their utility is 0 for both."""
    state = Qubic(drawn())
    assert state.is_terminal() and state.winner is None and state.legal_moves() == ()
    assert (state.utility("x"), state.utility("o")) == (0, 0)
    assert state.describe().endswith("Draw")


@pytest.mark.parametrize(("move", "reason"), [
    (0, "cell 0 is taken by x"), (16, "cell 16 is taken by o"), (64, "64 is not a cell"),
    (-1, "-1 is not a cell"), ("a", "'a' is not a cell"), ([3], "[3] is not a cell"),
    (None, "None is not a cell"), (2.5, "2.5 is not a cell"),
])  # fmt: skip
def test_illegal_moves_are_refused(move, reason):
    """The error message contains the move, the player, the reason and the cube."""
    with pytest.raises(IllegalMove) as error:
        ROW.after(move)
    assert (
        str(error.value)
        == f"illegal move {move!r} for x: {reason}"
        + ("" if "taken" in reason else "; cells are 0 to 63")
        + f", in\n{ROW}"
    )


def test_no_move_is_legal_after_the_end():
    """The game is over when a player has won."""
    with pytest.raises(IllegalMove, match="the game is over"):
        DIAGONAL.after(20)


def test_numbers_like_a_cell_are_the_cell():
    """numpy's integers and 4.0 are accepted as cells, and the state is the same."""
    import numpy as np

    assert ROW.after(np.int64(5)) == ROW.after(5.0) == ROW.after(5)
    assert ROW[np.int8(0)] == "x"


@pytest.mark.parametrize(("text", "why"), [
    ("x" * 63, "64 cells"), ("y" + "_" * 63, "64 cells"), (5, "from a text of 64 cells"),
    ("xx" + "_" * 62, "there are 2 x, 0 o"), ("o" + "_" * 63, "there are 0 x, 1 o"),
    ("xxxxoooo" + "_" * 56, "both players have a lane"),
    ("xxxxo_oo____o" + "_" * 51, "o moved after x had won"),
    ("oooox_xx____x_x" + "_" * 49, "x moved after o had won"),
    ("xxxxoo_oxxxxoo_o_o" + "_" * 46, "the game continued after a player had won"),
])  # fmt: skip
def test_bad_texts_are_refused(text, why):
    """The errors explain texts that are not 64 cells and positions that no game can reach."""
    with pytest.raises(InvalidBoard, match=why):
        Qubic(text)


def test_two_lanes_at_once_are_reachable():
    """The last move may complete two lanes, if they meet in its cell."""
    moves = [1, 20, 2, 21, 3, 22, 4, 24, 8, 25, 12, 26, 0]
    state = Qubic.from_moves(moves)
    assert state.winner == "x" and Qubic(state.text) == state


@pytest.mark.parametrize("masks", [(1, 1), (1 << 64, 0), (-1, 0)])
def test_bad_masks_are_refused(masks):
    """Masks that share a cell or leave the cube are rejected."""
    with pytest.raises(InvalidBoard, match="share a cell or leave the cube"):
        Qubic.from_masks(*masks)


def test_states_are_immutable():
    """Attributes of a state can be neither set nor deleted."""
    with pytest.raises(AttributeError, match="immutable"):
        ROW.x_mask = 0
    with pytest.raises(AttributeError, match="immutable"):
        del ROW.winner


def test_a_cell_that_is_none_has_no_mark():
    """Reading outside the cube raises IndexError, even for negative cells."""
    for cell in (64, -1, "a", [0]):
        with pytest.raises(IndexError, match="cells are 0 to 63"):
            ROW[cell]


def test_qubic_fits_the_contract():
    """A Qubic position is a `State`, lists its lanes and has 64 cells."""
    assert isinstance(Qubic(), State)
    assert Qubic().lanes is LANES and len(Qubic()) == 64 and list(ROW) == list(ROW.text)


# Pictures


def test_it_prints_as_four_layers():
    """The layers are printed side by side."""
    assert (
        str(ROW).splitlines()
        == ["x|x|x|_   o|o|o|_   _|_|_|_   _|_|_|_"] + ["   ".join(["_|_|_|_"] * 4)] * 3
    )
    assert repr(ROW).startswith('Qubic("xxx_____________ ooo_____________ ')


def test_the_picture_shows_all_cells():
    """The picture has 64 cells, crosses for x, rings for o, numbers in open cells, and 4 titles."""
    root = ET.fromstring(qubic_svg(ROW))
    tags = Counter(element.tag.partition("}")[2] for element in root.iter())
    assert (tags["path"], tags["circle"], tags["text"]) == (3, 3, 58 + 4)
    assert tags["rect"] == 64 + 1
    assert qubic_svg(ROW, labels=False).count("<text") == 4


@pytest.mark.parametrize(("compact", "across"), [(False, 4), (True, 2)])
def test_each_cell_is_in_its_box(compact, across):
    """The number of each cell is in its box; the compact layout has two layers per row, not four."""
    root, empty = ET.fromstring(Qubic().svg(compact=compact)), Qubic()
    spots = {}
    for layer in root.iter("{http://www.w3.org/2000/svg}g"):
        left, top = map(int, layer.get("transform")[len("translate(") : -1].split())
        spots |= {
            text.text: (left + float(text.get("x")), top + float(text.get("y")))
            for text in layer.iter("{http://www.w3.org/2000/svg}text")
        }
    boxes = empty.boxes(compact=compact)
    for cell, (x, y, width, height) in boxes.items():
        at_x, at_y = spots[str(cell)]
        assert x < at_x < x + width
        assert y < at_y < y + height
    assert len({x for x, *_ in boxes.values()}) == 4 * across
    assert int(root.get("width")) >= max(x + width for x, _, width, _ in boxes.values())
    assert int(root.get("height")) >= max(y + height for _, y, _, height in boxes.values())


def test_the_picture_shades_what_won():
    """Only the cells of the winning lane are shaded."""
    assert qubic_svg(DIAGONAL).count("#e2e2e2") == 4
    assert "#e2e2e2" not in qubic_svg(ROW)


def test_a_notebook_shows_it_with_words():
    """The alternative text contains the position in words."""
    assert 'alt="Qubic, x at 0, 1, 2; o at 16, 17, 18. x to move"' in ROW._repr_html_()
    assert Qubic().describe() == "empty. x to move"
    assert DIAGONAL.describe().endswith("x has won")


# Players


def slow_winning_cells(state, player):
    """The open cells that complete a lane of the player by the slow rules."""
    text = state.text
    return tuple(
        cell
        for cell in range(len(text))
        if text[cell] == EMPTY
        and winner_of(state)(text[:cell] + player + text[cell + 1 :]) == player
    )


def winner_of(state):
    """The slow rules of the state's game, for texts without a lane."""
    return (
        slow_winner
        if isinstance(state, Qubic)
        else lambda text: next(
            (text[a] for a, b, c in Board.lanes if text[a] == text[b] == text[c] != EMPTY), None
        )
    )


@given(WALKS.filter(lambda plan: plan[1] > 12))
@settings(max_examples=15, deadline=None)
def test_winning_cells_agree_with_the_slow_rules(plan):
    """In unfinished positions, the cells that complete a lane are those that win when marked."""
    state = next(s for s in reversed(walk(plan)) if not s.is_terminal())
    for player in "xo":
        assert winning_cells(state, player) == slow_winning_cells(state, player)


@given(st.permutations(range(9)), st.integers(0, 8))
def test_winning_cells_of_tic_tac_toe(cells, most):
    """The same function works for the small board."""
    board = Board()
    for cell in cells[:most]:
        if not board.after(cell).is_terminal():
            board = board.after(cell)
    for player in "xo":
        assert winning_cells(board, player) == slow_winning_cells(board, player)


def test_win_or_block_wins_blocks_or_plays_anything():
    """`WinOrBlock` prefers a win to a block, and a block to any other open cell."""
    threatened = Qubic.from_moves([0, 16, 1, 17, 30, 18])  # x to move: no win, must block 19
    for seed in range(20):
        assert WinOrBlock(seed).choose(ROW) == 3
        assert WinOrBlock(seed).choose(threatened) == 19
    quiet = {WinOrBlock(seed).choose(Qubic.from_moves([0, 63])) for seed in range(300)}
    assert len(quiet) > 40 and not quiet & {0, 63}


def test_win_or_block_is_far_better_than_random():
    """`WinOrBlock` almost never loses against a random player, in Qubic and in tic-tac-toe."""
    assert match(WinOrBlock(), Random(), games=60, seed=1, start=Qubic()).score > 0.9
    assert match(WinOrBlock(), Random(), games=60, seed=1).score > 0.75


def test_the_same_seed_plays_the_same_game():
    """Seeds work for games of Qubic as for all other games."""
    games = [play({"x": WinOrBlock(3), "o": Random(4)}, start=Qubic()) for _ in range(2)]
    assert games[0].moves == games[1].moves


# Many random games


def test_many_games_follow_the_rules():
    """Replayed move by move, each game ends at the same move with the same winner."""
    games = random_games(500, seed=3)
    for number in range(500):
        final = games.replay(number)  # raises IllegalMove if the game was over before
        assert final.is_terminal()
        assert {"x": 1, "o": -1, None: 0}[final.winner] == games.winners[number]
        assert CELLS - final.text.count(EMPTY) == games.lengths[number]


def test_a_drawn_game_is_told():
    """A game that fills the cube without a lane has 64 moves and no winner."""
    import numpy as np

    from tictactoe.games.playouts import results

    text = drawn()
    cells = {player: iter([i for i in range(CELLS) if text[i] == player]) for player in "xo"}
    order = [next(cells["xo"[turn % 2]]) for turn in range(CELLS)]
    turns = np.argsort(order).astype(np.uint8)[np.newaxis]
    lengths, winners = results(turns)
    assert (lengths.tolist(), winners.tolist()) == ([64], [0])


def test_many_games_are_seeded():
    """The same seed gives the same games for any batch size; other seeds give other games."""
    first, again, other = random_games(10, 1), random_games(10, 1), random_games(10, 2)
    assert (first.turns == again.turns).all() and (first.turns != other.turns).any()
    assert random_games(4_001).winners.shape == (4_001,)
    with pytest.raises(ValueError, match="at least one game, not 0"):
        random_games(0)


def test_random_players_mark_every_cell_alike():
    """Over many games, each cell is marked in each turn about equally often (within six sigma)."""
    import numpy as np

    turns = random_games(20_000, seed=5).turns
    counts = np.stack([np.bincount(turns[:, cell], minlength=CELLS) for cell in range(CELLS)])
    expected = 20_000 / CELLS
    assert np.abs(counts - expected).max() < 6 * expected**0.5
