"""Study 6: the original's worked example, the evaluator's invariants, and measured results."""

import random
import re
from math import ceil, floor
from statistics import median

import jupytext
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.benchmarks.agents._claims_page import measured
from autograder.benchmarks.studies import evaluator as bench
from autograder.release.derive import COURSE
from autograder.release.notebooks import notebook_number
from autograder.release.teaching import (
    FAST_FACTOR,
    MINUTES_PER_LINE,
    MINUTES_PER_QUESTION,
    SLOW_FACTOR,
    WORDS_PER_MINUTE,
)
from autograder.workspace import answer_path, load_answer
from autograder.workspace.strip import solutions
from course.checks import load_study
from sequence import Greedy, Random, State, compare, example, play, sketch
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    LINE_MASKS,
    LINES_THROUGH,
    PLAYABLE,
    cells_of,
    mask_of,
)
from sequence.board.rules import OFFICIAL
from tictactoe import Board

pytestmark = pytest.mark.content("study6")
STUDY = load_answer("study6")
ORIGINAL_WEIGHTS = STUDY.ORIGINAL_WEIGHTS
SEATS = ("first", "second")
LINE_A = [(row, 1) for row in range(2, 7)]
LINE_B = [(4, col) for col in range(5)]
LINE_C = [(2 + k, 1 + k) for k in range(5)]
SEEDS = st.integers(0, 10_000)


def chips(text):
    """The chips in a sketch."""
    return STUDY.Chips.of(sketch(text))


def scores_of_a(text):
    """The cell scores of line A."""
    return [STUDY.cell_score(cell, chips(text)) for cell in LINE_A]


def somewhere(seed):
    """An observation from a random game, at any moment with an action to choose."""
    chance = random.Random(seed)
    game = play([Random(), Random()], seed)
    return chance.choice(game.states[:-1]).observation()


def targets(observation):
    """The possible (kind, cell) pairs on the board, including cards that are not in the hand."""
    seen = STUDY.Chips.of(observation)
    return [("place", cell) for cell in cells_of(observation.empty_mask)] + [
        ("remove", cell) for cell in cells_of(seen.others & ~seen.locked)
    ]


# ---- The original


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("", [5, 5, 5, 5, 5]),
        ("x 2,1", [5, 4, 4, 4, 4]),
        ("x 2,1 4,2 4,3 / o 6,1", [4, 4, 3, 4, 5]),
        ("x 2,1 4,2 4,3 / o 6,2 6,1", [4, 4, 3, 4, 5]),
    ],
)
def test_the_worked_example(text, scores):
    """The scores of line A equal those in the original description."""
    assert scores_of_a(text) == scores


def test_the_mistake_in_the_worked_example():
    """After three chips the description has 4, 3, 4, 4, 4; by its own rule the 3 is one cell
    further.
    """
    found = scores_of_a("x 2,1 4,2 4,3")
    assert found != [4, 3, 4, 4, 4]
    assert found == [4, 4, 3, 4, 4]
    assert STUDY.cell_score((4, 1), chips("x 2,1 4,2 4,3")) == 3  # by its own description


def test_an_enemy_next_to_the_line_changes_nothing():
    """As described, a chip at (6, 2) does not change the scores of line A."""
    assert scores_of_a("x 2,1 4,2 4,3 / o 6,2") == scores_of_a("x 2,1 4,2 4,3")


def test_the_costs_of_the_three_lines():
    """A needs four actions, B and C need three."""
    board = chips("x 2,1 4,2 4,3")
    assert [STUDY.line_cost(mask_of(line), board) for line in (LINE_A, LINE_B, LINE_C)] == [4, 3, 3]


def test_the_parameters_of_the_recipe():
    """100 sequence ** 2 + 1 line ** 2 + 1 board ** 1, and no blocking."""
    assert tuple(ORIGINAL_WEIGHTS) == (100, 2, 1, 2, 1, 1, 0)
    assert STUDY.score(2, 7, 13) == 100 * 4 + 49 + 13


