"""Playing by clicks: the moves on offer, the agent's answers and errors, undo, sides, new games."""

import xml.etree.ElementTree as ET

import pytest

from autograder.tests.support.games import Twigs
from tictactoe import Board, Random, counted
from tictactoe.games.pictures import image
from tictactoe.games.players import Resigned
from tictactoe.show.play_board import AGAIN, NEW, SWAP, UNDO, play_against
from tictactoe.tests.support.boards import buttons, status


class First:
    """Takes the first legal move, and counts a node for it."""

    @counted
    def choose(self, state):
        return state.legal_moves()[0]


class Failing:
    """Raises what it was given."""

    def __init__(self, error):
        self.error = error

    def choose(self, state):
        if self.error:
            raise self.error
        return state.legal_moves()[0]


class Cheat:
    """Plays a cell that does not exist."""

    def choose(self, state):
        return 9


def offered(game) -> list[str]:
    """What can be clicked in the picture."""
    svg = ET.fromstring(game.board.shown["svg"])
    return [e.get("data-move") for e in svg.iter() if e.get("data-move") is not None]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("side", ["x", "o"])
def test_a_game_by_clicks_to_its_end(seed, side):
    """At each turn just the open cells can be clicked, and the game ends with its outcome."""
    game = play_against(Random(seed), side)
    while not game.state.is_terminal():
        assert game.state.to_move == side
        assert offered(game) == [str(move) for move in game.state.legal_moves()]
        assert f"Your turn, {side}." in status(game)
        game.click(offered(game)[-1])
    assert offered(game) == []
    mine = game.state.utility(side)
    assert status(game).endswith({1: "You have won.", 0: "A draw.", -1: "You have lost."}[mine])
    assert len(game.states) == len(game.moves) + 1
    assert game.states[0] == Board()


def test_the_agents_move_is_told():
    """The line below the board has the agent's move in words and the nodes that it visited."""
    game = play_against(First())
    game.click("4")
    assert game.moves == [4, 0]
    assert status(game) == "First plays cell 0: row 1, column 1 (nodes: 1). Your turn, x."


def test_clicks_that_are_not_on_offer_change_nothing():
    """A taken cell, or a click after the end, comes from an older picture."""
    game = play_against(First(), start=Board("xx_oo____"))
    for move in ("0", "9", "nonsense"):
        game.click(move)
    assert game.moves == []
    game.click("2")
    assert game.state.winner == "x"
    game.click("8")
    game.click(SWAP)
    assert game.moves == [2]


def test_undo_goes_back_to_ones_own_move():
    """Undo takes back the agent's answer as well; at the beginning it says that there is none."""
    game = play_against(First())
    game.click("4")
    game.click("8")
    game.click(UNDO)
    assert (game.moves, game.state) == ([4, 0], Board("o___x____"))
    game.click(UNDO)
    game.click(UNDO)
    assert (game.moves, game.state) == ([], Board())
    assert status(game) == "There is nothing to undo. Your turn, x."


def test_changing_sides():
    """The agent moves in the person's place, and the outcome is the other side's."""
    game = play_against(First(), start=Board("xx_oo____"))
    game.click(SWAP)
    assert game.state.winner == "x"
    assert status(game).endswith("You have lost.")
    game.click(NEW)  # still on the other side: the agent begins
    assert game.state.winner == "x"
    game.click(UNDO)
    assert status(game) == "There is nothing to undo. You have lost."


@pytest.mark.parametrize(("agent", "says"), [
    (Failing(NotImplementedError("write this")), "NotImplementedError: write this"),
    (Failing(ValueError("<oh>")), "ValueError: <oh>"),
    (Cheat(), "IllegalMove: illegal move 9"),
    (Failing(Resigned()), "Failing, o, resigns"),
])  # fmt: skip
def test_the_agents_errors_are_seen(agent, says):
    """What goes wrong in an agent stands below the board; one can ask again or undo."""
    game = play_against(agent)
    game.click("4")
    assert says in status(game)
    assert AGAIN in buttons(game)
    assert offered(game) == []
    agent.error = None
    game.click(UNDO)
    assert game.state == Board()
    assert AGAIN not in buttons(game)


def test_an_agent_can_be_asked_again():
    """After the mistake is mended in the module, the game goes on."""
    agent = Failing(ValueError("oh"))
    game = play_against(agent, side="o")
    agent.error = None
    game.click(AGAIN)
    assert game.moves == [0]
    assert "Your turn, o." in status(game)


def test_a_game_without_a_picture_has_buttons():
    """Any game can be played: one that draws nothing has a button for each move."""
    game = play_against(First(), start=Twigs(most=4))
    assert buttons(game)[:2] == ["a", "b"]
    game.click("b")
    assert game.state.path == "ba"
    game.click("b")
    assert status(game).endswith("A draw.")


def test_who_cannot_choose_is_no_agent():
    """Anything without `choose` is refused with its name."""
    with pytest.raises(ValueError, match="choose"):
        play_against("Minimax")


def test_without_widgets_the_board_is_left():
    """An exported page has the picture, its alternative text the position in words."""
    game = play_against(First())
    data, _ = game._repr_mimebundle_()
    assert data["text/html"] == image(game.board.shown["svg"], Board().describe(), shrink=True)
    assert data["text/plain"].startswith(Board().describe())
