"""Connect Four: marks fall to the bottom of a column, and four in a row win.

Like Qubic, it has far too many positions to store (4.5 * 10^12), so a state consists of two masks.
Lanes consist of cells, whereas a move is a column: gravity determines the cell.
"""

from collections.abc import Iterator
from itertools import product
from typing import ClassVar

from tictactoe.contract import IllegalMove
from tictactoe.games.bitboard_state import BitboardState, mask_of
from tictactoe.games.board import EMPTY
from tictactoe.games.pictures import CELL, image, mark_svg

ROWS, COLUMNS, LENGTH = 6, 7, 4
CELLS = ROWS * COLUMNS
FULL_MASK = (1 << CELLS) - 1
TOP = 20  # pixels above the board, for the numbers of the columns
MAX_POTENTIAL = 1_000  # larger than the sum over all lanes of any board


def _all_lanes() -> tuple[tuple[int, ...], ...]:
    """The 69 lanes, each with its cells in ascending order, in lexicographic order."""
    ways = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows down and columns to the right
    lanes = (
        [(row + step * down, column + step * right) for step in range(LENGTH)]
        for row, column in product(range(ROWS), range(COLUMNS))
        for down, right in ways
    )
    return tuple(
        sorted(
            tuple(row * COLUMNS + column for row, column in lane)
            for lane in lanes
            if all(row < ROWS and 0 <= column < COLUMNS for row, column in lane)
        )
    )


LANES = _all_lanes()
LANE_MASKS = tuple(map(mask_of, LANES))
COLUMN_MASKS = tuple(mask_of(range(column, CELLS, COLUMNS)) for column in range(COLUMNS))
_THROUGH = tuple(
    tuple(mask for mask, lane in zip(LANE_MASKS, LANES, strict=True) if cell in lane)
    for cell in range(CELLS)
)
# Which columns are open, by the marks in the top row.
_OPEN = tuple(
    tuple(column for column in range(COLUMNS) if not top >> column & 1)
    for top in range(1 << COLUMNS)
)


