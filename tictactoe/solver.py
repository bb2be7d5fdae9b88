"""Exact values of all 5,478 reachable positions, by working backwards from the ends of games.

This is the kit's oracle, not a model answer: it does not search, count nodes or choose moves.
Submissions cannot import it in checks.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tictactoe.games.board import FULL_MASK, MASK_WINS, OPEN_CELLS, Board


@cache
def values() -> Mapping[Board, int]:
    """Every reachable board with its value for x under best play: +1, 0 or -1.

    >>> len(values()), values()[Board()]
    (5478, 0)
    """
    return MappingProxyType(
        {
            Board.from_masks(position & FULL_MASK, position >> 9): worth
            for position, worth in solve().items()
        }
    )


def value(board: Board, player: str = "x") -> int:
    """The value of `board` for `player` under best play.

    >>> value(Board("xx_oo____")), value(Board("xx_oo____"), "o")
    (1, -1)
    """
    return values()[board] if player == "x" else -values()[board]


def solve() -> dict[int, int]:
    """The same values, keyed by the number `x_mask | o_mask << 9` and computed without `Board`.

    The positions are generated in layers, each with one more mark, and evaluated from the last
    layer back.
    """
    layers: list[set[int]] = [{0}]
    for depth in range(9):
        mover, other = _shifts(depth)
        layers.append(
            {
                position | 1 << cell + mover
                for position in layers[depth]
                if not MASK_WINS[position >> other & FULL_MASK]
                for cell in OPEN_CELLS[(position | position >> 9) & FULL_MASK]
            }
        )
    solved: dict[int, int] = {}
    for depth in range(9, -1, -1):
        mover, other = _shifts(depth)
        best, lost = (max, -1) if mover == 0 else (min, 1)  # from x's point of view
        for position in layers[depth]:
            if MASK_WINS[position >> other & FULL_MASK]:  # the player who moved last has a lane
                solved[position] = lost
            else:
                solved[position] = best(
                    [
                        solved[position | 1 << cell + mover]
                        for cell in OPEN_CELLS[(position | position >> 9) & FULL_MASK]
                    ],
                    default=0,
                )
    return solved


def _shifts(depth: int) -> tuple[int, int]:
    """The bit offsets of the mover's mask and of the other mask; x moves at even depths."""
    return (9, 0) if depth % 2 else (0, 9)
