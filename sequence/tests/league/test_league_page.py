"""Tests of the documentation page on the league: its examples, numbers, options and files."""

import doctest
import re
import sys
from pathlib import Path

from sequence import Greedy, play
from sequence.league import InProcessPlayer, Limits, league
from sequence.league.__main__ import parser

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "league.md").read_text(encoding="utf-8")


def test_examples_are_so(monkeypatch):
    """Every example of the page, and the one in the agent to copy, gives the stated result."""
    monkeypatch.chdir(DOCS.parent)
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(
        sys.modules, "my_agent", raising=False
    )  # another test's module with that name
    import my_agent

    for failed, tried in (
        doctest.testmod(my_agent),
        doctest.testfile(str(DOCS / "league.md"), module_relative=False),
    ):
        assert tried
        assert not failed


def test_the_example_plays_in_a_process_of_its_own():
    """The agent to copy gets no warning in a league of processes."""
    result = league(["Random", str(DOCS / "my_agent.py")], deals=1, seed=4)
    assert len(result.records) == 2
    assert result.warnings == ()


def test_limits_are_the_defaults():
    """The stated times, memory and number of warnings are those of the code."""
    limits = Limits()
    for sentence in (
        f"may take {limits.first:g} seconds",
        f"every other action may take {limits.action:g} second",
        f"has {limits.memory} MB of memory and {limits.cpu} seconds",
    ):
        assert sentence in " ".join(PAGE.split())
    assert (limits.warnings, "The third warning in a game forfeits it." in PAGE) == (3, True)


def test_commands_are_understood():
    """Every option on the page is an option of the league, and the page's command can be parsed."""
    options = {option for action in parser()._actions for option in action.option_strings}
    assert set(re.findall(r"--[a-z]+", PAGE)) <= options
    [command] = re.findall(r"^python3 run.py league (.*)$", PAGE, re.MULTILINE)
    read = parser().parse_args(command.split())
    assert (len(read.agents), read.deals, read.out) == (3, 10, Path("build/league"))


def test_files_are_those_of_a_league(tmp_path):
    """The table of files lists exactly the files that a league writes."""
    league(["Random", "Greedy"], deals=1, out=tmp_path, transport=InProcessPlayer)
    rows = re.findall(r"^\| (`.*?) \|", PAGE.partition("| in `--out` |")[2], re.MULTILINE)
    named = {name.rstrip("/") for row in rows for name in re.findall(r"`(.*?)`", row)}
    assert named == {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "replays" / "0001+Greedy+Random.txt").exists()


def test_a_game_has_about_fifty_actions():
    """The length of a game that the page assumes is that of good players."""
    lengths = [len(play([Greedy(), Greedy()], seed).actions) for seed in range(12)]
    assert 40 < sum(lengths) / len(lengths) < 60
    assert "A game has about 50 actions." in PAGE
