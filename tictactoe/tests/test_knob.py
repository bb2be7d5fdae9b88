"""A knob shows a picture for each of its settings."""

import pytest

from tictactoe.games.pictures import Picture
from tictactoe.show.knob import knob


@pytest.fixture
def drawn():
    """A knob with three settings, and the settings that it has drawn so far."""
    asked = []

    def draw(value):
        asked.append(value)
        return Picture(f"<svg>{value}</svg>", f"a picture of {value}")

    return knob("c", (0, 0.5, 2), draw, at=1), asked


def test_turning_it_shows_another_picture(drawn):
    """The slider says which, and the words tell the setting."""
    turned, _ = drawn
    assert (turned.settings, turned.board.shown["status"]) == ({"c": 0.5}, "c = 0.5")
    turned.click("turn 0 2")
    assert turned.settings == {"c": 2}
    assert turned.board.shown["svg"] == "<svg>2</svg>"
    assert turned.board.shown["knobs"] == [["c", 2, 2, "2"]]
    assert "last" not in turned.board.shown  # no steps, and no buttons for them
    assert turned.board.shown["buttons"] == []


def test_the_arrow_keys_turn_it(drawn):
    """From the picture as well as on the slider, and no further than its ends."""
    turned, asked = drawn
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"):
        turned.click(turned.board.shown["arrows"][key])
    assert turned.settings == {"c": 2}
    assert asked == [0.5, 2, 0]


def test_a_picture_is_drawn_once(drawn):
    """Only when it is looked at, and not again."""
    turned, asked = drawn
    for number in (0, 1, 0):
        turned.click(f"turn 0 {number}")
    assert asked == [0.5, 0]


def test_a_number_beyond_its_settings_is_the_last_one(drawn):
    """A click on an older picture leads to no error."""
    turned, _ = drawn
    turned.click("turn 0 9")
    assert turned.settings == {"c": 2}


def test_without_widgets_the_picture_stays(drawn):
    """An exported page has the picture with its words."""
    turned, _ = drawn
    bundle, _ = turned._repr_mimebundle_()
    assert 'alt="a picture of 0.5"' in bundle["text/html"]
    assert "c = 0.5" in bundle["text/plain"]


def test_it_begins_at_one_of_its_settings():
    """A number that is none is refused in a sentence."""
    with pytest.raises(ValueError, match="a knob with 2 values has no value number 2"):
        knob("c", (0, 1), lambda value: Picture("", ""), at=2)
