"""Plays one game between agents, which get observations, and records its history and times."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sequence.board.actions import Action, IllegalAction
from sequence.board.rules import DRAFT, Rules
from sequence.engine.observation import Observation
from sequence.engine.state import State


class Agent(Protocol):
    """Anything that chooses actions."""

    def choose(self, observation: Observation) -> Action:
        """The action that the agent plays, one of `observation.legal_actions()`."""


@dataclass(frozen=True)
class Game:
    """A finished game.

    `states` starts with the deal and has one more item than `actions` and `seconds` (the thinking
    time of each action). `winner` is a side, or None for a tie.
    """

    states: tuple[State, ...]
    actions: tuple[Action, ...]
    seconds: tuple[float, ...]
    winner: int | None

    @property
    def final(self) -> State:
        """The last state."""
        return self.states[-1]

    def __str__(self) -> str:
        outcome = "tie" if self.winner is None else f"side {self.winner} wins"
        score = " to ".join(map(str, self.final.sequences))
        return f"{outcome}, {score} sequences after {len(self.actions)} actions"

    def _repr_html_(self) -> str:
        return self.final._repr_html_()


def play(
    agents: Sequence[Agent], seed: int = 0, rules: Rules | None = None, start: State | None = None
) -> Game:
    """Play one game between `agents`, in the order of their turns; player 0 begins.

    `seed` deals the cards, and every agent that has a `reset(seed)` gets its own seed from it, so
    that the same seed repeats the game. The default `rules` are those of the draft for that number
    of players; `start` is a state from which to continue instead of dealing.

    Raises `IllegalAction`, which names the agent, for an action that the rules forbid, and
    ValueError unless there is one agent for each player.
    """
    if start is not None:
        state = start
    else:
        state = State.deal(DRAFT.for_players(len(agents)) if rules is None else rules, seed)
    if len(agents) != state.rules.players:
        raise ValueError(f"{state.rules} need one agent for each player, not {len(agents)}")
    rng = random.Random(f"agents of game {seed}")
    for agent in agents:
        agent_seed = rng.getrandbits(32)
        if hasattr(agent, "reset"):
            agent.reset(agent_seed)
    states, seconds = [state], []
    while not state.is_terminal():
        agent = agents[state.to_move]
        observation = state.observation()
        before = time.perf_counter()
        action = agent.choose(observation)
        seconds.append(time.perf_counter() - before)
        try:
            state = state.after(action)
        except IllegalAction as error:
            raise IllegalAction(f"{type(agent).__name__}: {error}") from error
        states.append(state)
    actions = state.history[len(states[0].history) :]
    return Game(tuple(states), actions, tuple(seconds), state.winner)
