"""Tests of comparisons: deals from both seats, seeds, and counts from the first agent's view."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequence import DRAFT, OFFICIAL, Comparison, Greedy, Random, compare, play
from tictactoe import Match

SEEDS, DEALS = st.integers(0, 10_000), st.integers(1, 3)


class First:
    """Plays the first legal action, and records observations and seeds."""

    def __init__(self):
        self.seen, self.seeds = [], []

    def reset(self, seed):
        """Record the seed."""
        self.seeds.append(seed)

    def choose(self, observation):
        """The first action in the documented order."""
        self.seen.append(observation)
        return observation.legal_actions()[0]


@given(SEEDS, DEALS)
@settings(max_examples=10, deadline=None)
def test_the_same_seed_finds_the_same(seed, deals):
    """The same seed gives an equal comparison: agents are reset, and times are ignored."""
    used = Random(5)
    first, again = compare(used, Random(), deals, seed), compare(used, Random(), deals, seed)
    assert first == again
    assert first.seconds != again.seconds


@given(SEEDS, DEALS, st.sampled_from([Greedy(), Random()]))
@settings(max_examples=15, deadline=None)
def test_changing_places_changes_wins_and_losses(seed, deals, agent):
    """The same games are played, whichever agent is given first."""
    found, turned = compare(agent, Random(), deals, seed), compare(Random(), agent, deals, seed)
    assert (found.wins, found.draws, found.losses) == (turned.losses, turned.draws, turned.wins)
    for seat, other in zip(found.seats, reversed(turned.seats), strict=True):
        assert (seat.wins, seat.draws, seat.losses) == (other.losses, other.draws, other.wins)


@given(SEEDS, DEALS)
@settings(max_examples=10, deadline=None)
def test_equals_score_one_half(seed, deals):
    """A deterministic agent wins against itself in one seat exactly if it loses in the other."""
    found = compare(Greedy(), Greedy(), deals, seed)
    assert found.score == 0.5
    assert found.seats[0].wins == found.seats[1].losses


@given(SEEDS, DEALS)
@settings(max_examples=10, deadline=None)
def test_the_games_are_those_of_play(seed, deals):
    """Deals have consecutive seeds and are played from both seats, and wins are counted correctly."""
    found = compare(Random(), Greedy(), deals, seed)
    for seat, match in enumerate(found.seats):
        pair = [Random(), Greedy()] if seat == 0 else [Greedy(), Random()]
        winners = [play(pair, deal).winner for deal in range(seed, seed + deals)]
        assert match == Match(winners.count(seat), winners.count(None), winners.count(1 - seat))


def test_a_comparison_is_a_match():
    """Counts, score, interval and the printed line are those of a match with the same counts."""
    found = compare(Random(), Random(), deals=4)
    match = Match(found.wins, found.draws, found.losses)
    assert isinstance(found, Comparison)
    assert found.games == 8 == sum(seat.games for seat in found.seats)
    assert (found.score, found.interval, str(found)) == (match.score, match.interval, str(match))


def test_seconds_are_those_of_each_agent():
    """Each agent has one thinking time in seconds for every observation that it received."""
    first, second = First(), First()
    found = compare(first, second, deals=2)
    assert [len(times) for times in found.seconds] == [len(first.seen), len(second.seen)]
    assert all(0 <= spent < 10 for times in found.seconds for spent in times)


def test_agents_are_reset_before_every_game():
    """Each agent gets a separate seed for each game."""
    first, second = First(), First()
    compare(first, second, deals=3)
    assert len(first.seeds) == len(second.seeds) == 6
    assert not any(one == other for one, other in zip(first.seeds, second.seeds, strict=True))


def test_a_class_makes_an_agent_for_every_game():
    """Agents created by a class keep no memory, and play like an agent that is reset."""
    made = []

    def fresh():
        made.append(First())
        return made[-1]

    assert compare(fresh, Random, deals=3, seed=1) == compare(First(), Random(), deals=3, seed=1)
    assert [len(agent.seeds) for agent in made] == [1] * 6


def test_other_rules():
    """The rules are those of the draft for two players unless others are given."""
    agent = First()
    compare(agent, Random(), deals=1)
    assert {seen.rules for seen in agent.seen} == {DRAFT}
    agent.seen.clear()
    compare(agent, Random(), deals=1, rules=OFFICIAL)
    assert {seen.rules for seen in agent.seen} == {OFFICIAL}
    with pytest.raises(ValueError, match="one agent for each player"):
        compare(agent, Random(), rules=OFFICIAL.for_players(3))


def test_progress_is_told_after_each_deal():
    """During a long comparison, the outcome of the deals so far is reported."""
    told = []
    found = compare(Greedy(), Random(), deals=3, progress=told.append)
    assert told == [compare(Greedy(), Random(), deals) for deals in (1, 2, 3)]
    assert told[-1] == found


@pytest.mark.parametrize("deals", [0, -1])
def test_a_comparison_has_a_deal(deals):
    """Requesting fewer than one deal is an error whose message contains the number."""
    with pytest.raises(ValueError, match=f"a comparison has at least one deal, not {deals}$"):
        compare(Greedy(), Random(), deals)
