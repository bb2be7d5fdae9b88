"""The fitted value: what it counts, how it is fitted; its agent; and the page of what it won."""

import inspect
import json
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.benchmarks import _fitted, _workers, fitting, summit
from autograder.benchmarks._fitted import KINDS, TABLES, Fitted, Value, features
from sequence import ISMCTS, Greedy, Random, State, compare, play
from sequence.agents.worth import best_action, ranked
from sequence.board.layout import HEART_CELLS, LINES, card_at


def positions(count, most=90):
    """States of games of the quick player with some random actions; the last may be over."""
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
    """What the side has of each kind, cell by cell and without bitboards."""
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


def test_what_counts_is_what_counting_by_cells_finds():
    """In any position, for both sides, in the table of that side."""
    states = list(positions(60))
    rows = features(states).reshape(len(states), len(TABLES), len(KINDS))
    assert any(any(state.sequences) for state in states)
    for state, tables in zip(states, rows, strict=True):
        expected = np.zeros((len(TABLES), len(KINDS)), int)
        for side in (0, 1):
            moves, sequence = side == state.to_move, state.sequences[side] > 0
            table = f"{'moves' if moves else 'waits'}{', with a sequence' if sequence else ''}"
            expected[TABLES.index(table)] = counted(state, side)
            expected[TABLES.index(table)] *= 1 if moves else -1
        assert (tables == expected).all()


def test_chances_are_those_of_the_regression_and_add_up():
    """What an agent plays by is what was fitted, whichever weights; an end is worth its result."""
    states = [state for state in positions(80) if not state.is_over]
    weights = np.random.default_rng(3).normal(size=features(states).shape[1])
    weights.reshape(len(TABLES), len(KINDS))[:, 0] = 0  # closed lines are not counted
    value = Value(weights)
    moves = 1 / (1 + np.exp(-(features(states) @ weights)))
    for side in (0, 1):
        found = value.chances(states, side)
        assert np.allclose(
            found,
            [
                chance if state.to_move == side else 1 - chance
                for state, chance in zip(states, moves, strict=True)
            ],
        )
    final = play([Greedy(), Random()], 1).final
    assert value.chances([final, states[0]], final.winner)[0] == 1
    assert value.chances([final], 1 - final.winner)[0] == 0


def test_a_fit_finds_the_weights_that_results_were_drawn_with():
    """In many positions: within what their number allows, and nowhere is another slope left."""
    chance = np.random.default_rng(1)
    rows, weights = chance.integers(-2, 3, (60_000, 6)), np.array([1.0, -0.5, 0.2, 0, 0.7, -1.2])
    won = (chance.random(len(rows)) < 1 / (1 + np.exp(-(rows @ weights)))).astype(float)
    found = fitting.fit(rows, won)
    assert np.abs(found - weights).max() < 0.05
    slope = rows.T @ (1 / (1 + np.exp(-(rows @ found))) - won) + fitting.PENALTY * found
    assert np.abs(slope).max() < 1e-6


@pytest.mark.parametrize("chunk", [3, 50_000])
def test_rows_are_looked_at_in_parts(monkeypatch, chunk):
    """Which changes nothing about the weights."""
    monkeypatch.setattr(fitting, "ROWS", chunk)
    rows = np.random.default_rng(2).integers(-1, 2, (50, 3))
    won = (rows[:, 0] > 0).astype(float)
    expected = np.array([1.9, 0, 0])
    found = fitting.fit(rows, won)
    assert found[0] > 1 > abs(found[1])
    assert found.shape == expected.shape


def test_the_log_loss_of_a_coin_is_log_two():
    """And a prediction that is sure and wrong costs no more than the least chance allows."""
    won = np.array([1.0, 0.0, 0.5])
    assert fitting.log_loss(np.full(3, 0.5), won) == pytest.approx(np.log(2))
    assert fitting.log_loss(np.array([0.0]), np.array([1.0])) == pytest.approx(
        -np.log(fitting.LEAST)
    )


