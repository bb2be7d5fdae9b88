"""Study 7: the parts of the look-ahead agent, guarded by hand-made figures and by invariants."""

import random
from itertools import pairwise
from math import ceil, comb
from pathlib import Path
from random import Random as Chance
from statistics import stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.verdicts import hidden_study
from autograder.workspace import load_answer
from course.probes import load_study
from course.probes.positions import read_position
from course.recorded import reply_games
from sequence import DRAFT, Greedy, Random, State, compare, example, play, sketch
from sequence.agents.beliefs import excluded_cards, may_hold, sample, unseen_cards
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import CARDS
from sequence.board.layout import BIT, CELLS, CORNERS, DIRECTIONS
from tictactoe import Search
from tictactoe import State as Contract
from tictactoe.games.play import games_needed, wilson_interval

pytestmark = pytest.mark.content("study7")
ROOT = Path(__file__).parents[3]
ANSWER = load_answer("study7")
ALPHA_BETA = load_answer("study2").AlphaBeta()
DRAWN = sketch("x 4,4 4,6 3,5 / o 5,5 3,7 2,5 / hand 4h 2h jh / row 3c jd")  # of notebook 12


@st.composite
def states(draw):
    """A state of a random game under the draft rules, not over."""
    chance = Chance(draw(st.integers(0, 10_000)))
    state = State.deal(DRAFT, chance.getrandbits(32))
    for _ in range(draw(st.integers(0, 60))):
        after = state.after(state.legal_actions().choose(chance))
        if after.is_terminal():
            break
        state = after
    return state


def test_the_numbers_of_the_description():
    """The reply is discounted by 0.9, the card by 0.8, two-eyed before one-eyed jacks."""
    assert (ANSWER.REPLY_DISCOUNT, ANSWER.DRAFT_DISCOUNT) == (0.9, 0.8)
    assert ANSWER.TWO_EYED_VALUE > ANSWER.ONE_EYED_VALUE


def test_heat_of_the_notebook():
    """The figures that are worked out by hand: 4 in the heart, halved at every step."""
    assert [ANSWER.heat(cell) for cell in ((4, 5), (3, 3), (0, 5), (9, 9))] == [4, 2, 0.25, 0.25]


def test_replies_of_the_notebook():
    """Of the twelve best placements, ten leave a reply worth more than five hundred; the two on 5,4
    and 1,8 leave none worth a hundred."""
    seen = example("1/18")
    values, mover = ANSWER.LookAhead(ANSWER.plain_replies).values(seen), ANSWER.Chips.seen_by(seen)
    cards, best = ANSWER.catalogue(seen).possible, {}
    for action in sorted(values, key=values.get, reverse=True):
        if action.coords and len(best) < 12:
            best.setdefault(action.coords, ANSWER.best_reply(mover.after(action).turned(), cards))
    assert len(best) == 12
    assert {cell for cell, reply in best.items() if reply < 100} == {(5, 4), (1, 8)}
    assert sum(reply > 500 for reply in best.values()) == 10


def test_heat_is_symmetric():
    """Turning and mirroring the board leaves the heat as it is."""
    for row, col in CELLS:
        same = [(col, row), (9 - row, col), (row, 9 - col)]
        assert {ANSWER.heat(cell) for cell in same} == {ANSWER.heat((row, col))}


def test_lines_of_the_notebook():
    """The lines through (4, 5) in the drawn position, and what they make and break."""
    chips = ANSWER.Chips.seen_by(DRAWN)
    down, across, *_ = (ANSWER.line_text(chips, (4, 5), way) for way in DIRECTIONS)
    assert (down, across) == ("__ox#o___", "___x#x___")
    assert [ANSWER.links(text) for text in (across, down, "*xx_#____", "_XXX#x___")] == [
        (3, 0),
        (0, 1),
        (4, 0),
        (3, 0),
    ]


@given(states(), st.sampled_from(CELLS[:96]), st.sampled_from(DIRECTIONS))
@settings(max_examples=60, deadline=None)
def test_the_other_side_sees_the_line_turned_round(state, cell, direction):
    """What one side makes beyond its own chip is what the other one breaks."""
    chips = ANSWER.Chips.seen_by(state)
    made, broken = ANSWER.line_links(chips, cell, direction)
    turned = ANSWER.line_links(chips.turned(), cell, direction)
    assert turned == (broken + 1 if broken or turned[0] else 0, max(made - 1, 0))