# ---- Invariants on all boards


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_line_that_can_be_finished_costs_at_most_nine(seed):
    """`NEVER` is above every other cost, and only a complete line costs nothing."""
    board = STUDY.Chips.of(somewhere(seed))
    for line in LINE_MASKS:
        cost = STUDY.line_cost(line, board)
        assert 0 <= cost <= STUDY.NEVER
        assert (cost == 0) <= (line & (board.own | CORNERS) == line)
        if cost == STUDY.NEVER:
            assert line & board.locked


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_gain_is_the_difference_of_two_board_scores(seed):
    """The fast version equals the definition for every placement and removal."""
    observation = somewhere(seed)
    board = STUDY.Chips.of(observation)
    before = STUDY.board_score(board)
    for kind, cell in random.Random(seed).sample(targets(observation), 10):
        slow = STUDY.board_score(board.after(kind, cell)) - before
        assert STUDY.board_gain(board, kind, cell) == slow


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_cells_by_cost_holds_every_cell_once(seed):
    """Each cell except the corners is listed at the cost of its cheapest line."""
    board = STUDY.Chips.of(somewhere(seed))
    found = STUDY.cells_by_cost(board)
    assert sum(mask.bit_count() for mask in found) == 96
    for cost, mask in enumerate(found):
        for cell in cells_of(mask):
            assert cost == min(STUDY.line_cost(line, board) for line in LINES_THROUGH[BIT[cell]])


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_places_are_those_of_the_legal_actions(seed):
    """A card's target cells are the cells of the legal actions that play it."""
    observation = somewhere(seed)
    legal = {}
    for action in observation.legal_actions():
        if action.coords:
            legal.setdefault(action.play_card, set()).add(action.coords)
    for card, cells in legal.items():
        assert STUDY.places(observation, card) == sorted(cells)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_line_scores_are_never_negative(seed):
    """Therefore squaring the scores keeps their order."""
    observation = somewhere(seed)
    for kind, cell in targets(observation):
        _, line, board = STUDY.parts(observation, kind, cell)
        assert 0 <= line <= STUDY.NEVER
        assert board >= -1  # a chip on a cell without a line that can be completed
        assert 0 <= STUDY.threat(STUDY.Chips.of(observation), cell) <= STUDY.NEVER


def test_turned_boards_have_turned_scores():
    """Swapping the sides twice is the identity; the edge distance is 4 only in the centre."""
    board = STUDY.Chips.of(example("7/23"))
    assert board.flipped().flipped() == board
    far = [cell for cell in cells_of(PLAYABLE) if STUDY.edge_distance(cell) == 4]
    assert far == [(4, 4), (4, 5), (5, 4), (5, 5)]


def test_a_jack_lies_between_a_four_and_a_sequence():
    """As documented, the fixed values are above a four and below a completed line."""
    four = sketch("x 4,1 4,2 4,3 / o 6,1")
    made = STUDY.play_score(four, "place", (4, 4))
    five = sketch("x 4,1 4,2 4,3 4,4 / o 6,1")
    done = STUDY.play_score(five, "place", (4, 5))
    assert made < min(STUDY.JACK_VALUE.values()) <= max(STUDY.JACK_VALUE.values()) < done


# ---- The agents


AGENTS = {
    "recipe": STUDY.Evaluator(),
    "blocking": STUDY.Evaluator(STUDY.BLOCKING),
    "line counter": STUDY.LineCounter(),
}


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_agents_play_to_the_end_under_both_rule_sets(agent):
    """Agents play only legal actions, with trades, forgoing and passing, for two players, four and
    three teams.
    """
    for players, rules in ((2, None), (4, None), (2, OFFICIAL), (6, OFFICIAL.for_players(6, 3))):
        assert play([agent, *[Random()] * (players - 1)], seed=players, rules=rules).final.is_over


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_agents_take_a_sequence(agent):
    """A completed line is preferred to every other action on the board."""
    seen = sketch("x 4,1 4,2 4,3 4,4 / o 6,1 / hand 4h 9h 2s 5h td ks / row 2d 6h ah 9s 4s")
    action = agent.choose(seen)
    before = STUDY.Chips.of(seen)
    after = before.after(action.kind, action.coords)
    assert new_sequences(after.own, 0, BIT[action.coords], heart=True)[0] == 1


