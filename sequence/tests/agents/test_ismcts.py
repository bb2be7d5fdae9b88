"""Tests of ISMCTS: seeds, budgets, legality, hidden information, wins and threats."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence import DRAFT, FORGO, OFFICIAL, PASS, Action, Greedy, State, compare, play
from sequence.agents import beliefs
from sequence.agents.evaluation import best_action, chances, ranked
from sequence.agents.ismcts import ISMCTS
from sequence.board.layout import BIT
from sequence.tests.support.positions import board_of, state_from

TABLES = [
    DRAFT,
    DRAFT.for_players(4),
    *(OFFICIAL.for_players(players) for players, _ in OFFICIAL.hands),
    OFFICIAL.for_players(6, 3),
]
OTHER_HAND = ["kc", "kc", "qc", "qc", "tc", "tc"]
EMPTY_ROWS = ".......... "


def position(rules, seed, actions):
    """The state of a random game after this number of actions, or the last non-terminal state."""
    chance, state = random.Random(seed), State.deal(rules, seed)
    for _ in range(actions):
        following = state.after(state.legal_actions().choose(chance))
        if following.is_over:
            break
        state = following
    return state


positions = st.builds(position, st.sampled_from(TABLES), st.integers(0, 10**6), st.integers(0, 120))


@settings(max_examples=60, deadline=None)
@given(positions, st.integers(1, 12))
def test_actions_are_legal(state, iterations):
    """For any number of players and in any state, the chosen action and all ranked ones are legal."""
    chosen = ISMCTS(iterations=iterations, seed=1).choose(state.observation())
    assert chosen in state.legal_actions()
    for plays in (1, 8):
        actions = ranked(state, plays)
        assert all(action in state.legal_actions() for action in actions)
        assert len(set(actions)) == len(actions) > 0
    assert best_action(state) == ranked(state, 1)[0]


@settings(max_examples=40, deadline=None)
@given(positions)
def test_chances(state):
    """Probabilities are between 0 and 1, and those of two sides add up to 1."""
    found = chances(state)
    assert len(found) == state.rules.teams
    assert all(0 < chance < 1 for chance in found)
    if state.rules.teams == 2:
        assert sum(found) == pytest.approx(1)


def test_chances_at_the_end():
    """When the game is over, the probabilities are the result, with one half for a tie."""
    board = board_of("*........* " + EMPTY_ROWS * 8 + "*........*")
    for sequences, result in (((2, 0), (1, 0)), ((0, 1), (0, 1)), ((1, 1), (0.5, 0.5))):
        state = state_from(board, [OTHER_HAND, []], deck=[], sequences=sequences, is_over=True)
        assert chances(state) == result


def test_chances_rise():
    """A side's probability rises with chips in an open line, with the last card and with the turn."""

    def chance(row, hand, to_move):
        board = board_of(f"*........* {row} " + EMPTY_ROWS * 7 + "*........*")
        state = state_from(board, [hand, OTHER_HAND], ["ac", "ks"], to_move=to_move)
        return chances(state)[0]

    other, last = ["7s", "9s", "9s", "8s", "8s", "2s"], ["ah", "9s", "9s", "8s", "8s", "2s"]
    steps = [
        ("..oxxx.o..", other, 1),
        ("oxxx......", other, 1),
        ("oxxxx.....", other, 1),
        ("oxxxx.....", last, 1),
        ("oxxxx.....", last, 0),
    ]
    found = [chance(*step) for step in steps]
    assert found == sorted(set(found))


def test_a_sequence_is_not_stretched():
    """ISMCTS adds a fifth chip to four plain ones, but not to four chips of a completed sequence."""
    row = "..XXXXX..."
    board = board_of(f"*........* {row} " + EMPTY_ROWS * 7 + "*........*")
    state = state_from(
        board, [["qh", "7s", "9s", "9s", "8s", "8s"], OTHER_HAND], ["ac", "ks"], sequences=(1, 0)
    )
    plain = state_from(
        board | {(1, col): "0" for col in range(3, 7)},
        [["qh", "7s", "9s", "9s", "8s", "8s"], OTHER_HAND],
        ["ac", "ks"],
    )
    assert best_action(plain).coords == (1, 7)
    assert best_action(state).coords != (1, 7)


@settings(max_examples=15, deadline=None)
@given(positions)
def test_hidden_cards_make_no_difference(state):
    """In two states with the same observation, the same seed gives the same action."""
    seen = state.observation()
    other = beliefs.sample(seen, random.Random(7)).observation()
    first, twin = ISMCTS(iterations=15, seed=3), ISMCTS(iterations=15, seed=3)
    assert first.choose(seen) == twin.choose(other)


def test_seeds():
    """The same seed gives the same actions again, even after a reset; another seed does not."""
    rules = DRAFT.for_players(2)
    player = ISMCTS(iterations=5, seed=8)
    states = [position(rules, seed, 20).observation() for seed in range(12)]
    first = [player.choose(seen) for seen in states]
    player.reset(8)
    assert [player.choose(seen) for seen in states] == first
    assert [ISMCTS(iterations=5, seed=8).choose(seen) for seen in states[:1]] == first[:1]
    player.reset(9)
    assert [player.choose(seen) for seen in states] != first


def test_games_are_seeded():
    """The same seed repeats a complete game with budgets in iterations."""
    first, again = (play([ISMCTS(iterations=2), Greedy()], seed=4) for _ in range(2))
    assert first.actions == again.actions


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_budget_in_iterations(iterations):
    """The requested number of iterations is done, and the count restarts for each action."""
    player = ISMCTS(iterations=iterations, seed=1)
    for seed in (1, 2):
        player.choose(State.deal(seed=seed).observation())
        assert player.iterations_done == iterations


