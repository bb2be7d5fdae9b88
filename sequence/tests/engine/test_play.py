"""Tests of playing: agents get their observations, games are seeded, and errors name the agent."""

import pytest

from sequence import (
    DRAFT,
    OFFICIAL,
    PASS,
    Game,
    Greedy,
    IllegalAction,
    Observation,
    Random,
    State,
    play,
)


class Watching(Random):
    """Plays at random and records its observations."""

    def __init__(self):
        super().__init__()
        self.shown = []

    def choose(self, observation):
        """A random action; records the observation."""
        self.shown.append(observation)
        return super().choose(observation)


class Wrong:
    """Passes when it is not allowed to."""

    def choose(self, observation):
        """Always a pass."""
        return PASS


def test_agents_see_their_own_observations():
    """Each agent is queried only on its turn, with the observation of its own player."""
    agents = [Watching() for _ in range(4)]
    game = play(agents, seed=3)
    assert game.final.rules == DRAFT.for_players(4)
    for player, agent in enumerate(agents):
        assert agent.shown
        assert {(seen.player, seen.to_move) for seen in agent.shown} == {(player, player)}
        assert all(type(seen) is Observation for seen in agent.shown)


def test_history():
    """A game contains all states, the actions between them, their times, and the winner."""
    game = play([Greedy(), Random()], seed=2)
    assert isinstance(game, Game)
    assert len(game.states) == len(game.actions) + 1 == len(game.seconds) + 1
    state = game.states[0]
    assert state == State.deal(seed=2)
    for action, after in zip(game.actions, game.states[1:], strict=True):
        state = state.after(action)
        assert state == after
    assert game.final.is_terminal()
    assert game.winner == game.final.winner
    assert str(game).endswith(f"sequences after {len(game.actions)} actions")


def test_games_are_seeded():
    """The same seed plays the same game; another seed deals other cards."""
    first, again, other = (play([Random(), Random()], seed=seed) for seed in (5, 5, 6))
    assert first.actions == again.actions != other.actions


def test_play_on():
    """A game can continue from any state, and contains the actions since then."""
    start = play([Random(), Random()], seed=5).states[20]
    game = play([Random(), Random()], seed=1, start=start)
    assert game.states[0] is start
    assert len(game.states) == len(game.actions) + 1


def test_an_illegal_action_names_the_agent():
    """The error names the agent that played the action."""
    with pytest.raises(IllegalAction, match="Wrong: illegal action"):
        play([Random(), Wrong()])


def test_one_agent_for_each_player():
    """A number of agents that differs from the number of players raises ValueError."""
    with pytest.raises(ValueError, match="one agent for each player"):
        play([Random()] * 3, rules=OFFICIAL)
