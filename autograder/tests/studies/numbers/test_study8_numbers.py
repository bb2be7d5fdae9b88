"""Study 8: patterns, scores, updates, and the numbers in its notebook."""

import json
import random
from collections import Counter
from functools import cache
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.tests.support.modules import outsiders
from autograder.tests.support.needs import need_isolation
from autograder.workspace import load_answer, outcomes_of
from course.checks import load_study
from sequence import OFFICIAL, Greedy, Random, State, compare, example, play, sketch
from sequence.board.layout import LINES

pytestmark = pytest.mark.content("study8")
SARSA = load_answer("study8")
ROW, COLUMN, DOWN, UP = (0, 1), (1, 0), (1, 1), (1, -1)


@cache
def observations():
    """The observations of the player to move in some games, at every third action."""
    games = [play([Greedy(), Random()], seed) for seed in range(6)]
    return [state.observation() for game in games for state in game.states[:-1:3]]


def info(row, col=4):
    """The `DirectionInfo` of a cell in a row, given as ten characters for the middle row."""
    return SARSA.direction_info("_" * 40 + row + "_" * 50, (4, col), ROW)


# One direction


@pytest.mark.parametrize(("row", "expected"), [
    ("__mm_mm___", (5, 0, 0, 0, True, True)),
    ("____mmm___", (3, 0, 0, 0, True, True)),  # the chip may already be there
    ("__t_m_m_m_", (1, 2, 2, 0, True, True)),
    ("_____m_m__", (2, 1, 1, 0, True, True)),
    ("_tmm_m_mt_", (4, 1, 1, 0, False, False)),
    ("_m_m_mt___", (3, 1, 0, 1, False, True)),
    ("_mm__t____", (1, 1, 0, 2, False, True)),
    ("m_m__m_m_m", (2, 2, 2, 0, False, True)),  # the front direction has used both gaps
])  # fmt: skip
def test_one_direction(row, expected):
    """Connected chips, gaps, discrete chips and open ends on drawn rows."""
    assert info(row) == expected


def test_the_seeds_examples():
    """`_oooo_` has four connected, `_oo_o_o_` two gaps, and `_oox` is open at the back only."""
    assert info("__mm_m____").connect_count == 4
    assert info("___mm_m_m_", 3).mid_gap_count == 2
    two = info("___m_t____")
    assert (two.connect_count, two.open_front, two.open_back) == (2, False, True)


def test_the_direction_after_a_gap():
    """On both sides and in all four directions, counting continues behind a gap in the same way."""
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
    """With at most two gaps in total, a mirrored row gives the mirrored info."""
    row = text[:4] + "m" + text[5:] + "t"
    turned = "t" + row[:9][::-1]
    board, other = ("_" * 40 + r + "_" * 50 for r in (row, turned))
    one, two = SARSA.direction_info(board, (4, 4), ROW), SARSA.direction_info(other, (4, 5), ROW)
    sides = [SARSA.one_side(SARSA.ray(board, (4, 4), step))[1] for step in (ROW, (0, -1))]
    # The edge behind the ninth cell is a "t" on one side, a border on the other: both block.
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
    """The values of patterns, blocking and mixing are the published ones."""
    assert SARSA.PATTERN_VALUES == {
        "NONE": 0, "LIVE_ONE": 1, "SLEEP_TWO": 2, "LIVE_TWO": 30, "SLEEP_THREE": 40,
        "LIVE_THREE": 9000, "CHONG_FOUR": 9000, "LIVE_FOUR": 10_000, "LIVE_FIVE": 15_000,
    }  # fmt: skip
    assert SARSA.BLOCKING_VALUES == {"LIVE_THREE": 1000, "LIVE_FOUR": 12_000, "LIVE_FIVE": 13_000}
    assert (SARSA.Q_WEIGHT, SARSA.REWARD_WEIGHT) == (0.6, 0.4)
    assert len(SARSA.FEATURES) == 11


def test_five_is_what_completes_a_line():
    """On an otherwise empty board, a cell that completes a line of five is a LIVE_FIVE."""
    for line in LINES:
        board = "".join(
            SARSA.MINE if (row, col) in line or (row % 9 == 0 and col % 9 == 0) else "_"
            for row in range(10)
            for col in range(10)
        )
        direction = (line[1][0] - line[0][0], line[1][1] - line[0][1])
        assert SARSA.pattern(SARSA.direction_info(board, line[2], direction)) == "LIVE_FIVE"