class ConnectFour(BitboardState):
    """A position of Connect Four. A move is a column, 0 to 6; the mark falls to its lowest open
    cell.

    `ConnectFour()` is the empty board; a text lists the 42 cells row by row from the top, and white
    space in it is ignored. `ConnectFour.from_moves([3, 3, 2])` drops marks in turn. `state[cell]`
    is "x", "o" or "_"; cell 0 is at the top left, cell 41 at the bottom right. `lanes` contains the
    69 lines of four cells, `to_move` is the player whose turn it is, and `winner` the player who
    has a lane, or None.

    >>> state = ConnectFour.from_moves([3, 3, 2, 3, 4])
    >>> print(state)
    _|_|_|_|_|_|_
    _|_|_|_|_|_|_
    _|_|_|_|_|_|_
    _|_|_|o|_|_|_
    _|_|_|o|_|_|_
    _|_|x|x|x|_|_
    >>> state.to_move, state.legal_moves(), state.after(1).after(5).winner
    ('o', (0, 1, 2, 3, 4, 5, 6), 'x')

    Raises `InvalidBoard` (a ValueError) for a text that is not 42 cells of x, o and _, for marks
    that float, and for marks that the players cannot have by taking turns until a player wins.
    """

    __slots__ = ()

    game: ClassVar = "board"
    lanes: ClassVar = LANES
    lane_masks: ClassVar = LANE_MASKS
    cells: ClassVar = CELLS
    full_mask: ClassVar = FULL_MASK

    def legal_moves(self) -> tuple[int, ...]:
        """The columns that are not full, from the left; none when the game is over."""
        if self.winner:
            return ()
        return _OPEN[(self.x_mask | self.o_mask) & (1 << COLUMNS) - 1]

    def after(self, move: int) -> "ConnectFour":
        """The position after the player to move drops a mark into column `move`.

        Raises `IllegalMove` if the column is full or does not exist, or the game is over.
        """
        if move not in self.legal_moves():
            raise IllegalMove(self._illegal_reason(move))
        cell = self._landing_cell(int(move))
        return self._with_mark(1 << cell, _THROUGH[cell])

    def _landing_cell(self, column: int) -> int:
        """The cell to which a mark falls in a column that is not full."""
        marks = ((self.x_mask | self.o_mask) & COLUMN_MASKS[column]).bit_count()
        return (ROWS - 1 - marks) * COLUMNS + column

    def _illegal_reason(self, move: object) -> str:
        if self.is_terminal():
            reason = "the game is over"
        elif move in range(COLUMNS):
            reason = f"column {move} is full"
        else:
            reason = f"{move!r} is not a column; columns are 0 to {COLUMNS - 1}"
        return f"illegal move {move!r} for {self.to_move}: {reason}, in\n{self}"

    def _unreachable_reason(self) -> str | None:
        """Checks that no mark floats, and that all the winner's lanes share a mark on top of its
        column. It does not check whether some order of turns leads to the position.
        """
        taken = self.x_mask | self.o_mask
        if (taken << COLUMNS) & self.full_mask & ~taken:
            return "a mark has nothing below it"
        if problem := self._turn_order_problem():
            return problem
        if self.winner:
            won = (set(self.lanes[number]) for number in self._lanes_in(self.mask(self.winner)))
            if not any(
                cell < COLUMNS or not taken >> cell - COLUMNS & 1 for cell in set.intersection(*won)
            ):
                return "the game continued after a player had won"
        return None

    def __str__(self) -> str:
        text = self.text
        return "\n".join("|".join(text[row : row + COLUMNS]) for row in range(0, CELLS, COLUMNS))

    def __repr__(self) -> str:
        text = self.text
        rows = (text[row : row + COLUMNS] for row in range(0, CELLS, COLUMNS))
        return f'ConnectFour("{" ".join(rows)}")'

    def _repr_html_(self) -> str:
        return image(self.svg(), f"Connect Four, {self.describe()}")

    def svg(self) -> str:
        """The picture as SVG text, with numbered columns; the winner's lanes are shaded."""
        return connect_four_svg(self)

    def boxes(self) -> dict[int, tuple[int, int, int, int]]:
        """The place of each column in the picture: x, y, width and height."""
        return {column: (column * CELL, TOP, CELL, ROWS * CELL) for column in range(COLUMNS)}

    def value_boxes(self) -> dict[int, tuple[int, int, int, int]]:
        """The places of the values of moves: the cells to which marks would fall."""
        cells = {column: self._landing_cell(column) for column in self.legal_moves()}
        return {
            column: (column * CELL, TOP + cell // COLUMNS * CELL, CELL, CELL)
            for column, cell in cells.items()
        }

    def describe_move(self, move: int) -> str:
        """A move in words, for screen readers."""
        return f"column {move}"

    def _mark_descriptions(self) -> Iterator[str]:
        """The marks of each column from the bottom up, in words."""
        for column in range(COLUMNS):
            if filled := self.text[column::COLUMNS][::-1].rstrip(EMPTY):
                yield f"column {column}: {' '.join(filled)}"


def potential(state: ConnectFour, player: str) -> float:
    """How much more potential `player` has in the lanes than the opponent, between -1 and 1.

    A lane in which only one player has marks counts for that player: the square of their number, in
    thousandths.

    >>> potential(ConnectFour.from_moves([3, 0]), "x")
    0.004
    """
    mine, total = state.mask(player), 0
    other = (state.x_mask | state.o_mask) ^ mine
    for lane in LANE_MASKS:
        if not lane & other:
            total += (lane & mine).bit_count() ** 2
        elif not lane & mine:
            total -= (lane & other).bit_count() ** 2
    return total / MAX_POTENTIAL


def centre_first(state: ConnectFour) -> list[int]:
    """The legal moves from the middle outwards; of two equally central columns, the left one comes
    first.

    >>> centre_first(ConnectFour())
    [3, 2, 4, 1, 5, 0, 6]
    """
    return sorted(state.legal_moves(), key=lambda column: abs(column - COLUMNS // 2))


def connect_four_svg(state: ConnectFour) -> str:
    """The board as SVG text, with the numbers of its columns above it."""
    across, down = COLUMNS * CELL, ROWS * CELL
    won = state.winning_lane_cells()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across + 4}" '
        f'height="{down + TOP + 4}" viewBox="-2 -2 {across + 4} {down + TOP + 4}">'
        f'<rect x="-2" y="-2" width="{across + 4}" height="{down + TOP + 4}" fill="white"/>'
    ]
    parts += [
        f'<text x="{(column + 0.5) * CELL}" y="{TOP - 6}" font-size="12" '
        f'font-family="sans-serif" text-anchor="middle" fill="#444">{column}</text>'
        for column in range(COLUMNS)
    ]
    for row, column in product(range(ROWS), range(COLUMNS)):
        cell, x, y = row * COLUMNS + column, column * CELL, TOP + row * CELL
        shade = "#e2e2e2" if cell in won else "white"
        parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{shade}" stroke="#888"/>'
        )
        parts.append(mark_svg(state[cell], x, y))
    return "".join(parts) + "</svg>"
