"""The base class for games with too many positions to store: an immutable state with two masks.

There is one mask per player, and bit i of a mask is cell i. Each state is a new object, and states
are compared by their masks.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

from tictactoe.contract import InvalidBoard
from tictactoe.games.board import EMPTY, PLAYERS

_MARKS = str.maketrans("012", EMPTY + "xo")


def mask_of(cells: Iterable[int]) -> int:
    """The bitboard of these cells: bit i is cell i."""
    return sum(1 << cell for cell in cells)


class BitboardState:
    """A position of a game in which x and o mark cells in turn, and a full lane wins.

    A game adds the rules (`legal_moves`, `after`, `_unreachable_reason`) and the picture.
    """

    __slots__ = ("o_mask", "to_move", "winner", "x_mask")

    game: ClassVar[str]  # the name of its board, such as "cube"
    lanes: ClassVar[tuple[tuple[int, ...], ...]]
    lane_masks: ClassVar[tuple[int, ...]]
    cells: ClassVar[int]
    full_mask: ClassVar[int]

    x_mask: int
    o_mask: int
    to_move: str
    winner: str | None

    def __new__(cls, text: str | None = None) -> Self:
        return cls.from_masks(*cls._parse(EMPTY * cls.cells if text is None else text))

    @classmethod
    def from_masks(cls, x_mask: int, o_mask: int) -> Self:
        """The position with these marks; raises `InvalidBoard` if no game can reach it."""
        if x_mask & o_mask or (x_mask | o_mask) & ~cls.full_mask:
            raise InvalidBoard(
                f"masks {x_mask:#x} and {o_mask:#x} share a cell or leave the {cls.game}"
            )
        winner = "x" if cls._lanes_in(x_mask) else "o" if cls._lanes_in(o_mask) else None
        to_move = PLAYERS[(x_mask.bit_count() - o_mask.bit_count()) % 2]
        state = cls._make(x_mask, o_mask, to_move, winner)
        problem = state._unreachable_reason()
        if problem:
            raise InvalidBoard(f"unreachable position, {problem}:\n{state}")
        return state

    @classmethod
    def from_moves(cls, moves: Iterable[int]) -> Self:
        """The position after these moves from the empty board; raises `IllegalMove`."""
        state = cls()
        for move in moves:
            state = state.after(move)
        return state

    def after(self, move: int) -> Self:
        """The position after the player to move marks cell `move`."""
        raise NotImplementedError

    @classmethod
    def _make(cls, x_mask: int, o_mask: int, to_move: str, winner: str | None) -> Self:
        state = object.__new__(cls)
        _set_x_mask(state, x_mask)
        _set_o_mask(state, o_mask)
        _set_to_move(state, to_move)
        _set_winner(state, winner)
        return state

    def _with_mark(self, bit: int, lanes: Iterable[int]) -> Self:
        """The position after the player to move marks the cell of `bit`, which is on these lanes."""
        winner = None
        marks = bit | (self.x_mask if self.to_move == "x" else self.o_mask)
        for lane in lanes:
            if marks & lane == lane:
                winner = self.to_move
        if self.to_move == "x":
            return self._make(marks, self.o_mask, "o", winner)
        return self._make(self.x_mask, marks, "x", winner)

    def is_terminal(self) -> bool:
        """Whether a player has a lane or no cell is open."""
        return self.winner is not None or self.x_mask | self.o_mask == self.full_mask

    def utility(self, player: str) -> int:
        """+1 if `player` has won, -1 if the opponent has, 0 for a draw.

        Raises ValueError if the game is not over, because an unfinished game has no utility.
        """
        if not self.is_terminal():
            raise ValueError(f"this position is not terminal, it has no utility yet:\n{self}")
        if self.winner is None:
            return 0
        return 1 if self.winner == player else -1

    def mask(self, player: str) -> int:
        """The bitboard of one player's marks: bit i is cell i."""
        return self.x_mask if player == "x" else self.o_mask

    @property
    def text(self) -> str:
        """The cells in order, as x, o and _."""
        # A mask's binary digits, read as a decimal number, are its marks: 1 for x, 2 for o.
        digits = int(f"{self.x_mask:b}") + 2 * int(f"{self.o_mask:b}")
        return f"{digits:0{self.cells}d}"[::-1].translate(_MARKS)

    def describe(self) -> str:
        """The position in words, for alternative texts and screen readers."""
        marks = "; ".join(self._mark_descriptions())
        if self.winner:
            return f"{marks}. {self.winner} has won"
        status = "Draw" if self.is_terminal() else f"{self.to_move} to move"
        return f"{marks or 'empty'}. {status}"

    def _mark_descriptions(self) -> Iterator[str]:
        """The cells of the marks, in words, for each player."""
        for player in PLAYERS:
            if mask := self.mask(player):
                cells = (str(cell) for cell in range(self.cells) if mask >> cell & 1)
                yield f"{player} at {', '.join(cells)}"

    def winning_lane_cells(self) -> set[int]:
        """The cells of the winner's lanes; none if there is no winner."""
        won = self._lanes_in(self.mask(self.winner)) if self.winner else ()
        return {cell for number in won for cell in self.lanes[number]}

    def _unreachable_reason(self) -> str | None:
        """The reason why no game can reach these marks; None if none is found."""
        raise NotImplementedError

    def _turn_order_problem(self) -> str | None:
        """The reason why the numbers of marks and lanes are impossible; None if they are possible."""
        xs, os = self.x_mask.bit_count(), self.o_mask.bit_count()
        x_lanes, o_lanes = self._lanes_in(self.x_mask), self._lanes_in(self.o_mask)
        if xs - os not in (0, 1):
            return f"x begins and turns alternate, but there are {xs} x, {os} o"
        if x_lanes and o_lanes:
            return "both players have a lane"
        if x_lanes and xs == os:
            return "o moved after x had won"
        if o_lanes and xs > os:
            return "x moved after o had won"
        return None

    @classmethod
    def _lanes_in(cls, mask: int) -> list[int]:
        """The numbers of the lanes that these marks fill."""
        return [number for number, lane in enumerate(cls.lane_masks) if mask & lane == lane]

    @classmethod
    def _parse(cls, text: str) -> tuple[int, int]:
        if not isinstance(text, str):
            raise InvalidBoard(
                f"a {cls.game} is read from a text of {cls.cells} cells, not from {text!r}"
            )
        cells = "".join(text.split())
        if len(cells) != cls.cells or set(cells) - set("xo_"):
            raise InvalidBoard(
                f"a {cls.game} is {cls.cells} cells, each x, o or _, in their "
                f"order; got {len(cells)} characters: {text!r}"
            )
        return (
            mask_of(i for i, cell in enumerate(cells) if cell == "x"),
            mask_of(i for i, cell in enumerate(cells) if cell == "o"),
        )

    def __getitem__(self, cell: int) -> str:
        if cell not in range(self.cells):
            raise IndexError(f"{cell!r} is not a cell; cells are 0 to {self.cells - 1}")
        bit = 1 << int(cell)
        return "x" if self.x_mask & bit else "o" if self.o_mask & bit else EMPTY

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return self.cells

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.x_mask == other.x_mask and self.o_mask == other.o_mask

    def __hash__(self) -> int:
        return hash((self.x_mask, self.o_mask))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a {type(self).__name__} is immutable: use after(move) to get the next one"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"a {type(self).__name__} is immutable: its attributes cannot be deleted"
        )

    def __reduce__(self) -> tuple[Any, tuple[int, int]]:
        return type(self).from_masks, (self.x_mask, self.o_mask)


# Slots are set through their descriptors, because the instance's __setattr__ raises an error.
_set_x_mask = BitboardState.__dict__["x_mask"].__set__
_set_o_mask = BitboardState.__dict__["o_mask"].__set__
_set_to_move = BitboardState.__dict__["to_move"].__set__
_set_winner = BitboardState.__dict__["winner"].__set__
