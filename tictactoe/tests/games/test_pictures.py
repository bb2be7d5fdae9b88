"""Tests of pictures: their contents and their alternative texts."""

import base64
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Board
from tictactoe.games.pictures import BLUE, DARK_RULE, ORANGE, Picture, board_svg, image

SVG = "{http://www.w3.org/2000/svg}"


class Images(HTMLParser):
    """Collects the attributes of every img element."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert tag == "img"
        self.found.append(dict(attrs))


def only_image(page):
    """The attributes of the only image in a page, which ends with the CSS rule for the dark theme."""
    assert page.endswith(DARK_RULE)
    [attributes] = Images(page.removesuffix(DARK_RULE)).found
    return attributes


def svg_inside(page):
    """The SVG text in the only image of the page."""
    kind, data = only_image(page)["src"].split(",")
    assert kind == "data:image/svg+xml;base64"
    return base64.b64decode(data).decode()


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"))), st.text("<&\"'>é木x"))
def test_any_alternative_text_and_svg_survive(alt, svg):
    """Quotes, angle brackets and non-Latin text are kept and cannot break out of the attribute."""
    page = image(svg, alt)
    assert only_image(page)["alt"] == alt
    assert svg_inside(page) == svg


def test_width_is_optional():
    """The style contains the width only if it is given."""
    assert "width:120px" in only_image(image("<svg/>", "", 120))["style"].split(";")
    assert only_image(image("<svg/>", ""))["style"] == "max-width:none;"


@pytest.mark.parametrize("text", ["_________", "x_o_x_o__", "xxoooxxox", "xxxoo____"])
def test_a_board_shows_its_marks_and_open_cells(text):
    """The picture has a cross for each x, a ring for each o, and the number of every open cell."""
    root = ET.fromstring(board_svg(Board(text)))
    strokes = [path.get("stroke") for path in root.iter(SVG + "path")]
    assert strokes.count(BLUE) == text.count("x")
    assert [ring.get("stroke") for ring in root.iter(SVG + "circle")] == [ORANGE] * text.count("o")
    numbers = [label.text for label in root.iter(SVG + "text")]
    assert numbers == [str(cell) for cell in range(9) if text[cell] == "_"]


def test_numbers_can_be_left_out():
    """Without labels, cells have no numbers, but marks are drawn."""
    root = ET.fromstring(board_svg(Board("x_o______"), labels=False))
    assert not list(root.iter(SVG + "text"))
    assert len(list(root.iter(SVG + "circle"))) == 1


def test_rings_stand_in_their_cells():
    """Cells are numbered row by row, so the ring of cell 5 is on the right of the middle row."""
    root = ET.fromstring(board_svg(Board("x____o___")))
    [ring] = root.iter(SVG + "circle")
    side = float(root.find(SVG + "rect").get("width"))
    assert 2 / 3 < float(ring.get("cx")) / side < 1
    assert 1 / 3 < float(ring.get("cy")) / side < 2 / 3


def test_a_board_draws_itself_in_a_notebook():
    """A notebook shows the picture of the board, with the position in words as alternative text."""
    board = Board("x_o_x_o__")
    page = board._repr_html_()
    assert svg_inside(page) == board_svg(board)
    assert only_image(page)["alt"] == "tic-tac-toe board x - o; - x -; o - -. x to move"


def test_a_picture_prints_as_its_alternative_text():
    """Printing a picture shows its alternative text."""
    picture = Picture("<svg/>", "a tree of 3 nodes", 60)
    assert repr(picture) == "a tree of 3 nodes"
    assert picture._repr_html_() == image("<svg/>", "a tree of 3 nodes", 60)
