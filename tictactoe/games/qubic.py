"""Qubic, tic-tac-toe on a cube of 4 x 4 x 4 cells: an immutable State with two 64-bit masks inside.

Four in a line win, along an edge, across a face or through the cube. Unlike tic-tac-toe there are
far too many positions to keep, so each state is a new object, compared by its masks.
"""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import ClassVar

from tictactoe.contract import IllegalMove
from tictactoe.games.masks import MaskState, mask_of
from tictactoe.games.pictures import CELL, image, mark_svg

SIZE = 4  # cells in a line, rows in a layer, layers in the cube
CELLS = SIZE**3
FULL_MASK = (1 << CELLS) - 1
GAP, TOP = 22, 20  # pixels between two layers of the picture and above them
NARROW = 2  # layers side by side where there is no room for all
RAISED = 3  # pixels: how much the numbers of cells are raised there, above values


def cell_at(layer: int, row: int, column: int) -> int:
    """The index of a cell: layer by layer from the top, row by row in each.

    >>> cell_at(0, 0, 3), cell_at(0, 1, 0), cell_at(1, 0, 0)
    (3, 4, 16)
    """
    return (layer * SIZE + row) * SIZE + column


def _all_lanes() -> tuple[tuple[int, ...], ...]:
    """The 76 lanes, each with its cells in ascending order, in lexicographic order.

    On each axis a lane stands still or runs forwards or backwards. Read from its other end it is
    the same lane, so it is kept in the direction in which the cells ascend.
    """
    at: dict[str | int, Sequence[int]] = {
        "forwards": range(SIZE),
        "backwards": range(SIZE)[::-1],
        **{place: (place,) * SIZE for place in range(SIZE)},
    }
    lanes = (
        tuple(map(cell_at, *(at[way] for way in ways)))
        for ways in product(at, repeat=3)
        if not set(ways) <= set(range(SIZE))
    )
    return tuple(sorted(lane for lane in lanes if lane[0] < lane[-1]))


LANES = _all_lanes()
LANES_THROUGH = tuple(
    tuple(number for number, lane in enumerate(LANES) if cell in lane) for cell in range(CELLS)
)  # numbers of the lanes, 7 or 4 to a cell
LANE_MASKS = tuple(map(mask_of, LANES))
# For each cell its bit and the masks of its lanes; a dict takes numpy's 4 for 4, and refuses 64.
_MARKS = {
    cell: (1 << cell, tuple(LANE_MASKS[number] for number in LANES_THROUGH[cell]))
    for cell in range(CELLS)
}
# For each eighth of the cube, by the byte of its taken cells: which of its cells are open.
_OPEN = tuple(
    tuple(tuple(8 * eighth + bit for bit in range(8) if not byte >> bit & 1) for byte in range(256))
    for eighth in range(8)
)