def test_fours_that_are_none():
    """As the notebook states, a live four lacks one chip; some chong fours do not, and some NONEs
    do.
    """
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
    """The three lines in the answer to `blind-spots` have the stated patterns."""
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
    """4,4 makes a live four; 6,2 prevents a chong four, which adds no points."""
    mine, theirs = SARSA.views(sketch("x 4,2 4,3 4,5 6,1 / o 6,3 6,4 6,5 2,7"))
    assert [
        SARSA.pattern(SARSA.direction_info(mine, (4, 4), ROW)),
        SARSA.pattern(SARSA.direction_info(theirs, (6, 2), ROW)),
    ] == ["LIVE_FOUR", "CHONG_FOUR"]
    assert SARSA.place_score(mine, theirs, (4, 4)) == 10_003
    assert SARSA.place_score(mine, theirs, (6, 2)) == 6


@pytest.mark.parametrize("number", range(0, 30, 3))
def test_two_boards_are_one_board(number):
    """One side's own chips are the other side's opposing chips; corners belong to both sides."""
    mine, theirs = SARSA.views(observations()[number])
    swapped = mine.translate(str.maketrans("mtMT", "tmTM"))
    for corner in (0, 9, 90, 99):
        assert mine[corner] == theirs[corner] == SARSA.MINE
        swapped = swapped[:corner] + SARSA.MINE + swapped[corner + 1 :]
    assert swapped == theirs


def test_candidates_take_the_best_card_or_trade():
    """Candidates are legal, keep their order, and all take the card with the highest value."""
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
    """All candidates take the same card, so score and reward give them the same order."""
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
    """Reading a line from right to left gives the same patterns."""
    assert SARSA.pattern_counts(f"#{text}#") == SARSA.pattern_counts(f"#{text[::-1]}#")


