"""Play one game with clocks and warnings, between players however they are reached.

A `Player` is the league's connection to an agent: `sequence.league.players.process` has the agent
in a process of its own, `sequence.league.players.trusted` in this one. For another way (a sandbox,
say), write a third class with the same three methods and pass its objects to `play_game`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypedDict

from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.league.clock import factor
from sequence.league.wire import NoAction, action_from_plain, clean


class Fault(Exception):
    """What costs an agent a warning; the message continues after the agent's name: "raised ..."."""


class Late(Fault):
    """No answer came in time; the message is the time that there was, "" if all was computed."""

    def within(self, seconds: float) -> str:
        """The time that there was, in words, for who had `seconds` of computing time."""
        return str(self) or f"{seconds:g} s of computing time"


class Gone(Fault):
    """The agent is gone: its process has ended."""


class Raised(Fault):
    """The agent raised an error, and can be asked again."""


class UnknownAgent(Raised):
    """There is no such agent: a mistake of whoever named it, unless it happens during a game."""


class Illegal(Fault):
    """The answer is not an action, or not a legal one; the agent can be asked again."""


def action_of(reply: dict[str, Any]) -> Action:
    """The action in a reply of an agent's process; raises `Raised` and `Illegal`."""
    if "error" in reply:
        raise Raised(f"raised {clean(str(reply['error']))}")
    if "nonsense" in reply:
        raise Illegal(clean(str(reply["nonsense"])))
    try:
        return action_from_plain(reply.get("action"))
    except NoAction as error:
        raise Illegal(clean(str(error))) from error


class Player(Protocol):
    """The connection to one agent, for one game, and its clock.

    A clock counts computing time, as `sequence.league.clock` does: a busy machine makes nobody
    late. `spent` are the seconds that the last `begin` or `ask` took on it.
    """

    spent: float

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent and give it its seed; called again after the agent was lost.

        Raises a `Fault`; `Late` if it takes more than `seconds`.
        """

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action, which need not be legal.

        Raises a `Fault`; `Late` if it takes more than `seconds`.
        """

    def end(self) -> None:
        """Stop the agent and free its resources; may be called at any time, and twice."""


DAY = 86_400  # seconds
# The most that a limit can be: clocks take no year, and an address space has fewer than 2 ** 63 B.
MOST = {"first": DAY, "action": DAY, "warnings": 1_000_000, "memory": 2**43 - 1, "cpu": DAY}


class LimitOptions(TypedDict, total=False):
    """The fields of `Limits`, each as an argument that may be left out."""

    first: float
    action: float
    warnings: int
    memory: int
    cpu: int


@dataclass(frozen=True)
class Limits:
    """The limits of an agent: its time, its memory, and the warning that forfeits a game.

    Raises ValueError unless all are numbers above 0, at most `MOST`, and `warnings` is whole.

    `first` and `action` are seconds of computing time: for a player's first action, loading
    included, and for every other one. On a slow machine they count for more, by the factor of
    `sequence.league.clock`. Warning number `warnings` forfeits the game. `memory` (in MB, of the
    address space) and `cpu` (seconds in one game) are for transports that have a process to limit.
    """

    first: float = 15.0
    action: float = 1.0
    warnings: int = 3
    memory: int = 2048
    cpu: int = 600  # a game of 95 actions on one's own clock, on a few cores at once

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, int | float) and 0 < value <= MOST[name]):
                raise ValueError(
                    f"the limit {name} must be above 0, at most {MOST[name]:,}, not {value!r}"
                )
        if not isinstance(self.warnings, int):
            raise ValueError(f"the limit warnings must be a whole number, not {self.warnings!r}")


class Warned(NamedTuple):
    """A warning: who got it, at which action of the game (from 0), and what was wrong."""

    player: int
    action: int
    sentence: str


