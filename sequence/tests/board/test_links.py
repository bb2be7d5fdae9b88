"""Tests of chips, lines and links: hand-made cases, and invariants on random boards."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sequence import FORGO, State, sketch
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import CARDS
from sequence.board.layout import BIT, CELLS, CORNERS, DIRECTIONS, LINES, cells_of
from sequence.board.links import Chips, line_text, links, neighbours, plays_of, reach

DRAWN = sketch("x 4,4 4,6 3,5 / o 5,5 3,7 2,5 / hand 4h 2h jh / row 3c jd")  # of notebook 12
cells = st.sampled_from(CELLS[:96])
directions = st.sampled_from(DIRECTIONS)


@st.composite
def boards(draw):
    """Chips on random cells; completed sequences are drawn as well, wherever they are."""
    marks = draw(st.lists(st.sampled_from("____xoXO"), min_size=96, max_size=96))
    masks = {kind: sum(1 << k for k, mark in enumerate(marks) if mark == kind) for kind in "xoXO"}
    return Chips(
        masks["x"] | masks["X"] | CORNERS,
        masks["o"] | masks["O"] | CORNERS,
        masks["X"] | masks["O"],
    )


def test_lines_of_the_notebook():
    """The lines through (4, 5) in the notebook's position have the stated texts and links."""
    chips = Chips.seen_by(DRAWN)
    down, across, *_ = (line_text(chips, (4, 5), direction) for direction in DIRECTIONS)
    assert (down, across) == ("__ox#o___", "___x#x___")
    assert [links(text) for text in (across, down, "*xx_#____", "_XXX#x___", "x#__")] == [
        (3, 0),
        (0, 1),
        (4, 0),
        (3, 0),
        (0, 0),
    ]


def test_lines_at_the_edge():
    """Cells beyond the edge are omitted, and corners are "*"."""
    chips = Chips.seen_by(DRAWN)
    assert [line_text(chips, (0, 1), direction) for direction in DIRECTIONS] == [
        "#____",
        "*#____",
        "#____",
        "#_",
    ]
    assert cells_of(reach((0, 1), (1, -1))) == ((0, 1), (1, 0))


@given(boards(), cells, directions)
def test_links_are_the_best_windows(chips, cell, direction):
    """The links match a count on the cells of the board's 192 lines."""
    made, broken = [0], [0]
    for line in LINES:
        steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(line)}
        if cell in line and steps == {direction}:
            marks = [chips.mark(place) for place in line if place != cell]
            corner, counts = marks.count("*"), {mark: marks.count(mark) for mark in "xoXO"}
            if not counts["o"] + counts["O"] and counts["X"] <= 1:
                made.append(1 + counts["x"] + counts["X"] + corner)
            if not counts["x"] + counts["X"] and counts["O"] <= 1:
                broken.append(counts["o"] + counts["O"] + corner)
    assert links(line_text(chips, cell, direction)) == (max(made), max(broken))


@given(boards(), cells, directions)
def test_the_other_side_sees_the_opposite(chips, cell, direction):
    """What one side makes beyond its own chip is what the other one breaks."""
    made, broken = links(line_text(chips, cell, direction))
    turned = links(line_text(chips.flipped(), cell, direction))
    assert turned == (broken + 1 if broken or turned[0] else 0, max(made - 1, 0))


@given(cells)
def test_neighbours_are_the_cells_of_the_four_lines(cell):
    """The neighbours are the other cells of the four lines, with the index of the line's direction."""
    found = neighbours(cell)
    assert cell not in found
    for number, direction in enumerate(DIRECTIONS):
        on_line = {place for place, index in found.items() if index == number}
        assert on_line == set(cells_of(reach(cell, direction))) - {cell}


def test_chips_after_actions():
    """Completed sequences are locked, and removed chips are gone."""
    chips = Chips.seen_by(sketch("x 0,1 0,2 0,3 / o 5,5 / hand 5s jh"))
    after = chips.after(Action(PLACE, "5s", "", (0, 4)))
    assert after.locked == sum(1 << BIT[0, col] for col in range(1, 5))
    assert not after.locked & CORNERS
    assert chips.after(Action(REMOVE, "jh", "", (5, 5))).others == 0
    assert chips.after(FORGO) == chips


def test_plays_are_the_legal_actions_of_the_cards():
    """Each cell is listed once, both for the cards of the hand and for no cards."""
    state = State.deal(seed=3)
    for _ in range(12):
        state = state.after(state.legal_actions()[0])
    legal = {(one.kind, one.coords) for one in state.legal_actions() if one.coords}
    chips = Chips.seen_by(state)
    plays = list(plays_of(chips, state.hand(state.to_move)))
    assert len(plays) == len({play.coords for play in plays if play.kind == PLACE}) + sum(
        play.kind == REMOVE for play in plays
    )
    assert {(play.kind, play.coords) for play in plays} == legal
    assert list(plays_of(chips, ())) == []
    assert len(list(plays_of(chips, CARDS))) == chips.empty.bit_count() + (
        chips.removable.bit_count()
    )
