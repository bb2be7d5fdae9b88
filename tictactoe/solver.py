"""Exact values of all 5,478 reachable positions, by working backwards from the ends of games.

This is the kit's oracle, not a model answer: it searches nothing, counts no nodes and knows no
moves. Checks do not let a submission import it.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tictactoe.board import FULL_MASK, MASK_WINS, Board


@cache
def values() -> Mapping[Board, int]:
    """Every reachable board with its value for x under best play: +1, 0 or -1.

    >>> len(values()), values()[Board()]
    (5478, 0)
    """
    return MappingProxyType({Board.from_masks(*masks): v for masks, v in solve().items()})


def value(board: Board, player: str = "x") -> int:
    """The value of `board` for `player` under best play.

    >>> value(Board("xx_oo____")), value(Board("xx_oo____"), "o")
    (1, -1)
    """
    return values()[board] if player == "x" else -values()[board]


def solve() -> dict[tuple[int, int], int]:
    """The same values by pair of masks `(x_mask, o_mask)`: generated layer by layer, one mark more
    at a time, then valued from the last layer back. Needs no `Board`."""
    layers = [{(0, 0): []}]
    for depth in range(9):  # each layer maps a position to its successors
        layers.append({})
        for (x_mask, o_mask), successors in layers[depth].items():
            if MASK_WINS[x_mask] or MASK_WINS[o_mask]:
                continue
            free = FULL_MASK & ~(x_mask | o_mask)
            while free:
                bit = free & -free
                free ^= bit
                child = (x_mask, o_mask | bit) if depth % 2 else (x_mask | bit, o_mask)
                successors.append(child)
                layers[depth + 1][child] = []
    solved: dict[tuple[int, int], int] = {}
    for depth in range(9, -1, -1):
        best = min if depth % 2 else max  # o moves at odd depths
        for position, successors in layers[depth].items():
            if successors:
                solved[position] = best([solved[child] for child in successors])
            else:
                x_mask, o_mask = position
                solved[position] = MASK_WINS[x_mask] - MASK_WINS[o_mask]
    return solved
