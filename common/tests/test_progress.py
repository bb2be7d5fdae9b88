"""The progress line of long computations."""

import sys
from types import SimpleNamespace

import pytest

from common import progress
from common.progress import LiveLine, Progress, progress_text, track


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances only when a test sets its `seconds`."""
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "monotonic", lambda: clock.seconds)
    return clock


@pytest.fixture
def shown(monkeypatch):
    """The successive contents of an output in a notebook."""
    shown = []

    def display(what, display_id):
        assert display_id is True
        assert not shown  # all later contents replace the first output
        shown.append(what)
        return SimpleNamespace(update=shown.append)

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("builtins.get_ipython", lambda: SimpleNamespace(kernel=1), raising=False)
    return shown


def test_a_loop_tells_how_far_it_is(clock, shown, capsys):
    """A loop uses a single output of the notebook, which is empty at the start and at the end."""
    for _ in track(range(4), "games"):
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
    """The line changes at most twice a second."""
    for _ in track(range(4), "games"):
        clock.seconds += 0.1
    assert set(map(repr, shown)) == {""}


def test_it_is_told_what_is_done(clock, shown):
    """Training reports the number of games after each game; games played earlier are included."""
    games = Progress(800, "games", 200)
    clock.seconds = 30
    games.update(300)
    assert repr(shown[-1]) == "300 of 800 games, about 2 min left"
    games.update(800)
    assert repr(shown[-1]) == ""


def test_words_are_no_markup(shown):
    """A notebook displays the text unchanged."""
    LiveLine().update("<b>")
    assert shown[0]._repr_html_() == "&lt;b&gt;"


def test_on_a_terminal(clock, monkeypatch, capsys):
    """The last line is overwritten, and is blank at the end."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for _ in track(range(2), "deals"):
        clock.seconds += 1
    said = capsys.readouterr().err
    assert said == f"\r{'1 of 2 deals, about 1 s left':<79}\r{'':<79}\r"


def test_elsewhere_nothing_is_told(clock, capsys):
    """Output to a pipe contains no progress line."""
    for _ in track(range(2), "deals"):
        clock.seconds += 1
    assert capsys.readouterr() == ("", "")


def test_what_is_found_takes_the_place_of_the_line(shown, capsys):
    """In a notebook, the result replaces the line as a rich object; elsewhere it is printed."""
    line, found = LiveLine(), object()
    line.update("looking")
    line.finish(found)
    assert shown[1:] == [found]
    assert capsys.readouterr() == ("", "")


def test_it_is_printed_elsewhere(capsys):
    """The result is printed even if there is neither a notebook nor a terminal to show a line."""
    line = LiveLine()
    line.update("looking")
    line.finish("found")
    assert capsys.readouterr() == ("found\n", "")


def test_no_time_is_guessed_from_nothing():
    """No time is estimated before the first item is done, or after the last."""
    assert progress_text(0, 4, "games", 9) == "0 of 4 games"
    assert progress_text(4, 4, "games", 9) == "4 of 4 games"
