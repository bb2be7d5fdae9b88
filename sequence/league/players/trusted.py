"""A player whose agent is an object in this process, which is fast but only for trusted code.

An agent that hangs is not stopped. Lateness is detected when the answer arrives, and only the
computing time of the calling thread counts, not that of threads and processes which the agent
starts. An agent could also reach the full state. All agents of a league share this process and its
modules: if two agents each have a file `helper.py`, both get the one imported first, and the data
of modules and classes persist from game to game. The agents also share the global generators of
`random` and numpy, so agents that use these repeat their games only with one job, and only if no
other thread of the process uses the generators. Apart from that, both transports play the same
games.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from common.clock import Clock, ThreadCpuMeter
from common.errors import describe
from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.league.game import AgentError, IllegalReply, Limits, TimeLimitExceeded, UnknownAgent
from sequence.league.players.specs import LeagueError, Spec, make_seeded
from sequence.league.protocol import InvalidAction, action_from_plain, action_to_plain, clean


class InProcessPlayer:
    """The connection to an agent in this process; limits of memory and CPU are not enforced.

    An agent that is not `timed` may take as long as it needs.
    """

    settings_name = "TrustedPlayer"  # resuming older leagues requires this name

    def __init__(self, agent: Spec, _limits: Limits | None = None, timed: bool = True) -> None:
        self._spec = agent
        self._agent: Any = None
        self._timed = timed
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Create and reset the agent; raises `AgentError`, or `TimeLimitExceeded` afterwards."""
        with self._clock(seconds):
            self._make(seed)

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises a `Fault`, but detects lateness only afterwards."""
        with self._clock(seconds):
            return self._action(observation)

    @contextmanager
    def _clock(self, seconds: float) -> Iterator[None]:
        clock = Clock(ThreadCpuMeter(), seconds if self._timed else math.inf, may_wait=True)
        try:
            yield
        finally:
            self.spent = clock.spent
        if clock.is_over:
            raise TimeLimitExceeded

    def _make(self, seed: int) -> None:
        try:
            self._agent = make_seeded(self._spec, seed)
        except KeyboardInterrupt:  # raised by the user, not by the agent
            raise
        except LeagueError as error:
            raise UnknownAgent(f"could not be loaded: {error}") from error
        except BaseException as error:
            raise AgentError(f"could not be loaded: {clean(describe(error))}") from error

    def _action(self, observation: Observation) -> Action:
        try:
            return action_from_plain(action_to_plain(self._agent.choose(observation)))
        except KeyboardInterrupt:
            raise
        except InvalidAction as error:
            raise IllegalReply(str(error)) from error
        except BaseException as error:
            raise AgentError(f"raised {clean(describe(error))}") from error

    def end(self) -> None:
        """Drop the reference to the agent."""
        self._agent = None
