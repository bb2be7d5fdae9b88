"""The numbers of notebook 19 match the ladder and Wilson's interval."""

import re
import tomllib

import pytest

from autograder.release.derive import COURSE
from course.checks import load_study
from course.checks.matches.match import LIMITS
from course.checks.matches.win_rate_scoring import Rate
from tictactoe.games.play import wilson_interval

pytestmark = pytest.mark.content("study10")
STUDY = load_study("study10")
LADDER = tomllib.loads((STUDY.staff_folder / "hidden_cases.toml").read_text("utf-8"))["cases"][
    "ladder"
]
TEXT = " ".join(
    line.removeprefix("# ")
    for line in (COURSE / STUDY.assignment / "19_league.py").read_text("utf-8").splitlines()
)


def test_the_bounds_of_the_ladder():
    """The table has the win rates of the graded ladder for each opponent."""
    rows = re.findall(r"\| [^|]+ \| (\d+) % \| (\d+) % \|", TEXT)
    assert [(int(low) / 100, int(high) / 100) for low, high in rows] == [
        tuple(case["rates"]) for case in LADDER
    ]


def test_the_public_ladder_is_shorter():
    """It has the first two opponents with the same rates, and twelve deals."""
    public = STUDY.checks["ladder"].cases
    assert [case["rates"] for case in public] == [case["rates"] for case in LADDER[:2]]
    assert {case["deals"] for case in public} == {12}
    assert {case["deals"] for case in LADDER} == {240}
    assert "at most 240 | at most 12 |" in TEXT
    assert LIMITS.first == 5
    assert "In the ladder the agent has five seconds for its first action" in TEXT


def test_the_example_of_the_ladder():
    """A score of 37.5 % against `Greedy` earns half of the points."""
    assert "wins 37.5 % of its games against `Greedy`" in TEXT
    low, high = LADDER[1]["rates"]
    assert f"halfway between {low:.0%} and {high:.0%}".replace("%", " %") in TEXT
    rate = Rate(low, high, 240)
    for _ in range(240):
        rate.add(0.375)
    assert rate.share == pytest.approx(0.5)


def test_the_intervals():
    """A score of 0.75 excludes 0.5 after 16 games but not 12; 12 wins in 16 do, and 11 do not."""
    assert wilson_interval(0.75, 12)[0] < 0.5 < wilson_interval(0.75, 16)[0]
    assert wilson_interval(11 / 16, 16)[0] < 0.5 < wilson_interval(12 / 16, 16)[0]
    (a, b), (c, d) = (wilson_interval(won / 16, 16) for won in (9, 13))
    assert f"The intervals are {a:.2f} to {b:.2f} and {c:.2f} to {d:.2f}" in TEXT
