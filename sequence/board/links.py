"""Chips as one side sees them, the lines through a cell, and the links that a chip makes and breaks.

A *line* here is a row of up to nine cells: a cell and those within four of it in one direction. It
contains every window of five cells in which a chip on that cell can be part of a sequence.
"""

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any, NamedTuple

from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.cards import CARDS, ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    DIRECTIONS,
    FIVE,
    PLAYABLE,
    Cell,
    cells_of,
    cells_with,
    mask_of,
)  # fmt: skip

SHARED = 1  # chips of a completed sequence that a new one may use (the rules)


class Chips(NamedTuple):
    """The chips on a board from the view of one side, as bitboards (`sequence.board.layout`).

    `own` and `others` are all chips of the two sides, and `locked` are those in completed
    sequences. `heart` states whether four chips in the heart of the board count.
    """

    own: int
    others: int
    locked: int
    heart: bool = True

    @classmethod
    def seen_by(cls, position: Any, player: int | None = None) -> "Chips":
        """The chips of an observation or a state, by default as the player to move sees them."""
        side = position.rules.side(position.to_move if player is None else player)
        return cls(
            position.chip_masks[side],
            position.chip_masks[1 - side],
            position.locked_mask,
            position.rules.heart,
        )

    def flipped(self) -> "Chips":
        """The same chips from the other side's view."""
        return self._replace(own=self.others, others=self.own)

    def after(self, action: Action) -> "Chips":
        """The chips after an action of this side; completed sequences are locked."""
        if not action.coords:
            return self
        bit = BIT[action.coords]
        if action.kind == REMOVE:
            return self._replace(others=self.others & ~(1 << bit))
        own = self.own | 1 << bit
        _, marks = new_sequences(own, self.locked, bit, self.heart)
        return self._replace(own=own, locked=self.locked | marks)

    def mark(self, cell: Cell) -> str:
        """The cell as a character.

        "x" is a chip of this side, "o" one of the other side, "X" and "O" are the same in a
        completed sequence, "*" is a corner, and "_" an empty cell.
        """
        chip = 1 << BIT[cell]
        if chip & CORNERS:
            return "*"
        marks = "XO" if chip & self.locked else "xo"
        return marks[0] if chip & self.own else marks[1] if chip & self.others else "_"

    @property
    def empty(self) -> int:
        """The bitboard of the empty cells, without the corners."""
        return PLAYABLE & ~(self.own | self.others)

    @property
    def removable(self) -> int:
        """The bitboard of the other side's chips that a one-eyed jack can remove."""
        return self.others & ~self.locked


def line_text(chips: Chips, cell: Cell, direction: Cell) -> str:
    """The line through `cell` as text, in reading order; cells beyond the edge are omitted.

    `cell` itself is "#", whatever is on it; the others are written by `Chips.mark`.

    >>> line_text(Chips(own=1 << BIT[4, 4], others=0, locked=0), (4, 5), (0, 1))
    '___x#____'
    """
    return "".join("#" if place == cell else chips.mark(place) for place in _line(cell, direction))


def links(text: str) -> tuple[int, int]:
    """The links that a chip on "#" makes and breaks in this line: `(made, broken)`.

    `made` is the largest number of this side's chips, including the new one, in a window of five
    cells without a chip of the other side. `broken` is the largest number of the other side's chips
    in a window without a chip of this side. If there is no such window, the number is 0. A corner
    counts as a chip of both sides and blocks neither. A window with more than `SHARED` chips of a
    completed sequence of the side in question does not count, because it cannot become a new
    sequence.

    >>> links("___x#x___"), links("__ox#o___")
    ((3, 0), (0, 1))
    """
    made = broken = 0
    for start in range(len(text) - FIVE + 1):
        window = text[start : start + FIVE]
        own = window.count("x") + window.count("X")
        others = window.count("o") + window.count("O")
        if not others and window.count("X") <= SHARED:
            made = max(made, own + window.count("*") + 1)
        if not own and window.count("O") <= SHARED:
            broken = max(broken, others + window.count("*"))
    return made, broken


@cache
def reach(cell: Cell, direction: Cell) -> int:
    """The bitboard of the cells in the line of `line_text`."""
    return mask_of(_line(cell, direction))


@cache
def neighbours(cell: Cell) -> dict[Cell, int]:
    """The other cells of the four lines through `cell`, with the index of the line's direction."""
    return {
        place: number
        for number, direction in enumerate(DIRECTIONS)
        for place in _line(cell, direction)
        if place != cell
    }


def plays_of(chips: Chips, cards: Collection[str]) -> Iterator[Action]:
    """The placements and removals that this side could make with these cards.

    Each cell is listed once, and placements come before removals; the actions take no draft card. A
    two-eyed jack among the cards allows a placement on every empty cell.
    """
    wild = next((card for card in TWO_EYED if card in cards), None)
    if wild is None:
        places = {
            cell: card
            for card in CARDS
            if card in cards
            for cell in cells_with(card)
            if chips.empty >> BIT[cell] & 1
        }
    else:
        places = dict.fromkeys(cells_of(chips.empty), wild)
    for cell, card in places.items():
        yield Action(PLACE, card, coords=cell)
    taker = next((card for card in ONE_EYED if card in cards), None)
    if taker is not None:
        for cell in cells_of(chips.removable):
            yield Action(REMOVE, taker, coords=cell)


@cache
def _line(cell: Cell, direction: Cell) -> tuple[Cell, ...]:
    down, right = direction
    steps = ((cell[0] + k * down, cell[1] + k * right) for k in range(1 - FIVE, FIVE))
    return tuple(place for place in steps if place in BIT)
