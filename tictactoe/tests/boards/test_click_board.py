"""Tests of the clickable board: its messages, its display, and its fallback without widgets."""

import base64
from pathlib import Path

import pytest

from tictactoe.boards import click_board
from tictactoe.boards.click_board import ClickBoard
from tictactoe.games.pictures import image

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><g data-move="4"/></svg>'


def send(board, content):
    """Deliver a message from the page."""
    board._handle_custom_msg(content, [])


@pytest.fixture
def clicked():
    """The list of clicked moves, and the board."""
    moves = []
    return moves, ClickBoard(moves.append)


def test_clicks_arrive(clicked):
    """Each click calls `on_click`, even if the same move is clicked twice."""
    moves, board = clicked
    send(board, {"move": "cell 2,4"})
    send(board, {"move": "cell 2,4"})
    assert moves == ["cell 2,4", "cell 2,4"]


@pytest.mark.parametrize("content", [None, "4", [], {}, {"move": 4}, {"other": "4"}])
def test_what_is_no_click_is_left_alone(clicked, content):
    """Messages of any other form are ignored."""
    moves, board = clicked
    before = board.content
    send(board, content)
    assert moves == []
    assert board.content == before


def test_an_error_is_shown():
    """An error that a click raises is shown below the picture, which does not change."""

    def wrong(move):
        raise ValueError(f"no {move} here")

    board = ClickBoard(wrong)
    board.show(SVG, "a board", "go on")
    send(board, {"move": "4"})
    line = wrong.__code__.co_firstlineno + 1
    assert board.content["status"] == f"ValueError: no 4 here (line {line} of test_click_board.py)"
    assert (board.content["svg"], board.content["alt"]) == (SVG, "a board")


def test_a_position_arrives_whole(clicked):
    """The page receives a position as a single change, so that it never paints half of it."""
    _, board = clicked
    changes = []
    board.observe(changes.append, "content")
    board.show(SVG, "a board", "go on", {"undo": "Undo", "new": "New game"}, (3, 9))
    assert len(changes) == 1
    assert board.content == {
        "svg": SVG,
        "alt": "a board",
        "status": "go on",
        "step": 3,
        "last": 9,
        "buttons": [["undo", "Undo"], ["new", "New game"]],
    }


def test_the_slider_goes_away(clicked):
    """A position without steps has no slider, even if the previous one had one."""
    _, board = clicked
    board.show(SVG, "a board", slider=(3, 9))
    board.show(SVG, "a board")
    assert "last" not in board.content
    assert board.content["buttons"] == []


def test_without_widgets_the_picture_is_left(clicked):
    """An exported page shows the picture with its alternative text; a terminal shows the text."""
    _, board = clicked
    board.show(SVG, "a board", "go on")
    data, _ = board._repr_mimebundle_()
    assert data["text/html"] == image(SVG, "a board", shrink=True)
    assert base64.b64encode(SVG.encode()).decode() in data["text/html"]
    assert data["text/plain"] == "a board\ngo on"
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == board.model_id


def test_the_page_gets_the_whole_script(clicked):
    """The page runs the script that is next to the module, which makes no requests."""
    _, board = clicked
    script = Path(click_board.__file__).with_suffix(".js").read_text(encoding="utf-8")
    assert str(board._esm) == script
    assert "export default { render }" in script
    assert "url(" not in str(board._css)
    assert "@import" not in str(board._css)
    for fetching in ("http", "import ", "import(", "fetch(", "url("):
        assert fetching not in script