def test_only_who_asks_for_the_threat_blocks():
    """With three opposing chips in the centre the original plays elsewhere, the other two at an
    end.
    """
    seen = sketch("o 4,3 4,4 4,5 / hand 7c ah 2h 9c 3d 3d / row 2d 6h 9s 4s 8s")
    found = {name: agent.choose(seen).coords for name, agent in AGENTS.items()}
    ends = {(4, 2), (4, 6)}
    assert found["recipe"] not in ends
    assert {found["blocking"], found["line counter"]} <= ends


def test_a_state_without_a_cell_is_forgone_or_traded():
    """If dead cards come first, the agent takes the card with the highest value."""
    dead = sketch("x 0,1 8,6 4,4 / o 3,3 6,6 / hand 2s 3s 5h 9c td qc / row 4d 6h 6h kc jd")
    assert STUDY.Evaluator().choose(dead).kind == "trade"
    assert STUDY.Evaluator().choose(dead).draft_card == "jd"


def test_a_game_is_the_same_again():
    """The agents need no seed: the same deal gives the same game."""
    first, again = (play([STUDY.Evaluator(), Greedy()], seed=3).actions for _ in range(2))
    assert first == again
    assert State.deal(seed=3).to_move == 0


# ---- What the notebooks say


def text_of(name):
    """The text of a notebook of this study, without the marks of comments."""
    text = (COURSE / "study6_evaluator" / f"{name}.py").read_text("utf-8")
    return " ".join(text.replace("\n#", " ").split())


def sequences_of_moves(state, depth):
    """How many sequences of this many moves tic-tac-toe has."""
    if not depth:
        return 1
    if state.is_terminal():
        return 0
    return sum(sequences_of_moves(state.after(move), depth - 1) for move in state.legal_moves())


def test_the_sizes_of_the_trees():
    """Notebook 9 compares depths 2, 4 and 6 with tic-tac-toe; fifty is near the median."""
    text = text_of("09_sequence")
    for depth in (2, 4, 6):
        moves = sequences_of_moves(Board(), depth)
        assert f"| {depth} | {moves:,} | {50**depth:,} |" in text
    counts = [
        len(state.legal_actions())
        for seed in range(20)
        for state in play([Random(), Random()], seed).states[:-1]
    ]
    assert 45 <= median(counts) <= 55


def test_the_hours_of_the_two_notebooks():
    """The same estimate as for the whole study, from the text, the functions and the questions."""
    wanted = {"10_evaluator": 0, "10b_complaints": 2}
    whole = answer_path(load_study("study6")).read_text("utf-8")
    parts = re.split(r"^# ---- Notebook (\w+):.*", whole, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(sections) == ["9", "10", "10b"]
    for name, questions in wanted.items():
        cells = jupytext.read(COURSE / "study6_evaluator" / f"{name}.py", fmt="py:percent").cells
        words = sum(len(c.source.split()) for c in cells if c.cell_type == "markdown")
        lines = [
            line
            for region in solutions(sections[notebook_number(name)])
            for line in region.splitlines()
            if line.strip() and not line.strip().startswith("#")
        ]
        minutes = (
            words / WORDS_PER_MINUTE
            + len(lines) * MINUTES_PER_LINE
            + questions * MINUTES_PER_QUESTION
        )
        low, high = floor(minutes * FAST_FACTOR / 60), ceil(minutes * SLOW_FACTOR / 60)
        assert f"Allow {low} to {high} hours." in text_of(name)
        assert 1_700 <= words <= 2_300


def test_the_losses_of_the_second_seat():
    """The folded table is the difference of the columns of the large one."""
    text = text_of("10b_complaints").partition("The loss from the first seat to the second:")[2]
    found = measured()
    agents = {
        "original": ("evaluator", "seats_original"),
        "with the threat": ("blocking", None),
        "`LineCounter`": ("linecounter", "seats_linecounter"),
        "`Greedy`": (None, "seats_greedy"),
    }
    for agent, (against_greedy, itself) in agents.items():
        losses = ["", ""]
        if against_greedy:
            seats = (round(found[f"{against_greedy}_greedy_{seat}"], 2) for seat in SEATS)
            losses[0] = f"{next(seats) - next(seats):.2f}"
        if itself:
            losses[1] = f"{2 * round(found[itself], 2) - 1:.2f}"
        row = re.search(rf"\| {agent} \|([^|]*)\|([^|]*)\|", text)
        assert [cell.strip()[:4] for cell in row.groups()] == losses


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("recipe", 0.45, 0.27), ("blocking", 0.57, 0.32), ("line counter", 0.63, 0.44)],
)
def test_seats_against_greedy(name, first, second):
    """Over 100 paired deals; the table of notebook 10b has 500, measured by `bench claims`."""
    found = compare(AGENTS[name], Greedy(), deals=100)
    assert [seat.score for seat in found.seats] == [first, second]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("recipe", 0.65), ("blocking", 0.61)])
