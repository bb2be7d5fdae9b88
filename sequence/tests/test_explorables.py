"""Tests of the explorables for Sequence: scores, replies, hidden hands and rays."""

from itertools import product
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence import OFFICIAL, Action, Greedy, State, example, play, sketch
from sequence import Random as RandomPlayer
from sequence.agents.beliefs import possible_cards, sample
from sequence.board.cards import CARDS
from sequence.board.layout import cells_of
from sequence.pictures.words import card_name
from sequence.widget.hidden_hand import card_probabilities, hidden_hand
from sequence.widget.rays import read_along
from sequence.widget.replies import reply_board
from sequence.widget.scores import score_board
from tictactoe.explorables.svg_canvas import number_text

ANY = st.floats(allow_nan=True, allow_infinity=True)
POSITION = sketch("x 4,2 4,3 / o 6,1 / hand 4h jh 9c / row 3c 9s")
OPEN = cells_of(POSITION.empty_mask)
ACTIONS = (
    Action("place", "4h", "3c", (4, 5)),
    Action("remove", "jh", "9s", (6, 1)),
    Action("place", "9c", "9s", (4, 0)),
)
WORLDS = 4000  # sampled states to compare with computed probabilities


def texts(svg: str) -> set[str]:
    """All texts in a picture, which must be well-formed."""
    return {part.text for part in ElementTree.fromstring(svg).iter() if part.text}


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.sampled_from(OPEN), ANY, min_size=1))
def test_any_scores_are_shown(scores):
    """Every cell shows its number, whatever it is."""
    made = score_board(POSITION, scores, scores.get, {})
    assert set(map(number_text, scores.values())) <= texts(made.view.svg)
    ElementTree.fromstring(made.view.svg)


def test_knobs_change_the_scores():
    """The score function gets the settings by name; the line shows them and the best cells."""
    made = score_board(
        POSITION,
        OPEN,
        lambda cell, line, board: line * cell[0] + board * cell[1],
        {"line": (0, 10), "board": (0.25, 1)},
        initial={"line": 10, "sequence": 3},
    )
    assert made.view.status == (
        "line = 10, board = 0.25. The best cells: 9,8 with 92, 9,7 with 91.8, 9,6 with 91.5."
    )
    made.set_option("line", 0)
    made.set_option("board", 1)
    assert "The best cells: 1,9 with 9, " in made.view.status
    assert made.view.status in made.view.alt
    assert "On each cell: 0,1 1; 0,2 2; " in made.view.alt
    assert "Chips of side 0: 4,2 4,3" in made.view.alt


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from(OPEN), ANY, min_size=1), st.integers(0, 2))
def test_any_replies_are_shown(costs, step):
    """Every reply's number is on its cell."""
    replies = {Action("place", "jd", coords=cell): cost for cell, cost in costs.items()}
    made = reply_board(POSITION, ACTIONS, lambda action: replies)
    made.go_to(step)
    assert set(map(number_text, costs.values())) <= texts(made.view.svg)
    assert f"Replies considered: {len(costs)};" in made.view.status


def test_an_action_is_chosen_and_its_sum_told():
    """The board shows the action, the worse of two replies on a cell counts, and the parts are
    added up.
    """
    asked = []

    def replies(action):
        asked.append(action)
        return {
            Action("place", "jd", coords=(3, 3)): 7,
            Action("place", "5c", coords=(3, 3)): 12,
            Action("place", "2s", coords=(0, 1)): 5,
        }

    made = reply_board(POSITION, ACTIONS, replies, lambda action: {"reward": 20, "reply": -10.8})
    assert made.view.status == (
        "1 of 3: place 4♥ at 4,5, take 3♣. Replies considered: 3; the best for the others: place "
        "5♣ at 3,3 (12), place J♦ at 3,3 (7), place 2♠ at 0,1 (5). Value: reward 20, reply "
        "\N{MINUS SIGN}10.8; in all 9.2."
    )
    assert {"12", "5"} <= texts(made.view.svg)
    assert "Chips of side 0: 4,2 4,3 4,5" in made.view.alt
    assert "Player 1 to move" in made.view.alt
    made.click("next")
    assert "Chips of side 1: none" in made.view.alt
    assert asked == [ACTIONS[0], ACTIONS[1]]


def test_after_a_trade_and_at_the_end_of_a_line():
    """A trade does not end the turn; a completed sequence is drawn as one."""
    four = sketch("x 4,1 4,2 4,3 4,4 / hand 4h 2s / row 3c")
    made = reply_board(
        four, [Action("trade", "2s", "3c"), Action("place", "4h", "3c", (4, 5))], lambda action: {}
    )
    assert "Player 0 to move" in made.view.alt
    assert "No reply was considered." in made.view.status
    made.click("last")
    assert "in sequences: 4,1 4,2 4,3 4,4 4,5" in made.view.alt
    assert "side 0 (circles) 1" in made.view.alt