@given(states(), st.sampled_from(CELLS[:96]), st.sampled_from(DIRECTIONS))
@settings(max_examples=60, deadline=None)
def test_remembered_lines_are_the_lines(state, cell, direction):
    """The cache changes nothing but the time."""
    chips = ANSWER.Chips.seen_by(state)
    assert ANSWER.line_links(chips, cell, direction) == ANSWER.links(
        ANSWER.line_text(chips, cell, direction)
    )


@given(states())
@settings(max_examples=40, deadline=None)
def test_the_catalogue_is_the_exact_belief_but_for_dead_cards(state):
    """It holds the true hand, and differs from `beliefs` by the excluded dead cards only."""
    observation = state.observation()
    other = 1 - state.to_move
    known, possible = ANSWER.catalogue(observation)
    assert sorted(known) == sorted(observation.drafted(other))
    assert set(state.hand(other)) <= set(possible)
    excluded = excluded_cards(observation, other)
    assert set(possible) - (excluded - set(known)) == may_hold(observation, other)


@given(states(), st.lists(st.sampled_from(CARDS), unique=True, max_size=12))
@settings(max_examples=40, deadline=None)
def test_incremental_replies_are_the_plain_ones(state, cards):
    """`quick_replies` gives the very numbers of `plain_replies`, for every legal action."""
    chips = ANSWER.Chips.seen_by(state)
    plain, quick = ANSWER.plain_replies(chips, cards), ANSWER.quick_replies(chips, cards)
    actions = {(a.kind, a.coords): a for a in state.legal_actions()}.values()
    assert [quick(action) for action in actions] == [plain(action) for action in actions]


def test_the_reply_is_not_thrown_away():
    """The values with and without the reply term differ by 0.9 times the best reply."""
    seen = example("1/18")
    best = ANSWER.plain_replies(ANSWER.Chips.seen_by(seen), ANSWER.catalogue(seen).possible)
    with_reply = ANSWER.LookAhead(ANSWER.plain_replies).values(seen)
    without = ANSWER.LookAhead(None).values(seen)
    for action, value in without.items():
        assert with_reply[action] == pytest.approx(value - 0.9 * best(action))


def test_four_hundred_games_tell_0_55_from_one_half_every_other_time():
    """What notebook 13 says of the games that are needed: with 400 Wilson's interval just leaves
    out 0.5, if exactly 0.55 is seen; twice as many find the difference four times in five."""
    assert wilson_interval(0.55, 200)[0] < 0.49
    assert wilson_interval(0.55, 400)[0] == pytest.approx(0.5, abs=0.002)
    for games, least, most in ((400, 0.45, 0.6), (games_needed(0.55), 0.77, 0.83)):
        found = sum(
            comb(games, won) * 0.55**won * 0.45 ** (games - won)
            for won in range(games + 1)
            if wilson_interval(won / games, games)[0] > 0.5
        )
        assert least < found < most


def test_the_games_in_the_model_answers():
    """783 and 385 games for 0.55, 392 pairs; 4,900 for 0.52; 1,070 and 2,180 for 0.53."""
    assert (games_needed(0.55), games_needed(0.55, 0.5)) == (783, 385)
    assert ceil(games_needed(0.55) / 2) == 392
    assert round(games_needed(0.52), -2) == 4_900
    assert (round(games_needed(0.53, 0.5), -1), round(games_needed(0.53), -1)) == (1_070, 2_180)


def test_chips_after_actions():
    """The given class locks completed sequences and takes removed chips away."""
    chips = ANSWER.Chips.seen_by(sketch("x 0,1 0,2 0,3 / o 5,5 / hand 5s jh"))
    after = chips.after(Action(PLACE, "5s", "", (0, 4)))
    assert after.locked == sum(1 << BIT[0, col] for col in range(1, 5))
    assert not after.locked & CORNERS
    assert chips.after(Action(REMOVE, "jh", "", (5, 5))).others == 0


def test_top_k_is_a_game():
    """A wrapped state has what a search of study 2 asks for."""
    game = ANSWER.TopK(sample(example("1/20"), Chance(1)), k=3, depth=2)
    assert isinstance(game, Contract)
    assert len(game.legal_moves()) == 3
    assert game.utility(0) == -game.utility(1)


def value_of(game, player):
    """The minimax value of a game, without any pruning."""
    if game.is_terminal():
        return game.utility(player)
    values = [value_of(game.after(move), player) for move in game.legal_moves()]
    return max(values) if game.to_move == player else min(values)


