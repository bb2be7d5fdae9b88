"""Clickable pictures of states, with or without their own drawing."""

import re
import xml.etree.ElementTree as ET

import pytest

from autograder.tests.support.modules.games import Twigs
from tictactoe import Board, ConnectFour, Qubic
from tictactoe.boards.rendering import describe_move, describe_state, draw_state, has_compact_layout
from tictactoe.solver import values


def clickable(svg: str) -> dict[str, str]:
    """The labels of the clickable parts, by move; raises if the picture is not XML."""
    return {
        element.get("data-move"): element.get("data-label")
        for element in ET.fromstring(svg).iter()
        if element.get("data-move") is not None
    }


def test_every_board_has_a_picture_with_its_legal_moves():
    """All 5,478 boards are well-formed pictures in which exactly the legal moves can be clicked."""
    for board in values():
        clicks = {str(move): describe_move(board, move) for move in board.legal_moves()}
        assert clickable(draw_state(board, clicks).svg) == clicks


def test_nothing_can_be_clicked_by_default():
    """A picture without clicks is static."""
    assert clickable(draw_state(Board()).svg) == {}


def test_the_last_move_and_the_winning_lane_are_marked():
    """The last move has a dashed frame; three in a lane have three shades and no dashes."""
    board = Board("xx_oo____")
    assert draw_state(board, last=1).svg.count("stroke-dasharray") == 1
    assert draw_state(board).svg.count("stroke-dasharray") == 0
    won = draw_state(board.after(2), last=2).svg
    assert won.count("fill-opacity") == 3
    assert "stroke-dasharray" not in won


@pytest.mark.parametrize(("height", "max_width"), [(240, 800), (100, 800), (240, 90)])
def test_the_size_is_kept(height, max_width):
    """A picture has the requested height, unless it would be too wide."""
    drawing = draw_state(Board(), height=height, max_width=max_width)
    root = ET.fromstring(drawing.svg)
    assert (int(root.get("width")), int(root.get("height"))) == (drawing.width, drawing.height)
    assert drawing.height == drawing.width == min(height, max_width)


def test_a_wide_game_has_a_form_for_telephones():
    """The compact form has the same clicks and values; a game without one is drawn as usual."""
    cube = Qubic.from_moves([0, 21])
    clicks = {str(move): describe_move(cube, move) for move in cube.legal_moves()}
    worth = dict.fromkeys(cube.legal_moves(), 0.5)
    wide, compact = (
        draw_state(cube, clicks, 21, 300, 900, worth, compact=form) for form in (False, True)
    )
    assert clickable(wide.svg) == clickable(compact.svg)
    assert wide.svg.count('class="value"') == compact.svg.count('class="value"') == 62
    assert compact.width < wide.width / 2
    assert has_compact_layout(cube)
    for state in (Board(), Twigs("a")):
        assert not has_compact_layout(state)
        assert draw_state(state, compact=True) == draw_state(state)


def test_a_game_that_draws_nothing_is_its_text():
    """A state without a picture is shown as text, with special characters escaped."""
    svg = draw_state(Twigs("a<b&")).svg
    text = "".join(element.text or "" for element in ET.fromstring(svg).iter())
    assert "a<b&" in text
    assert clickable(draw_state(Twigs(), {"a": "move a"}).svg) == {}


def test_words_for_states_and_moves():
    """A game describes its picture in words; otherwise its text is used."""
    assert describe_state(Board()) == "- - -; - - -; - - -. x to move"
    assert describe_move(Board(), 5) == "cell 5: row 2, column 3"
    assert re.match("Twigs", describe_state(Twigs()))
    assert describe_move(Twigs(), "a") == "move a"


def test_values_of_a_column_stand_where_marks_fall():
    """In Connect Four a move's position is a column: its value covers no mark and no line."""
    state = ConnectFour.from_moves([3, 3, 2])
    drawn = draw_state(state, {}, values=dict.fromkeys(state.legal_moves(), 0.5)).svg
    heights = [float(y) for y in re.findall(r'class="value"[^>]*translate\(\S+ (\S+)\)', drawn)]
    places = state.value_boxes().values()
    assert heights == [y + height / 2 for _, y, _, height in places]
    assert len(set(heights)) == 3
