"""Tests of clicks on boards while an agent thinks, in other threads and in the agent's own."""

import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tictactoe import Board, counted
from tictactoe.boards.play_board import NEW, RETRY, SWAP, UNDO, play_against
from tictactoe.explorables.counts import compare_counts
from tictactoe.tests.support.boards import click, status
from tictactoe.tests.support.threads import Held, at_once, beside


class Steady:
    """Chooses a move that depends only on the position; concurrent calls are an error."""

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
    """Visits all positions up to a depth, and calls a function in each of them."""

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


LATE = [0, 8, "nonsense", ValueError("late")]  # legal in the new game, illegal, and not a move


@pytest.mark.parametrize("late", LATE)
def test_a_late_answer_is_not_played_in_the_next_game(late):
    """The new game begins immediately, and the answer for the old one is neither played nor shown."""
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
    """A lock that lets other threads run whenever it is released."""

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
    """Starting a new game also drops the old request atomically, so no answer can come in between."""
    agent, main = Held(), threading.current_thread()
    game = play_against(agent)

    def answer():
        if threading.current_thread() is main:
            agent.answers.put(0)
            time.sleep(0.05)

    with beside(lambda: click(game, "4")):
        agent.question()
        game.board.lock = game._requests.lock = Generous(game.board.lock, answer)
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
    """After an undo or a change of sides, the agent is queried again only if it is its turn."""
    agent = Held()
    game = play_against(agent)
    with beside(lambda: click(game, "4")):
        agent.question()
        click(game, *clicks)
        agent.answers.put(late)
        if moves[-1:] == [1]:  # the agent has answered
            asked = agent.question()
            agent.answers.put(1)
    assert game.moves == moves
    assert moves[-1:] != [1] or asked == game.states[-2]
    assert status(game).endswith(f"Your turn, {game.state.to_move}.")


@pytest.mark.parametrize("late", LATE)
def test_the_answer_of_another_agent_is_dropped(late):
    """After a change of agents, the new agent moves, and the old one's answer is ignored."""
    old = Held()
    game = play_against(old)
    with beside(lambda: click(game, "4")):
        old.question()
        game.agent = Steady()
        old.answers.put(late)
    assert status(game).startswith("Steady plays cell ")
    assert game.moves == [4, Steady().choose(Board("____x____"))]


@pytest.mark.parametrize("clicks", [["0"], ["nonsense"], [RETRY], ["0", "1", "2"]])
def test_clicks_while_an_agent_thinks_are_refused(clicks):
    """A click on the board changes only the line below it, and the answer still counts."""
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
    """Undo before the person's first move does not repeat the request."""
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
    """An agent that handles messages while it thinks does not move in an outdated position."""
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
    """However an agent's thinking ends, its board does not wait for it forever."""
    agent = Held()
    game = play_against(agent)
    agent.answers.put(error)
    click(game, "4")
    assert "thinking" not in status(game)
    agent.answers.put(0)
    click(game, RETRY)
    assert game.moves == [4, 0]


@pytest.mark.parametrize("second", ["7", "4", "8"])
def test_a_click_before_the_next_picture_plays_nobodys_move(monkeypatch, second):
    """After a move, and before the board is painted, it is not the person's turn."""
    game = play_against(Steady())
    with monkeypatch.context() as unpainted:
        unpainted.setattr(game._requests, "run", lambda: None)
        click(game, "8", second)
    assert game.moves == [8]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([*"012345678", NEW, UNDO, SWAP, RETRY]), max_size=12),
        min_size=2,
        max_size=4,
    )
)
def test_clicks_from_many_threads_play_a_right_game(scripts):
    """With arbitrary concurrent clicks, the game follows the rules, and only the agent chose its
    moves.

    Only one query of the agent runs at a time, and in the end the board waits for the person.
    """
    game = play_against(Steady())
    at_once([lambda script=script: click(game, *script) for script in scripts])
    assert "Error" not in status(game)
    assert len(game.states) == len(game.moves) + 1
    assert game.states[0] == Board()
    for state, move, after in zip(game.states, game.moves, game.states[1:], strict=False):
        assert state.after(move) == after
    assert game.state.is_terminal() or game._is_own_turn(game.state)
    if not any(SWAP in script for script in scripts):
        theirs = [(s, m) for s, m in zip(game.states, game.moves, strict=False) if s.to_move == "o"]
        assert theirs == [(s, Steady().choose(s)) for s, _ in theirs]


def test_counts_are_those_of_the_position():
    """The count of a search that ends after the position has changed is not shown for the new one."""
    start, clicks = Board("xoxo_o_x_"), []
    mine = Walker(9, lambda: click(board, clicks.pop(0)) if clicks else None)
    board = compare_counts({"all": Walker(9), "mine": mine}, start)
    clicks += ["8", "count again"]
    click(board, "count again")
    assert clicks == []
    assert board.state == start.after(8)
    assert board.counts == dict.fromkeys(["all", "mine"], count_by_hand(board.state))


def count_by_hand(state):
    """The number of nodes at and below `state`."""
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
    """After arbitrary concurrent clicks, the displayed counts are those of the final position."""
    board = compare_counts({"first": Walker(9), "second": Walker(1)}, Board("xoxoxo___"))
    at_once([lambda script=script: click(board, *script) for script in scripts])
    expected = {"first": count_by_hand(board.state), "second": 1 + len(board.state.legal_moves())}
    if board.state.is_terminal():
        expected = {}
    assert board.counts == {name: n for name, n in expected.items() if name not in board.off}
