"""The benchmarks that use a cluster, at a small size: there they find what they find here."""

import pickle
from unittest.mock import Mock

import pytest

from autograder import benchmarks
from autograder.benchmarks import _journal, agents, cluster, league, training
from autograder.benchmarks._calls import calls
from autograder.benchmarks._cluster import local_cluster
from autograder.tests.support.needs import need_isolation, need_module
from autograder.tests.support.postgres import need_postgres
from autograder.workspace import load_answer
from sequence.league import LeagueError
from sequence.league.cluster import called, kit_digest

CLOCKED = ("ms", "s", "games/s")  # units of what differs from run to run


def test_a_benchmark_that_cannot_use_a_cluster_says_so(capsys):
    """One sentence, and nothing is measured."""
    assert benchmarks.main(["search", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert capsys.readouterr().err == "bench: the benchmark 'search' takes no --scheduler\n"


def test_a_worker_of_another_kit_plays_nothing():
    """Its games might be others."""
    packed = pickle.dumps((len, ("abc",)))
    assert called(kit_digest(), packed) == 3
    with pytest.raises(LeagueError, match="another version of the kit"):
        called("another", packed)


def test_a_function_is_called_here_when_its_result_is_asked_for():
    """Without a cluster nothing is pickled, and nothing happens before."""
    done = []
    with calls() as call:
        result = call(done.append, 1)
        assert done == []
        result()
    assert done == [1]


@pytest.mark.slow
def test_matches_and_training_there_are_those_here(monkeypatch, tmp_path):
    """Agents of the answers, with their caches and tables, decide there as they do here."""
    need_module("distributed", "matches on a cluster")
    sarsa = load_answer("sarsa")
    sarsa.TRAINING_GAMES = 2
    monkeypatch.setattr(training, "load_answer", lambda name: sarsa)
    monkeypatch.setattr(training, "DEALS", 1)
    make = agents.agents(sarsa.QTable)
    for name in (agents.SPARRING, "Random", agents.EVALUATOR, agents.BEST):  # the first has a clock
        del make[name]
    monkeypatch.setattr(agents, "agents", lambda: make)
    monkeypatch.setattr(agents, "DEALS", 1)
    monkeypatch.setattr(agents, "PAGE", tmp_path / "agents.md")
    monkeypatch.setattr(_journal, "FOLDER", tmp_path / "build")

    def found(**where: str) -> list:
        return [
            result
            for result in (*agents.run(**where), *training.run(2, **where))
            if result.unit not in CLOCKED
        ]

    with local_cluster(tmp_path, workers=1) as there:
        assert found(scheduler=there.address) == found()
    with pytest.raises(LookupError, match="no scheduler can be reached"), calls(there.address):
        pass


@pytest.mark.slow
def test_a_class_with_a_death_has_the_marks_of_a_class_without(monkeypatch, tmp_path, capsys):
    """A few submissions into SQLite here, and there into PostgreSQL, while a worker is killed. What
    was graded here before the benchmark was interrupted is not graded again.
    """
    need_module("distributed", "grading on a cluster")
    need_postgres()
    need_isolation()
    monkeypatch.setattr(cluster, "DEATHS", 1)
    monkeypatch.setattr(cluster, "LEAST", 0)
    monkeypatch.setattr(cluster, "ODD", {5: "def AlphaBeta(:\n", 7: None})
    monkeypatch.setattr(_journal, "FOLDER", tmp_path)
    with monkeypatch.context() as interrupted, pytest.raises(KeyboardInterrupt):
        interrupted.setattr(cluster, "local_cluster", Mock(side_effect=KeyboardInterrupt))
        cluster.run(10)
    found = {result.name: result for result in cluster.run(10)}
    assert capsys.readouterr().err.count("grading here") == 1
    assert list(tmp_path.iterdir()) == []
    assert found["students with other marks"].met
    assert found["deaths of workers"].value == 1


@pytest.mark.slow
def test_a_league_there_has_the_table_of_a_league_here(monkeypatch):
    """Three agents, one from a file, over a few deals: every row, and every action of every game."""
    need_module("distributed", "a league on a cluster")
    monkeypatch.setattr(league, "AGENTS", league.AGENTS[1:4])
    table, games, *_ = league.run(4)
    assert (table.met, table.unit) == (True, "of 3 agents")
    assert (games.met, games.unit) == (True, "of 24 games")
