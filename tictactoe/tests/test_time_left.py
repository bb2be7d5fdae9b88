"""The line that tells how far something long is."""

import sys
from types import SimpleNamespace

import pytest

from tictactoe.show import time_left
from tictactoe.show.time_left import Line, TimeLeft, how_far, with_time_left


@pytest.fixture
def clock(monkeypatch):
    """A clock whose `seconds` go by only when a test says so."""
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(time_left, "monotonic", lambda: clock.seconds)
    return clock


@pytest.fixture
def shown(monkeypatch):
    """All that an output in a notebook shows, one thing in the place of the one before."""
    shown = []

    def display(what, display_id):
        assert display_id is True
        assert not shown  # everything else is shown in the place of the first
        shown.append(what)
        return SimpleNamespace(update=shown.append)

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("builtins.get_ipython", lambda: SimpleNamespace(kernel=1), raising=False)
    return shown


def test_a_loop_tells_how_far_it_is(clock, shown, capsys):
    """In one output of the notebook, which is empty before it tells anything, and in the end."""
    for _ in with_time_left(range(4), "games"):
        clock.seconds += 2
    assert [repr(words) for words in shown] == [
        "",
        "1 of 4 games, about 6 s left",
        "2 of 4 games, about 4 s left",
        "3 of 4 games, about 2 s left",
        "",
    ]
    assert shown[-1]._repr_html_() == ""
    assert capsys.readouterr() == ("", "")


def test_what_is_quick_tells_nothing(clock, shown):
    """The line changes twice a second at most."""
    for _ in with_time_left(range(4), "games"):
        clock.seconds += 0.1
    assert set(map(repr, shown)) == {""}


def test_it_is_told_what_is_done(clock, shown):
    """A training says after each game how many it has played; some had been played before."""
    tell = TimeLeft(800, "games", 200)
    clock.seconds = 30
    tell(300)
    assert repr(shown[-1]) == "300 of 800 games, about 2 min left"
    tell(800)
    assert repr(shown[-1]) == ""


def test_words_are_no_markup(shown):
    """In a notebook they are shown as they are."""
    Line().tell("<b>")
    assert shown[0]._repr_html_() == "&lt;b&gt;"


def test_on_a_terminal(clock, monkeypatch, capsys):
    """The last line is written over, and is blank in the end."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for _ in with_time_left(range(2), "deals"):
        clock.seconds += 1
    said = capsys.readouterr().err
    assert said == f"\r{'1 of 2 deals, about 1 s left':<79}\r{'':<79}\r"


def test_elsewhere_nothing_is_told(clock, capsys):
    """In a pipe there is no line to be changed."""
    for _ in with_time_left(range(2), "deals"):
        clock.seconds += 1
    assert capsys.readouterr() == ("", "")


def test_what_is_found_takes_the_place_of_the_line(shown, capsys):
    """In a notebook the very object is shown, elsewhere it is printed."""
    line, found = Line(), object()
    line.tell("looking")
    line.show(found)
    assert shown[1:] == [found]
    assert capsys.readouterr() == ("", "")


def test_it_is_printed_elsewhere(capsys):
    """Without a notebook, and without a terminal that would have shown a line."""
    line = Line()
    line.tell("looking")
    line.show("found")
    assert capsys.readouterr() == ("found\n", "")


def test_no_time_is_guessed_from_nothing():
    """Nor told where all are done."""
    assert how_far(0, 4, "games", 9) == "0 of 4 games"
    assert how_far(4, 4, "games", 9) == "4 of 4 games"
