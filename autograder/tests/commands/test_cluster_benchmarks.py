"""The benchmarks of a cluster, at a small size."""

import pytest

from autograder.benchmarks import cluster, league
from autograder.tests.needs import need_isolation, need_module
from autograder.tests.postgres import need_postgres

pytestmark = pytest.mark.slow


def test_a_class_with_a_death_has_the_marks_of_a_class_without(monkeypatch):
    """A few submissions into SQLite here, and there into PostgreSQL, while a worker is killed."""
    need_module("distributed", "grading on a cluster")
    need_postgres()
    need_isolation()
    monkeypatch.setattr(cluster, "DEATHS", 1)
    monkeypatch.setattr(cluster, "ODD", {5: "def AlphaBeta(:\n", 7: None})
    found = {result.name: result for result in cluster.run(10)}
    assert found["students with other marks"].met
    assert found["deaths of workers"].value == 1


def test_a_league_there_has_the_table_of_a_league_here(monkeypatch):
    """Three agents, one from a file, over a few deals: every row, and every action of every game.
    """
    need_module("distributed", "a league on a cluster")
    monkeypatch.setattr(league, "AGENTS", league.AGENTS[1:4])
    table, games, *_ = league.run(4)
    assert (table.met, table.unit) == (True, "of 3 agents")
    assert (games.met, games.unit) == (True, "of 24 games")
