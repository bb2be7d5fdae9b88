"""The figures of study 8: patterns, scores and updates, and what its notebook says."""

import json
import random
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.workspace import load_answer
from sequence import OFFICIAL, Greedy, Random, State, compare, example, play, sketch
from sequence.board.layout import LINES

pytestmark = pytest.mark.content("study8")
SARSA = load_answer("study8")
ROW, COLUMN, DOWN, UP = (0, 1), (1, 0), (1, 1), (1, -1)


@cache
def observations():
    """What the player to move sees in some games, every third action."""
    games = [play([Greedy(), Random()], seed) for seed in range(6)]
    return [state.observation() for game in games for state in game.states[:-1:3]]


def info(row, col=4):
    """The `DirectionInfo` of a cell of a row, given as text of ten cells in the middle row."""
    return SARSA.direction_info("_" * 40 + row + "_" * 50, (4, col), ROW)


# One direction


@pytest.mark.parametrize(("row", "expected"), [
    ("__mm_mm___", (5, 0, 0, 0, True, True)),
    ("____mmm___", (3, 0, 0, 0, True, True)),  # the chip may be there already
    ("__t_m_m_m_", (1, 2, 2, 0, True, True)),
    ("_____m_m__", (2, 1, 1, 0, True, True)),
    ("_tmm_m_mt_", (4, 1, 1, 0, False, False)),
    ("_m_m_mt___", (3, 1, 0, 1, False, True)),
    ("_mm__t____", (1, 1, 0, 2, False, True)),
    ("m_m__m_m_m", (2, 2, 2, 0, False, True)),  # the front has taken both gaps
])  # fmt: skip
def test_one_direction(row, expected):
    """Connected chips, gaps, discrete chips and open ends on drawn rows."""
    assert info(row) == expected


def test_the_seeds_examples():
    """`_oooo_` has four connected, `_oo_o_o_` two gaps, `_oox` is open at the back only."""
    assert info("__mm_m____").connect_count == 4
    assert info("___mm_m_m_", 3).mid_gap_count == 2
    two = info("___m_t____")
    assert (two.connect_count, two.open_front, two.open_back) == (2, False, True)


def test_the_direction_after_a_gap():
    """On both sides, and in all four directions, reading goes on the same way behind a gap."""
    for down, right in SARSA.DIRECTIONS:
        for sign in (1, -1):
            board = "_" * 100
            for distance, chip in ((1, "m"), (3, "m"), (4, "t")):
                row, col = 4 + sign * distance * down, 4 + sign * distance * right
                board = SARSA.with_chip(board, (row, col), chip)
            found = SARSA.direction_info(board, (4, 4), (down, right))
            near, far = (True, False) if sign > 0 else (False, True)
            assert found == (2, 1, int(near), int(far), not near, not far)


@given(st.text("mt_", min_size=9, max_size=9))
def test_turning_a_row_round_swaps_front_and_back(text):
    """With at most two gaps in all, a mirrored row gives the mirrored info."""
    row = text[:4] + "m" + text[5:] + "t"
    turned = "t" + row[:9][::-1]
    board, other = ("_" * 40 + r + "_" * 50 for r in (row, turned))
    one, two = SARSA.direction_info(board, (4, 4), ROW), SARSA.direction_info(other, (4, 5), ROW)
    sides = [SARSA.one_side(SARSA.ray(board, (4, 4), step))[1] for step in (ROW, (0, -1))]
    # The edge behind the ninth cell is a "t" on one side, a wall on the other: both block.
    if sum(sides) <= SARSA.MAX_GAPS:
        assert two == (
            one.connect_count,
            one.mid_gap_count,
            one.discrete_count_back,
            one.discrete_count_front,
            one.open_back,
            one.open_front,
        )
    assert one.connect_count == two.connect_count


