"""Tests of games and matches: histories, clocks, forfeits, seeds and intervals."""

import importlib
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Board, Game, Human, IllegalMove, Match, Random, match, play
from tictactoe.games.play import wilson_interval


class Script:
    """Plays the given moves, one after another, whatever the position."""

    def __init__(self, *moves):
        self.moves = list(moves)

    def choose(self, state):
        """The next move of the script."""
        return self.moves.pop(0)


class First:
    """Plays the first legal move, and records the states and seeds that it receives."""

    def __init__(self):
        self.states, self.seeds = [], []

    def reset(self, seed):
        """Keep the seed."""
        self.seeds.append(seed)

    def choose(self, state):
        """The first legal move."""
        self.states.append(state)
        return state.legal_moves()[0]


class Slow(First):
    """Plays like `First`, but first advances the clock of the fixture `ticks` by `seconds`."""

    def __init__(self, ticks, seconds):
        super().__init__()
        self.ticks, self.seconds = ticks, seconds

    def choose(self, state):
        """The first legal move, after the delay."""
        self.ticks.now += self.seconds
        return super().choose(state)


@pytest.fixture
def ticks(monkeypatch):
    """Replaces the clock; each reading is `step` later than the one before."""
    clock = SimpleNamespace(now=0.0, step=1.0)

    def read():
        clock.now += clock.step
        return clock.now

    module = importlib.import_module("tictactoe.games.play")
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=read))
    return clock


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_a_game_is_its_history(x_seed, o_seed):
    """Replaying the moves gives the states, and the game's winner is the winner on the last board."""
    game = play({"x": Random(x_seed), "o": Random(o_seed)})
    state = Board()
    assert game.states[0] is state
    for move, following in zip(game.moves, game.states[1:], strict=True):
        state = state.after(move)
        assert following is state
    assert game.final is state
    assert state.is_terminal()
    assert game.winner == state.winner
    assert game.reason == "played out"


def test_every_move_has_its_thinking_time(ticks):
    """There is one time for each move, measured from the call to the result."""
    ticks.step = 0.25
    game = play({"x": First(), "o": First()})
    assert game.seconds == (0.25,) * len(game.moves)
    assert len(game.states) == len(game.moves) + 1 == 8


def test_the_order_of_agents_does_not_matter():
    """The players move in the game's order, not in that of the mapping."""
    forth = play({"x": Random(1), "o": Random(2)})
    back = play({"o": Random(2), "x": Random(1)})
    assert forth.moves == back.moves
    assert forth.winner == back.winner


def test_agents_are_asked_only_when_it_is_their_turn():
    """Each agent receives only the states in which it is to move."""
    agents = {"x": First(), "o": First()}
    game = play(agents)
    assert agents["x"].states == list(game.states[:-1:2])
    assert agents["o"].states == list(game.states[1:-1:2])


@pytest.mark.parametrize(("x_moves", "o_moves", "winner", "text"), [
    ((0, 1, 2), (3, 4), "x", "x wins (played out) after 5 moves: [0, 3, 1, 4, 2]"),
    ((0, 1, 8), (3, 4, 5), "o", "o wins (played out) after 6 moves: [0, 3, 1, 4, 8, 5]"),
    ((0, 1, 5, 6, 8), (4, 2, 3, 7), None,
     "draw (played out) after 9 moves: [0, 4, 1, 2, 5, 3, 6, 7, 8]"),
])  # fmt: skip
def test_games_end_as_the_rules_say(x_moves, o_moves, winner, text):
    """Wins and draws are recognised; a printed game shows the outcome and the moves."""
    game = play({"x": Script(*x_moves), "o": Script(*o_moves)})
    assert game.winner == winner
    assert str(game) == text


def test_a_game_may_start_anywhere():
    """The first state is the given one, and its player to move begins."""
    start = Board("x________")
    game = play({"x": First(), "o": First()}, start)
    assert game.states[0] is start
    assert game.states[1] is start.after(1)


def test_a_finished_start_is_not_played_on():
    """In a finished position, no agent is queried."""
    game = play({"x": Script(), "o": Script()}, Board("xxxoo____"))
    assert (game.moves, game.winner) == ((), "x")


def test_a_slow_agent_loses_on_time():
    """An agent that sleeps longer than its clock allows loses, and its late move is not made."""
    sleeper = SimpleNamespace(choose=lambda state: time.sleep(0.02) or 0)
    game = play({"x": sleeper, "o": First()}, clock=0.01)
    assert (game.winner, game.reason) == ("o", "time")
    assert (game.states, game.moves, game.seconds) == ((Board(),), (), ())
    assert str(game) == "o wins (time) after 0 moves: []"


def test_the_clock_is_for_the_whole_game(ticks):
    """Four moves of one second each fit exactly into four seconds; with less, the fourth is late."""
    agents = {"x": First(), "o": First()}  # seven moves, four of them by x
    assert play(agents, clock=4).reason == "played out"
    game = play(agents, clock=3.5)
    assert (game.winner, game.reason, len(game.moves)) == ("o", "time", 6)


def test_each_player_has_a_clock_of_its_own(ticks):
    """The slow second player loses even though the first one is fast."""
    game = play({"x": First(), "o": Slow(ticks, 20)}, clock=10)
    assert (game.winner, game.reason, len(game.moves)) == ("x", "time", 1)


