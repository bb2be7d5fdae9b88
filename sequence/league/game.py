"""Plays one game with clocks and warnings, between players with any transport.

A `Player` is the league's connection to an agent: `sequence.league.players.process` runs the agent
in a separate process, `sequence.league.players.trusted` in this one. For another transport (such as
a sandbox), write a class with the same three methods and pass its objects to `play_game`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypedDict

from common.clock import speed_factor
from common.messages import english
from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.league.protocol import InvalidAction, action_from_plain, clean


class Fault(Exception):
    """An event that costs an agent a warning. The message follows the agent's name: "raised ..."."""


class TimeLimitExceeded(Fault):
    """There was no answer in time; the message is the limit, or "" for the limit of computing time."""

    def within(self, seconds: float) -> str:
        """The limit in words, for an agent that was allowed `seconds` of computing time."""
        return str(self) or english(f"{seconds:g} s of computing time")


class PlayerExited(Fault):
    """The agent's process has ended."""


class AgentError(Fault):
    """The agent raised an error; it can be called again."""


class UnknownAgent(AgentError):
    """The agent does not exist; before the first game, this is a mistake in its specification."""


class IllegalReply(Fault):
    """The answer is not a legal action; the agent can be called again."""


def action_from_reply(reply: dict[str, Any]) -> Action:
    """The action in a reply of an agent's process; raises `AgentError` and `IllegalReply`."""
    if "error" in reply:
        raise AgentError(english(f"raised {clean(str(reply['error']))}"))
    if "nonsense" in reply:
        raise IllegalReply(clean(str(reply["nonsense"])))
    try:
        return action_from_plain(reply.get("action"))
    except InvalidAction as error:
        raise IllegalReply(clean(str(error))) from error


class Player(Protocol):
    """The connection to one agent, for one game, and its clock.

    The clock counts computing time, as in `common.clock`, so other load on the machine makes no
    agent late. `spent` is the number of seconds that the last `begin` or `ask` took.
    """

    spent: float

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent and pass `seed` to it. This is called again if the agent was lost.

        Raises a `Fault`; `TimeLimitExceeded` if it takes more than `seconds`.
        """

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action, which need not be legal.

        Raises a `Fault`; `TimeLimitExceeded` if it takes more than `seconds`.
        """

    def end(self) -> None:
        """Stop the agent and free its resources; may be called at any time, and twice."""


DAY = 86_400  # seconds
# Upper bounds: clocks cannot handle a year, and an address space is smaller than 2 ** 63 bytes.
MAX_LIMITS = {"first": DAY, "action": DAY, "warnings": 1_000_000, "memory": 2**43 - 1, "cpu": DAY}


class LimitOptions(TypedDict, total=False):
    """The fields of `Limits` as optional arguments."""

    first: float
    action: float
    warnings: int
    memory: int
    cpu: int


@dataclass(frozen=True)
class Limits:
    """The limits of an agent: time, memory and the number of the warning that forfeits a game.

    Raises ValueError unless all are numbers above 0 and at most `MAX_LIMITS`, and `warnings` is
    whole.

    `first` and `action` are seconds of computing time: for a player's first action, including
    loading, and for every other action. On a slow machine, they are scaled by the factor of
    `common.clock`. Warning number `warnings` forfeits the game. `memory` (MB of address space) and
    `cpu` (seconds in one game) apply to transports that have a process to limit.
    """

    first: float = 15.0
    action: float = 1.0
    warnings: int = 3
    memory: int = 2048
    cpu: int = 600  # enough for a game of 95 actions on one clock that uses several cores

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, int | float) and 0 < value <= MAX_LIMITS[name]):
                raise ValueError(
                    f"the limit {name} must be above 0, at most {MAX_LIMITS[name]:,}, not {value!r}"
                )
        if not isinstance(self.warnings, int):
            raise ValueError(f"the limit warnings must be a whole number, not {self.warnings!r}")


