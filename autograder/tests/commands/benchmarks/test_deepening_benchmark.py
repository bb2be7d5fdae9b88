"""The benchmark of search within a budget writes the table shown in the notebook."""

import json

from autograder.benchmarks.studies import deepening
from course.published import DepthMatch, depth_strength


def test_a_match_is_an_entry():
    """Each opening is played from both sides, and the interval contains the score."""
    entry = deepening.played("table and killers", "board", 20, openings=2)
    assert (entry.budget, entry.games) == (20, 4)
    assert 1 <= entry.depth < 3
    assert 0 <= entry.low <= entry.score <= entry.high <= 1


def test_openings_are_different_and_the_same_again():
    """Openings have four marks each, differ from each other and are reproducible."""
    first = list(deepening.starts(10))
    assert first == list(deepening.starts(10))
    assert len(set(first)) == 10
    assert {42 - state.text.count("_") for state in first} == {4}


def test_the_table_is_written_and_read(monkeypatch, tmp_path):
    """The table has two orders, with and without the components, and every budget."""
    monkeypatch.setattr(
        deepening,
        "played",
        lambda parts, order, budget: DepthMatch(parts, order, budget, 2.5, 100, 0.5, 0.4, 0.6),
    )
    monkeypatch.setattr(deepening, "TABLE", tmp_path / "table.json")
    results = deepening.run()
    rows = json.loads(deepening.TABLE.read_text("utf-8"))
    assert len({result.name for result in results}) == len(rows) == 2 * 2 * 4


def test_the_committed_table_is_whole():
    """The committed table is the one that the benchmark writes."""
    assert deepening.as_text(depth_strength()) == deepening.TABLE.read_text("utf-8")
