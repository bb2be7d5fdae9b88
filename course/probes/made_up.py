"""A made-up game for the priority function: a row of cells in which four in a row win.

On it a move can make one's own position *worse* by the heuristic, which cannot happen in
tic-tac-toe: a third mark in a lane of four is no longer "two marks and nothing else".
"""

from dataclasses import dataclass

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
        cells = self.cells[:move] + self.to_move + self.cells[move + 1:]
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
