"""One of the kit's players, which looks one move ahead: it wins if it can and blocks if it must.

It plays on any board with lanes: tic-tac-toe and Qubic.
"""

import random
from functools import cache
from typing import ClassVar, Protocol

from tictactoe.contract import State
from tictactoe.games.board import opponent


class LaneState(State, Protocol):
    """A state of a game in which x and o mark cells and win with a full lane."""

    lanes: ClassVar[tuple[tuple[int, ...], ...]]

    def legal_moves(self) -> tuple[int, ...]:
        """The open cells in ascending order; none when the game is over."""

    def mask(self, player: str) -> int:
        """The bitboard of one player's marks: bit i is cell i."""


class WinOrBlock:
    """Wins if it can, else blocks if the opponent could win, else plays a random legal move.

    If several cells win, or several block, it chooses one at random. The same seed gives the same
    moves.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `match` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, state: LaneState) -> int:
        """A winning cell, a blocking cell, or any open cell."""
        return self._random.choice(
            winning_cells(state, state.to_move)
            or winning_cells(state, opponent(state.to_move))
            or state.legal_moves()
        )


def winning_cells(state: LaneState, player: str) -> tuple[int, ...]:
    """The open cells that complete a lane of `player`, in ascending order, no matter who is to
    move.

    >>> from tictactoe import Board
    >>> winning_cells(Board("xx_oo____"), "x"), winning_cells(Board("xx_oo____"), "o")
    ((2,), (5,))
    """
    own, rival, cells = state.mask(player), state.mask(opponent(player)), set()
    for lane in _lane_masks(type(state)):
        missing = lane & ~own
        if not missing & rival and missing & (missing - 1) == 0 != missing:  # exactly one open cell
            cells.add(missing.bit_length() - 1)
    return tuple(sorted(cells))


@cache
def _lane_masks(game: type[LaneState]) -> tuple[int, ...]:
    return tuple(sum(1 << cell for cell in lane) for lane in game.lanes)
