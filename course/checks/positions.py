"""Reads the positions of cases and converts them to Python expressions.

A text without a prefix is a board of tic-tac-toe, "x________"; `READERS` lists the prefixes of the
other games.
"""

from collections.abc import Callable
from typing import Any

from course.checks.toy_games import NumberTree, Row
from sequence import example, sketch
from tictactoe import Board, ConnectFour, Qubic

# Prefix -> the function that reads the rest of the text, and the Python expression.
READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "row": (Row, 'Row("{}")'), "example": (example, 'example("{}")'),
    "sketch": (sketch, 'sketch("{}")'), "qubic": (Qubic, 'Qubic("{}")'),
    "four": (ConnectFour, 'ConnectFour("{}")'), "tree": (NumberTree.read, "NumberTree({})"),
}  # fmt: skip


def read_position(text: str) -> Any:
    """The position that `text` names: a state of a game, or a player's observation of one.

    Raises ValueError if there is no such position.
    """
    reader, _, rest = _split(text)
    return reader(rest)


def python_expression(text: str) -> str:
    """The Python expression that creates the position.

    >>> python_expression("row xx___"), python_expression("x________")
    ('Row("xx___")', 'Board("x________")')
    """
    _, python, rest = _split(text)
    return python.format(rest)


def is_toy_game(text: str) -> bool:
    """Whether `text` names a position of a toy game, which has no board."""
    return text.partition(" ")[0] in ("row", "tree")


def is_from_game(text: str) -> bool:
    """Whether `text` names a position of a sampled game between built-in players."""
    return text.startswith("example ")


def notation(state: Any) -> str:
    """The text that names a state of a game in a case, the inverse of `read_position`.

    >>> notation(read_position("x________")), notation(read_position("tree (5, 9)").after(0))
    ('x________', 'tree 5, "o"')
    """
    prefix = next(
        (
            prefix
            for prefix, (_, python) in READERS.items()
            if python.startswith(f"{type(state).__name__}(")
        ),
        "",
    )
    return f"{prefix} {state.text}".strip()


def _split(text: str) -> tuple[Callable[[str], Any], str, str]:
    prefix, space, rest = text.partition(" ")
    if space and prefix in READERS:
        return (*READERS[prefix], rest)
    return Board, 'Board("{}")', text
