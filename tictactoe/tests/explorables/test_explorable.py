"""Tests of explorables: a picture that depends on a step and on options, and changing weights."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tictactoe import Board, Qubic
from tictactoe.explorables.explorable import Explorable, View
from tictactoe.explorables.svg_canvas import (
    label,
    normalised,
    number_text,
    svg_document,
    tinted_number,
)
from tictactoe.explorables.weights import weights_on_board

ANY = st.floats(allow_nan=True, allow_infinity=True)
STATE = Qubic.from_moves([0, 1, 21])


@pytest.fixture
def shown():
    """An explorable with four steps and two options, and the list of its calls of `draw`."""
    asked = []

    def draw(step, turned):
        asked.append((step, dict(turned)))
        return View(f"<svg>{step}</svg>", f"a picture of {step}", f"step {step}.")

    made = Explorable(
        draw,
        lambda turned: turned["c"] + 1,
        {"c": (2, 0, -1), "who": "xo"},
        initial={"who": "o", "not an option": 3},
    )
    return made, asked


def texts(svg: str) -> set[str]:
    """All texts in a picture, which must be well-formed."""
    return {part.text for part in ElementTree.fromstring(svg).iter() if part.text}


def test_it_is_drawn_from_its_step_and_its_knobs(shown):
    """Buttons, the slider and options each lead to another picture, and back to the same one."""
    made, asked = shown
    assert made.board.content["svg"] == "<svg>0</svg>"
    for move in ("next", "step 3", "set 1 0", "back", "last", "first"):
        made.click(move)
    assert [(step, *turned.values()) for step, turned in asked] == [
        (0, 2, "o"),
        (1, 2, "o"),
        (3, 2, "o"),
        (3, 2, "x"),
        (2, 2, "x"),
        (3, 2, "x"),
        (0, 2, "x"),
    ]


def test_its_knobs_are_told_to_the_page(shown):
    """Each option has its name, position, last position and value as text."""
    made, _ = shown
    assert made.board.content["options"] == [["c", 0, 2, "2"], ["who", 1, 1, "o"]]
    made.set_option("c", 0)
    assert made.board.content["options"][0] == ["c", 1, 2, "0"]
    assert made.settings == {"c": 0, "who": "o"}


def test_a_knob_may_leave_fewer_steps(shown):
    """The step is limited to the remaining ones; without steps, there is no slider or playback."""
    made, _ = shown
    made.go_to(3)
    made.set_option("c", 0)
    assert (made.step, made.last, made.board.content["last"]) == (1, 1, 1)
    made.click("set 0 2")
    assert (made.step, made.last) == (0, 0)
    assert "last" not in made.board.content
    assert made.board.content["buttons"] == []


def test_it_goes_on_by_itself_to_its_end(shown):
    """The page sends a tick for each step, and none after the last one."""
    made, _ = shown
    made.click("play")
    while "auto" in made.board.content:
        made.click(made.board.content["auto"][0])
    assert (made.step, made.playback.running) == (3, False)


def test_the_arrow_keys_step(shown):
    """The arrow keys work both in the picture and on the slider."""
    made, _ = shown
    assert made.board.content["arrows"] == {
        "ArrowLeft": "back",
        "ArrowRight": "next",
        "Home": "first",
        "End": "last",
    }


def test_without_widgets_the_picture_stays(shown):
    """An exported page has the picture, its alternative text and the line below it."""
    made, _ = shown
    bundle, _ = made._repr_mimebundle_()
    assert 'alt="a picture of 0"' in bundle["text/html"]
    assert bundle["text/plain"] == "a picture of 0\nstep 0."
    assert repr(made) == "<Explorable at 0 of 3, c = 2, who = o: step 0.>"


def test_what_cannot_be_drawn_is_said():
    """The first error is raised in the cell; later ones are shown below the unchanged picture."""

    def draw(step, _turned):
        if step == 1:
            raise NotImplementedError("score: write this function")
        return View("<svg/>", "a picture", "fine.")

    with pytest.raises(NotImplementedError):
        Explorable(draw, 2, step=1)
    made = Explorable(draw, 2)
    made.board._clicked(None, {"move": "next"}, None)
    assert "score: write this function" in made.board.content["status"]
    assert made.board.content["svg"] == "<svg/>"


@pytest.mark.parametrize(
    ("options", "initial", "message"),
    [
        ({"c": ()}, {}, "the option 'c' has no values"),
        ({"c": (0, 1)}, {"c": 2}, "the option 'c' cannot begin at 2; its values are 0, 1"),
    ],
)
def test_an_option_without_its_value_is_refused(options, initial, message):
    """The error message names the option."""
    with pytest.raises(ValueError, match=message):
        Explorable(lambda *_: View("", "", ""), options=options, initial=initial)


@given(st.text())
def test_texts_are_escaped(text):
    """A text with any characters is displayed as text, and the picture is well-formed."""
    text = "".join(letter for letter in text if letter.isprintable())
    assert f"<b>&'\"{text}" in texts(svg_document(1, 1, [label(0, 0, f"<b>&'\"{text}")]))


@given(ANY, ANY, ANY)
def test_any_number_can_be_tinted(value, most, least):
    """Every number is displayed, however large it is."""
    strength = normalised(value, most, least)
    assert 0 <= strength <= 1
    assert number_text(value) in texts(
        svg_document(9, 9, [tinted_number((0, 0, 9, 9), value, strength, True)])
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text("ab<&'", max_size=3),
            st.dictionaries(st.text('xy<&"', min_size=1), ANY, min_size=1, max_size=4),
        ),
        min_size=1,
        max_size=3,
    ),
    st.dictionaries(st.sampled_from(STATE.legal_moves()), ANY),
)
def test_weights_of_any_size(snapshots, values):
    """Each snapshot is well-formed and contains all named weights and all values of moves."""
    made = weights_on_board(snapshots, STATE, lambda weights: values)
    for step, (_, weights) in enumerate(snapshots):
        made.go_to(step)
        assert {*weights, *map(number_text, [*weights.values(), *values.values()])} <= texts(
            made.view.svg
        )
        assert all(
            f"{name} {number_text(weight)}" in made.view.alt for name, weight in weights.items()
        )


def test_weights_make_the_values():
    """Values are computed with the weights of the displayed snapshot, and the best move is named."""
    made = weights_on_board(
        [("untrained", {"a": 0}), ("10 games", {"a": 2})],
        Board("x___o____"),
        lambda weights: {1: -weights["a"], 5: weights["a"] / 8},
        lambda kind: f"kind {kind}",
    )
    assert made.view.status == (
        "untrained. Best of 2 moves, with 0: cell 1: row 1, column 2; cell 5: row 2, column 3."
    )
    made.click("next")
    assert made.view.status == "10 games. Best of 2 moves, with 0.25: cell 5: row 2, column 3."
    assert {"kind a", "2", "0.25", "\N{MINUS SIGN}2"} <= texts(made.view.svg)
    assert len(re.findall('stroke-width="2.5"', made.view.svg)) == 1  # the best move's frame


def test_snapshots_are_needed():
    """An empty list of snapshots is an error."""
    with pytest.raises(ValueError, match="no snapshots"):
        weights_on_board([], STATE, lambda weights: {})
