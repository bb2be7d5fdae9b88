"""Made-up games, on which a search or a function shows what it takes for granted.

In a row of cells four in a row win. A move can make one's own position *worse* by the heuristic
there, which cannot happen in tic-tac-toe: a third mark in a lane of four is no longer "two marks
and nothing else". And a game that is nothing but its tree has utilities that no board has.
"""

from ast import literal_eval
from dataclasses import dataclass
from typing import Any, Self

from tictactoe import EMPTY, IllegalMove, opponent


@dataclass(frozen=True)
class Row:
    """A row of cells, written "xx___"; a lane is any four neighbours.

    `to_move` is x; who moved how often does not matter: the game exists to be evaluated.

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
        """Whether somebody has four in a row or no cell is open."""
        return not self.legal_moves()

    def utility(self, player: str) -> int:
        """+1 if `player` has four in a row, -1 if the opponent has, 0 otherwise."""
        winner = self._winner()
        return 0 if winner is None else 1 if winner == player else -1

    def __getitem__(self, cell: int) -> str:
        return self.cells[cell]

    def __str__(self) -> str:
        return "|".join(self.cells)

    def _winner(self) -> str | None:
        for lane in self.lanes:
            marks = {self.cells[cell] for cell in lane}
            if len(marks) == 1 and marks != {EMPTY}:
                return marks.pop()
        return None


@dataclass(frozen=True)
class NumberTree:
    """A game that is nothing but its tree: a number is an end, with that utility for x, and a tuple
    has a move 0, 1, ... for each of its items. The players take turns.

    States are equal if their trees are and the same player is to move, however they were reached.

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
            return cls(*literal_eval(f"[{text}]"))
        except SyntaxError as error:
            raise ValueError(f"{text!r} is no tree of numbers: {error}") from error

    @property
    def text(self) -> str:
        """The arguments, as `read` takes them."""
        return str(self.tree) + ("" if self.to_move == "x" else f', "{self.to_move}"')

    def legal_moves(self) -> tuple[int, ...]:
        """The numbers of the branches; none at an end."""
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
        """The number for x, and its negative for o; raises ValueError if this is no end."""
        if isinstance(self.tree, tuple):
            raise ValueError(f"{self!r} is not terminal: it has no utility yet")
        return self.tree if player == "x" else -self.tree

    def __str__(self) -> str:
        return f"{self.to_move} to move in {self.tree}"