def test_values_are_the_seeds():
    """Pattern, blocking and mixing values are the published ones."""
    assert SARSA.PATTERN_VALUES == {
        "NONE": 0, "LIVE_ONE": 1, "SLEEP_TWO": 2, "LIVE_TWO": 30, "SLEEP_THREE": 40,
        "LIVE_THREE": 9000, "CHONG_FOUR": 9000, "LIVE_FOUR": 10_000, "LIVE_FIVE": 15_000,
    }  # fmt: skip
    assert SARSA.BLOCKING_VALUES == {"LIVE_THREE": 1000, "LIVE_FOUR": 12_000, "LIVE_FIVE": 13_000}
    assert (SARSA.Q_WEIGHT, SARSA.REWARD_WEIGHT) == (0.6, 0.4)
    assert len(SARSA.FEATURES) == 11


def test_five_is_what_completes_a_line():
    """On an otherwise empty board every line of five but one chip is a LIVE_FIVE there."""
    for line in LINES:
        board = "".join(
            SARSA.MINE if (row, col) in line or (row % 9 == 0 and col % 9 == 0) else "_"
            for row in range(10)
            for col in range(10)
        )
        direction = (line[1][0] - line[0][0], line[1][1] - line[0][1])
        assert SARSA.pattern(SARSA.direction_info(board, line[2], direction)) == "LIVE_FIVE"


def test_fours_that_are_none():
    """As the notebook says: a live four is one chip short of five, some chong fours are not, and
    some NONEs are."""
    promised, kept = Counter(), Counter()
    for observation in observations():
        board, _ = SARSA.views(observation)
        for place in (i for i, chip in enumerate(board) if chip == "_"):
            cell = divmod(place, 10)
            after = SARSA.with_chip(board, cell, "m")
            for direction in SARSA.DIRECTIONS:
                name = SARSA.pattern(SARSA.direction_info(board, cell, direction))
                promised[name] += 1
                kept[name] += one_short(after, cell, direction)
    assert promised["LIVE_FOUR"] == kept["LIVE_FOUR"] > 0
    assert 0 < kept["CHONG_FOUR"] < promised["CHONG_FOUR"]
    assert 0 < kept["NONE"] < promised["NONE"]


def one_short(board, cell, direction):
    """Whether a line of five through the cell has four own chips and an empty cell."""
    lines = [
        line
        for line in LINES
        if cell in line and (line[1][0] - line[0][0], line[1][1] - line[0][1]) == direction
    ]
    texts = ["".join(board[10 * row + col] for row, col in line) for line in lines]
    return any(text.count("m") == 4 and "_" in text for text in texts)


def test_drawings_of_the_model_answer():
    """The three lines of the answer to `blind-spots` are what it says."""
    row = "__m_mm_m__"
    assert SARSA.pattern(info(row)) == "CHONG_FOUR"
    assert all(
        info(row[:i] + "m" + row[i + 1 :], i).connect_count < 5
        for i, chip in enumerate(row)
        if chip == "_"
    )
    assert SARSA.pattern(info("_tmm_mmt__", 3)) == "NONE"
    assert SARSA.pattern(info("_tmm_mmt__")) == "LIVE_FIVE"
    assert SARSA.pattern(info("__t_mm_t__")) == "LIVE_TWO"


# Scores


