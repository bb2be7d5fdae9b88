"""A player whose agent is an object in this process: fast, and only for code that you trust.

Nothing here stops an agent that hangs; lateness is noticed when the answer comes, and is that of
the thread that asks: threads and processes that the agent starts do not count. Such an agent could
also reach the full state. All agents of a league share this process and its modules: of two
files `helper.py` beside two agents, both get the one imported first, and what a module or a class
keeps lasts from game to game. They share the global generators of `random` and numpy: agents that
draw from these repeat their games only with one job, and only while no other thread of the process
draws from them. Otherwise both transports play the same games.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.league.clock import Clock, Own
from sequence.league.game import Illegal, Late, Limits, Raised, UnknownAgent
from sequence.league.players.specs import LeagueError, Spec, begun
from sequence.league.wire import NoAction, action_from_plain, action_to_plain, clean
from tictactoe.errors import describe


class TrustedPlayer:
    """The connection to an agent in this process; no limits of memory and CPU are enforced.

    An agent that is not `timed` has as long as it needs and is never late.
    """

    def __init__(self, agent: Spec, _limits: Limits | None = None, timed: bool = True) -> None:
        self._spec = agent
        self._agent: Any = None
        self._timed = timed
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Make the agent, and reset it if it can be; raises `Raised` and, afterwards, `Late`."""
        with self._clock(seconds):
            self._make(seed)

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises `Raised`, `Illegal` and, afterwards, `Late`."""
        with self._clock(seconds):
            return self._action(observation)

    @contextmanager
    def _clock(self, seconds: float) -> Iterator[None]:
        clock = Clock(Own(), seconds if self._timed else math.inf, may_wait=True)
        try:
            yield
        finally:
            self.spent = clock.spent
        if clock.is_over:
            raise Late

    def _make(self, seed: int) -> None:
        try:
            self._agent = begun(self._spec, seed)
        except KeyboardInterrupt:  # the user's, not the agent's
            raise
        except LeagueError as error:
            raise UnknownAgent(f"could not be loaded: {error}") from error
        except BaseException as error:
            raise Raised(f"could not be loaded: {clean(describe(error))}") from error

    def _action(self, observation: Observation) -> Action:
        try:
            return action_from_plain(action_to_plain(self._agent.choose(observation)))
        except KeyboardInterrupt:
            raise
        except NoAction as error:
            raise Illegal(str(error)) from error
        except BaseException as error:
            raise Raised(f"raised {clean(describe(error))}") from error

    def end(self) -> None:
        """Forget the agent."""
        self._agent = None
