"""Independent verification: OpenSpiel's rules, values and best moves on every reachable position."""

import sys

import pytest

from autograder.tests.support.needs import need_module
from autograder.workspace import load_answer
from tictactoe import Board, solver

pytestmark = pytest.mark.content
WHY = "rules, values and moves stay without an independent check"
TOLERANCE = 1e-9  # OpenSpiel's values are floats that are exactly -1, 0 or 1


@pytest.fixture(scope="module")
def pyspiel():
    """OpenSpiel's compiled part, which has the rules."""
    return need_module("pyspiel", WHY)


@pytest.fixture(scope="module")
def action_values(pyspiel):
    """OpenSpiel's value of each legal move for the player to move, for every unfinished board."""
    minimax_solver = need_module("open_spiel.python.algorithms.minimax_solver", WHY)
    table = minimax_solver.MinimaxSolver("tic_tac_toe").solve()
    illegal = -1.5  # OpenSpiel marks illegal moves with -2
    return {
        from_open_spiel(text): {
            move: value for move, value in enumerate(entry.action_values) if value > illegal
        }
        for text, entry in table.items()
    }


@pytest.fixture(scope="module")
def open_spiel_values(action_values):
    """The value of every unfinished board for the player to move."""
    return {board: max(worths.values()) for board, worths in action_values.items()}


def from_open_spiel(text):
    """Convert OpenSpiel's text, which has a dot for every empty cell, to our board."""
    return Board(str(text).replace(".", "_"))


def test_both_know_the_same_positions(action_values):
    """OpenSpiel reaches exactly our 4,520 unfinished positions."""
    ours = {board for board in solver.values() if not board.is_terminal()}
    assert len(ours) == 4_520
    assert set(action_values) == ours


def test_both_play_by_the_same_rules(pyspiel):
    """On all 5,478 positions, turn, legal moves, successors, end and outcome agree."""
    waiting = [pyspiel.load_game("tic_tac_toe").new_initial_state()]
    seen = {from_open_spiel(waiting[0])}
    while waiting:
        state = waiting.pop()
        board = from_open_spiel(state)
        assert list(board.legal_moves()) == state.legal_actions(), board
        assert board.is_terminal() == state.is_terminal(), board
        if state.is_terminal():
            assert [board.utility("x"), board.utility("o")] == state.returns(), board
            continue
        assert board.to_move == "xo"[state.current_player()], board
        for move in state.legal_actions():
            child = state.child(move)
            assert board.after(move) is from_open_spiel(child)
            if board.after(move) not in seen:
                seen.add(board.after(move))
                waiting.append(child)
    assert len(seen) == 5_478


def test_the_solver_agrees(open_spiel_values):
    """The solver's value of every unfinished position equals OpenSpiel's."""
    wrong = {
        board: worth
        for board, worth in open_spiel_values.items()
        if abs(solver.value(board, board.to_move) - worth) > TOLERANCE
    }
    assert not wrong


@pytest.mark.parametrize(("study", "name"), [
    ("study1", "Minimax"),
    ("study1", "Tabular"),
    ("study2", "AlphaBeta"),
])  # fmt: skip
def test_searches_agree(study, name, action_values, open_spiel_values):
    """On every unfinished position the value is OpenSpiel's, and the move has its highest value."""
    agent = getattr(load_answer(study), name)()
    for board, worths in action_values.items():
        found = agent.search(board)
        assert abs(found.value - open_spiel_values[board]) < TOLERANCE, board
        assert abs(worths[found.move] - open_spiel_values[board]) < TOLERANCE, board


def test_mixed_play_knows_all_the_best_moves(action_values, open_spiel_values):
    """`MixedTabular.best_moves` are exactly the moves with OpenSpiel's highest value."""
    agent = load_answer("study1").MixedTabular(seed=1)
    for board, worths in action_values.items():
        best = [
            move
            for move, worth in worths.items()
            if abs(worth - open_spiel_values[board]) < TOLERANCE
        ]
        assert agent.best_moves(board) == best, board


def test_a_missing_module_is_skipped_outside_ci(monkeypatch):
    """Without the module the test is skipped, with the reason."""
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="part is not installed: it is late"):
        need_module("no_such_module.part", "it is late")


def test_a_missing_module_fails_in_ci(monkeypatch):
    """In CI (`CI=true`) a missing module is a failure."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no_such_module is not installed"):
        need_module("no_such_module", "it is late")


@pytest.mark.parametrize("ci", ["true", ""])
def test_a_broken_module_is_never_skipped(tmp_path, monkeypatch, ci):
    """A module that exists but cannot import its dependencies raises its own error."""
    (tmp_path / "broken_module.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        need_module("broken_module", "it is late")
    assert "broken_module" not in sys.modules


def test_a_module_that_is_there_is_imported():
    """The module itself is returned."""
    assert need_module("json", "it is late").loads("1") == 1