def test_budget_in_seconds(monkeypatch):
    """On a clock that advances by 0.01 seconds, ISMCTS ends in time, but uses most of the budget.

    An iteration reads the clock once, so it takes 0.01 seconds here.
    """
    ticks = iter(range(10_000))
    monkeypatch.setattr("sequence.agents.ismcts.time.perf_counter", lambda: next(ticks) / 100)
    player = ISMCTS(seconds=1, seed=1)
    player.choose(State.deal(seed=1).observation())
    assert 70 <= player.iterations_done < next(ticks) <= 100


def test_the_longest_iteration_is_kept_free(monkeypatch):
    """If an iteration may take as long as the remaining time, none is started."""
    ticks = iter([0, 0, 0.4, 100])
    monkeypatch.setattr("sequence.agents.ismcts.time.perf_counter", lambda: next(ticks))
    player = ISMCTS(seconds=1, seed=1)
    player.choose(State.deal(seed=1).observation())
    assert player.iterations_done == 1


def test_no_time_at_all(monkeypatch):
    """If the time is up before the first iteration, the highest-ranked action is played."""
    monkeypatch.setattr("sequence.agents.ismcts.MARGIN", 1)
    state = State.deal(seed=1)
    player = ISMCTS(seconds=1e-9, seed=1)
    assert player.choose(state.observation()) == ranked(state, 8)[0]
    assert player.iterations_done == 0


def test_one_legal_action_is_played_at_once():
    """A player who can only pass does so without an iteration."""
    board = dict.fromkeys(BIT, "0") | dict.fromkeys([(0, 0), (0, 9), (9, 0), (9, 9)], "")
    state = state_from(board, [["2s"] * 2, ["3s"] * 2], ["4s"], traded=True)
    player = ISMCTS(iterations=10, seed=1)
    player.iterations_done = 5
    assert player.choose(state.observation()) == PASS
    assert player.iterations_done == 0


def test_nothing_to_choose():
    """Choosing when it is not the player's turn raises IndexError."""
    with pytest.raises(IndexError):
        ISMCTS(iterations=1).choose(State.deal(seed=1).observation(1))


def test_dead_cards():
    """With a dead card in hand, ISMCTS trades or forgoes the trade, and considers both."""
    board = dict.fromkeys(BIT, "") | {(2, 2): "0", (5, 9): "1"}
    hands = [["2d", "9s", "9s", "8s", "8s", "7s"], OTHER_HAND]
    state = state_from(board, hands, ["as", "jd"])
    trades = [Action("trade", "2d", card) for card in ("as", "jd")]
    assert set(ranked(state, 8)) == {*trades, FORGO}
    assert ISMCTS(iterations=60, seed=1).choose(state.observation()) == trades[1]


def test_the_winning_sequence_is_completed():
    """With one sequence and four in a line, ISMCTS always completes the second sequence."""
    board = board_of("*xxx.....* ...oooo... " + EMPTY_ROWS * 7 + "*........*")
    hands = [["5s", "ah", "kh", "4d", "5d", "6d"], OTHER_HAND]
    state = state_from(board, hands, ["ac", "ac", "ks"], sequences=(1, 0))
    for seed in range(3):
        chosen = ISMCTS(iterations=40, seed=seed).choose(state.observation())
        assert chosen.coords == (0, 4)


def test_the_heart_is_completed():
    """ISMCTS plays the fourth cell of the heart to win under the rules that count the heart."""
    board = board_of(
        "*........* " + EMPTY_ROWS * 3 + "....xx.... ....x..... " + EMPTY_ROWS * 3 + "*........*"
    )
    hands = [["3h", "9s", "9s", "8s", "8s", "7s"], OTHER_HAND]
    state = state_from(board, hands, ["ac", "ks"])
    assert ISMCTS(iterations=40, seed=1).choose(state.observation()).coords == (5, 5)


@pytest.mark.parametrize("card", ["jd", "jh", "ah"])
def test_a_threat_is_met(card):
    """If the others have four in a line with one cell left, any suitable card is used to stop them."""
    board = board_of("*........* xoooo..... " + EMPTY_ROWS * 7 + "*........*")
    hands = [[card, "9s", "9s", "8s", "8s", "7s"], OTHER_HAND]
    state = state_from(board, hands, ["ac", "ks"], sequences=(0, 1))
    chosen = ISMCTS(iterations=60, seed=1).choose(state.observation())
    assert chosen.play_card == card
    assert chosen.coords in ({(1, 1), (1, 2), (1, 3), (1, 4)} if card == "jh" else {(1, 5)})


@pytest.mark.parametrize(
    "budget",
    [
        {"iterations": 0},
        {"iterations": 1.5},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": float("nan")},
        {"seconds": "1"},
        {"iterations": 5, "seconds": 1},
    ],
    ids=str,
)
def test_bad_budgets(budget):
    """An invalid budget raises ValueError, as do two budgets."""
    with pytest.raises(ValueError, match=r"iterations|seconds"):
        ISMCTS(**budget)


def test_default_budget():
    """The default budget is 0.2 seconds."""
    assert (ISMCTS().seconds, ISMCTS().iterations) == (0.2, None)


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
def test_it_beats_greedy():
    """With 60 iterations, ISMCTS wins at least 13 of 20 games (10 deals from both seats)."""
    assert compare(ISMCTS(iterations=60), Greedy(), deals=10).wins >= 13
