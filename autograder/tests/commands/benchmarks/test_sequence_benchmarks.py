"""The Sequence benchmarks: which games they play and count, on a few games without a clock."""

from autograder.benchmarks.agents import agents, ismcts, sequence
from sequence import DRAFT, ISMCTS, Greedy, Random, play
from tictactoe.games.play import Match


def test_random_play_counts_actions():
    """The same whole games are played every time, and their actions are counted."""
    one, three = (sequence.random_play(DRAFT, games) for games in (1, 3))
    assert 0 < one < three == sequence.random_play(DRAFT, 3)


def test_observed_play_counts_actions():
    """The agents play the games of seeds 0, 1, ..., and every action counts."""
    games = [play([Random(), Random()], seed) for seed in range(3)]
    assert sequence.observed_play(Random, 3) == sum(len(game.actions) for game in games)


def test_rates_are_actions_by_time(monkeypatch):
    """A sample's speed is its actions divided by its seconds; the warm-up round is excluded."""
    clock = iter(range(1000))
    monkeypatch.setattr(sequence.time, "perf_counter", lambda: next(clock))
    work = iter([1_000_000, *range(sequence.SAMPLES)])
    assert sequence.rates(lambda: next(work)) == list(range(sequence.SAMPLES))


def test_the_target_is_for_random_play_on_states(monkeypatch):
    """Only the best sample of random play under the draft rules has the target."""
    monkeypatch.setattr(sequence, "SAMPLES", 2)
    monkeypatch.setattr(sequence, "rates", lambda work: [work(), 90_000])
    monkeypatch.setattr(sequence, "random_play", lambda rules: 3 if rules == DRAFT else 5)
    monkeypatch.setattr(sequence, "observed_play", lambda agent, games=1: 7)
    first, *others = sequence.run()
    assert (first.value, first.target) == (90_000, sequence.TARGET)
    assert not any(result.target for result in others)


def test_every_deal_is_played_from_both_seats(capsys):
    """Greedy against itself scores half of the points, because one seat wins what the other loses."""
    match, longest = ismcts.against_greedy(Greedy(), 3, "itself")
    assert (match.games, match.wins) == (6, match.losses)
    assert longest > 0
    assert "itself: 6 of 6 games, 3 won, 0 drawn" in capsys.readouterr().err


def test_the_agent_is_the_one_that_is_measured(capsys):
    """Wins are the agent's and not Greedy's, whichever seat it has."""
    random, _ = ismcts.against_greedy(Random(), 3, "random")
    assert (random.wins, random.losses) == (0, 6)
    searching, _ = ismcts.against_greedy(ISMCTS(iterations=1), 1, "one iteration")
    assert searching.games == 2
    capsys.readouterr()


def test_results_have_the_score_and_its_interval():
    """A match gives three results: the score and the two ends of its interval."""
    match = Match(wins=6, draws=2, losses=2)
    score, low, high = ismcts.results(match, "0.2 s a move", ">= 0.8")
    assert (score.value, score.unit, score.target) == (0.7, "of 10 games", ">= 0.8")
    assert low.value < 0.7 < high.value
    assert {result.peer for result in (score, low, high)} == {"Greedy"}


def test_growth_is_measured_and_drawn(monkeypatch, tmp_path, capsys):
    """A run gives the match on the clock, its longest move, one match per budget, and the plot."""
    played = []

    def against_greedy(agent, deals, title):
        played.append((agent.iterations, agent.seconds, deals))
        return Match(deals, 0, deals), 0.1

    monkeypatch.setattr(ismcts, "against_greedy", against_greedy)
    monkeypatch.setattr(ismcts, "GROWTH", {10: 4, 100: 2})
    monkeypatch.setattr(ismcts, "PLOT", tmp_path / "plots" / "ismcts.png")
    names = [result.name for result in ismcts.run()]
    assert played == [(None, 0.2, 50), (10, None, 4), (100, None, 2)]
    assert names[0] == "score at 0.2 s per move"
    assert "longest move" in names
    assert {"score at 10 iterations", "score at 100 iterations"} < set(names)
    assert ismcts.PLOT.read_bytes().startswith(b"\x89PNG")
    assert str(ismcts.PLOT) in capsys.readouterr().err


def test_the_page_of_agents_has_the_studies_of_today():
    """The columns are the agents that the command would measure, with their studies' numbers."""
    _, *columns, _ = next(
        line.split("|")
        for line in agents.PAGE.read_text("utf-8").splitlines()
        if line.startswith("| |")
    )
    assert [column.strip() for column in columns[1:-2]] == list(agents.agents(dict))
    assert agents.numbered("LookAhead", "lookahead") == "LookAhead (7)"