def test_generations_are_played_fitted_and_written(monkeypatch, tmp_path):
    """Each by the weights of the one before; what is written is read again as it was fitted."""
    asked = []

    def quick(first, end, weights):
        asked.append((first, end, weights is not None))
        return fitting._joined([fitting.play(seed, weights) for seed in range(first, end)])

    monkeypatch.setattr(_fitted, "WEIGHTS", tmp_path / "fitted.json")
    monkeypatch.setattr(fitting, "SHARES", (2, 1))
    monkeypatch.setattr(fitting, "HELD_OUT", 3)
    monkeypatch.setattr(fitting, "_chunk", quick)
    monkeypatch.setattr(_workers, "ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1))
    results = fitting.run(6)
    first = fitting.FIRST_GAME
    assert asked == [(first, first + 6, False), (first + 6, first + 12, True)]
    assert [result.name.partition(",")[0] for result in results] == [
        "generation 1",
        "generation 1",
        "generation 2",
        "generation 2",
    ]
    assert all(0 < result.value < 5 for result in results)
    tables = json.loads(_fitted.WEIGHTS.read_text("utf-8"))
    assert list(tables) == list(TABLES)
    assert all(list(table) == list(KINDS) for table in tables.values())
    assert Value.read(_fitted.WEIGHTS).chances([State.deal(seed=1)], 0).shape == (1,)


def test_a_game_is_the_same_again_and_another_with_weights():
    """So that a run can be repeated; results are those of the game for who is to move."""
    weights = np.array(
        [list(table.values()) for table in json.loads(_fitted.WEIGHTS.read_text("utf-8")).values()]
    ).ravel()
    games = [fitting.play(4, given) for given in (None, None, weights)]
    for first, second in zip(games[0], games[1], strict=True):
        assert (first == second).all()
    assert (
        games[0].features.shape != games[2].features.shape
        or (games[0].features != games[2].features).any()
    )
    assert set(games[0].won) <= {0, 0.5, 1}


def test_the_weights_say_what_lines_are_worth():
    """The fewer chips are missing, the more a line counts; so it does with cards held; and a side
    with a sequence is nearer to winning."""
    tables = json.loads(_fitted.WEIGHTS.read_text("utf-8"))
    for table in tables.values():
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


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([1, 2, 3, 8]))
@settings(max_examples=25, deadline=None)
def test_an_agent_plays_by_the_rules_and_repeats_itself(seed, actions, width):
    """From any state the action is legal, and the same seed chooses it again."""
    chance, state = random.Random(seed), State.deal(seed=seed)
    for _ in range(actions):
        after = state.after(state.legal_actions().choose(chance))
        if after.is_over:
            break
        state = after
    chosen = [
        Fitted(width, looks=8, first=2, seed=seed).choose(state.observation()) for _ in range(2)
    ]
    assert chosen[0] == chosen[1]
    assert chosen[0] in state.legal_actions()


@pytest.mark.slow
def test_a_winning_action_is_played():
    """Wherever one action wins the game, at once, whatever is hidden."""
    wins = 0
    for seed in range(40):
        states = play([Greedy(), Greedy()], seed).states
        last = states[-2]
        if states[-1].winner == last.to_move:
            for width in (1, 8):
                after = last.after(Fitted(width, seed=seed).choose(last.observation()))
                assert after.winner == last.to_move
            wins += 1
    assert wins > 10


def test_hidden_cards_do_not_change_what_is_played():
    """Two states that look the same to the player get the same action: it sees no other hand."""
    state = next(state for state in positions(9, 30) if len(state.legal_actions()) > 20)
    other = ISMCTS(iterations=1, seed=8)._sample(state.observation())
    assert other.hand_piles != state.hand_piles
    assert Fitted(seed=2).choose(state.observation()) == Fitted(seed=2).choose(other.observation())


def test_who_asks_without_a_turn_is_told():
    """As with the other agents: no legal action, no choice."""
    with pytest.raises(IndexError):
        Fitted().choose(State.deal(seed=1).observation(1))


@pytest.mark.slow
def test_the_value_alone_beats_greedy():
    """Without any search: the lower end of the interval says so."""
    assert compare(Fitted(width=1), Greedy(), 15, 1).interval[0] > 0.6


