"""Tests of FittedLookAhead: its features and weights, its play, and recorded games."""

import random
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence import DRAFT, OFFICIAL, FittedLookAhead, Greedy, Random, State, compare, play
from sequence.agents import fitted
from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action, ranked
from sequence.agents.fitted import KINDS, TABLES, Evaluation
from sequence.board.layout import HEART_CELLS, LINES, card_at
from sequence.engine import replay

REPLAYS = Path(__file__).parent / "replays"
SEATS = {"first": [FittedLookAhead, Greedy], "second": [Greedy, FittedLookAhead]}


def positions(count, most=90):
    """States of games of the quick player with some random actions; the last may be terminal."""
    chance = random.Random(5)
    for _ in range(count):
        state = State.deal(seed=chance.getrandbits(32))
        for _ in range(chance.randrange(most)):
            if state.is_over:
                break
            state = state.after(
                chance.choice(ranked(state, 8)) if chance.random() < 0.3 else best_action(state)
            )
        yield state


def counted(state, side):
    """The side's features of each kind, counted cell by cell without bitboards."""
    found = dict.fromkeys(KINDS, 0)
    own = "xo"[side]
    hand, row = state.hand(side), state.draft_row
    for line in (*LINES, HEART_CELLS):
        cells = [cell for cell in line if card_at(cell)]
        chips = [state[cell] for cell in cells]
        heart = line == HEART_CELLS
        theirs = any(chip and chip.lower() != own for chip in chips)
        if theirs or (sum(chip.isupper() for chip in chips) > 1 and not heart):
            continue
        missing = [cell for cell, chip in zip(cells, chips, strict=True) if not chip]
        held = [cell for cell in missing if card_at(cell) in hand]
        taken = [cell for cell in missing if card_at(cell) in row and cell not in held]
        if missing:
            found[
                f"{'heart' if heart else 'line'}, {len(missing)} missing, {len(held)} held, "
                f"{len(taken)} in the row"
            ] += 1
    found["a two-eyed jack"] = sum(card in ("jd", "jc") for card in hand)
    found["a one-eyed jack"] = sum(card in ("jh", "js") for card in hand)
    found["the side"] = 1
    return [found[kind] for kind in KINDS]


def test_an_evaluation_is_the_regression_on_what_is_counted():
    """In any position and with any weights, the regression is evaluated; at the end, the result is."""
    states = [state for state in positions(80) if not state.is_over]
    assert any(any(state.sequences) for state in states)
    weights = np.random.default_rng(3).normal(scale=0.2, size=(len(TABLES), len(KINDS)))
    weights[:, 0] = 0  # closed lines
    evaluation = Evaluation(weights)
    for side in (0, 1):
        odds = [
            sum(
                (1 if one == side else -1)
                * weights[2 * (one == state.to_move) + (state.sequences[one] > 0)]
                @ counted(state, one)
                for one in (0, 1)
            )
            for state in states
        ]
        assert np.allclose(evaluation.chances(states, side), 1 / (1 + np.exp(-np.array(odds))))
    final = play([Greedy(), Random()], 1).final
    assert evaluation.chances([final, states[0]], final.winner)[0] == 1
    assert evaluation.chances([final], 1 - final.winner)[0] == 0


def test_the_weights_say_what_lines_are_worth():
    """A line is worth more if fewer chips are missing or more cards are held, and a two-eyed jack
    is worth more than a one-eyed one."""
    tables = tomllib.loads(fitted.WEIGHTS.read_text("utf-8"))
    assert list(tables) == list(TABLES)
    for table in tables.values():
        assert list(table) == list(KINDS)
        assert table["a closed line"] == 0
        for more, fewer in pairwise((3, 2, 1)):
            assert (
                table[f"line, {fewer} missing, {fewer} held, 0 in the row"]
                > table[f"line, {more} missing, 0 held, 0 in the row"]
            )
        for missing in (1, 2):
            assert (
                table[f"line, {missing} missing, {missing} held, 0 in the row"]
                > table[f"line, {missing} missing, 0 held, 0 in the row"]
            )
        assert table["a two-eyed jack"] > table["a one-eyed jack"] > 0


@pytest.mark.parametrize("seat", SEATS)
def test_recorded_games_are_repeated(seat):
    """`FittedLookAhead` repeats recorded games of the matches whose results are documented."""
    game = play([agent() for agent in SEATS[seat]], 1 if seat == "first" else 2)
    assert replay.write(game.states) == (REPLAYS / f"fitted_{seat}.txt").read_text("utf-8")


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([1, 2, 3, 8]))
@settings(max_examples=25, deadline=None)
def test_it_plays_by_the_rules_and_repeats_itself(seed, actions, width):
    """In any state, the action is legal, and the same seed gives the same action."""
    chance, state = random.Random(seed), State.deal(seed=seed)
    for _ in range(actions):
        after = state.after(state.legal_actions().choose(chance))
        if after.is_over:
            break
        state = after
    chosen = [
        FittedLookAhead(width, simulations=8, first=2, seed=seed).choose(state.observation())
        for _ in range(2)
    ]
    assert chosen[0] == chosen[1]
    assert chosen[0] in state.legal_actions()


def test_a_winning_action_is_played():
    """If an action wins immediately, such an action is played, with and without search."""
    wins = 0
    for seed in range(12):
        states = play([Greedy(), Greedy()], seed).states
        last = states[-2]
        if states[-1].winner == last.to_move:
            for width in (1, 8):
                after = last.after(FittedLookAhead(width, seed=seed).choose(last.observation()))
                assert after.winner == last.to_move
            wins += 1
    assert wins > 3


def test_hidden_cards_do_not_change_what_is_played():
    """Two states with the same observation get the same action."""
    state = next(state for state in positions(9, 30) if len(state.legal_actions()) > 20)
    other = sample(state.observation(), random.Random(8))
    assert other.hand_piles != state.hand_piles
    chosen = {FittedLookAhead(seed=2).choose(one.observation()) for one in (state, other)}
    assert len(chosen) == 1


def test_without_a_turn_there_is_no_action():
    """As with the other agents, choosing out of turn raises IndexError."""
    with pytest.raises(IndexError):
        FittedLookAhead().choose(State.deal(seed=1).observation(1))


@pytest.mark.parametrize("rules", [OFFICIAL, DRAFT.for_players(4)], ids=str)
def test_other_rules_are_refused(rules):
    """Other rules are rejected, because the weights are for the draft rules with two players."""
    with pytest.raises(ValueError, match=f"plays {DRAFT} only, not {rules}"):
        FittedLookAhead().choose(State.deal(rules, seed=1).observation())


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
@pytest.mark.parametrize("width", [1, 8])
def test_it_beats_greedy(width):
    """With and without the search, the lower end of the interval is above one half."""
    assert compare(FittedLookAhead(width), Greedy(), 15, 1).interval[0] > 0.6
