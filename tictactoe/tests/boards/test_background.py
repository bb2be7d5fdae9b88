"""Tests of background work, which runs immediately if there are no threads, as in a browser."""

from contextvars import ContextVar
from threading import Event, Thread, get_ident

import pytest

from tictactoe import Board, Qubic
from tictactoe.boards import background, click_board, static_snapshot
from tictactoe.boards.play_board import HINT, VALUES, play_against
from tictactoe.boards.watch_board import watch
from tictactoe.tests.support.boards import click

SAID = ContextVar("said", default="nothing")


class First:
    """Plays the first legal move."""

    def choose(self, state):
        return state.legal_moves()[0]


@pytest.fixture
def in_a_browser(monkeypatch):
    """Python in a browser: it cannot start a thread, and clicks come from a page."""

    def refused(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(background, "HAS_THREADS", False)
    monkeypatch.setattr(Thread, "start", refused)
    monkeypatch.setattr(click_board, "in_kernel", lambda: True)


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_another_thread_has_the_context(seconds):
    """The work runs in a copy of the caller's context."""
    seen, done = [], Event()

    def work():
        seen.extend([SAID.get(), get_ident()])
        done.set()

    SAID.set("hello")
    background.run_in_background(work, seconds)
    assert done.wait(60)
    assert seen[0] == "hello"
    assert seen[1] != get_ident()


@pytest.mark.parametrize("start", [Board(), Qubic()], ids=["board", "qubic"])
def test_without_threads_a_click_is_answered_before_the_next_one(in_a_browser, start):
    """Moves, hints and values are available as soon as the click has been handled."""
    game = play_against(First(), start=start, values=lambda state, player: 0.5)
    click(game, "4")
    assert game.moves == [4, 0]
    click(game, HINT)
    assert game.board.content["status"].startswith("Hint: First would play")
    click(game, VALUES)
    assert "+0.5" in game.board.content["svg"]


def test_without_threads_games_are_watched(in_a_browser):
    """Each step of a watched game queries one agent."""
    game = watch({"x": First(), "o": First()})
    for moves in ([0], [0, 1]):
        click(game, "next")
        assert game.moves == moves


def test_without_threads_the_picture_below_follows_at_once(in_a_browser, monkeypatch):
    """Every change of the board is published immediately."""
    published = []
    monkeypatch.setattr(
        static_snapshot,
        "publish_display_data",
        lambda data, **more: published.append((data["text/html"], more)),
    )
    game = play_against(First())
    game.board.publish()
    before = len(published)
    click(game, "4")
    assert len(published) > before
    assert game.board.content["svg"] != published[0][0]
    assert published[-1][1]["update"]
