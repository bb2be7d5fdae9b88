"""Read the positions that cases name: from a text to its state, or to the Python that makes it.

A text without a prefix is a board of tic-tac-toe, "x________"; `READERS` lists the prefixes of the
other games.
"""

from collections.abc import Callable
from typing import Any

from course.probes.made_up import Row
from sequence import example, sketch
from tictactoe import Board, Qubic

# Prefix -> what reads the rest of the text, and how that is called in Python.
READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "row": (Row, "Row"), "example": (example, "example"), "sketch": (sketch, "sketch"),
    "qubic": (Qubic, "Qubic"),
}  # fmt: skip


def read_position(text: str) -> Any:
    """The position that `text` names: a state of the game, or what a player sees of one.

    Raises ValueError if there is no such position.
    """
    reader, _, rest = _split(text)
    return reader(rest)


def written(text: str) -> str:
    """The Python expression that makes the position.

    >>> written("row xx___"), written("x________")
    ('Row("xx___")', 'Board("x________")')
    """
    _, name, rest = _split(text)
    return f'{name}("{rest}")'


def _split(text: str) -> tuple[Callable[[str], Any], str, str]:
    prefix, space, rest = text.partition(" ")
    return (*READERS[prefix], rest) if space and prefix in READERS else (Board, "Board", text)
