"""Playing by clicks: the available moves, the agent's replies and errors, undo, sides, new games."""

import xml.etree.ElementTree as ET

import pytest

from autograder.tests.support.modules.games import Twigs
from tictactoe import Board, Random, counted
from tictactoe.boards.play_board import NEW, RETRY, SWAP, UNDO, play_against
from tictactoe.games.pictures import image
from tictactoe.games.players import Resigned
from tictactoe.tests.support.boards import buttons, status


class First:
    """Takes the first legal move, and counts one node for it."""

    @counted
    def choose(self, state):
        return state.legal_moves()[0]


class Failing:
    """Raises the given error."""

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
    """The parts of the picture that can be clicked."""
    svg = ET.fromstring(game.board.content["svg"])
    return [e.get("data-move") for e in svg.iter() if e.get("data-move") is not None]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("side", ["x", "o"])
def test_a_game_by_clicks_to_its_end(seed, side):
    """At each turn exactly the empty cells can be clicked, and the game ends with its outcome."""
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


def test_the_agents_move_is_described():
    """The line below the board has the agent's move in words and the nodes visited."""
    game = play_against(First())
    game.click("4")
    assert game.moves == [4, 0]
    assert status(game) == "First plays cell 0: row 1, column 1 (nodes: 1). Your turn, x."


def test_clicks_that_are_not_on_offer_change_nothing():
    """A click on an occupied cell or after the end comes from an older picture."""
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
    """Undo also takes back the agent's reply; at the beginning it reports that there is no move."""
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
    """The agent plays the person's side, and the outcome is that of the other side."""
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
    """An agent's error appears below the board; one can repeat the request or undo."""
    game = play_against(agent)
    game.click("4")
    assert says in status(game)
    assert RETRY in buttons(game)
    assert offered(game) == []
    agent.error = None
    game.click(UNDO)
    assert game.state == Board()
    assert RETRY not in buttons(game)


def test_an_agent_can_be_called_again():
    """The game continues after the mistake in the module is corrected."""
    agent = Failing(ValueError("oh"))
    game = play_against(agent, side="o")
    agent.error = None
    game.click(RETRY)
    assert game.moves == [0]
    assert "Your turn, o." in status(game)


def test_a_game_without_a_picture_has_buttons():
    """A game without a picture has a button for each move."""
    game = play_against(First(), start=Twigs(most=4))
    assert buttons(game)[:2] == ["a", "b"]
    game.click("b")
    assert game.state.path == "ba"
    game.click("b")
    assert status(game).endswith("A draw.")


def test_who_cannot_choose_is_no_agent():
    """An object without `choose` is refused with its name."""
    with pytest.raises(ValueError, match="choose"):
        play_against("Minimax")


def test_without_widgets_the_board_is_left():
    """An exported page has the picture, with the position in words as alternative text."""
    game = play_against(First())
    data, _ = game._repr_mimebundle_()
    assert data["text/html"] == image(game.board.content["svg"], Board().describe(), shrink=True)
    assert data["text/plain"].startswith(Board().describe())
