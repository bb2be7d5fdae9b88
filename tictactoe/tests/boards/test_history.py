"""Tests of the history of a game: undo, redo and moves always leave a valid game."""

from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Board
from tictactoe.boards.history import History


def mine(state):
    """Whether it is the turn of the person, who plays x."""
    return state.to_move == "x"


@given(st.lists(st.one_of(st.integers(0, 8), st.sampled_from(["undo", "redo", "resign"]))))
def test_any_clicks_leave_a_game(clicks):
    """States and moves stay consistent, and undo and redo stop at the person's decisions."""
    history = History(Board())
    for click in clicks:
        legal = history.state.legal_moves()
        if click in legal and not history.resigned:
            history.play(click, history.state.after(click))
        elif click == "resign":
            history.resign()
        elif click == "undo" and not history.resigned and history.undo(mine):
            assert mine(history.state)
        elif click == "redo" and history.redo(mine):
            assert not history.resigned
        assert history.states[0] == Board()
        for state, move, after in zip(
            history.states, history.moves, history.states[1:], strict=False
        ):
            assert state.after(move) == after
        assert len(history.states) == len(history.moves) + 1


@given(st.permutations(range(9)), st.integers(1, 6))
def test_redo_undoes_undo(moves, times):
    """After as many redos as undos, the game is unchanged."""
    history = History(Board())
    for move in moves:
        if history.state.is_terminal() or len(history.moves) > 6:
            break
        history.play(move, history.state.after(move))
    while history.moves and not mine(history.state):  # the person waits for the agent's move
        history.undo(mine)
    before = list(history.moves)
    done = sum(history.undo(mine) for _ in range(times))
    assert sum(history.redo(mine) for _ in range(done)) == done
    assert history.moves == before


def test_a_new_move_forgets_what_was_taken_back():
    """After a different move, the old one cannot be redone."""
    history = History(Board())
    for move in (0, 4):
        history.play(move, history.state.after(move))
    assert history.undo(mine)
    history.play(8, history.state.after(8))
    assert not history.redo(mine)
    assert history.moves == [8]


def test_a_resignation_is_taken_back_first():
    """Undo after a resignation continues with the same position."""
    history = History(Board("x___o____"))
    history.resign()
    assert history.undo(mine)
    assert (history.resigned, history.moves) == (False, [])
    assert not history.undo(mine)