def test_scores_of_the_notebooks_position():
    """4,4 makes a live four; 6,2 prevents a chong four, and nothing is paid for that."""
    mine, theirs = SARSA.views(sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7"))
    assert [
        SARSA.pattern(SARSA.direction_info(mine, (4, 4), ROW)),
        SARSA.pattern(SARSA.direction_info(theirs, (6, 2), ROW)),
    ] == ["LIVE_FOUR", "CHONG_FOUR"]
    assert SARSA.place_score(mine, theirs, (4, 4)) == 10_003
    assert SARSA.place_score(mine, theirs, (6, 2)) == 6


@pytest.mark.parametrize("number", range(0, 30, 3))
def test_two_boards_are_one_board(number):
    """What is mine to one side is theirs to the other; corners are everybody's."""
    mine, theirs = SARSA.views(observations()[number])
    swapped = mine.translate(str.maketrans("mtMT", "tmTM"))
    for corner in (0, 9, 90, 99):
        assert mine[corner] == theirs[corner] == SARSA.MINE
        swapped = swapped[:corner] + SARSA.MINE + swapped[corner + 1 :]
    assert swapped == theirs


def test_candidates_take_the_best_card_or_trade():
    """Candidates are legal, keep their order, and all take the card that is worth most."""
    trades = 0
    for observation in (*observations(), example("12/34")):
        scores, legal = SARSA.Scores(observation), list(observation.legal_actions())
        candidates = scores.candidates(legal)
        assert [action for action in legal if action in candidates] == candidates
        best = max(map(scores.draft, observation.draft_row))
        assert {scores.draft(action.draft_card) for action in candidates} == {best}
        trades += candidates[0].kind == "trade"
    assert trades


def test_the_card_does_not_decide_among_candidates():
    """All candidates take the same card, so that score and reward rank them alike."""
    for observation in observations():
        scores = SARSA.Scores(observation)
        candidates = scores.candidates(observation.legal_actions())
        rests = {scores.score(action) - scores.reward(action) for action in candidates}
        assert len(rests) == 1


# Features


def test_lines_overlap():
    """Two live twos share an end, and both are counted."""
    live_two = list(SARSA.PATTERNS).index("LIVE_TWO")
    assert SARSA.pattern_counts("#_mm_mm___#")[live_two] == 2


@given(st.text("mtMT_", min_size=5, max_size=10))
def test_patterns_read_both_ways(text):
    """A line has the same patterns from right to left."""
    assert SARSA.pattern_counts(f"#{text}#") == SARSA.pattern_counts(f"#{text[::-1]}#")


def test_there_are_42_lines():
    """Ten rows, ten columns and twice eleven diagonals; three or four of them through each cell."""
    board = "_" * 100
    assert len(SARSA.lines_of(board)) == 42
    through = [
        len(SARSA.lines_of(board, (row, col)))
        for row in range(10)
        for col in range(10)
        if (row % 9 or col % 9)
    ]
    assert (min(through), max(through)) == (3, 4)


def test_an_actions_features_are_the_change_of_the_states():
    """The lines through the cell are enough: all 42 give the same change."""
    for observation in observations()[::4]:
        mine, theirs = SARSA.views(observation)
        for action in list(observation.legal_actions())[::15]:
            if not action.coords:
                continue
            chips = ("m", "t") if action.kind == "place" else ("_", "_")
            after = (
                SARSA.with_chip(board, action.coords, chip)
                for board, chip in zip((mine, theirs), chips, strict=True)
            )
            before = SARSA.state_features(mine, theirs)
            change = tuple(
                new - old for new, old in zip(SARSA.state_features(*after), before, strict=True)
            )
            assert SARSA.action_features(mine, theirs, action) == (*change, 0)


# The table and its updates


def test_targets_by_hand():
    """The example of the notebook: 120 and 390; at the end the reward alone."""
    assert SARSA.td_target("sarsa", 30, 100, [50, 100, 400], 0.9) == 120
    assert SARSA.td_target("q_learning", 30, 100, [50, 100, 400], 0.9) == 390
    assert SARSA.td_target("sarsa", 30, None, []) == 30
    with pytest.raises(ValueError, match="'sarsa' or 'q_learning', not 'max'"):
        SARSA.td_target("max", 0, 0, [0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.data())
def test_q_learning_is_never_the_smaller_target(values, data):
    """A maximum is at least as large as the value of the action taken."""
    taken = data.draw(st.sampled_from(values))
    sarsa, best = (SARSA.td_target(m, 1.0, taken, values) for m in ("sarsa", "q_learning"))
    assert best >= sarsa


def test_learning_is_one_turn_late():
    """Nothing is learned at the first turn, the first action at the second, the last at the end."""
    agent = SARSA.SarsaAgent(learn=True)
    updates = []
    for actions in (8, 10, 12):
        agent.choose(example(f"27/{actions}"))
        updates.append(len(agent.changes))
    agent.finish()
    assert [*updates, len(agent.changes)] == [0, 1, 2, 3]
    agent.finish()
    assert len(agent.changes) == 3


def test_actions_without_effect_are_not_stored():
    """After training no entry has an action of zeros only."""
    table = SARSA.train(2)
    assert table.values
    assert all(any(action) for _, action in table.values)


def test_training_is_repeatable_and_the_methods_differ():
    """The same seed gives the same table; the two targets give different ones."""
    tables = [SARSA.train(4, method).values for method in ("q_learning", "q_learning", "sarsa")]
    assert tables[0] == tables[1] != tables[2]


def test_discards_make_the_state_longer():
    """With the option two numbers stand behind the eleven."""
    table = SARSA.train(1, discards=True)
    assert {len(state) for state, _ in table.values} == {13}


def test_a_table_goes_through_json():
    """What is saved is loaded again, value by value."""
    table = SARSA.train(2)
    assert SARSA.QTable.from_json(table.to_json()).values == table.values


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"features": [], "entries": []}', "null",
    "[" * 100_000,
    json.dumps({"features": SARSA.ACTION_FEATURES, "entries": [[[1], [2], 10**400]]}),
    json.dumps({"features": SARSA.ACTION_FEATURES, "entries": [[[1], [2]]]}),
    json.dumps({"features": SARSA.ACTION_FEATURES, "entries": [[[1], [2], float("nan")]]}),
    json.dumps({"features": SARSA.ACTION_FEATURES, "entries": [[[1.5], [2], 3]]}),
    json.dumps({"features": SARSA.ACTION_FEATURES, "entries": [["1", [2], 3]]}),
], ids=lambda text: text[-30:])  # fmt: skip
def test_what_is_no_table_is_refused(text):
    """One clear sentence for whatever is not a table."""
    with pytest.raises(ValueError, match="not a table of action values"):
        SARSA.QTable.from_json(text)


