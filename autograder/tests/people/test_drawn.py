"""States as pictures to click on: those that draw themselves, and those that are only text."""

import re
import xml.etree.ElementTree as ET

import pytest

from autograder.tests.support.games import Twigs
from tictactoe import Board, ConnectFour, Qubic
from tictactoe.show.drawn import draw_state, has_narrow_form, move_words, words
from tictactoe.solver import values


def clickable(svg: str) -> dict[str, str]:
    """The labels of what can be clicked, by its move; raises if the picture is no XML."""
    return {
        element.get("data-move"): element.get("data-label")
        for element in ET.fromstring(svg).iter()
        if element.get("data-move") is not None
    }


def test_every_board_has_a_picture_with_its_legal_moves():
    """All 5,478 boards are well-formed pictures in which just the legal moves can be clicked."""
    for board in values():
        clicks = {str(move): move_words(board, move) for move in board.legal_moves()}
        assert clickable(draw_state(board, clicks).svg) == clicks


def test_nothing_can_be_clicked_unless_asked():
    """A picture without clicks is only a picture."""
    assert clickable(draw_state(Board()).svg) == {}


def test_the_last_move_and_the_winning_lane_are_marked():
    """The last move has a dashed frame; three in a lane have three shades and no dashes."""
    board = Board("xx_oo____")
    assert draw_state(board, last=1).svg.count("stroke-dasharray") == 1
    assert draw_state(board).svg.count("stroke-dasharray") == 0
    won = draw_state(board.after(2), last=2).svg
    assert won.count("fill-opacity") == 3
    assert "stroke-dasharray" not in won


@pytest.mark.parametrize(("height", "most_width"), [(240, 800), (100, 800), (240, 90)])
def test_the_size_is_kept(height, most_width):
    """A picture is as high as asked, unless it would be too wide."""
    drawing = draw_state(Board(), height=height, most_width=most_width)
    root = ET.fromstring(drawing.svg)
    assert (int(root.get("width")), int(root.get("height"))) == (drawing.width, drawing.height)
    assert drawing.height == drawing.width == min(height, most_width)


def test_a_wide_game_has_a_form_for_telephones():
    """The same can be clicked in it, with the same values; a game without one is drawn as always."""
    cube = Qubic.from_moves([0, 21])
    clicks = {str(move): move_words(cube, move) for move in cube.legal_moves()}
    worth = dict.fromkeys(cube.legal_moves(), 0.5)
    wide, narrow = (
        draw_state(cube, clicks, 21, 300, 900, worth, narrow=form) for form in (False, True)
    )
    assert clickable(wide.svg) == clickable(narrow.svg)
    assert wide.svg.count('class="value"') == narrow.svg.count('class="value"') == 62
    assert narrow.width < wide.width / 2
    assert has_narrow_form(cube)
    for state in (Board(), Twigs("a")):
        assert not has_narrow_form(state)
        assert draw_state(state, narrow=True) == draw_state(state)


def test_a_game_that_draws_nothing_is_its_text():
    """A state without a picture of its own is written out, special signs and all."""
    svg = draw_state(Twigs("a<b&")).svg
    text = "".join(element.text or "" for element in ET.fromstring(svg).iter())
    assert "a<b&" in text
    assert clickable(draw_state(Twigs(), {"a": "move a"}).svg) == {}


def test_words_for_states_and_moves():
    """A game says in words what it shows; one that cannot is shown as it prints."""
    assert words(Board()) == "- - -; - - -; - - -. x to move"
    assert move_words(Board(), 5) == "cell 5: row 2, column 3"
    assert re.match("Twigs", words(Twigs()))
    assert move_words(Twigs(), "a") == "move a"


def test_values_of_a_column_stand_where_marks_fall():
    """In Connect Four a move's place is a column: its value lies on no mark and on no line."""
    state = ConnectFour.from_moves([3, 3, 2])
    drawn = draw_state(state, {}, values=dict.fromkeys(state.legal_moves(), 0.5)).svg
    heights = [float(y) for y in re.findall(r'class="value"[^>]*translate\(\S+ (\S+)\)', drawn)]
    places = state.value_boxes().values()
    assert heights == [y + height / 2 for _, y, _, height in places]
    assert len(set(heights)) == 3
