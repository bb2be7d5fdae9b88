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
    assert (turned.value, turned.board.shown["status"]) == (0.5, "c = 0.5")
    turned.click("step 2")
    assert turned.value == 2
    assert turned.board.shown["svg"] == "<svg>2</svg>"
    assert (turned.board.shown["step"], turned.board.shown["last"]) == (2, 2)


def test_a_picture_is_drawn_once(drawn):
    """Only when it is looked at, and not again."""
    turned, asked = drawn
    for step in (0, 1, 0):
        turned.click(f"step {step}")
    assert asked == [0.5, 0]


@pytest.mark.parametrize("move", ["step 3", "step -1", "step x", "stop 1", ""])
def test_what_is_no_setting_is_ignored(drawn, move):
    """A click on an older picture changes nothing."""
    turned, asked = drawn
    turned.click(move)
    assert (turned.value, asked) == (0.5, [0.5])


def test_without_widgets_the_picture_stays(drawn):
    """An exported page has the picture with its words."""
    turned, _ = drawn
    bundle, _ = turned._repr_mimebundle_()
    assert 'alt="a picture of 0.5"' in bundle["text/html"]
    assert "c = 0.5" in bundle["text/plain"]
    assert repr(turned) == "<Knob c = 0.5: a picture of 0.5>"


def test_it_begins_at_one_of_its_settings():
    """A number that is none is refused in a sentence."""
    with pytest.raises(ValueError, match="a knob with 2 values has no value number 2"):
        knob("c", (0, 1), lambda value: Picture("", ""), at=2)
