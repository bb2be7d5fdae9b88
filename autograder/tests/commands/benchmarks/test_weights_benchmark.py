"""The benchmark of learned weights runs the notebook's own code and writes the table shown there."""

import json

import numpy as np
import pytest

from autograder.benchmarks.studies import weights
from course.published import LearnedWeights, weights_from_games


def test_the_notebooks_code_learns_and_plays(capsys):
    """A few games give weights, losses and a score."""
    code = weights.definitions()
    entries = weights.learned(code, "lines", games=(4, 8), held_out=4, deals=1)
    assert [(one.features, one.games, one.matches) for one in entries] == [
        ("lines", 4, 2),
        ("lines", 8, 2),
    ]
    for one in entries:
        assert 0 < one.loss_seen < np.log(2)
        assert one.loss_held_out > 0
        assert one.low <= one.score <= one.high
    capsys.readouterr()


@pytest.mark.slow
def test_own_and_opposing_lines_are_distinguished():
    """Own and opposing lines get weights of opposite signs, as the notebook states."""
    code = weights.definitions()
    fitted = np.array(code["fit"](*code["split"](code["positions"](100, code["lines"]), 100)))
    ours, theirs = fitted[3:6], fitted[8:]
    assert all(ours > 0)
    assert all(theirs < 0)
    assert sorted(ours) == list(ours)


def test_the_table_is_written_and_read(monkeypatch, tmp_path):
    """The table has both kinds of features, with every number of games."""
    monkeypatch.setattr(
        weights,
        "learned",
        lambda code, name: [
            LearnedWeights(name, games, 0.6, 0.7, 200, 0.5, 0.4, 0.6) for games in weights.GAMES
        ],
    )
    monkeypatch.setattr(weights, "TABLE", tmp_path / "table.json")
    results = weights.run()
    rows = [LearnedWeights(**row) for row in json.loads(weights.TABLE.read_text("utf-8"))]
    assert [(row.features, row.games) for row in rows] == [
        (name, games) for name in ("lines", "patterns") for games in weights.GAMES
    ]
    assert len(results) == len(rows)


def test_the_committed_table_is_whole():
    """The committed table is the one that the benchmark writes."""
    rows = weights_from_games()
    assert weights.as_text(rows) == weights.TABLE.read_text("utf-8")
    assert len(rows) == 2 * len(weights.GAMES)


def test_what_the_notebook_says_of_the_table():
    """Ten games are too few; with more, lines predict better and finally score twice as much."""
    rows = {(row.features, row.games): row for row in weights_from_games()}
    for name in ("lines", "patterns"):
        assert rows[name, 10].loss_held_out > np.log(2) > rows[name, 10].loss_seen
        assert rows[name, 10].loss_held_out - rows[name, 10].loss_seen > 0.1
    for games in weights.GAMES[1:]:
        lines, patterns = (rows[name, games].loss_held_out for name in ("lines", "patterns"))
        assert lines < patterns < np.log(2)
    lines, patterns = (rows[name, 1_000] for name in ("lines", "patterns"))
    assert abs(lines.loss_held_out - patterns.loss_held_out) < 0.01
    assert 1.8 < lines.score / patterns.score < 2.2
    assert lines.score > 1 / 3
