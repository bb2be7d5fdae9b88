"""Tests of example positions: they match their one-line texts."""

import pytest

from sequence import DRAFT, OFFICIAL, PASS, State, example, sketch
from sequence.agents import beliefs
from sequence.board.layout import mask_of


def test_an_example_is_a_position_of_the_seeded_game():
    """The same text gives the same position of the seeded game, as seen by the player to move."""
    seen = example("7/4")
    assert len(seen.history) == 4 and seen == example("7/4")
    assert seen.player == seen.to_move
    state = State.deal(DRAFT, 7)
    for action in seen.history:
        state = state.after(action)
    assert state.observation() == seen


@pytest.mark.parametrize("text", ["7", "a/3", "7/-1", "7/10000", ""])
def test_what_is_no_example_is_told(text):
    """A text of another form, or beyond the end of the game, raises ValueError with the text."""
    with pytest.raises(ValueError, match="example"):
        example(text)


def test_a_sketch_has_what_was_drawn():
    """The chips, the completed sequences, the cards and the score match the text."""
    drawn = sketch("x 2,1 / X 0,1 0,2 / o 6,1 / score 1 0 / hand 2s jd / row 3c")
    assert drawn.chip_masks == (mask_of([(2, 1), (0, 1), (0, 2)]), mask_of([(6, 1)]))
    assert drawn.locked_mask == mask_of([(0, 1), (0, 2)])
    assert (drawn.sequences, drawn.hand, drawn.draft_row) == ((1, 0), ("2s", "jd"), ("3c",))
    assert len(drawn.legal_actions()) > 0


def test_a_sketch_can_be_sampled():
    """A full state sampled from a sketch has the sketch as its observation."""
    import random

    drawn = sketch("x 2,1 4,2 / o 6,1 / hand 2s jd / row 3c jh")
    assert beliefs.sample(drawn, random.Random(1)).observation(0) == drawn


def test_a_sketch_may_be_of_another_player_rule_set_or_turn():
    """It can show player 1 to move, the official rules, and a turn in which a trade was made."""
    other = sketch("x 2,1 / hand 2s / player 1 / rules official")
    assert (other.player, other.to_move, other.side, other.rules) == (1, 1, 1, OFFICIAL)
    assert not any(action.draft_card for action in other.legal_actions())
    four = sketch("X 1,1 1,2 1,3 1,4 1,5 / score 1 0 / player 2 / players 4")
    assert (four.player, four.side, four.rules, four.sequences) == (
        2,
        0,
        DRAFT.for_players(4),
        (1, 0),
    )
    assert four.deck_size == 104 - 3 * 6
    dead = "x 0,1 8,6 / hand 2s / row 3c"
    assert [action.kind for action in sketch(dead).legal_actions()] == ["trade", "trade"]
    assert list(sketch(f"{dead} / traded").legal_actions()) == [PASS]


@pytest.mark.parametrize(
    "text",
    [
        "x 0,0",
        "player 2",
        "player 4 / players 4",
        "players 3",
        "rules none",
        "traded 1",
        "row 2d / rules official",
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
    """Invalid or too many cells, cards, parts and sequences raise ValueError."""
    with pytest.raises(ValueError):
        sketch(text)
