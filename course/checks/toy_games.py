"""Toy games that reveal hidden assumptions in a search or a function.

On `Row`, four neighbouring marks win. A move there can make the player's own heuristic value
*worse*, which cannot happen in tic-tac-toe: with a third mark, a lane of four no longer contains
"two marks and nothing else". `NumberTree`, a game defined by its tree, has utilities that no board
has.
"""

import re
from dataclasses import dataclass
from typing import Any, Self

from common.syntax import read_literal
from tictactoe import EMPTY, IllegalMove, opponent

FOUR_IN_A_ROW = re.compile(rf"([^{EMPTY}])\1\1\1")


@dataclass(frozen=True)
class Row:
    """A row of cells such as "xx___"; a lane is any four neighbours.

    By default, x is to move. The numbers of marks need not match, because positions are only
    evaluated.

    >>> Row("xx___").after(2)
    Row(cells='xxx__', to_move='o')
    """

    cells: str
    to_move: str = "x"

    @property
    def lanes(self) -> tuple[tuple[int, ...], ...]:
        """All runs of four neighbouring cells."""
        return tuple(tuple(range(start, start + 4)) for start in range(len(self.cells) - 3))

    def legal_moves(self) -> tuple[int, ...]:
        """The open cells, from the left; none when the game is over."""
        if self._winner():
            return ()
        return tuple(cell for cell, mark in enumerate(self.cells) if mark == EMPTY)

    def after(self, move: int) -> "Row":
        """The row after the player to move marks cell `move`; raises `IllegalMove`."""
        if move not in self.legal_moves():
            raise IllegalMove(f"illegal move {move!r} for {self.to_move} in {self!r}")
        cells = self.cells[:move] + self.to_move + self.cells[move + 1 :]
        return Row(cells, opponent(self.to_move))

    def is_terminal(self) -> bool:
        """Whether a player has four in a row or no cell is open."""
        return not self.legal_moves()

    def utility(self, player: str) -> int:
        """+1 if `player` has four in a row, -1 if the opponent has, and 0 otherwise."""
        winner = self._winner()
        return 0 if winner is None else 1 if winner == player else -1

    def __getitem__(self, cell: int) -> str:
        return self.cells[cell]

    def __str__(self) -> str:
        return "|".join(self.cells)

    def _winner(self) -> str | None:
        won = FOUR_IN_A_ROW.search(self.cells)
        return won[1] if won else None


@dataclass(frozen=True)
class NumberTree:
    """A game defined by its tree: a number is a terminal state with that utility for x, and a tuple
    has a move 0, 1, ... for each of its items. The players take turns.

    States are equal if their trees are equal and the same player is to move.

    >>> tree = NumberTree(((5, 9, 6), (3, 8, 7)))
    >>> print(tree.after(1))
    o to move in (3, 8, 7)
    >>> tree.after(1).after(0).utility("o")
    -3
    """

    tree: tuple[Any, ...] | float
    to_move: str = "x"

    @classmethod
    def read(cls, text: str) -> Self:
        """The tree with these arguments, '((5, 9, 6), (3, 8, 7))' or '(5, 9, 6), "o"'."""
        try:
            return cls(*read_literal(f"[{text}]"))
        except SyntaxError as error:
            raise ValueError(f"{text!r} is not a tree of numbers: {error}") from error

    @property
    def text(self) -> str:
        """The arguments, as `read` takes them."""
        return str(self.tree) + ("" if self.to_move == "x" else f', "{self.to_move}"')

    def legal_moves(self) -> tuple[int, ...]:
        """The numbers of the branches; none in a terminal state."""
        return tuple(range(len(self.tree))) if isinstance(self.tree, tuple) else ()

    def after(self, move: int) -> "NumberTree":
        """The tree below branch `move`; raises `IllegalMove` if there is none."""
        if not isinstance(self.tree, tuple) or move not in self.legal_moves():
            raise IllegalMove(f"illegal move {move!r} for {self.to_move} in {self!r}")
        return NumberTree(self.tree[move], opponent(self.to_move))

    def is_terminal(self) -> bool:
        """Whether the tree is a number."""
        return not isinstance(self.tree, tuple)

    def utility(self, player: str) -> float:
        """The number for x, its negative for o; raises ValueError if the state is not terminal."""
        if isinstance(self.tree, tuple):
            raise ValueError(f"{self!r} is not terminal: it has no utility yet")
        negative = -self.tree
        return negative if player == "o" else -negative  # equal numbers need not be one object

    def __str__(self) -> str:
        return f"{self.to_move} to move in {self.tree}"
