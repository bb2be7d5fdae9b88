"""Tests of the slider that shows a picture for each value of an option."""

import pytest

from tictactoe.explorables.select import option_slider
from tictactoe.games.pictures import Picture


@pytest.fixture
def drawn():
    """A slider with three values, and the list of the values drawn so far."""
    asked = []

    def draw(value):
        asked.append(value)
        return Picture(f"<svg>{value}</svg>", f"a picture of {value}")

    return option_slider("c", (0, 0.5, 2), draw, initial=1), asked


def test_turning_it_shows_another_picture(drawn):
    """The slider shows the position, and the text shows the value."""
    turned, _ = drawn
    assert (turned.settings, turned.board.content["status"]) == ({"c": 0.5}, "c = 0.5")
    turned.click("set 0 2")
    assert turned.settings == {"c": 2}
    assert turned.board.content["svg"] == "<svg>2</svg>"
    assert turned.board.content["options"] == [["c", 2, 2, "2"]]
    assert "last" not in turned.board.content  # no steps, and no buttons for them
    assert turned.board.content["buttons"] == []


def test_the_arrow_keys_turn_it(drawn):
    """The arrow keys work in the picture and on the slider, and stop at its ends."""
    turned, asked = drawn
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"):
        turned.click(turned.board.content["arrows"][key])
    assert turned.settings == {"c": 2}
    assert asked == [0.5, 2, 0]


def test_a_picture_is_drawn_once(drawn):
    """A picture is drawn when it is first displayed, and not again."""
    turned, asked = drawn
    for number in (0, 1, 0):
        turned.click(f"set 0 {number}")
    assert asked == [0.5, 0]


def test_a_number_beyond_its_settings_is_the_last_one(drawn):
    """A click on an older picture does not cause an error."""
    turned, _ = drawn
    turned.click("set 0 9")
    assert turned.settings == {"c": 2}


def test_without_widgets_the_picture_stays(drawn):
    """An exported page has the picture with its alternative text."""
    turned, _ = drawn
    bundle, _ = turned._repr_mimebundle_()
    assert 'alt="a picture of 0.5"' in bundle["text/html"]
    assert "c = 0.5" in bundle["text/plain"]


def test_it_begins_at_one_of_its_settings():
    """An invalid initial index is rejected with an error message."""
    with pytest.raises(ValueError, match="an option with 2 values has no value number 2"):
        option_slider("c", (0, 1), lambda value: Picture("", ""), initial=2)
