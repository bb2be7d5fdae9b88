"""Games between agents: one game with clocks, or a match with a confidence interval."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Generic, TypeVar, overload

from tictactoe.contract import Agent, IllegalMove, Move, Player, State
from tictactoe.games.board import Board
from tictactoe.games.players import Resigned

S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Game(Generic[S]):
    """A finished game.

    `states` starts with the first position and has one more item than `moves` and `seconds` (the
    thinking time of each move). `winner` is None for a draw. `reason` is "played out", "time" (the
    loser's clock ran out) or "resigned".
    """

    states: tuple[S, ...]
    moves: tuple[Move, ...]
    seconds: tuple[float, ...]
    winner: Player | None
    reason: str

    @property
    def final(self) -> S:
        """The last position."""
        return self.states[-1]

    def __str__(self) -> str:
        outcome = f"{self.winner} wins" if self.winner else "draw"
        return f"{outcome} ({self.reason}) after {len(self.moves)} moves: {list(self.moves)}"


@overload
def play(
    agents: Mapping[Player, Agent], start: None = None, clock: float | None = None
) -> Game[Board]: ...


@overload
def play(agents: Mapping[Player, Agent], start: S, clock: float | None = None) -> Game[S]: ...


def play(
    agents: Mapping[Player, Agent], start: State | None = None, clock: float | None = None
) -> Game[Any]:
    """Play one game between `agents`, given by player: `play({"x": Random(1), "o": Random(2)})`.

    `clock` is each player's total thinking time in seconds; a player who exceeds it loses. The time
    is checked when the agent returns a move, so an agent that never returns is not stopped.

    Raises `IllegalMove`, which names the agent, for a move that the rules forbid, and ValueError
    unless there are two players.
    """
    state: State = Board() if start is None else start
    if len(agents) != 2 or state.to_move not in agents:
        raise ValueError(f"a game has two players, including {state.to_move!r}: {list(agents)}")
    states: list[State] = [state]
    moves: list[Move] = []
    seconds: list[float] = []
    left = dict.fromkeys(agents, math.inf if clock is None else clock)

    def finished(winner: Player | None, reason: str) -> Game[Any]:
        return Game(tuple(states), tuple(moves), tuple(seconds), winner, reason)

    while not state.is_terminal():
        player = state.to_move
        rival = next(p for p in agents if p != player)
        before = time.perf_counter()
        try:
            move = agents[player].choose(state)
        except Resigned:
            return finished(rival, "resigned")
        spent = time.perf_counter() - before
        left[player] -= spent
        if left[player] < 0:
            return finished(rival, "time")
        try:
            state = state.after(move)
        except IllegalMove as error:
            raise IllegalMove(f"{type(agents[player]).__name__}: {error}") from error
        moves.append(move)
        seconds.append(spent)
        states.append(state)
    winner = next((p for p in agents if state.utility(p) > 0), None)
    return finished(winner, "played out")


@dataclass(frozen=True)
class Match:
    """The outcome of a match from the first agent's point of view.

    `score` is the share of points, with 1 for a win and 0.5 for a draw; `interval` is Wilson's 95 %
    interval for it, which is conservative if there are draws.
    """

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points that the first agent won, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the score (Wilson 1927)."""
        return wilson_interval(self.score, self.games)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: "
            f"score {self.score:.3f} (95 % interval {low:.3f} to {high:.3f})"
        )


def match(
    first: Agent,
    second: Agent,
    games: int = 100,
    seed: int = 0,
    start: State | None = None,
    clock: float | None = None,
) -> Match:
    """Play `games` games; the agents change sides after each, and `first` begins the first one.

    Before every game, each agent that has a method `reset(seed)` gets its own seed, so that the
    same `seed` repeats the match. Raises ValueError for fewer than one game.
    """
    if games < 1:
        raise ValueError(f"a match has at least one game, not {games}")
    first_state: State = Board() if start is None else start
    begins, follows = _players(first_state)
    wins = draws = 0
    for number in range(games):
        for offset, agent in enumerate((first, second)):
            if hasattr(agent, "reset"):
                agent.reset(2 * (seed * games + number) + offset)
        mine, other = (begins, follows) if number % 2 == 0 else (follows, begins)
        winner = play({mine: first, other: second}, first_state, clock).winner
        wins += winner == mine
        draws += winner is None
    return Match(wins, draws, games - wins - draws)


def wilson_interval(share: float, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share observed in `trials` trials.

    >>> tuple(round(bound, 3) for bound in wilson_interval(0.5, 100))
    (0.404, 0.596)
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def _players(start: State) -> tuple[Player, Player]:
    """The player to move at `start`, and the other player, who is the next one to move."""
    state = start
    while state.to_move == start.to_move and not state.is_terminal():
        state = state.after(state.legal_moves()[0])
    return start.to_move, state.to_move


def games_needed(rate: float, power: float = 0.8) -> int:
    """The number of games that show, with probability `power`, that a `rate` of points is not 0.5.

    After this many games, the 95 % interval excludes 0.5 in that share of all experiments, by the
    normal approximation and without draws.

    >>> games_needed(0.55), games_needed(0.55, power=0.5)
    (783, 385)
    """
    z = NormalDist().inv_cdf
    spread = z(0.975) / 2 + z(power) * math.sqrt(rate * (1 - rate))
    return math.ceil((spread / (rate - 0.5)) ** 2)