def test_there_are_42_lines():
    """There are ten rows, ten columns and eleven diagonals in each direction; each cell is on three
    or four.
    """
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
    """The lines through the cell suffice: all 42 lines give the same change."""
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
    """In the notebook's example they are 120 and 390; at the end only the reward counts."""
    assert SARSA.td_target("sarsa", 30, 100, [50, 100, 400], 0.9) == 120
    assert SARSA.td_target("q_learning", 30, 100, [50, 100, 400], 0.9) == 390
    assert SARSA.td_target("sarsa", 30, None, []) == 30
    with pytest.raises(ValueError, match="'sarsa' or 'q_learning', not 'max'"):
        SARSA.td_target("max", 0, 0, [0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.data())
def test_q_learning_is_never_the_smaller_target(values, data):
    """The maximum is at least as large as the value of the action taken."""
    taken = data.draw(st.sampled_from(values))
    sarsa, best = (SARSA.td_target(m, 1.0, taken, values) for m in ("sarsa", "q_learning"))
    assert best >= sarsa


def test_learning_is_one_turn_late():
    """The first turn learns nothing, the second learns the first action, and the end the last one."""
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
    """After training no entry has an action with zeros only."""
    table = SARSA.train(2)
    assert table.values
    assert all(any(action) for _, action in table.values)


def test_training_is_repeatable_and_the_methods_differ():
    """The same seed gives the same table; the two targets give different ones."""
    tables = [SARSA.train(4, method).values for method in ("q_learning", "q_learning", "sarsa")]
    assert tables[0] == tables[1] != tables[2]


def test_discards_make_the_state_longer():
    """With the option, the state has two more numbers after the eleven."""
    table = SARSA.train(1, discards=True)
    assert {len(state) for state, _ in table.values} == {13}


def test_a_table_goes_through_json():
    """A saved table is loaded again with identical values."""
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
    """Any other object gets a clear message."""
    with pytest.raises(ValueError, match="not a table of action values"):
        SARSA.QTable.from_json(text)


# Weights from games


def test_lines_by_hand():
    """The row of notebook 16: one line with three chips, one with two; the rest is blocked."""
    board = "t" * 40 + "mm_m__t___" + "t" * 50
    assert SARSA.line_counts(board) == (0, 1, 1, 0, 0)
    assert SARSA.line_counts(board, (4, 3)) == (0, 1, 1, 0, 0)
    assert SARSA.line_counts(board, (2, 1)) == (0, 0, 0, 0, 0)


def test_open_lines_are_those_of_the_layout():
    """On any board, the counts are those of the 192 lines that are listed there, and its corners."""
    for observation in observations()[::3]:
        for board in SARSA.views(observation):
            fives = ("".join(board[10 * row + col] for row, col in line) for line in LINES)
            counts = Counter(
                five.count("m") + five.count("M")
                for five in fives
                if set(five) <= {"m", "M"} or (not set(five) & {"t", "T"} and five.count("M") < 2)
            )
            assert SARSA.line_counts(board) == tuple(counts[chips] for chips in range(1, 6))


def test_a_step_by_hand():
    """The example of notebook 16: the probability 1/2, then the weights 0.25, 0.5 and 0.25."""
    weights = [0.0, 0.0, 0.0]
    assert SARSA.win_probability(weights, [2, 1]) == 0.5
    assert SARSA.gradient_step(weights, [2, 1], 1, rate=0.5, penalty=0.0) == [0.25, 0.5, 0.25]
    assert weights == [0.0, 0.0, 0.0]


@given(
    st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    st.lists(st.integers(0, 4), min_size=2, max_size=2),
    st.integers(0, 1),
)
def test_a_step_follows_the_slope_of_the_loss(weights, counts, won):
    """The gradient is the derivative of the log loss with its penalty, measured by differences."""
    penalty, small = 0.2, 1e-6

    def loss(weights):
        p = SARSA.win_probability(weights, counts)
        return -log(p if won else 1 - p) + penalty / 2 * sum(w * w for w in weights[1:])

    after = SARSA.gradient_step(weights, counts, won, rate=1.0, penalty=penalty)
    for number, (new, old) in enumerate(zip(after, weights, strict=True)):
        there, back = (
            [w + (sign * small if place == number else 0) for place, w in enumerate(weights)]
            for sign in (1, -1)
        )
        assert old - new == pytest.approx((loss(there) - loss(back)) / (2 * small), abs=1e-4)


def test_a_fit_finds_the_weights_that_made_the_results():
    """From 2,000 results drawn with known weights; a count that never varies gets no weight."""
    rng, true = random.Random(1), (-1.0, 0.8, -0.5)
    rows = [[rng.randrange(5), rng.randrange(5), 3] for _ in range(2_000)]
    won = [rng.random() < SARSA.win_probability(true, row[:2]) for row in rows]
    found = SARSA.fit(rows, won)
    assert found[:3] == pytest.approx(true, abs=0.2)
    assert found[3] == 0


@pytest.mark.slow
def test_modules_of_the_former_study_are_graded():
    """Students once wrote `Scores` and the state's features: such modules lose only what is new."""
    need_isolation()
    (path,) = (path for path in outsiders.stored() if path.stem == "hand_scanner")
    former = outsiders.whole(path).partition("# ---- Weights from games")[0]
    outcomes = outcomes_of(load_study("study8"), former)
    lost = {outcome.check for outcome in outcomes if outcome.earned < outcome.points}
    assert lost == {"study8.lines", "study8.weights"}


# Play


def test_it_plays_every_rule_set():
    """Whole games end, also with teams, blind draws and a learning agent."""
    for rules in (OFFICIAL, OFFICIAL.for_players(3), None):
        count = 2 if rules is None else rules.players
        agents = [SARSA.SarsaAgent(learn=True), *(Random() for _ in range(count - 1))]
        for seed in range(3):
            assert play(agents, seed, rules).final.is_terminal()


def test_it_uses_only_the_observation():
    """States with the same observation lead to the same action."""
    rng = random.Random(1)
    state = State.deal(seed=5)
    for _ in range(10):
        state = state.after(state.legal_actions().choose(rng))
    agent = SARSA.SarsaAgent()
    assert agent.choose(state.observation()) == agent.choose(state.observation())


@pytest.mark.slow
def test_it_beats_random():
    """The trained agent scores at least 95 % in 30 paired deals against `Random`."""
    found = compare(SARSA.trained(10), Random(), deals=30, seed=10_000)
    assert found.score >= 0.95
    assert found.interval[0] > 0.85


@pytest.mark.slow
def test_blocked_corners_only_seem_to_win():
    """As notebook 15 states, they win 13 of the first 16 games, but show no clear difference after
    200.
    """
    walls, own = SARSA.SarsaAgent(q_weight=0, corner=SARSA.WALL), SARSA.SarsaAgent(q_weight=0)
    few = compare(walls, own, deals=8, seed=10_000)
    assert (few.wins, [round(end, 2) for end in few.interval]) == (13, [0.57, 0.93])
    many = compare(walls, own, deals=100, seed=10_000)
    assert f"{many.score:.2f}" == "0.55"
    assert [round(end, 2) for end in many.interval] == [0.48, 0.61]