def test_actions_are_needed():
    """An empty list of actions is an error."""
    with pytest.raises(ValueError, match="no actions"):
        reply_board(POSITION, [], lambda action: {})


@pytest.mark.parametrize("text", ["7/23", "3/20", "12/34"])
def test_chances_are_those_of_sampled_worlds(text):
    """In thousands of sampled states, each card is held as often as computed."""
    seen = example(text)
    other, rng = 1 - seen.player, Random(1)
    held = [set(sample(seen, rng).hand(other)) for _ in range(WORLDS)]
    found = card_probabilities(seen, other)
    assert {card for card in CARDS if found[card]} == possible_cards(seen, other)
    for card in CARDS:
        assert sum(card in hand for hand in held) / WORLDS == pytest.approx(found[card], abs=0.04)


def test_a_hand_fills_up():
    """Drafted cards are known, all probabilities are shown, and an option shows the true hand."""
    states = play([Greedy(), RandomPlayer(1)], seed=4).states
    made = hidden_hand(states)
    assert made.view.status.startswith(
        f"0 of {len(states) - 1}: the deal. Known for certain: 0 of 6"
    )
    made.go_to(12)
    seen, shown = states[12].observation(0), texts(made.view.svg)
    by_card = card_probabilities(seen, 1)
    assert {f"{chance:.0%}" for chance in by_card.values()} <= shown
    assert f"Known for certain: {len(seen.drafted(1))} of 6 cards" in made.view.status
    assert "true hand" not in made.view.alt
    made.set_option("the true hand", "open")
    hand = states[12].hand(1)
    assert f"The true hand: {' '.join(map(card_name, hand))}." in made.view.status
    assert made.view.svg.count('stroke-dasharray="5 3"') == len(set(hand))
    made.click("last")
    ElementTree.fromstring(made.view.svg)


def test_hands_of_more_than_two_players():
    """These hands depend on each other, so an error is raised, as it is for a game without states."""
    with pytest.raises(ValueError, match="two players"):
        hidden_hand([State.deal(OFFICIAL.for_players(4))])
    with pytest.raises(ValueError, match="at least one state"):
        hidden_hand([])


def told(text):
    """A reading function: the numbers of letters and of my chips, and whether the text ends at a
    wall.
    """
    return len(text), text.count("m"), text.endswith("#")


@settings(max_examples=20, deadline=None)
@given(
    st.text("mtMT_", min_size=100, max_size=100),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from([step for step in product((-1, 0, 1), repeat=2) if any(step)]),
)
def test_any_ray_is_read(board, row, col, step):
    """A ray is read up to the edge, one cell per step, each with a row of the table."""
    made = read_along(board, (row, col), {"this way": step}, told, ("letters", "<mine>", "wall"))
    made.click("last")
    ray = [
        (row + k * step[0], col + k * step[1])
        for k in range(1, 10)
        if 0 <= row + k * step[0] < 10 and 0 <= col + k * step[1] < 10
    ]
    assert made.last == len(ray)
    text = "".join(board[10 * r + c] for r, c in ray)
    shown = texts(made.view.svg)
    assert {"<mine>", "yes", f"{text}#", str(len(text) + 1), str(text.count("m"))} <= shown


def test_a_step_says_what_changed():
    """The status line names the change since the last step; another direction keeps the step
    number.
    """
    board = 41 * "_" + "mm_m" + 55 * "_"
    made = read_along(
        board,
        (4, 0),
        {"right": (0, 1), "down": (1, 0), "up": (-1, 0)},
        told,
        ("letters", "mine", "wall"),
    )
    assert made.view.status == "right, 0 of 9 cells: letters 1, mine 0, wall yes."
    made.click("next")
    assert made.view.status == (
        "right, 1 of 9 cells: letters 2, mine 1, wall yes. Changed: letters, mine."
    )
    made.go_to(7)
    made.set_option("direction", "up")
    assert made.view.status.startswith("up, 4 of 4 cells")


@pytest.mark.parametrize("found", [None, 3, (1, 2), [1, 2, 3, 4]])
def test_a_reading_of_another_shape_is_refused(found):
    """The error message shows the text and the returned value."""
    with pytest.raises(ValueError, match=r"returned .* instead of one value for each of a, b, c"):
        read_along(100 * "_", (4, 4), {"up": (-1, 0)}, lambda text: found, "abc")


def test_a_board_of_another_size_is_refused():
    """A board of another size is rejected, as is a reading without directions."""
    with pytest.raises(ValueError, match="got 9 cells"):
        read_along(9 * "_", (0, 0), {"up": (-1, 0)}, told, "abc")