def test_the_simpler_evaluation_is_better(name, share):
    """The line counter's score comes from 100 paired deals."""
    found = compare(AGENTS["line counter"], AGENTS[name], deals=100)
    assert round(found.score, 2) == share


def test_how_much_of_the_board_is_preferred_to_a_block():
    """Next to three opposing chips in the centre, 40 and 48 of 93 cells are preferred to the two
    ends.
    """
    seen = sketch("o 4,3 4,4 4,5")
    worth = {cell: STUDY.play_score(seen, "place", cell) for cell in cells_of(seen.empty_mask)}
    above = [sum(other > worth[end] for other in worth.values()) for end in ((4, 6), (4, 2))]
    assert (above, len(worth)) == ([40, 48], 93)


@pytest.mark.slow
def test_the_remedy_beats_the_recipe():
    """With the threat term the original scores 0.645 against itself without it."""
    assert compare(AGENTS["blocking"], AGENTS["recipe"], deals=100).score == pytest.approx(0.645)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "share"),
    [
        (Random(), 0.50),
        (Greedy(), 0.52),
        (AGENTS["recipe"], 0.52),
        (AGENTS["blocking"], 0.56),
        (AGENTS["line counter"], 0.55),
    ],
    ids=["Random", "Greedy", *AGENTS],
)
def test_first_seat_against_itself(agent, share):
    """Over 300 games."""
    other = Random() if isinstance(agent, Random) else agent
    assert round(bench.first_seat(agent, other, 300), 2) == share


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_agents_beat_random(agent):
    """The agents score at least 95 % over 50 paired deals."""
    assert compare(agent, Random(), deals=50).score >= 0.95


def test_the_sliders_of_the_notebook():
    """The test finds when a cell next to o's three is best, and what changes this."""
    middle = sketch("o 4,3 4,4 4,5")

    def best(**changed):
        weights = STUDY.ORIGINAL_WEIGHTS._replace(**changed)
        return max(
            cells_of(middle.empty_mask),
            key=lambda cell: STUDY.play_score(middle, "place", cell, weights),
        )

    assert [best(blocking=weight) for weight in (0, 0.2, 0.4, 0.6, 0.8, 1)] == [(5, 5)] * 3 + [
        (4, 6)
    ] * 3
    for cell, first, step in (((5, 5), 71, 49), ((4, 6), 55, 81)):
        assert [
            STUDY.play_score(
                middle, "place", cell, STUDY.ORIGINAL_WEIGHTS._replace(blocking=weight)
            )
            for weight in (0, 1)
        ] == [first, first + step]
    assert best(blocking=1, line=4) == best(blocking=1, line_exponent=3) == (4, 0)
    assert all(
        best(blocking=1, **other) != (4, 0)
        for other in ({"line": 0}, {"line_exponent": 1}, {"board": 2}, {"board": 4})
    )
