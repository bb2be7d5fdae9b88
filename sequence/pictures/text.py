"""The board as text, for states and observations alike."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sequence.board.layout import BIT, SIZE, Cell, card_at

SIDES = "xoz"  # a side's chips; capital letters in a completed sequence
CORNER = "*"
MARGIN = "   "


class Position(Protocol):
    """The fields of states and observations that their text shows."""

    @property
    def to_move(self) -> int: ...
    @property
    def traded(self) -> bool: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def winner(self) -> int | None: ...
    @property
    def sequences(self) -> tuple[int, ...]: ...
    @property
    def chip_masks(self) -> tuple[int, ...]: ...
    @property
    def locked_mask(self) -> int: ...
    @property
    def draft_row(self) -> tuple[str, ...]: ...


def chip_at(cell: Cell, chips: Sequence[int], locked: int) -> str:
    """The chip on a cell: "x", "o" or "z" by side, a capital in a sequence, "*" for a corner, or
    "".

    `chips` are the sides' bitboards, and `locked` is that of the chips in completed sequences.
    Raises KeyError for anything that is not a cell.
    """
    bit = BIT[cell]
    if not card_at(cell):
        return CORNER
    for side, mask in zip(SIDES, chips, strict=False):
        if mask >> bit & 1:
            return side.upper() if locked >> bit & 1 else side
    return ""


def board_text(chips: Sequence[int], locked: int) -> str:
    """Ten numbered rows with the chip on each cell, or its card if there is none."""
    lines = [MARGIN + "  ".join(str(col) for col in range(SIZE))]
    for row in range(SIZE):
        cells = [(row, col) for col in range(SIZE)]
        words = [chip_at(cell, chips, locked) or card_at(cell) for cell in cells]
        lines.append(f"{row:<{len(MARGIN)}}" + " ".join(f"{word:<2}" for word in words).rstrip())
    return "\n".join(lines)


def position_text(
    position: Position, hands: Mapping[int, Sequence[str]], deck_size: int, turn: str
) -> str:
    """The text of a state or an observation: the board, the score, the given hands and the rest.

    `deck_size` is the number of undealt cards, and `turn` is a line about the player to move.
    """
    return "\n".join(
        [
            board_text(position.chip_masks, position.locked_mask),
            f"sequences: {score_text(position.sequences)}",
            *(f"player {player}: {cards_text(hand)}" for player, hand in hands.items()),
            f"draft row: {cards_text(position.draft_row)}",
            f"undealt: {deck_size}",
            turn,
        ]
    )


def turn_text(position: Position) -> str:
    """Whose turn it is, or how the game has ended."""
    if position.is_over:
        return "tie" if position.winner is None else f"side {position.winner} has won"
    return f"player {position.to_move} to move{', has traded' if position.traded else ''}"


def score_text(sequences: Sequence[int]) -> str:
    """The number of sequences of each side, for example "x 1, o 0"."""
    return ", ".join(f"{side} {count}" for side, count in zip(SIDES, sequences, strict=False))


def cards_text(cards: Sequence[str]) -> str:
    """Cards separated by spaces; "-" for none."""
    return " ".join(cards) or "-"