class Qubic(MaskState):
    """A reachable position of Qubic.

    `Qubic()` is the empty cube; a text has its 64 cells layer by layer, row by row (white space is
    ignored), and `Qubic.from_moves([0, 21])` plays cells in turn. Cell i, which is 16 * layer + 4 *
    row + column, is bit i of `x_mask` or `o_mask`. `state[cell]` is "x", "o" or "_", `lanes` are
    the 76 lines of four cells, `to_move` is the player whose turn it is, `winner` the player who
    has a lane, or None.

    >>> state = Qubic.from_moves([0, 5, 21, 10, 42])
    >>> print(state)
    x|_|_|_   _|_|_|_   _|_|_|_   _|_|_|_
    _|o|_|_   _|x|_|_   _|_|_|_   _|_|_|_
    _|_|o|_   _|_|_|_   _|_|x|_   _|_|_|_
    _|_|_|_   _|_|_|_   _|_|_|_   _|_|_|_
    >>> state.to_move, len(state.legal_moves()), state.after(1).after(63).winner
    ('o', 59, 'x')

    Raises `InvalidBoard` (a ValueError) for a text that is not 64 cells of x, o and _, or that no
    game can reach.
    """

    __slots__ = ()

    game: ClassVar = "cube"
    lanes: ClassVar = LANES
    lane_masks: ClassVar = LANE_MASKS
    cells: ClassVar = CELLS
    full_mask: ClassVar = FULL_MASK

    def legal_moves(self) -> tuple[int, ...]:
        """The open cells in ascending order; none when the game is over."""
        if self.winner:
            return ()
        taken = (self.x_mask | self.o_mask).to_bytes(8, "little")
        moves: tuple[int, ...] = ()
        for cells, byte in zip(_OPEN, taken, strict=True):
            moves += cells[byte]
        return moves

    def after(self, move: int) -> "Qubic":
        """The position after the player to move marks cell `move`.

        Raises `IllegalMove` if the cell is taken or does not exist, or the game is over.
        """
        try:
            bit, lanes = _MARKS[move]
        except (KeyError, TypeError):  # not a cell
            raise IllegalMove(self._why_illegal(move)) from None
        if self.winner or (self.x_mask | self.o_mask) & bit:
            raise IllegalMove(self._why_illegal(move))
        return self._marked(bit, lanes)

    def _why_illegal(self, move: object) -> str:
        if self.is_terminal():
            reason = "the game is over"
        elif isinstance(move, Hashable) and move in _MARKS:
            reason = f"cell {move} is taken by {self[move]}"
        else:
            reason = f"{move!r} is not a cell; cells are 0 to {CELLS - 1}"
        return f"illegal move {move!r} for {self.to_move}: {reason}, in\n{self}"

    def __str__(self) -> str:
        return _grid(self.text)

    def __repr__(self) -> str:
        layers = (self.text[start : start + SIZE**2] for start in range(0, CELLS, SIZE**2))
        return f'Qubic("{" ".join(layers)}")'

    def _repr_html_(self) -> str:
        return image(qubic_svg(self), f"Qubic, {self.describe()}")

    def svg(self, narrow: bool = False) -> str:
        """The picture as SVG text (for widgets, see `tictactoe.show.drawn`)."""
        return qubic_svg(self, across=NARROW if narrow else SIZE)

    def boxes(self, narrow: bool = False) -> dict[int, tuple[int, int, int, int]]:
        """Where in the picture each cell is: x, y, width and height."""
        corners = [_corner(layer, NARROW if narrow else SIZE) for layer in range(SIZE)]
        return {
            cell_at(layer, row, column): (
                corners[layer][0] + column * CELL,
                corners[layer][1] + row * CELL,
                CELL,
                CELL,
            )
            for layer, row, column in product(range(SIZE), repeat=3)
        }

    def layer(self, move: int) -> int:
        """The layer of a cell, from 0 at the top."""
        return move // (SIZE * SIZE)

    def move_words(self, move: int) -> str:
        """A move in words, for screen readers."""
        layer, rest = divmod(move, SIZE * SIZE)
        return f"cell {move}: layer {layer}, row {rest // SIZE + 1}, column {rest % SIZE + 1}"

    def _why_unreachable(self) -> str | None:
        """A winner's lanes meet in the cell of the last move, and without that mark nobody has a
        lane: then the marks can have been made in any order.
        """
        problem = self._why_uneven()
        if problem:
            return problem
        lanes = self._lanes_in(self.x_mask) + self._lanes_in(self.o_mask)
        if not set(range(CELLS)).intersection(*(LANES[number] for number in lanes)):
            return "the game went on after somebody had won"
        return None


def _corner(layer: int, across: int) -> tuple[int, int]:
    """Where a layer begins in a picture with so many layers side by side."""
    side = SIZE * CELL
    return layer % across * (side + GAP), layer // across * (side + TOP + 4) + TOP


def qubic_svg(state: Qubic, labels: bool = True, across: int = SIZE) -> str:
    """The cube as SVG text: so many layers side by side, the top one at the left.

    Open cells have their number unless `labels` is false; the cells of a winner's lanes are shaded.
    """
    side = SIZE * CELL
    width, height = across * (side + GAP) - GAP + 4, _corner(SIZE - 1, across)[1] + side + 4
    won = state.won_cells()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="-2 -2 {width} {height}"><rect width="{width - 4}" height="{height - 4}" '
        'fill="white"/>'
    ]
    for layer in range(SIZE):
        left, top = _corner(layer, across)
        parts.append(
            f'<g transform="translate({left} {top})">'
            f'<text x="{side / 2}" y="-6" font-size="12" font-family="sans-serif" '
            f'text-anchor="middle" fill="#444">layer {layer}</text>'
        )
        for row, column in product(range(SIZE), repeat=2):
            cell, x, y = cell_at(layer, row, column), column * CELL, row * CELL
            shade = "#e2e2e2" if cell in won else "white"
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{shade}" '
                'stroke="#888"/>'
            )
            parts.append(
                mark_svg(
                    state[cell],
                    x,
                    y,
                    str(cell) if labels else "",
                    RAISED if across == NARROW else 0,
                )
            )
        parts.append("</g>")
    return "".join(parts) + "</svg>"


def _grid(text: str) -> str:
    """The four layers side by side, the top one at the left."""
    return "\n".join(
        "   ".join(
            "|".join(text[start : start + SIZE])
            for start in (cell_at(layer, row, 0) for layer in range(SIZE))
        )
        for row in range(SIZE)
    )
