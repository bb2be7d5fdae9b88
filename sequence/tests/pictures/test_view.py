"""Tests of pictures of Sequence and their descriptions in words."""

import base64
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache
from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sequence import DRAFT, OFFICIAL, Greedy, Random, State, play
from sequence.board.actions import REMOVE
from sequence.board.cards import BOARD_CARDS, CARDS
from sequence.board.layout import BIT, HEART_CELLS, SIZE, card_at, cells_of, mask_of
from sequence.engine.replay import read
from sequence.pictures.pieces import COLOURS
from sequence.pictures.view import LEFT, SMALL, SQUARE, TOP, completed_lines, picture
from sequence.pictures.words import SHAPES, action_text, card_name, describe_position, spoken_card
from sequence.tests.support.positions import board_of, state_from

SVG = "{http://www.w3.org/2000/svg}"
RULES = (
    DRAFT,
    DRAFT.for_players(4),
    OFFICIAL,
    OFFICIAL.for_players(3),
    OFFICIAL.for_players(12, 3),
)
REPLAYS = Path(__file__).parents[1] / "engine" / "replays"
NOTHING = "..........\n" * SIZE


@cache
def random_game(rules, seed):
    """A game played at random."""
    return play([Random() for _ in range(rules.players)], seed, rules)


positions = st.builds(
    lambda rules, seed, share: (game := random_game(rules, seed)).states[
        round(share * (len(game.states) - 1))
    ],
    st.sampled_from(RULES),
    st.integers(0, 3),
    st.floats(0, 1),
)


def drawn(position, *args, **kwargs):
    """The picture as elements; an error if it is not well-formed."""
    return ET.fromstring(picture(position, *args, **kwargs))