@dataclass(frozen=True)
class Played:
    """A game that was played, to its end or until somebody forfeited it.

    `states` begins with the deal; `seconds` are the thinking times (of computing), one for each
    action asked for, `movers` their players. `winner` is a side, None for a tie; `forfeit` is the
    player who had too many warnings, None in most games. After a forfeit the last state is not
    terminal.
    """

    states: tuple[State, ...]
    seconds: tuple[float, ...]
    movers: tuple[int, ...]
    warnings: tuple[Warned, ...]
    winner: int | None
    forfeit: int | None = None


def play_game(
    players: Sequence[Player], start: State, seed: int = 0, limits: Limits | None = None
) -> Played:
    """Play one game from `start` between players in the order of their turns.

    An action that is late, illegal or raises an error costs its player a warning, and a legal one
    drawn from `seed` is played instead; the last warning allowed forfeits the game for the player's
    side. A player who is late or gone is ended and begun again, without a memory of the game; this
    may take as long as a first action, and then the clock of the action starts. The players' own
    seeds come from `seed` too. All players are ended when this returns or raises.

    Raises ValueError unless there is a player for each hand, on two sides.
    """
    limits = limits or Limits()
    if len(players) != start.rules.players or start.rules.teams != 2:
        raise ValueError(
            f"a league game has two sides and a player for each hand, unlike "
            f"{start.rules} with {len(players)} agents"
        )
    chance = random.Random(f"league game {seed}")
    seats = [_Seat(player, chance.getrandbits(32), limits) for player in players]
    states = [start]
    seconds: list[float] = []
    movers: list[int] = []
    warnings: list[Warned] = []

    def played(winner: int | None, forfeit: int | None = None) -> Played:
        return Played(
            tuple(states), tuple(seconds), tuple(movers), tuple(warnings), winner, forfeit
        )

    try:
        while not states[-1].is_terminal():
            state = states[-1]
            mover = state.to_move
            try:
                action = seats[mover].choose(state.observation())
            except Fault as fault:
                warnings.append(Warned(mover, len(states) - 1, clean(str(fault))))
                if [warned.player for warned in warnings].count(mover) >= limits.warnings:
                    return played(1 - state.rules.side(mover), forfeit=mover)
                action = state.legal_actions().choose(chance)
            finally:
                seconds.append(seats[mover].spent)
                movers.append(mover)
            states.append(state.after(action))
    finally:
        for player in players:
            player.end()
    return played(states[-1].winner)


class _Seat:
    """A player with its clock; `spent` are the seconds of the last action."""

    def __init__(self, player: Player, seed: int, limits: Limits) -> None:
        self._player, self._seed, self._limits = player, seed, limits
        self._is_begun = self._was_asked = False
        self.spent = 0.0

    def choose(self, observation: Observation) -> Action:
        """A legal action; raises a `Fault`."""
        limit = self._limits.action if self._was_asked else self._limits.first
        loading = self.spent = 0.0
        try:
            if not self._is_begun:
                self._begin()
                if not self._was_asked:  # loading again is not thinking
                    loading = self._player.spent
            action = self._ask(observation, limit, loading)
        except (Late, Gone):
            self._lose()
            raise
        except Fault:
            if not self._is_begun:
                self._lose()
            raise
        finally:
            self._was_asked = True
            self.spent = loading + self._player.spent
        legal = observation.legal_actions()
        if action not in legal:
            raise Illegal(
                f"played {tuple(action)!r:.120}, which is not among the {len(legal)} legal actions"
            )
        return action

    def _ask(self, observation: Observation, limit: float, loading: float) -> Action:
        try:
            return self._player.ask(observation, max(0.0, limit - loading / factor()))
        except Late as late:
            raise Late(f"did not answer within {late.within(limit)}") from late

    def _begin(self) -> None:
        seconds = self._limits.first
        try:
            self._player.begin(self._seed, seconds)
        except Late as late:
            again = " again" if self._was_asked else ""
            raise Late(f"could not be loaded{again} within {late.within(seconds)}") from late
        self._is_begun = True

    def _lose(self) -> None:
        self._is_begun = False
        self._player.end()
