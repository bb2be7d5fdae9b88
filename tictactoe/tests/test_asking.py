"""Boards that are clicked while an agent thinks, in other threads and in the agent's own."""

import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tictactoe import Board, counted
from tictactoe.show.counts import compare_counts
from tictactoe.show.play_board import AGAIN, NEW, SWAP, UNDO, play_against
from tictactoe.tests.support.boards import click, status
from tictactoe.tests.support.threads import Held, at_once, beside


class Steady:
    """Takes a move that depends on the position and nothing else, and is asked once at a time."""

    def __init__(self, meanwhile=lambda: None):
        self.meanwhile = meanwhile
        self.thinking = threading.Lock()

    def choose(self, state):
        assert self.thinking.acquire(blocking=False)
        try:
            self.meanwhile()
            return random.Random(state.text).choice(state.legal_moves())
        finally:
            self.thinking.release()


class Walker:
    """Visits all positions up to a depth, and lets something happen at each of them."""

    def __init__(self, depth, meanwhile=lambda: None):
        self.depth, self.meanwhile = depth, meanwhile

    def search(self, state):
        self.value(state, 0)

    @counted
    def value(self, state, depth):
        self.meanwhile()
        if depth < self.depth:
            for move in state.legal_moves():
                self.value(state.after(move), depth + 1)


LATE = [0, 8, "nonsense", ValueError("late")]  # legal in the new game, or not, or no move at all


@pytest.mark.parametrize("late", LATE)
def test_a_late_answer_is_not_played_in_the_next_game(late):
    """The new game begins at once; what the agent says to the old one is not played, nor told."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: click(game, "4")):
        assert agent.question() == Board("____x____")
        click(game, NEW)
        assert (game.moves, status(game)) == ([], "Your turn, x.")
        click(game, "0")
        assert status(game) == "Held is thinking …"
        agent.answers.put(late)
        assert agent.question() == Board("x________")
        agent.answers.put(8)
    assert game.moves == [0, 8]
    assert status(game) == "Held plays cell 8: row 3, column 3. Your turn, x."


class Generous:
    """A lock that gives others time whenever it is released."""

    def __init__(self, lock, then):
        self.lock, self.then, self.depth = lock, then, 0

    def __enter__(self):
        self.lock.acquire()
        self.depth += 1

    def __exit__(self, *exception):
        self.depth -= 1
        is_free = not self.depth
        self.lock.release()
        if is_free:
            self.then()


def test_an_answer_in_the_midst_of_a_click_is_dropped():
    """The new game begins and the old question ends in one step: no answer comes between them."""
    agent, main = Held(), threading.current_thread()
    game = play_against(agent)

    def answer():
        if threading.current_thread() is main:
            agent.answers.put(0)
            time.sleep(0.05)

    with beside(lambda: click(game, "4")):
        agent.question()
        game.board.lock = game._asking.lock = Generous(game.board.lock, answer)
        click(game, NEW)
        assert game.moves == []
    assert game.moves == []


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize(
    ("clicks", "moves"),
    [
        ([UNDO], []),
        ([UNDO, "4"], [4, 1]),
        ([UNDO, "0"], [0, 1]),
        ([SWAP], [4]),
        ([SWAP, "0"], [4, 0, 1]),
        ([NEW, SWAP], [1]),
        ([SWAP, SWAP], [4, 1]),
    ],
)
def test_a_late_answer_is_dropped_when_the_game_changed(late, clicks, moves):
    """After an undo or a change of sides the agent is asked anew, if it is its turn at all."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: click(game, "4")):
        agent.question()
        click(game, *clicks)
        agent.answers.put(late)
        if moves[-1:] == [1]:  # its answer
            asked = agent.question()
            agent.answers.put(1)
    assert game.moves == moves
    assert moves[-1:] != [1] or asked == game.states[-2]
    assert status(game).endswith(f"Your turn, {game.state.to_move}.")


@pytest.mark.parametrize("late", LATE)
def test_the_answer_of_another_agent_is_dropped(late):
    """Who chooses another agent gets its move, and the old one's answer is not put down to it."""
    old = Held()
    game = play_against(old)
    with beside(lambda: click(game, "4")):
        old.question()
        game.agent = Steady()
        old.answers.put(late)
    assert status(game).startswith("Steady plays cell ")
    assert game.moves == [4, Steady().choose(Board("____x____"))]


