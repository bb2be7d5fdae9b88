"""The statements about research in docs agree with the games stored next to the scripts."""

from importlib import import_module
from inspect import signature
from math import log2
from pathlib import Path

import pytest

from autograder.benchmarks.support.games import as_text
from sequence import FittedLookAhead
from sequence.agents import fitted
from tictactoe.games.play import Match

ROOT = Path(__file__).parents[4]


@pytest.fixture
def research(monkeypatch):
    """A function that imports a script."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: import_module(f"research.{name}")


@pytest.mark.parametrize("name", ["summit", "variants"])
def test_a_page_is_what_the_script_writes(research, name):
    """The page has all numbers of the script's table."""
    script = research(name)
    assert script.PAGE.read_text("utf-8") == script.page()


def test_what_the_teaching_page_says_of_them(research):
    """FittedLookAhead beats ISMCTS by a small margin, and so does one of eleven variants."""
    summit, variants = research("summit"), research("variants")
    assert 0.5 < summit.results()["quick"].match().interval[0] < 0.55
    found = {name: played.match().interval[0] for name, played in variants.results().items()}
    assert len(found) == len(variants.VARIANTS) == 11
    assert [name for name, low in found.items() if low > 0.5] == ["PromisesFirst"]


def test_the_description_of_the_fitted_agent(research):
    """Its docstring has the number of games, and the page has its settings."""
    fitting, words = research("fitting"), research("summit").ROWS["quick"].words
    games = fitting.GAMES * (fitting.HELD_OUT - 1) // fitting.HELD_OUT
    assert f" {games:,} games " in " ".join(fitted.__doc__.split())
    given = {name: one.default for name, one in signature(FittedLookAhead).parameters.items()}
    assert f"{given['width']} best, {given['simulations']} simulations" in words
    assert log2(given["width"]) == 3
    assert "two more actions" in words and "three rounds" in words
    assert fitted.SIMULATED_ACTIONS == 2


def test_the_richer_states_are_those_that_were_played(research):
    """The published table of notebooks 15 and 16 is what the kept games give."""
    script = research("richer_state")
    assert script.FILE.read_text("utf-8") == as_text(script.results())
    assert {(one.learner, one.games) for one in script.results()} == {
        ("table", 2 * script.DEALS),
        ("weights", 2 * script.MORE * script.DEALS),
    }


def test_what_the_notebooks_say_of_the_richer_states(research):
    """No addition shows a gain, nearly all entries are updated once, and one interval moved."""
    script = research("richer_state")
    table, weights = (
        " ".join(path.read_text("utf-8").replace("\n#", " ").split())
        for number in (15, 16)
        for path in ROOT.glob(f"course/study8_sarsa/{number}_*.py")
    )
    assert f"over {script.DEALS} paired deals each" in table
    assert f"in {2 * script.DEALS} games" in table
    results = {one.name: one for one in script.results()}
    assert len(results) == 10
    for name, one in results.items():
        assert one.low < 0.5
        assert one.high > 0.5 or name == "weights_hand_lines"
        assert one.once is None or one.once > 0.95
    first = [
        found
        for deal, found in script.measured("weights_draft_lines").items()
        if deal < script.FIRST_DEAL + script.DEALS
    ]
    low, high = Match(*map(sum, zip(*first, strict=True))).interval
    assert (
        f"After {script.DEALS} deals, the interval of the third was {low:.3f} to {high:.3f}"
        in weights
    )


def test_the_tuned_numbers_are_those_of_the_games(research):
    """The published table follows from the kept games, and from the reference's own numbers."""
    tuning = research("tuning")
    assert tuning.TABLE.read_text("utf-8") == tuning.as_text()
    deals = {len(points) for points in tuning.table()["points"].values()}
    assert deals == {tuning.DEALS}
