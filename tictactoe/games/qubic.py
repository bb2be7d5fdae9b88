"""Qubic, tic-tac-toe on a cube of 4 x 4 x 4 cells: an immutable state with two 64-bit masks inside.

Four in a line win, whether along an edge, across a face or through the cube. Unlike tic-tac-toe,
Qubic has far too many positions to store, so each state is a new object, and states are compared by
their masks.
"""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import ClassVar

from tictactoe.contract import IllegalMove
from tictactoe.games.bitboard_state import BitboardState, mask_of
from tictactoe.games.pictures import CELL, image, mark_svg

SIZE = 4  # the number of cells in a line, of rows in a layer and of layers
CELLS = SIZE**3
FULL_MASK = (1 << CELLS) - 1
GAP, TOP = 22, 20  # pixels between two layers of the picture and above them
COMPACT_LAYERS = 2  # layers per row in the compact layout
LABEL_RAISE = 3  # pixels by which cell numbers are raised there, above the values


def cell_at(layer: int, row: int, column: int) -> int:
    """The index of a cell: layer by layer from the top, row by row in each.

    >>> cell_at(0, 0, 3), cell_at(0, 1, 0), cell_at(1, 0, 0)
    (3, 4, 16)
    """
    return (layer * SIZE + row) * SIZE + column


def _all_lanes() -> tuple[tuple[int, ...], ...]:
    """The 76 lanes, each with its cells in ascending order, in lexicographic order.

    On each axis, a lane is constant, or runs forwards or backwards. A lane that is read from the
    other end is the same lane, so only the direction with ascending cells is kept.
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
)  # the numbers of each cell's lanes, 7 or 4
LANE_MASKS = tuple(map(mask_of, LANES))
# For each cell, its bit and the masks of its lanes; a dict accepts numpy's 4 as 4, but not 64.
_MARKS = {
    cell: (1 << cell, tuple(LANE_MASKS[number] for number in LANES_THROUGH[cell]))
    for cell in range(CELLS)
}
# For each eighth of the cube: the byte of its taken cells -> its open cells.
_OPEN = tuple(
    tuple(tuple(8 * eighth + bit for bit in range(8) if not byte >> bit & 1) for byte in range(256))
    for eighth in range(8)
)


class Qubic(BitboardState):
    """A reachable position of Qubic.

    `Qubic()` is the empty cube; a text lists the 64 cells layer by layer and row by row, and white
    space in it is ignored. `Qubic.from_moves([0, 21])` plays cells in turn. Cell i, which is 16 *
    layer + 4 * row + column, is bit i of `x_mask` or `o_mask`. `state[cell]` is "x", "o" or "_",
    `lanes` contains the 76 lines of four cells, `to_move` is the player whose turn it is, and
    `winner` the player who has a lane, or None.

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
            raise IllegalMove(self._illegal_reason(move)) from None
        if self.winner or (self.x_mask | self.o_mask) & bit:
            raise IllegalMove(self._illegal_reason(move))
        return self._with_mark(bit, lanes)

    def _illegal_reason(self, move: object) -> str:
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

    def svg(self, compact: bool = False) -> str:
        """The picture as SVG text (for widgets, see `tictactoe.boards.rendering`)."""
        return qubic_svg(self, across=COMPACT_LAYERS if compact else SIZE)

    def boxes(self, compact: bool = False) -> dict[int, tuple[int, int, int, int]]:
        """The place of each cell in the picture: x, y, width and height."""
        corners = [_corner(layer, COMPACT_LAYERS if compact else SIZE) for layer in range(SIZE)]
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

    def describe_move(self, move: int) -> str:
        """A move in words, for screen readers."""
        layer, rest = divmod(move, SIZE * SIZE)
        return f"cell {move}: layer {layer}, row {rest // SIZE + 1}, column {rest % SIZE + 1}"

    def _unreachable_reason(self) -> str | None:
        """Checks that the winner's lanes meet in one cell, that of the last move. Without this mark
        there is no lane, so the other marks can have been made in any order.
        """
        problem = self._turn_order_problem()
        if problem:
            return problem
        lanes = self._lanes_in(self.x_mask) + self._lanes_in(self.o_mask)
        if not set(range(CELLS)).intersection(*(LANES[number] for number in lanes)):
            return "the game continued after a player had won"
        return None


def _corner(layer: int, across: int) -> tuple[int, int]:
    """The corner of a layer in a picture with `across` layers per row."""
    side = SIZE * CELL
    return layer % across * (side + GAP), layer // across * (side + TOP + 4) + TOP


def qubic_svg(state: Qubic, labels: bool = True, across: int = SIZE) -> str:
    """The cube as SVG text, with `across` layers per row and the top layer on the left.

    Open cells show their number unless `labels` is false; the cells of the winner's lanes are
    shaded.
    """
    side = SIZE * CELL
    width, height = across * (side + GAP) - GAP + 4, _corner(SIZE - 1, across)[1] + side + 4
    won = state.winning_lane_cells()
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
                    LABEL_RAISE if across == COMPACT_LAYERS else 0,
                )
            )
        parts.append("</g>")
    return "".join(parts) + "</svg>"


def _grid(text: str) -> str:
    """The four layers side by side, with the top layer on the left."""
    return "\n".join(
        "   ".join(
            "|".join(text[start : start + SIZE])
            for start in (cell_at(layer, row, 0) for layer in range(SIZE))
        )
        for row in range(SIZE)
    )
