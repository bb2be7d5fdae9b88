"""Tests of a board's other features: redo, hints, values, resigning, and watching two agents."""

import re

import pytest

from tictactoe import Board, Random
from tictactoe.boards.play_board import HINT, NEW, REDO, RESIGN, SWAP, UNDO, VALUES, play_against
from tictactoe.boards.watch_board import watch
from tictactoe.solver import value
from tictactoe.tests.support.threads import Held, beside

DOUBLE = Board("x_o_x_o__")  # x to move wins at 8; otherwise, o would win at 4


class First:
    """Plays the first legal move."""

    def choose(self, state):
        return state.legal_moves()[0]


class Last:
    """Plays the last legal move."""

    def choose(self, state):
        return state.legal_moves()[-1]


class Solver:
    """A search that looks up the exact value."""

    def search(self, state):
        return type("Found", (), {"value": value(state, state.to_move)})


def shown(game):
    return game.board.content


def labels(game):
    """The labels of the places that can be clicked, by move."""
    return dict(re.findall(r'data-move="(\d+)" data-label="([^"]*)"', shown(game)["svg"]))


def test_redo_plays_again_what_was_taken_back():
    """Redo repeats the person's move and the agent's old answer without querying the agent."""
    game = play_against(First())
    game.click("4")
    game.click("8")
    for move, moves in ((UNDO, [4, 0]), (UNDO, []), (REDO, [4, 0]), (REDO, [4, 0, 8, 1])):
        game.click(move)
        assert game.moves == moves
    game.click(REDO)
    assert shown(game)["status"] == "There is nothing to redo. Your turn, x."


def test_resigning_ends_the_game():
    """After a resignation, only a new game can be started, and a late answer is ignored."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: game.board._handle_custom_msg({"move": "4"}, [])):
        agent.question()
        game.click(RESIGN)
        agent.answers.put(0)
    assert (game.moves, shown(game)["status"]) == ([4], "You have resigned.")
    assert labels(game) == {}
    only_a_new_game(game)
    game.click(NEW)
    assert (game.moves, "off" in shown(game), len(labels(game))) == ([], False, 9)


def only_a_new_game(game, *other):
    """Assert that all buttons except New game and `other` are disabled and ignore clicks."""
    before = shown(game)
    off = [name for name, _ in before["buttons"] if name not in (NEW, *other)]
    assert before["off"] == off and {HINT, UNDO, REDO, RESIGN, SWAP} - {*other} <= {*off}
    for name in off:
        game.click(name)
        assert shown(game) == before


@pytest.mark.parametrize(
    ("start", "move"), [("x_o_x_o__", "8"), ("xoxxo_o_x", "5"), ("xxo_o____", "3")]
)
def test_after_every_end_a_move_can_be_taken_back(start, move):
    """Moves can be undone after any ending, both in a game with one move and in longer games."""
    game = play_against(Last(), start=Board(start))
    while not game.state.is_terminal():
        game.click(move if not game.moves else str(game.state.legal_moves()[0]))
    only_a_new_game(game, UNDO, REDO)
    before = shown(game)
    game.click(UNDO)
    assert not game.state.is_terminal() and "off" not in shown(game)
    game.click(REDO)
    assert game.state.is_terminal() and shown(game)["svg"] == before["svg"]


def test_a_hint_is_marked_on_the_board():
    """Until the next move, the suggested cell has a frame with a star, and "hint" in its label."""
    game = play_against(Random(1), hint=First(), values=Solver())
    game.click(HINT)
    assert shown(game)["svg"].count('class="hint"') == 1
    assert labels(game)["0"].endswith(", hint")
    assert [move for move, said in labels(game).items() if "hint" in said] == ["0"]
    game.click("4")
    assert 'class="hint"' not in shown(game)["svg"]
    assert "hint" not in "".join(labels(game).values())


def test_a_hint_is_a_sentence_and_no_move():
    """By default, the opponent suggests the move that it would play; another agent can be chosen."""
    game = play_against(Random(1), hint=First())
    game.click(HINT)
    assert game.moves == []
    assert shown(game)["status"] == (
        "Hint: First would play cell 0: row 1, column 1. Your turn, x."
    )
    game.click("4")
    assert "Hint" not in shown(game)["status"]


@pytest.mark.parametrize("source", [value, Solver()])
def test_values_are_those_of_the_solver(source):
    """Each move shows its value for the player to move, as a number with a mark and in words."""
    game = play_against(First(), start=DOUBLE, values=source)
    assert 'class="value"' not in shown(game)["svg"]
    game.click(VALUES)
    told = {int(move): label.rpartition("value ")[2] for move, label in labels(game).items()}
    expected = {move: value(DOUBLE.after(move)) for move in DOUBLE.legal_moves()}
    assert told == {
        move: {1: "+1", 0: "0", -1: "\N{MINUS SIGN}1"}[v] for move, v in expected.items()
    }
    assert shown(game)["svg"].count('class="value"') == len(expected)
    assert "▲ good" in shown(game)["status"]
    game.click(VALUES)
    assert 'class="value"' not in shown(game)["svg"]


def test_without_a_source_there_are_no_values():
    """Without a source, there is no button for values, and the button's message changes nothing."""
    game = play_against(First())
    before = shown(game)
    game.click(VALUES)
    assert shown(game) == before
    assert VALUES not in dict(before["buttons"])
    with pytest.raises(ValueError, match="neither"):
        play_against(First(), values=3)


