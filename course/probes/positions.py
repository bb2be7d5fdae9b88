"""Read the positions that cases name: from a text to its state, or to the Python that makes it.

A text without a prefix is a board of tic-tac-toe, "x________"; `READERS` lists the prefixes of the
other games.
"""

from collections.abc import Callable
from typing import Any

from course.probes.made_up import NumberTree, Row
from sequence import example, sketch
from tictactoe import Board, ConnectFour, Qubic

# Prefix -> what reads the rest of the text, and how that is written in Python.
READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "row": (Row, 'Row("{}")'), "example": (example, 'example("{}")'),
    "sketch": (sketch, 'sketch("{}")'), "qubic": (Qubic, 'Qubic("{}")'),
    "four": (ConnectFour, 'ConnectFour("{}")'), "tree": (NumberTree.read, "NumberTree({})"),
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
    _, python, rest = _split(text)
    return python.format(rest)


def is_made_up(text: str) -> bool:
    """Whether `text` names a position of a game that was made up to be asked, and has no board."""
    return text.partition(" ")[0] in ("row", "tree")


def is_from_game(text: str) -> bool:
    """Whether `text` names a position of a sampled game, which given players have to play."""
    return text.startswith("example ")


def notation(state: Any) -> str:
    """The text that names a state of a game in a case: `read_position` makes it again.

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
