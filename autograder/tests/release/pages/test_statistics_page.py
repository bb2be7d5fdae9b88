"""The page on statistics: its examples run, its numbers are correct, and notebooks link to it."""

import doctest
import re
from collections import Counter
from math import sqrt

import pytest

from autograder.release.derive import COURSE
from autograder.release.notebooks import notebook_texts
from course.checks import load_study, studies
from course.published import reply_games
from tictactoe.games.play import games_needed, wilson_interval

PAGE = COURSE / "statistics.md"
TEXT = " ".join(PAGE.read_text("utf-8").split())
NOTEBOOKS = [path for name in studies() for path in notebook_texts(load_study(name).folder)]


def test_the_examples_run():
    """The examples give the results shown on the page."""
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("games", [25, 100, 400, 1600])
def test_the_table_of_standard_errors(games):
    """The table assumes two equal agents."""
    error = sqrt(0.25 / games)
    low, high = 0.5 - 1.96 * error, 0.5 + 1.96 * error
    digits = 4 if games == 1600 else 3
    assert f"| {games:,} | {error:.{digits}f} | {low:.{digits}f} and {high:.{digits}f} |" in TEXT


def test_the_intervals_in_the_text():
    """These are the intervals of the two versions of an agent, and of the first answer."""
    for won, played in ((24, 40), (27, 40), (60, 100), (70, 100)):
        low, high = wilson_interval(won / played, played)
        assert f"{low:.2f} to {high:.2f}" in TEXT
    assert f"lower bound is {wilson_interval(0.6, 100)[0]:.3f}" in TEXT


def test_the_numbers_of_games():
    """An interval around exactly 0.55 excludes 0.5 from 385 games upwards; 0.52 takes 82 minutes."""
    assert wilson_interval(0.55, 385)[0] > 0.5 > wilson_interval(0.55, 384)[0]
    assert f"`games_needed(0.52)` is {games_needed(0.52):,}" in TEXT
    assert 80 <= games_needed(0.52) / 60 < 85
    assert 3.9 < games_needed(0.55) / games_needed(0.6) < 4.1


def test_the_deals_are_real():
    """The points come from an experiment in notebook 13."""
    assert Counter(reply_games()["known"]) == {0: 33, 1: 161, 2: 56}


def test_notebooks_that_report_scores_link_to_the_page():
    """The link replaces repeated explanations."""
    linked = {
        int(path.stem[:2])
        for path in NOTEBOOKS
        if re.search(r"^# .*`course/statistics\.md`", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {1, 9, 13, 15, 19} <= linked