def test_games_of_the_summit_are_kept_and_a_run_goes_on(monkeypatch, tmp_path):
    """What was played before is not played again; ten deals of every agent before the next ten."""
    asked = []
    monkeypatch.setattr(summit, "KEPT", tmp_path)
    monkeypatch.setattr(summit, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(_workers, "ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1))
    monkeypatch.setattr(
        summit, "played", lambda *key: asked.append(key) or [15, 0, 5, 0.02, 0.17, 600]
    )
    summit.run(10)
    results = summit.run(20)
    first = summit.FIRST_DEAL
    assert asked == [(name, first + deal) for deal in (0, 10) for name in summit.ROWS]
    assert [(result.name, result.value) for result in results[::4]] == [
        (name, 0.75) for name in summit.ROWS
    ]
    page = summit.PAGE.read_text("utf-8")
    for row in summit.ROWS.values():
        assert (
            f"| {row.words} | 0.75 (0.60 to 0.86) | {row.target or ''} | 40 | 0.75 | 20 ms | "
            "**weaker** |"
        ) in page
    summit._journal("value").measured((first + 20,), lambda: [0, 0, 20, 0.02, 0.17, 600])
    page = summit.page()
    assert f"| {summit.ROWS['value'].words} | 0.50 (0.38 to 0.62) |  | 60 | 0.75 | 20 ms |" in page
    assert "the same 20 deals" in page
    summit._path("quick").unlink()
    summit._journal("quick").measured((first + 50,), lambda: [15, 0, 5, 0.02, 0.17, 600])
    assert "the same 0 deals" in summit.page()  # on many cores no deal may have been played by all
    assert "ISMCTS had time for 600 iterations" in page


@pytest.mark.slow
def test_the_agents_of_the_summit_are_made_and_play(monkeypatch):
    """A deal of each, with few iterations: the fields are those of the page."""
    monkeypatch.setattr(summit, "CHUNK", 1)
    monkeypatch.setattr(summit, "SECONDS", 0.005)
    for name, row in summit.ROWS.items():
        small = {
            "looks": 4,
            "first": 2,
            **{setting: min(value, 4) for setting, value in row.settings.items()},
        }
        monkeypatch.setitem(summit.ROWS, name, row._replace(settings=small))
        found = summit.Played(*summit.played(name, 3))
        assert found.match().games == 2
        assert found.seconds > 0
        assert found.iterations >= 1


def test_words_say_what_the_settings_are():
    """The page's words have the numbers that the agents are made with."""
    given = {
        name: parameter.default for name, parameter in inspect.signature(Fitted).parameters.items()
    }
    for name in ("quick", "strong"):
        row = summit.ROWS[name]
        made = {**given, **row.settings}
        rounds = {8: "three", 16: "four"}[made["width"]]
        assert 2 ** len(range({"three": 3, "four": 4}[rounds])) == made["width"]
        for said in (f"{made['width']} best", f"{made['looks']} times", f"{rounds} rounds"):
            assert said in row.words
    assert summit.ROWS["hands"].settings == {}
    assert f"{given['width']} best" in summit.ROWS["hands"].words


@pytest.mark.parametrize("deck", [False, True])
def test_who_is_shown_what_is_hidden_meets_the_true_state(deck):
    """All along a game: the other hand is the true one; the cards to come are, if they are shown,
    and else in another order each time; and the observation is the one that was given."""
    agent, orders = summit.Shown(5, deck, seed=1), []
    for state in play([Greedy(), Greedy()], 5).states[:-1]:
        observation = state.observation()
        for found in agent._sampled(observation, 2):
            assert found.observation() == observation
            assert found.hand_piles == state.hand_piles
            assert (found.deck == state.deck) or not deck
            assert sorted(found.deck[found.dealt :]) == sorted(state.deck[state.dealt :])
            orders.append(found.deck)
    assert len(set(orders)) == (1 if deck else len(orders))


def test_the_page_of_the_summit_is_made_of_the_games_that_are_kept():
    """What is committed is what the command would write, and has every agent."""
    page = summit.PAGE.read_text("utf-8")
    assert page == summit.page()
    assert all(f"| {row.words} |" in page for row in summit.ROWS.values())
    assert summit.kept()["quick"].match().interval[0] > 0.5  # as docs/teaching/league.md says
