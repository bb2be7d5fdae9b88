"""The positions to think about are what their one line of text says."""

import pytest

from sequence import DRAFT, State, example, sketch
from sequence.agents import beliefs
from sequence.board.layout import mask_of


def test_an_example_is_a_position_of_the_seeded_game():
    """The same text is the same position, dealt by its seed, seen by the player to move."""
    seen = example("7/4")
    assert len(seen.history) == 4 and seen == example("7/4")
    assert seen.player == seen.to_move
    state = State.deal(DRAFT, 7)
    for action in seen.history:
        state = state.after(action)
    assert state.observation() == seen


@pytest.mark.parametrize("text", ["7", "a/3", "7/-1", "7/10000", ""])
def test_what_is_no_example_is_told(text):
    """A text of another form, or beyond the end of the game, is a ValueError that shows it."""
    with pytest.raises(ValueError, match="example"):
        example(text)


def test_a_sketch_has_what_was_drawn():
    """Chips, chips in sequences, cards and score stand where the text put them."""
    drawn = sketch("x 2,1 / X 0,1 0,2 / o 6,1 / score 1 0 / hand 2s jd / row 3c")
    assert drawn.chip_masks == (mask_of([(2, 1), (0, 1), (0, 2)]), mask_of([(6, 1)]))
    assert drawn.locked_mask == mask_of([(0, 1), (0, 2)])
    assert (drawn.sequences, drawn.hand, drawn.draft_row) == ((1, 0), ("2s", "jd"), ("3c",))
    assert len(drawn.legal_actions()) > 0


def test_a_sketch_can_be_sampled():
    """A full state that fits a sketch has the sketch as its observation."""
    import random

    drawn = sketch("x 2,1 4,2 / o 6,1 / hand 2s jd / row 3c jh")
    assert beliefs.sample(drawn, random.Random(1)).observation(0) == drawn


@pytest.mark.parametrize(
    "text",
    [
        "x 0,0",
        "x 2,1 / o 2,1",
        "x 2,10",
        "x 21",
        "hand 1s",
        "foo 1",
        "score 1",
        "x a,b",
        "x 1,2,3",
        "hand 2d 3d 4d 5d 6d 7d 8d",
        "row 2d 3d 4d 5d 6d 7d",
        "hand 2d 2d / row 2d",
        "score 2 0",
    ],
)
def test_what_is_no_sketch_is_told(text):
    """No or too many cells, cards, parts and sequences are each a ValueError."""
    with pytest.raises(ValueError):
        sketch(text)
