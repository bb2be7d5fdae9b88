"""The contract between games and searches: what a state and an agent must provide.

The types are structural (`typing.Protocol`): a class fits by having the members, there is nothing
to inherit from. The terms are those of Russell and Norvig 2021 (*Artificial Intelligence: A Modern
Approach*, 4th edition), section 5.1.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

# Each game has its own type of moves and players and annotates them precisely. A search, which
# plays any game, only hands on the ones that it got from a state: hence `Any`.
Move: TypeAlias = Any  # a cell's index in tic-tac-toe; any hashable, ordered value elsewhere
Player: TypeAlias = Any  # "x" or "o" in tic-tac-toe; any hashable value elsewhere
CHANCE = "chance"  # whose turn it is where a card is dealt, in games that have cards


@runtime_checkable
class State(Protocol):
    """One position of a two-player zero-sum game: immutable, hashable, prints as a board."""

    @property
    def to_move(self) -> Player:
        """TO-MOVE(s): the player whose turn it is."""

    def legal_moves(self) -> Sequence[Move]:
        """ACTIONS(s): the legal moves in the game's documented order; none in a terminal state."""

    def after(self, move: Move, /) -> Self:
        """RESULT(s, a): the state after `move`; raises `IllegalMove` where the rules forbid it."""

    def is_terminal(self) -> bool:
        """IS-TERMINAL(s): whether the game is over."""

    def utility(self, player: Player, /) -> float:
        """UTILITY(s, p): +1 won, 0 drawn, -1 lost for `player`; for terminal states only."""


@runtime_checkable
class Agent(Protocol):
    """Anything that can be asked for a move; it may know one game only, hence `state: Any`."""

    def choose(self, state: Any, /) -> Move:
        """The move that the agent plays in `state`, which is not terminal."""


Evaluator = Callable[[Any, Player], float]  # an estimate of a state's utility for a player


class Search(NamedTuple):
    """What a searching agent's `search(state)` returns.

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