@pytest.mark.parametrize("move", [0, 9, "a", None])
def test_an_illegal_move_names_the_agent(move):
    """The error message contains the agent's class, the move and the position."""
    with pytest.raises(IllegalMove) as caught:
        play({"x": Script(move), "o": First()}, Board("xo_______"))
    message = str(caught.value)
    assert message.startswith("Script: illegal move")
    assert repr(move) in message
    assert 'Board("xo_______")' in message


def test_who_resigns_loses():
    """After "q", the other player has won, and the earlier moves are kept."""
    answers = iter(["4", "q"])
    human = Human(lambda question: next(answers), lambda text: None)
    game = play({"x": human, "o": First()})
    assert (game.winner, game.reason, game.moves) == ("o", "resigned", (4, 0))
    assert str(game) == "o wins (resigned) after 2 moves: [4, 0]"


def test_errors_of_agents_are_not_swallowed():
    """An agent that raises an error stops the game with this error."""
    with pytest.raises(IndexError, match="pop from empty list"):
        play({"x": Script(), "o": First()})


def test_games_cannot_be_changed():
    """A finished game is immutable."""
    game = Game((Board(),), (), (), None, "played out")
    with pytest.raises(AttributeError):
        game.winner = "x"


def test_the_same_seed_plays_the_same_match():
    """Only the same seed repeats a match between random players."""

    def outcomes(seed):
        return [str(match(Random(), Random(), 40, seed)) for _ in range(2)]

    first, second, third = outcomes(0), outcomes(1), outcomes(2)
    assert first[0] == first[1]
    assert len({first[0], second[0], third[0]}) > 1


def test_a_seed_does_not_depend_on_what_was_played_before():
    """Agents are reset, so earlier games have no influence."""
    fresh, used = Random(5), Random(5)
    for _ in range(17):
        used.choose(Board())
    assert match(fresh, Random(), 20, 3) == match(used, Random(), 20, 3)


def test_every_game_and_agent_has_a_seed_of_its_own():
    """No two resets get the same seed, even in two matches with successive seeds."""
    first, second = First(), First()
    for seed in (0, 1):
        match(first, second, 10, seed)
    seeds = first.seeds + second.seeds
    assert len(seeds) == len(set(seeds)) == 40


def test_agents_without_reset_may_play():
    """`reset` is optional."""
    moves = [0, 1, 2, 0, 1, 2]
    assert match(Script(*moves), Script(*(3, 4) * 2), games=1) == Match(1, 0, 0)


def test_sides_alternate():
    """The first agent begins games 0, 2, 4 ..., the second agent the others."""
    first, second = First(), First()
    outcome = match(first, second, 4)
    starts = [agent.states.count(Board()) for agent in (first, second)]
    assert starts == [2, 2]
    assert first.states[0] is Board()
    assert outcome == Match(2, 0, 2)  # between two agents `First`, x always wins


@pytest.mark.parametrize(("games", "expected"), [(1, Match(1, 0, 0)), (3, Match(2, 0, 1))])
def test_the_first_agent_begins_odd_matches_more_often(games, expected):
    """With an odd number of games, the first agent begins one game more."""
    assert match(First(), First(), games) == expected


def test_sides_alternate_from_a_position_where_o_moves():
    """If o is to move at the start, the first agent plays o in the first game."""
    start = Board("____x____")
    first, second = First(), First()
    match(first, second, 1, start=start)
    assert first.states[0] is start
    assert {state.to_move for state in second.states} == {"x"}


def test_a_match_keeps_the_clock(ticks):
    """The clock applies to every game: a slow agent loses on both sides."""
    assert match(Slow(ticks, 20), First(), 2, clock=10) == Match(0, 0, 2)


@pytest.mark.parametrize("games", [0, -1])
def test_a_match_has_a_game(games):
    """Requesting fewer than one game is an error whose message contains the number."""
    with pytest.raises(ValueError, match=f"at least one game, not {games}"):
        match(First(), First(), games)


def test_a_draw_is_half_a_win():
    """The score is the share of points; a printed match shows the counts and the interval."""
    outcome = Match(wins=5, draws=2, losses=3)
    assert (outcome.games, outcome.score) == (10, 0.6)
    assert str(outcome) == ("5 won, 2 drawn, 3 lost: score 0.600 (95 % interval 0.313 to 0.832)")


@pytest.mark.parametrize(("share", "trials", "low", "high"), [
    (0.5, 100, 0.4038, 0.5962),
    (0.0, 10, 0.0, 0.2775),
    (1.0, 10, 0.7225, 1.0),
    (0.1, 1_000, 0.0829, 0.1202),
    (0.9, 20, 0.6990, 0.9721),
])  # fmt: skip
def test_wilson_intervals_agree_with_scipy(share, trials, low, high):
    """The results equal `scipy.stats.binomtest(...).proportion_ci(method="wilson")`."""
    assert wilson_interval(share, trials) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10_000), st.floats(0, 1), st.floats(0.5, 0.99))
def test_wilson_intervals_hold_the_share_and_solve_its_equation(trials, share, confidence):
    """By definition, the share is exactly z standard errors away from each bound."""
    low, high = wilson_interval(share, trials, confidence)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    wider = wilson_interval(share, trials, 0.995)
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12
    if 1e-6 < share < 1 - 1e-6:
        sigmas = [abs(share - p) / (p * (1 - p) / trials) ** 0.5 for p in (low, high)]
        assert sigmas[0] == pytest.approx(sigmas[1], rel=1e-3)