class GameWarning(NamedTuple):
    """A warning: the player, the number of the action (from 0), and the reason."""

    player: int
    action: int
    sentence: str


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played to its end or until a player forfeited it.

    `states` begins with the deal. `seconds` contains the thinking time (computing time) for each
    requested action, and `movers` the players. `winner` is a side, or None for a tie; `forfeit` is
    the player who had too many warnings, or None in most games. After a forfeit, the last state is
    not terminal.
    """

    states: tuple[State, ...]
    seconds: tuple[float, ...]
    movers: tuple[int, ...]
    warnings: tuple[GameWarning, ...]
    winner: int | None
    forfeit: int | None = None


def play_game(
    players: Sequence[Player], start: State, seed: int = 0, limits: Limits | None = None
) -> PlayedGame:
    """Play one game from `start` between players in the order of their turns.

    If an action is late or illegal, or the agent raises an error, the player gets a warning, and a
    random legal action that depends on `seed` is played instead; the last warning forfeits the game
    for the player's side. A player that was late or whose process has ended is restarted without
    any memory of the game. Restarting may take as long as a first action, and the clock of the
    action starts only afterwards. The players' own seeds are also derived from `seed`. All players
    have been ended when this returns or raises an error.

    Raises ValueError unless there are two sides and a player for each hand.
    """
    limits = limits or Limits()
    if len(players) != start.rules.players or start.rules.teams != 2:
        raise ValueError(
            f"a league game has two sides and a player for each hand, unlike "
            f"{start.rules} with {len(players)} agents"
        )
    rng = random.Random(f"league game {seed}")
    seats = [_Seat(player, rng.getrandbits(32), limits) for player in players]
    states = [start]
    seconds: list[float] = []
    movers: list[int] = []
    warnings: list[GameWarning] = []

    def played(winner: int | None, forfeit: int | None = None) -> PlayedGame:
        return PlayedGame(
            tuple(states), tuple(seconds), tuple(movers), tuple(warnings), winner, forfeit
        )

    try:
        while not states[-1].is_terminal():
            state = states[-1]
            mover = state.to_move
            try:
                action = seats[mover].choose(state.observation())
            except Fault as fault:
                warnings.append(GameWarning(mover, len(states) - 1, clean(str(fault))))
                if [warning.player for warning in warnings].count(mover) >= limits.warnings:
                    return played(1 - state.rules.side(mover), forfeit=mover)
                action = state.legal_actions().choose(rng)
            finally:
                seconds.append(seats[mover].spent)
                movers.append(mover)
            states.append(state.after(action))
    finally:
        for player in players:
            player.end()
    return played(states[-1].winner)


class _Seat:
    """A player with its clock; `spent` is the time of the last action in seconds."""

    def __init__(self, player: Player, seed: int, limits: Limits) -> None:
        self._player, self._seed, self._limits = player, seed, limits
        self._is_loaded = self._has_moved = False
        self.spent = 0.0

    def choose(self, observation: Observation) -> Action:
        """A legal action; raises a `Fault`."""
        limit = self._limits.action if self._has_moved else self._limits.first
        loading = self.spent = 0.0
        try:
            if not self._is_loaded:
                self._load()
                if not self._has_moved:  # loading the agent again does not count as thinking
                    loading = self._player.spent
            action = self._ask(observation, limit, loading)
        except (TimeLimitExceeded, PlayerExited):
            self._stop()
            raise
        except Fault:
            if not self._is_loaded:
                self._stop()
            raise
        finally:
            self._has_moved = True
            self.spent = loading + self._player.spent
        legal = observation.legal_actions()
        if action not in legal:
            raise IllegalReply(
                english(
                    f"played {tuple(action)!r:.120}, which is not among the {len(legal)} legal actions"
                )
            )
        return action

    def _ask(self, observation: Observation, limit: float, loading: float) -> Action:
        try:
            return self._player.ask(observation, max(0.0, limit - loading / speed_factor()))
        except TimeLimitExceeded as late:
            raise TimeLimitExceeded(
                english(f"did not answer within {late.within(limit)}")
            ) from late

    def _load(self) -> None:
        seconds = self._limits.first
        try:
            self._player.begin(self._seed, seconds)
        except TimeLimitExceeded as late:
            raise TimeLimitExceeded(
                english(
                    f"could not be loaded{' again' if self._has_moved else ''} within "
                    f"{late.within(seconds)}"
                )
            ) from late
        self._is_loaded = True

    def _stop(self) -> None:
        self._is_loaded = False
        self._player.end()
