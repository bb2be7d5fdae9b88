"""The benchmarks that use a cluster, on a small scale: they give the same results as locally."""

import pickle
from unittest.mock import Mock

import pytest

from autograder import benchmarks
from autograder.benchmarks.agents import agents, league
from autograder.benchmarks.grading import cluster
from autograder.benchmarks.studies import training
from autograder.benchmarks.support import journal
from autograder.benchmarks.support.calls import calls
from autograder.benchmarks.support.cluster import local_cluster
from autograder.tests.support.content import CLASSES
from autograder.tests.support.needs import need_isolation, need_module
from autograder.tests.support.postgres import need_postgres
from autograder.workspace import load_answer
from sequence.league import LeagueError
from sequence.league.cluster import call_remotely, game_code_digest

CONTENT = pytest.mark.content(inputs=CLASSES)
CLOCKED = ("ms", "s", "games/s")  # units of measurements that vary from run to run


def test_a_benchmark_that_cannot_use_a_cluster_says_so(capsys):
    """The benchmark reports that it cannot use a cluster, and measures nothing."""
    assert benchmarks.main(["search", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert capsys.readouterr().err == "bench: the benchmark 'search' does not accept --scheduler\n"


def test_a_worker_of_another_kit_plays_nothing():
    """A worker with another kit plays no games, because its games might differ."""
    packed = pickle.dumps((len, ("abc",)))
    assert call_remotely(game_code_digest(), packed) == 3
    with pytest.raises(LeagueError, match="another version of the kit"):
        call_remotely("another", packed)


def test_a_function_is_called_here_when_its_result_is_needed():
    """Without a cluster nothing is pickled, and the function runs when its result is requested."""
    done = []
    with calls() as call:
        result = call(done.append, 1)
        assert done == []
        result()
    assert done == [1]


@CONTENT
@pytest.mark.slow
def test_matches_and_training_there_are_those_here(monkeypatch, tmp_path):
    """Agents of the answers, with their caches and tables, decide the same on workers as locally."""
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
    monkeypatch.setattr(journal, "FOLDER", tmp_path / "build")

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


@CONTENT
@pytest.mark.slow
def test_a_class_with_a_death_has_the_marks_of_a_class_without(monkeypatch, tmp_path, capsys):
    """Some submissions are graded locally into SQLite, and on workers into PostgreSQL while a
    worker is killed. Submissions graded before an interruption are not graded again.
    """
    need_module("distributed", "grading on a cluster")
    need_postgres()
    need_isolation()
    monkeypatch.setattr(cluster, "DEATHS", 1)
    monkeypatch.setattr(cluster, "MIN_SECONDS", 0)
    monkeypatch.setattr(cluster, "ODD", {5: "def AlphaBeta(:\n", 7: None})
    monkeypatch.setattr(journal, "FOLDER", tmp_path)
    with monkeypatch.context() as interrupted, pytest.raises(KeyboardInterrupt):
        interrupted.setattr(cluster, "local_cluster", Mock(side_effect=KeyboardInterrupt))
        cluster.run(10)
    found = {result.name: result for result in cluster.run(10)}
    assert capsys.readouterr().err.count("grading here") == 1
    assert list(tmp_path.iterdir()) == []
    assert found["students with different marks"].met
    assert found["deaths of workers"].value == 1


@CONTENT
@pytest.mark.slow
def test_a_league_there_has_the_table_of_a_league_here(monkeypatch):
    """Three agents, one of them from a file, play a few deals; every row and action is the same."""
    need_module("distributed", "a league on a cluster")
    monkeypatch.setattr(league, "AGENTS", league.AGENTS[1:4])
    table, games, *_ = league.run(4)
    assert (table.met, table.unit) == (True, "of 3 agents")
    assert (games.met, games.unit) == (True, "of 24 games")