def cell_at(x, y):
    """The cell that contains a point of the picture; None outside the board."""
    cell = ((float(y) - TOP) // SQUARE, (float(x) - LEFT) // SQUARE)
    return cell if cell in BIT else None


def words_on_board(root):
    """The text on every cell."""
    on_cards = {
        text
        for group in root.iter(SVG + "g")
        if group.get("data-card")
        for text in group.iter(SVG + "text")
    }
    found = {}
    for text in set(root.iter(SVG + "text")) - on_cards:
        if cell := cell_at(text.get("x"), text.get("y")):
            assert cell not in found
            found[cell] = text.text.rstrip("\N{VARIATION SELECTOR-15}")
    return found


def chips_by_cell(root):
    """The shape and colour of the chip on every cell that has one."""
    found = {}
    for group in root.iter(SVG + "g"):
        if group.get("data-cell"):
            for shape in group:
                words = shape.get("class", "").split()
                if words[:1] == ["chip"]:
                    row, col = map(int, group.get("data-cell").split(","))
                    found[row, col] = (words[1], shape.get("fill"))
    return found


def cards_shown(root):
    """The number of face-up copies of each card next to the board."""
    return Counter(
        group.get("data-card") for group in root.iter(SVG + "g") if group.get("data-card")
    )


def backs(root):
    """The number of face-down cards."""
    return sum(group.get("class") == "back" for group in root.iter(SVG + "g"))


@given(positions)
def test_every_cell_shows_its_card(state):
    """The card is legible on every cell, even under a chip; the corners are free."""
    expected = {cell: card_name(card_at(cell)) if card_at(cell) else "free" for cell in BIT}
    assert words_on_board(drawn(state)) == expected


@given(positions)
def test_every_chip_is_shown_by_shape_and_colour(state):
    """Each side has its own shape and colour, on the cells where its chips are."""
    expected = {
        cell: (SHAPES[side], COLOURS[side])
        for side, mask in enumerate(state.chip_masks)
        for cell in cells_of(mask)
    }
    assert chips_by_cell(drawn(state)) == expected
    assert len(set(SHAPES)) == len(set(COLOURS)) == 3


def test_shapes_are_what_they_are_called():
    """The shapes called circle, square and triangle are drawn as such."""
    board = board_of(NOTHING[:11] + ".xoz......\n" + NOTHING[22:])
    state = state_from(board, [["2s"], ["3s"], ["4s"]], rules=OFFICIAL.for_players(3))
    tags = {}
    for group in drawn(state).iter(SVG + "g"):
        for shape in group if group.get("data-cell") else ():
            if shape.get("class"):
                tags[shape.get("class")] = shape
    assert tags["chip circle"].tag == SVG + "circle"
    assert tags["chip square"].get("width") == tags["chip square"].get("height")
    assert [letter for letter in tags["chip triangle"].get("d") if letter.isalpha()] == list("MLHZ")


@given(positions)
def test_hands_and_row(state):
    """The hand of the player to move, the row, and openly drafted cards of other hands are face up."""
    root, mover = drawn(state), state.to_move
    seen = state.observation()
    others = [player for player in range(state.rules.players) if player != mover]
    known = [card for player in others for card in seen.drafted(player)]
    assert cards_shown(root) == Counter([*state.hand(mover), *state.draft_row, *known])
    assert backs(root) == len(others) * state.rules.hand - len(known)


@given(positions, st.integers(0, 11))
def test_an_observation_is_drawn_from_its_own_seat(state, seat):
    """The picture of an observation shows the observer's hand, whoever is to move."""
    seat %= state.rules.players
    seen = state.observation(seat)
    root = drawn(seen)
    assert not cards_shown(root) - Counter(
        [
            *seen.hand,
            *seen.draft_row,
            *(card for player in range(state.rules.players) for card in seen.drafted(player)),
        ]
    )
    assert Counter(seen.hand) <= cards_shown(root)


@given(positions)
def test_a_telephone_shows_the_same(state):
    """The compact layout has the same words, cards and chips, and is narrower."""
    wide, compact = drawn(state), drawn(state, compact=True)
    assert [text.text for text in wide.iter(SVG + "text")] == [
        text.text for text in compact.iter(SVG + "text")
    ]
    assert cards_shown(wide) == cards_shown(compact)
    assert chips_by_cell(wide) == chips_by_cell(compact)
    assert float(compact.get("width")) < 0.7 * float(wide.get("width"))


def test_all_hands_can_be_open():
    """With all hands given, no card is face down, and all have the same size."""
    state = State.deal(seed=1)
    hands = {player: state.hand(player) for player in range(2)}
    assert f"scale({SMALL})" in picture(state)
    assert f"scale({SMALL})" not in picture(state, hands)
    root = drawn(state, hands)
    assert backs(root) == 0
    assert cards_shown(root) == Counter([*hands[0], *hands[1], *state.draft_row])


@given(positions)
def test_sequences_are_found_again(state):
    """The lines through completed sequences, and the heart, cover exactly the chips in them."""
    ends, heart = completed_lines(state.observation())
    cells = {cell for start, end in ends for cell in between(start, end)}
    locked = {cell for cell in cells if card_at(cell)} | (set(HEART_CELLS) if heart else set())
    assert locked == set(cells_of(state.locked_mask))
    root = drawn(state)
    lines = [path for path in root.iter() if path.get("class") == "sequence"]
    assert len(lines) == 2 * (len(ends) + heart)  # each has a white edge


def between(start, end):
    """The cells from one end of a line to the other."""
    step = [(there > here) - (there < here) for here, there in zip(start, end, strict=True)]
    length = 1 + max(abs(there - here) for here, there in zip(start, end, strict=True))
    return [(start[0] + k * step[0], start[1] + k * step[1]) for k in range(length)]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_lines_count_what_the_score_says(rules):
    """At the end of random games, the number of drawn lines matches the number of sequences."""
    chance = random.Random(2)
    for seed in range(40):
        state = State.deal(rules, seed)
        while not state.is_over:
            state = state.after(state.legal_actions().choose(chance))
        ends, heart = completed_lines(state.observation())
        counts = [{5: 1, 9: 2}[len(between(*line))] for line in ends]
        assert sum(counts) + 2 * heart == sum(state.sequences)


def test_nine_in_a_row_are_one_line():
    """A chip in the middle of eight completes two sequences, which are one line of nine."""
    cells = [(8, col) for col in (0, 1, 2, 3, 5, 6, 7, 8, 4)]
    state = played_on(cells)
    assert state.sequences == (2, 0)
    assert completed_lines(state.observation()) == ([((8, 0), (8, 8))], False)


def test_a_five_beside_a_corner_is_one_line():
    """A five that ends next to a corner is not drawn as a second line with the corner."""
    state = played_on([(0, col) for col in (4, 5, 7, 8, 6)])
    assert state.sequences == (1, 0)
    assert completed_lines(state.observation()) == ([((0, 4), (0, 8))], False)


def test_a_replay_with_sequences_has_lines():
    """The committed game with completed sequences shows a line for each of them."""
    final = read((REPLAYS / "draft.txt").read_text(encoding="utf-8"))[-1]
    ends, heart = completed_lines(final.observation())
    assert len(ends) + 2 * heart == sum(final.sequences) > 0


def test_chips_in_sequences_look_different():
    """A chip in a sequence has an additional ring and a thicker edge."""
    board = board_of("*XXXX....*\n" + NOTHING[11:22] + "x.........\n" + NOTHING[33:])
    root = drawn(state_from(board, [["2s"], ["3s"]], sequences=(1, 0)))
    groups = {group.get("data-cell"): group for group in root.iter(SVG + "g")}
    locked, plain = (list(groups[cell].iter(SVG + "circle")) for cell in ("0,1", "2,0"))
    assert len(locked) == len(plain) + 1
    assert float(locked[0].get("stroke-width")) > float(plain[0].get("stroke-width"))


@given(positions)
def test_the_last_move_is_marked(state):
    """The cell of the latest chip has a frame, with a cross if the chip was removed."""
    marks = [group for group in drawn(state).iter(SVG + "g") if group.get("class") == "last"]
    moves = [action for action in state.history if action.coords]
    assert len(marks) == min(1, len(moves))
    if marks:
        frame = marks[0].find(SVG + "rect")
        assert cell_at(frame.get("x"), frame.get("y")) == moves[-1].coords
        assert len(marks[0].findall(SVG + "path")) == 1 + (moves[-1].kind == REMOVE)


def test_what_can_be_clicked_is_marked():
    """Clickable elements have an escaped move and label, and selected ones are marked."""
    state = State.deal(seed=1)
    clicks = {"card 4d": 'four of "diamonds" & <more>', "cell 2,4": "here", "take jh": "this"}
    root = drawn(state, clicks=clicks, chosen={"card 4d"})
    found = {group.get("data-move"): group for group in root.iter() if group.get("data-move")}
    assert {move: group.get("data-label") for move, group in found.items()} == clicks
    assert {move for move, group in found.items() if group.get("data-pressed") == "true"} == {
        "card 4d"
    }
    assert not [group for group in drawn(state).iter() if group.get("data-move")]


def test_what_can_be_clicked_looks_different():
    """A clickable cell or card differs from the others in its fill and edge."""
    state = State.deal(seed=1)
    clicks = {"cell 2,4": "", "card 4d": "", "take jh": ""}
    looks = {}
    for group in drawn(state, clicks=clicks).iter(SVG + "g"):
        name = group.get("data-cell") or group.get("data-card")
        if name in ("2,4", "7,9", "4d", "kd", "jh", "6d"):
            shape = group.find(SVG + "rect")
            looks[name] = [shape.get(key) for key in ("fill", "stroke", "stroke-width")]
    for there, other in (("2,4", "7,9"), ("4d", "kd"), ("jh", "6d")):
        assert all(a != b for a, b in zip(looks[there], looks[other], strict=True))


def test_of_two_equal_cards_one_is_chosen():
    """A selected card of which the hand contains two copies is raised only once."""
    state = state_from(board_of(NOTHING), [["2s", "2s", "3s"], ["5d"]], ["4d", "6d"])
    root = drawn(state, clicks={"card 2s": "", "card 3s": ""}, chosen={"card 2s"})
    ways = [
        group.get("transform") for group in root.iter(SVG + "g") if group.get("data-card") == "2s"
    ]
    assert len(ways) == len(set(ways)) == 2


def test_a_large_table_fits():
    """Twelve open hands are drawn small, so the picture is less than twice as high as the board."""
    state = State.deal(OFFICIAL.for_players(12), seed=1)
    root = drawn(state, {player: state.hand(player) for player in range(12)})
    assert float(root.get("height")) < 2 * SIZE * SQUARE


def test_words_of_a_position():
    """The alternative text contains the score, the turn, the last action, the cards and the chips."""
    state = State.deal(seed=1)
    state = state.after(state.legal_actions()[0])
    assert describe_position(state) == (
        "Sequence, draft, 2 players in 2 teams. Player 1 to move. "
        "Sequences: side 0 (circles) 0, side 1 (squares) 0; 2 to win. "
        "Last actions: player 0: place 4d at 2,4 take 6d. "
        f"Hand of player 1: {' '.join(state.hand(1))}. Player 0 holds 6d and 5 hidden cards. "
        f"Draft row: {' '.join(state.draft_row)}. "
        "Undealt: 86, discards: 1. Chips of side 0: 2,4. Chips of side 1: none."
    )


@given(positions, st.booleans())
def test_the_words_have_the_cards_of_the_picture(state, is_open):
    """The description lists every drawn face-up card, and the number of hidden cards."""
    hands = {player: state.hand(player) for player in range(state.rules.players)}
    hands = hands if is_open else None
    root, words = drawn(state, hands), re.findall(r"[\w,]+", describe_position(state, hands))
    for card, times in cards_shown(root).items():
        assert words.count(card) >= times
    told = re.findall(r"(\d+) hidden", describe_position(state, hands))
    assert sum(map(int, told)) == backs(root)


@given(positions)
def test_the_words_have_the_actions_of_the_picture(state):
    """The description lists the latest three actions in order."""
    latest = list(state.observation().plays())[-3:]
    told = "; ".join(f"player {player}: {action}" for player, action in latest)
    assert (f"Last actions: {told}. " in describe_position(state)) == bool(state.history)
    shown = [text.text for text in drawn(state).iter(SVG + "text")]
    for player, action in latest:
        assert f"player {player}: {action_text(action)}" in shown


@given(positions)
def test_the_picture_is_whole_pixels_high(state):
    """The height is a whole number, without rounding errors."""
    assert drawn(state).get("height").isdecimal()


def test_words_of_a_finished_game():
    """At the end, the text names the winner and the chips in sequences."""
    final = play([Greedy(), Random()], seed=1).final
    text = describe_position(final, {player: final.hand(player) for player in range(2)})
    assert "Side 0 has won." in text
    assert "side 0 (circles) 2, side 1 (squares) 0" in text
    assert "Hand of player 0: " in text
    assert "Hand of player 1: " in text
    locked = " ".join(f"{row},{col}" for row, col in cells_of(final.locked_mask))
    assert f"in sequences: {locked}." in text


def test_words_without_a_row():
    """If cards are drawn blind, the description has no draft row."""
    assert "Draft row" not in describe_position(State.deal(OFFICIAL, seed=1))


@pytest.mark.parametrize(
    "position",
    [State.deal(seed=3), State.deal(seed=3).observation(1), play([Random(), Random()], seed=3)],
)
def test_positions_draw_themselves(position):
    """At the end of a cell, states, observations and games show their picture with its description."""
    page = position._repr_html_()
    shown = getattr(position, "final", position)
    assert page.startswith(f'<img alt="{escape(describe_position(shown))}"')
    assert base64.b64encode(picture(shown).encode()).decode() in page


def test_the_picture_has_a_title_and_a_description():
    """The SVG contains a title and a description."""
    state = State.deal(seed=1)
    root = drawn(state)
    assert root.find(SVG + "title").text == "Sequence"
    assert root.find(SVG + "desc").text == describe_position(state)


def test_all_cards_have_names():
    """Every card has unique printed and spoken names, and those of jacks include their use."""
    assert len({card_name(card) for card in CARDS}) == len(CARDS)
    assert len({spoken_card(card) for card in CARDS}) == len(CARDS)
    assert [spoken_card(card) for card in ("jd", "jh", "as", "2c")] == [
        "jack of diamonds, wild",
        "jack of hearts, removes a chip",
        "ace of spades",
        "2 of clubs",
    ]


def test_the_heart_has_a_frame():
    """The four cells in the middle are framed as a sequence once one side has them all."""
    final = played_on(HEART_CELLS)
    assert completed_lines(final.observation()) == ([], True)
    assert final.locked_mask == mask_of(HEART_CELLS)
    frames = [
        shape for shape in drawn(final).iter(SVG + "rect") if shape.get("class") == "sequence"
    ]
    assert len(frames) == 2  # one of them is the white edge


def played_on(cells):
    """A game in which player 0 plays chips on these cells in this order, and player 1 on others."""
    mine = [card_at(cell) for cell in cells]
    others = [card for card in BOARD_CARDS if card not in mine]
    row = [*mine[6:], *others][:5]
    first = [*row, *[*mine[:6], *others[5:]][:6], *others[10:16]]
    rest = Counter(dict.fromkeys(CARDS, 2))
    rest.subtract(first)
    state = State.from_deck(DRAFT, [*first, *rest.elements()])
    for cell in cells:
        state = state.after(
            min(
                (action for action in state.legal_actions() if action.coords == cell),
                key=lambda action: action.draft_card not in mine[6:],
            )
        )
        if not state.is_over:
            state = state.after(
                next(
                    action
                    for action in reversed(state.legal_actions())
                    if action.coords not in cells and action.draft_card not in mine[6:]
                )
            )
    return state
