"""The contract between games and searches: what a state and an agent must provide.

The types are structural (`typing.Protocol`): a class only needs the members and inherits nothing.
The terms are those of Russell and Norvig 2021 (*Artificial Intelligence: A Modern Approach*, 4th
edition), section 5.1.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

# Each game has its own types of moves and players and annotates them precisely. A search works for
# any game and only passes on moves and players from a state, hence `Any`.
Move: TypeAlias = Any  # a cell's index in tic-tac-toe; any hashable, ordered value elsewhere
Player: TypeAlias = Any  # "x" or "o" in tic-tac-toe; any hashable value elsewhere
CHANCE = "chance"  # the player to move when a card is dealt, in games with cards


@runtime_checkable
class State(Protocol):
    """One position of a two-player zero-sum game: immutable, hashable, and printed as a board."""

    @property
    def to_move(self) -> Player:
        """TO-MOVE(s): the player whose turn it is."""

    def legal_moves(self) -> Sequence[Move]:
        """ACTIONS(s): the legal moves in the game's documented order; none in a terminal state."""

    def after(self, move: Move, /) -> Self:
        """RESULT(s, a): the state after `move`; raises `IllegalMove` if the rules forbid it."""

    def is_terminal(self) -> bool:
        """IS-TERMINAL(s): whether the game is over."""

    def utility(self, player: Player, /) -> float:
        """UTILITY(s, p): +1 if `player` has won, 0 for a draw, -1 for a loss; s must be terminal."""


@runtime_checkable
class Agent(Protocol):
    """Anything that chooses moves; it may support only one game, hence `state: Any`."""

    def choose(self, state: Any, /) -> Move:
        """The move that the agent plays in `state`, which is not terminal."""


Evaluator = Callable[[Any, Player], float]  # an estimate of a state's utility for a player


class Search(NamedTuple):
    """The result of a searching agent's `search(state)`.

    `move` is the chosen move, `value` its value from the view of the player to move at the root,
    `nodes` how many nodes were visited, the root included (see `tictactoe.nodes`).
    """

    move: Move
    value: float
    nodes: int


class IllegalMove(ValueError):
    """A move that the rules forbid in the given state; the message names both."""


class InvalidBoard(ValueError):
    """A text or pair of masks that is not a reachable position; the message shows the board."""