@pytest.mark.parametrize("clicks", [["0"], ["nonsense"], [AGAIN], ["0", "1", "2"]])
def test_clicks_while_an_agent_thinks_are_refused(clicks):
    """A click on the board changes nothing but the line below it, and the answer still counts."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: click(game, "4")):
        agent.question()
        click(game, *clicks)
        assert status(game) == "It is not your turn. Held is thinking …"
        assert game.moves == [4]
        agent.answers.put(8)
    assert game.moves == [4, 8]
    assert agent.asked.empty()


def test_nothing_to_undo_leaves_the_agent_alone():
    """Undo before one's first move asks nothing anew."""
    agent = Held()
    held = []
    with beside(lambda: held.append(play_against(agent, side="o"))):
        agent.question()
        agent.answers.put(4)
    (game,) = held
    with beside(lambda: click(game, NEW)):
        agent.question()
        click(game, UNDO)
        assert status(game) == "There is nothing to undo. Held is thinking …"
        agent.answers.put(3)
    assert game.moves == [3]


@pytest.mark.parametrize("change", [NEW, UNDO, SWAP])
def test_clicks_that_the_agent_itself_lets_in(change):
    """An agent that lets the kernel handle messages while it thinks does not play for the past."""
    clicks = [change]
    agent = Steady(lambda: click(game, clicks.pop()) if clicks else None)
    game = play_against(agent)
    click(game, "4")
    assert game.moves == {NEW: [], UNDO: [], SWAP: [4]}[change]
    click(game, "0")
    assert len(game.moves) == {NEW: 2, UNDO: 2, SWAP: 3}[change]
    assert status(game).startswith("Steady plays")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), ValueError("oh")])
def test_an_agent_that_stops_can_be_asked_again(error):
    """Whatever ends the agent's thinking, its board does not wait for it for ever."""
    agent = Held()
    game = play_against(agent)
    agent.answers.put(error)
    click(game, "4")
    assert "thinking" not in status(game)
    agent.answers.put(0)
    click(game, AGAIN)
    assert game.moves == [4, 0]


@pytest.mark.parametrize("second", ["7", "4", "8"])
def test_a_click_before_the_next_picture_plays_nobodys_move(monkeypatch, second):
    """A move was made and the board is yet to be painted: it is not the person's turn."""
    game = play_against(Steady())
    with monkeypatch.context() as unpainted:
        unpainted.setattr(game._asking, "go_on", lambda: None)
        click(game, "8", second)
    assert game.moves == [8]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([*"012345678", NEW, UNDO, SWAP, AGAIN]), max_size=12),
        min_size=2,
        max_size=4,
    )
)
def test_clicks_from_many_threads_play_a_right_game(scripts):
    """Whoever clicks what and when, the game is one by the rules in which the agent played its own.

    It is asked one question at a time, and when all is still the board waits for the person.
    """
    game = play_against(Steady())
    at_once([lambda script=script: click(game, *script) for script in scripts])
    assert "Error" not in status(game)
    assert len(game.states) == len(game.moves) + 1
    assert game.states[0] == Board()
    for state, move, after in zip(game.states, game.moves, game.states[1:], strict=False):
        assert state.after(move) == after
    assert game.state.is_terminal() or game._mine(game.state)
    if not any(SWAP in script for script in scripts):
        theirs = [(s, m) for s, m in zip(game.states, game.moves, strict=False) if s.to_move == "o"]
        assert theirs == [(s, Steady().choose(s)) for s, _ in theirs]


def test_counts_are_those_of_the_position():
    """A search that ends after its board went on is not shown as the count of the new position."""
    start, clicks = Board("xoxo_o_x_"), []
    mine = Walker(9, lambda: click(board, clicks.pop(0)) if clicks else None)
    board = compare_counts({"all": Walker(9), "mine": mine}, start)
    clicks += ["8", "count again"]
    click(board, "count again")
    assert clicks == []
    assert board.state == start.after(8)
    assert board.counts == dict.fromkeys(["all", "mine"], count_by_hand(board.state))


def count_by_hand(state):
    """The number of nodes under and at `state`."""
    return 1 + sum(count_by_hand(state.after(move)) for move in state.legal_moves())


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["6", "7", "8", "take back", "from the start", "count again", "agent first"]
            ),
            max_size=6,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_counts_from_many_threads_are_right(scripts):
    """Whoever clicks what and when, the counts are those of the position that is left."""
    board = compare_counts({"first": Walker(9), "second": Walker(1)}, Board("xoxoxo___"))
    at_once([lambda script=script: click(board, *script) for script in scripts])
    expected = {"first": count_by_hand(board.state), "second": 1 + len(board.state.legal_moves())}
    if board.state.is_terminal():
        expected = {}
    assert board.counts == {name: n for name, n in expected.items() if name not in board.off}
