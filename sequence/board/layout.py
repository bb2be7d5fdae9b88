"""The board: the card on each cell, the 192 lines of five, and the bits of cells.

A cell is `(row, col)`, both from 0 to 9, with row 0 at the top. A bitboard is an int of 100 bits in
card order: bits 2k and 2k + 1 are the upper and the lower cell of card k (cells are read row by
row), and bits 96 to 99 are the corners. Piles of cards have the same order
(`sequence.board.cards`), so one multiplication finds the cells of all cards in a hand, or the dead
cards.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sequence.board.cards import BOARD_CARDS, NO_CARD, NUMBER

FREE = "free"  # a corner in the table
SIZE = 10
FIVE = 5  # chips in a line
TABLE = tuple(
    tuple(row.split())
    for row in """\
free 2s 3s 4s 5s 6s 7s 8s 9s free
6c 5c 4c 3c 2c ah kh qh th ts
7c as 2d 3d 4d 5d 6d 7d 9h qs
8c ks 6c 5c 4c 3c 2c 8d 8h ks
9c qs 7c 6h 5h 4h ah 9d 7h as
tc ts 8c 7h 2h 3h kh td 6h 2d
qc 9s 9c 8h 9h th qh qd 5h 3d
kc 8s tc qc kc ac ad kd 4h 4d
ac 7s 6s 5s 4s 3s 2s 2h 3h 5d
free ad kd qd td 9d 8d 7d 6d free""".splitlines()
)

Cell = tuple[int, int]
Coords = Cell | tuple[()]
NO_CELL: tuple[()] = ()  # used if an action has no cell
# Top to bottom, left to right, and both diagonals read from the top.
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def _bits() -> tuple[Cell, ...]:
    by_card: dict[str, list[Cell]] = {card: [] for card in (*BOARD_CARDS, FREE)}
    for row, cards in enumerate(TABLE):
        for col, card in enumerate(cards):
            by_card[card].append((row, col))
    return tuple(cell for cells in by_card.values() for cell in cells)


CELLS = _bits()  # the cell of each bit
BIT = {cell: bit for bit, cell in enumerate(CELLS)}
CORNERS = 0b1111 << 2 * len(BOARD_CARDS)
PLAYABLE = (1 << 2 * len(BOARD_CARDS)) - 1  # every cell except the corners
HEART_CELLS = ((4, 4), (4, 5), (5, 4), (5, 5))


def mask_of(cells: Iterable[Cell]) -> int:
    """The bitboard of these cells; raises KeyError for a cell that is not on the board."""
    mask = 0
    for cell in cells:
        mask |= 1 << BIT[cell]
    return mask


def cells_of(mask: int) -> tuple[Cell, ...]:
    """The cells of a bitboard, row by row.

    >>> cells_of(mask_of([(5, 4), (0, 1)]))
    ((0, 1), (5, 4))
    """
    return tuple(sorted(CELLS[bit] for bit in range(len(CELLS)) if mask >> bit & 1))


def card_at(cell: Cell) -> str:
    """The card on a cell, "" for a corner; raises KeyError for a cell off the board.

    >>> card_at((0, 1)), card_at((0, 0))
    ('2s', '')
    """
    bit = BIT[cell]
    return BOARD_CARDS[bit >> 1] if bit >> 1 < len(BOARD_CARDS) else NO_CARD


def cells_with(card: str) -> tuple[Cell, ...]:
    """The two cells of a card, the upper one first; none for a jack. Raises KeyError for other
    texts.

    >>> cells_with("2s"), cells_with("jd")
    (((0, 1), (8, 6)), ())
    """
    number = NUMBER[card]
    return CELLS[2 * number : 2 * number + 2] if number < len(BOARD_CARDS) else ()


HEART = mask_of(HEART_CELLS)


def _lines() -> tuple[tuple[Cell, ...], ...]:
    lines = []
    for down, right in DIRECTIONS:
        for row, col in sorted(CELLS):
            line = tuple((row + k * down, col + k * right) for k in range(FIVE))
            if line[-1] in BIT:
                lines.append(line)
    return tuple(lines)


LINES = _lines()  # by direction, then by first cell; the cells of each line in reading order
LINE_MASKS = tuple(mask_of(line) for line in LINES)
LINES_THROUGH = tuple(  # by bit: the masks of the lines that pass through the cell
    tuple(mask for line, mask in zip(LINES, LINE_MASKS, strict=True) if cell in line)
    for cell in CELLS
)


Five = tuple[int, tuple[int, ...]]  # a line of five: its mask, and the masks of its cells


class Neighbourhood(NamedTuple):
    """The five to nine cells that are at most four steps from a cell along one direction.

    `mask` contains them all, and `fives` the lines of five among them in reading order, each as
    its mask and the masks of its five cells.
    """

    mask: int
    fives: tuple[Five, ...]


def _neighbourhood(cell: Cell, direction: Cell) -> Neighbourhood:
    steps = range(1 - FIVE, FIVE)
    path = [(cell[0] + k * direction[0], cell[1] + k * direction[1]) for k in steps]
    path = [place for place in path if place in BIT]
    fives = (path[start : start + FIVE] for start in range(len(path) - FIVE + 1))
    return Neighbourhood(
        mask_of(path),
        tuple((mask_of(five), tuple(mask_of([place]) for place in five)) for five in fives),
    )


# By bit: the cell's neighbourhood in each direction that has space for five.
NEIGHBOURHOODS = tuple(
    tuple(
        neighbourhood
        for neighbourhood in (_neighbourhood(cell, direction) for direction in DIRECTIONS)
        if neighbourhood.fives
    )
    for cell in CELLS
)