def test_a_search_that_fails_gives_no_values():
    """The error of a failing search is shown, and the game continues without values."""
    game = play_against(First(), values=lambda state, player: 1 / 0)
    game.click(VALUES)
    assert "No values: ZeroDivisionError" in shown(game)["status"]
    game.click("4")
    assert game.moves == [4, 0]


def test_a_busy_board_is_marked():
    """The board is marked only while the agent thinks."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: game.click("4")):
        agent.question()
        assert shown(game)["busy"] is True
        agent.answers.put(0)
    assert "busy" not in shown(game)
    assert shown(game)["moves"] == ["x: cell 4: row 2, column 2", "o: cell 0: row 1, column 1"]


def test_taken_cells_are_read_and_not_clicked():
    """All cells can be focused by keyboard, and their labels name the player who has taken them."""
    game = play_against(First(), start=DOUBLE)
    svg = shown(game)["svg"]
    assert re.findall(r'data-place="(\d)"', svg) == list("012345678")
    assert 'data-place="0" data-label="cell 0: row 1, column 1, x"' in svg


def test_two_agents_are_watched_at_a_pace():
    """The page's ticks advance the game to its end; ticks of older pictures do not."""
    game = watch({"x": First(), "o": First()})
    assert "auto" not in shown(game)
    game.click("next")
    assert (game.moves, game.step) == ([0], 1)
    game.click("play")
    game.click("tick 0")
    assert game.moves == [0]
    while "auto" in shown(game):
        game.click(shown(game)["auto"][0])
    assert game.moves == [0, 1, 2, 3, 4, 5, 6]
    assert shown(game)["status"].endswith("x has won.")
    game.click("first")
    game.click("next")
    assert (game.step, game.last) == (1, 7)
    game.click("new game")
    assert (game.moves, shown(game)["status"]) == ([], "Move 0. The beginning. x is to move.")


def test_the_pace_is_set():
    """Slower and Faster change the delay within limits; Pause stops the ticks."""
    game = watch({"x": First(), "o": First()})
    game.click("play")
    waits = []
    for move in ("slower", "slower", "slower", *["faster"] * 5):
        game.click(move)
        waits.append(shown(game)["auto"][1])
    assert waits == sorted(waits[:3]) + sorted(waits[3:], reverse=True)
    assert len(set(waits)) == 5
    game.click("pause")
    assert "auto" not in shown(game)


def test_an_agent_that_fails_stops_what_is_watched():
    """The agent's error is shown, the game stops, and Next queries the agent again."""

    class Failing(First):
        broken = True

        def choose(self, state):
            if self.broken:
                raise ValueError("oh")
            return super().choose(state)

    agent = Failing()
    game = watch({"x": First(), "o": agent})
    game.click("play")
    game.click("tick 0")
    game.click("tick 1")
    assert "Failing, o: ValueError: oh" in shown(game)["status"]
    assert "auto" not in shown(game)
    agent.broken = False
    game.click("next")
    assert game.moves == [0, 1]
    with pytest.raises(ValueError, match="choose"):
        watch({"x": First(), "o": 3})