@given(states(), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_alpha_beta_of_study_2_searches_it_unchanged(state, depth):
    """Alpha-beta finds the minimax value of the top 2 actions, through trades as well."""
    found = ALPHA_BETA.search(ANSWER.TopK(state, k=2, depth=depth))
    assert isinstance(found, Search)
    assert found.value == pytest.approx(
        value_of(ANSWER.TopK(state, k=2, depth=depth), state.to_move)
    )


def test_sampled_search_plays_the_same_game_again():
    """The same seed plays the same action, and it is legal."""
    seen = example("4/4")
    chosen = {
        ANSWER.SampledSearch(ALPHA_BETA, k=2, depth=2, samples=2, seed=3).choose(seen)
        for _ in range(2)
    }
    assert len(chosen) == 1
    assert chosen.pop() in seen.legal_actions()


@pytest.mark.slow
def test_the_reference_beats_random():
    """At least 95 % of 20 paired deals against Random."""
    assert compare(ANSWER.LookAhead(ANSWER.quick_replies), Random(), deals=20).score >= 0.95


def test_it_plays_whole_games():
    """A game against Greedy goes on to its end without an illegal action."""
    assert play([ANSWER.LookAhead(ANSWER.quick_replies), Greedy()], 2).final.is_terminal()


def test_what_is_given_is_no_catalogue():
    """`Observation.drafted` and `unseen_cards`, handed in as they are, are wrong in every case, and
    `may_hold`, in whatever order, in some of the hidden ones: it knows more."""
    for study in (load_study("study7"), hidden_study("study7")):
        differs = []
        for case in study.checks["catalogue"].cases:
            observation = read_position(case["on"])
            known, possible = ANSWER.catalogue(observation)
            assert observation.drafted(1 - observation.player) != known
            assert unseen_cards(observation) != possible
            differs.append(set(may_hold(observation, 1 - observation.player)) != set(possible))
    assert any(differs)  # of the hidden ones


def test_the_sacrifice_of_the_notebook():
    """Two actions prefer the block, three the fork; only a one-eyed jack stops it."""
    notebook = (ROOT / "course/study7_lookahead/13_deeper.py").read_text("utf-8")
    begin, asked = notebook.index("plan = sketch("), notebook.index("hands = [sample(plan")
    names = {
        **vars(ANSWER),
        "sketch": sketch,
        "sample": sample,
        "random": random,
        "searchers": lambda: {"AlphaBeta": ALPHA_BETA},
        "print": lambda *_: None,
    }
    for start in (begin, asked):
        exec(notebook[start : notebook.index("# %% [markdown]", start)], names)
    block, fork = (3, 8), (6, 2)
    plan, hands, forced = names["plan"], names["hands"], names["is_forced"]

    def best(values):
        return max(values, key=values.get).coords

    actions = {
        place: next(action for action in plan.legal_actions() if action.coords == place)
        for place in (block, fork)
    }
    chips = ANSWER.Chips.seen_by(plan)
    assert [ANSWER.reward(chips, actions[place]) for place in (block, fork)] == [136.5, 133]
    assert [best(values) for values in names["searched"]] == [block, fork]
    assert best(ANSWER.LookAhead(ANSWER.plain_replies, "known").values(plan)) == block
    certain = {
        place: [forced(state.after(action)) for state in hands] for place, action in actions.items()
    }
    assert [sum(certain[place]) for place in (block, fork)] == [0, 38]
    saved = [hand for hand, sure in zip(hands, certain[fork], strict=True) if not sure]
    assert all({"jh", "js"} & set(hand.hand(1)) for hand in saved)


def test_the_games_of_the_notebook():
    """What it says of 250 deals: scores, intervals, when they leave one half out, pairs."""
    found = {}
    for cards, points in reply_games().items():
        bounds = [
            wilson_interval(sum(points[:deals]) / (2 * deals), 2 * deals)
            for deals in range(1, len(points) + 1)
        ]
        out = [low > 0.5 or high < 0.5 for low, high in bounds]
        share = sum(points) / 2 / len(points)
        ratio = stdev(points) / (2 * share * (1 - share)) ** 0.5  # of the standard errors
        found[cards] = (
            len(points),
            round(share, 2),
            *(round(end, 3) for end in bounds[-1]),
            out.index(True) + 1,
            sum(then and not now for then, now in pairwise(out)),
            points.count(1.0),
            round(6 * ratio),
        )
    assert found == {
        "possible": (250, 0.44, 0.399, 0.486, 56, 5, 163, 5),
        "known": (250, 0.55, 0.502, 0.589, 202, 3, 161, 5),
    }
