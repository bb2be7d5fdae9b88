"""The tic-tac-toe board, an immutable state with two nine-bit masks inside.

There are only 5,478 reachable boards, so each exists only once and stores its successors: equality
is identity, and repeated calls of `after` are look-ups.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from tictactoe.contract import IllegalMove, InvalidBoard
from tictactoe.games.pictures import CELL, board_svg, image

EMPTY = "_"
PLAYERS = ("x", "o")  # x moves first
LANES = (
    (0, 1, 2), (3, 4, 5), (6, 7, 8),  # rows
    (0, 3, 6), (1, 4, 7), (2, 5, 8),  # columns
    (0, 4, 8), (2, 4, 6),  # diagonals
)  # fmt: skip
LANE_MASKS = tuple(sum(1 << cell for cell in lane) for lane in LANES)
CELLS = frozenset(range(9))
FULL_MASK = 0b111_111_111
OPEN_CELLS = tuple(tuple(c for c in range(9) if not mask >> c & 1) for mask in range(512))
MASK_WINS = tuple(any(mask & lane == lane for lane in LANE_MASKS) for mask in range(512))


def opponent(player: str) -> str:
    """The other player: "o" for "x" and "x" for "o".

    >>> opponent("x")
    'o'
    """
    return "o" if player == "x" else "x"


class Board:
    """A reachable tic-tac-toe position.

    `Board()` is the empty board; `Board("x_o_x_o__")` reads nine cells row by row, ignoring white
    space. Cell i is bit i of `x_mask` or `o_mask`. `board[cell]` is "x", "o" or "_", `lanes`
    contains the eight rows, columns and diagonals as tuples of cells, `to_move` is the player whose
    turn it is, and `winner` the player who has a lane, or None.

    >>> board = Board("x_o_x_o__")
    >>> print(board)
    x|_|o
    _|x|_
    o|_|_
    >>> board.to_move, board.legal_moves()
    ('x', (1, 3, 5, 7, 8))
    >>> board.after(8)
    Board("x_o_x_o_x")
    >>> board.after(8).winner
    'x'

    Raises `InvalidBoard` (a ValueError) for a text that is not nine cells of x, o and _, or that
    no game can reach.
    """

    __slots__ = ("_children", "_legal_moves", "o_mask", "text", "to_move", "winner", "x_mask")

    lanes: ClassVar[tuple[tuple[int, ...], ...]] = LANES
    _known: ClassVar[dict[str, "Board"]] = {}

    x_mask: int
    o_mask: int
    to_move: str
    winner: str | None
    text: str
    _legal_moves: tuple[int, ...]
    _children: dict[int, "Board"]

    def __new__(cls, text: str = EMPTY * 9) -> "Board":
        return cls.from_masks(*_parse(text))

    @classmethod
    def from_masks(cls, x_mask: int, o_mask: int) -> "Board":
        """The board with these marks; raises `InvalidBoard` if no game can reach it."""
        text = _text(x_mask, o_mask)
        problem = _unreachable_reason(x_mask, o_mask)
        if problem:
            raise InvalidBoard(f"{problem}:\n{_grid(text)}")
        return cls._known.get(text) or cls._make(text, x_mask, o_mask)

    @classmethod
    def _make(cls, text: str, x_mask: int, o_mask: int) -> "Board":
        board = object.__new__(cls)
        winner = "x" if MASK_WINS[x_mask] else "o" if MASK_WINS[o_mask] else None
        _set_text(board, text)
        _set_x_mask(board, x_mask)
        _set_o_mask(board, o_mask)
        _set_to_move(board, PLAYERS[x_mask.bit_count() - o_mask.bit_count()])
        _set_winner(board, winner)
        _set_legal_moves(board, () if winner else OPEN_CELLS[x_mask | o_mask])
        _set_children(board, {})
        return cls._known.setdefault(text, board)  # another thread may have created it meanwhile

    def legal_moves(self) -> tuple[int, ...]:
        """The open cells in ascending order; none when the game is over."""
        return self._legal_moves

    def after(self, move: int) -> "Board":
        """The board after the player to move marks cell `move`.

        Raises `IllegalMove` if the cell is taken or does not exist, or the game is over.
        """
        try:
            return self._children[move]
        except (KeyError, TypeError):  # the first call with this move, or not a cell
            return self._new_child(move)

    def _new_child(self, move: int) -> "Board":
        if move not in self._legal_moves:
            raise IllegalMove(self._illegal_reason(move))
        # The board's own integer, because the caller's may be of another type (numpy's 4, or 4.0).
        cell = self._legal_moves[self._legal_moves.index(move)]
        text = self.text[:cell] + self.to_move + self.text[cell + 1 :]
        x_mask, o_mask = self.x_mask, self.o_mask
        if self.to_move == "x":
            x_mask |= 1 << cell
        else:
            o_mask |= 1 << cell
        child = self._known.get(text) or self._make(text, x_mask, o_mask)
        self._children[cell] = child
        return child

    def _illegal_reason(self, move: Any) -> str:
        if self.is_terminal():
            reason = "the game is over"
        elif move in range(9):
            reason = f"cell {move} is taken by {self[move]}"
        else:
            reason = f"{move!r} is not a cell; cells are 0 to 8"
        return f"illegal move {move!r} for {self.to_move} in {self!r}: {reason}"

    def is_terminal(self) -> bool:
        """Whether a player has a lane or no cell is open."""
        return not self._legal_moves

    def utility(self, player: str) -> int:
        """+1 if `player` has won, -1 if the opponent has, 0 for a draw.

        Raises ValueError if the game is not over, because an unfinished game has no utility.
        """
        if self._legal_moves:
            raise ValueError(f"{self!r} is not terminal: it has no utility yet")
        if self.winner is None:
            return 0
        return 1 if self.winner == player else -1

    def mask(self, player: str) -> int:
        """The bitboard of one player's marks: bit i is cell i."""
        return self.x_mask if player == "x" else self.o_mask

    def __getitem__(self, cell: int) -> str:
        if cell not in CELLS:
            raise IndexError(f"{cell!r} is not a cell; cells are 0 to 8")
        return self.text[cell]

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return 9

    def __str__(self) -> str:
        return _grid(self.text)

    def __repr__(self) -> str:
        return f'Board("{self.text}")'

    def _repr_html_(self) -> str:
        return image(board_svg(self), f"tic-tac-toe board {self.describe()}")

    def svg(self) -> str:
        """The picture as SVG text (for widgets, see `tictactoe.boards.rendering`)."""
        return board_svg(self)

    def boxes(self) -> dict[int, tuple[int, int, int, int]]:
        """The place of each cell in the picture: x, y, width and height."""
        return {cell: (cell % 3 * CELL, cell // 3 * CELL, CELL, CELL) for cell in range(9)}

    def describe_move(self, move: int) -> str:
        """A move in words, for screen readers."""
        return f"cell {move}: row {move // 3 + 1}, column {move % 3 + 1}"

    def describe(self) -> str:
        """The position in words, for alternative texts and screen readers."""
        rows = "; ".join(" ".join(self.text[r : r + 3].replace(EMPTY, "-")) for r in (0, 3, 6))
        if self.winner:
            return f"{rows}. {self.winner} has won"
        return f"{rows}. {'Draw' if self.is_terminal() else self.to_move + ' to move'}"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Board is immutable: use after(move) to get the next one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Board is immutable: its attributes cannot be deleted")

    def __reduce__(self) -> tuple[type["Board"], tuple[str]]:
        return Board, (self.text,)

    def __copy__(self) -> "Board":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Board":
        return self


# Slots are set through their descriptors, because the instance's __setattr__ raises an error.
_set_text = Board.__dict__["text"].__set__
_set_x_mask = Board.__dict__["x_mask"].__set__
_set_o_mask = Board.__dict__["o_mask"].__set__
_set_to_move = Board.__dict__["to_move"].__set__
_set_winner = Board.__dict__["winner"].__set__
_set_legal_moves = Board.__dict__["_legal_moves"].__set__
_set_children = Board.__dict__["_children"].__set__


def _parse(text: str) -> tuple[int, int]:
    if not isinstance(text, str):
        raise InvalidBoard(f"a board is read from a text of nine cells, not from {text!r}")
    cells = "".join(text.split())
    if len(cells) != 9 or set(cells) - set("xo_"):
        raise InvalidBoard(f'a board is nine cells, each x, o or _, like "x_o_x_o__"; got {text!r}')
    return (
        sum(1 << i for i, cell in enumerate(cells) if cell == "x"),
        sum(1 << i for i, cell in enumerate(cells) if cell == "o"),
    )


def _unreachable_reason(x_mask: int, o_mask: int) -> str | None:
    if x_mask & o_mask or (x_mask | o_mask) & ~FULL_MASK:
        raise InvalidBoard(f"masks {x_mask:#b} and {o_mask:#b} share a cell or leave the board")
    xs, os = x_mask.bit_count(), o_mask.bit_count()
    x_won, o_won = MASK_WINS[x_mask], MASK_WINS[o_mask]
    if xs - os not in (0, 1):
        return f"unreachable board, x begins and turns alternate, but there are {xs} x and {os} o"
    if x_won and o_won:
        return "unreachable board, both players have a lane"
    if x_won and xs == os:
        return "unreachable board, o moved after x had won"
    if o_won and xs > os:
        return "unreachable board, x moved after o had won"
    return None


def _text(x_mask: int, o_mask: int) -> str:
    return "".join(
        ["x" if x_mask >> i & 1 else "o" if o_mask >> i & 1 else EMPTY for i in range(9)]
    )


def _grid(text: str) -> str:
    return "\n".join("|".join(text[row : row + 3]) for row in (0, 3, 6))