# Play


def test_it_plays_every_rule_set():
    """Whole games end, also in teams and with blind draws, and with an agent that learns."""
    for rules in (OFFICIAL, OFFICIAL.for_players(3), None):
        count = 2 if rules is None else rules.players
        agents = [SARSA.SarsaAgent(learn=True), *(Random() for _ in range(count - 1))]
        for seed in range(3):
            assert play(agents, seed, rules).final.is_terminal()


def test_it_uses_only_the_observation():
    """States that look the same to the player lead to the same action."""
    rng = random.Random(1)
    state = State.deal(seed=5)
    for _ in range(10):
        state = state.after(state.legal_actions().choose(rng))
    agent = SARSA.SarsaAgent()
    assert agent.choose(state.observation()) == agent.choose(state.observation())


@pytest.mark.slow
def test_it_beats_random():
    """The trained agent wins at least 95 % of 30 paired deals against `Random`."""
    found = compare(SARSA.trained(10), Random(), deals=30, seed=10_000)
    assert found.score >= 0.95
    assert found.interval[0] > 0.85


@pytest.mark.slow
def test_walls_in_the_corners_only_seem_to_win():
    """As notebook 15 says: 13 of the first 16 games, and no difference that shows after 200."""
    walls, own = SARSA.SarsaAgent(q_weight=0, corner=SARSA.WALL), SARSA.SarsaAgent(q_weight=0)
    few = compare(walls, own, deals=8, seed=10_000)
    assert (few.wins, [round(end, 2) for end in few.interval]) == (13, [0.57, 0.93])
    many = compare(walls, own, deals=100, seed=10_000)
    assert f"{many.score:.2f}" == "0.55"
    assert [round(end, 2) for end in many.interval] == [0.48, 0.61]
