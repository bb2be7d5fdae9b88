"""What docs say about research agrees with the games that are kept next to the scripts."""

from importlib import import_module
from inspect import signature
from math import log2
from pathlib import Path

import pytest

from sequence import FittedLookAhead
from sequence.agents import fitted

ROOT = Path(__file__).parents[3]


@pytest.fixture
def research(monkeypatch):
    """A function that imports a script."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: import_module(f"research.{name}")


@pytest.mark.parametrize("name", ["summit", "variants"])
def test_a_page_is_what_the_script_writes(research, name):
    """With all numbers of its table."""
    script = research(name)
    assert script.PAGE.read_text("utf-8") == script.page()


def test_what_the_teaching_page_says_of_them(research):
    """FittedLookAhead beats ISMCTS, by little, and so does one of eleven variants."""
    summit, variants = research("summit"), research("variants")
    assert 0.5 < summit.results()["quick"].match().interval[0] < 0.55
    found = {name: played.match().interval[0] for name, played in variants.results().items()}
    assert len(found) == len(variants.VARIANTS) == 11
    assert [name for name, low in found.items() if low > 0.5] == ["PromisesFirst"]


def test_what_is_said_of_the_fitted_agent(research):
    """Its docstring has the number of games, and the page its settings."""
    fitting, words = research("fitting"), research("summit").ROWS["quick"].words
    games = fitting.GAMES * (fitting.HELD_OUT - 1) // fitting.HELD_OUT
    assert f"\n{games:,} games " in fitted.__doc__
    given = {name: one.default for name, one in signature(FittedLookAhead).parameters.items()}
    assert f"{given['width']} best, {given['looks']} simulations" in words
    assert log2(given["width"]) == 3
    assert "two more actions" in words and "three rounds" in words
    assert fitted.AHEAD == 2
