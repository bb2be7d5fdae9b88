"""The benchmark of tree search writes the table shown in the notebook."""

import json

from autograder.benchmarks.studies import mcts
from course.published import MCTSMatch, mcts_strength
from sequence import Random, example


def test_a_match_is_an_entry(capsys):
    """Every deal is played from both seats, and the interval contains the score."""
    entry = mcts.played("Random", Random(), 2)
    assert (entry.agent, entry.games, entry.score, entry.low) == ("Random", 4, 0, 0)
    assert 0 < entry.high < 1
    capsys.readouterr()


def test_what_is_played_is_named():
    """An agent's name includes its settings, if it has any."""
    entry = MCTSMatch("SequenceUCT", "judged", None, 10, 4, 0.5, 0.2, 0.8)
    assert entry.name == "SequenceUCT, judged leaf, all actions, 10 iterations"
    assert entry._replace(width=5).name.split(", ")[2] == "the best 5"
    assert entry._replace(agent="quick player", leaf=None, iterations=None).name == "quick player"


def test_the_table_is_written_and_read(monkeypatch, tmp_path):
    """The table has all six kinds of search with ten iterations, two others, and more iterations."""
    monkeypatch.setattr(
        mcts,
        "played",
        lambda name, agent, deals, leaf=None, width=None, iterations=None: MCTSMatch(
            name, leaf, width, iterations, 2 * deals, 0.5, 0.25, 0.75
        ),
    )
    monkeypatch.setattr(mcts, "TABLE", tmp_path / "table.json")
    results = mcts.run()
    rows = [MCTSMatch(**row) for row in json.loads(mcts.TABLE.read_text("utf-8"))]
    assert [result.name for result in results] == [row.name for row in rows]
    assert len({row.name for row in rows}) == len(rows) == 6 + 2 + len(mcts.GROWTH)
    assert {(row.leaf, row.width) for row in rows if row.leaf and row.iterations == 10} == {
        (leaf, width) for leaf in ("random", "judged", "quick") for width in (None, 5)
    }


def test_the_quick_player_repeats_itself():
    """After a reset with the same seed it plays the same actions."""
    player, observation = mcts.QuickPlayer(), example("3/10")
    player.reset(1)
    first = player.choose(observation)
    player.reset(1)
    assert player.choose(observation) == first
    assert first in observation.legal_actions()


def test_the_committed_table_is_whole():
    """The committed table is the one that the benchmark writes."""
    rows = mcts_strength()
    assert mcts.as_text(rows) == mcts.TABLE.read_text("utf-8")
