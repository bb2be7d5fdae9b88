"""Search trees as text: "depth,move,value" for each node, in the order of the visits.

The output of a student's process and the published searches have this format.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from tictactoe.nodes import Visit

SEPARATOR = ";"  # between nodes
NO_MOVE, SAME_STATE = "", "="  # the move of a root, and that of a state that is visited again
WINDOW = ("depth", "alpha", "beta")  # the arguments of a value function that a window consists of
MAX_BITS, MAX_LENGTH = 64, 40  # of an integer, and of the text of any other value


@dataclass
class Node:
    """A node of a parsed tree. Its move and value are strings, because the input is not trusted."""

    move: str
    value: str
    children: list["Node"] = field(default_factory=list)
    window: tuple[str, ...] = ()  # the values of `WINDOW` that the search had here, if known


def node_texts(visits: Iterable[Visit], depth: int = 0, parent: Any = None) -> Iterator[str]:
    """The nodes of these trees as "depth,move,value"; a root may have no move."""
    for visit in visits:
        move = visit.move
        if move is None:
            move = SAME_STATE if depth and visit.state == parent else NO_MOVE
        yield f"{depth},{move},{_number_text(visit.value)}"
        yield from node_texts(visit.children, depth + 1, visit.state)


def window_texts(visits: Iterable[Visit]) -> Iterator[str]:
    """The values of `WINDOW` at the nodes of these trees, as "1,-inf,0.5"; a missing one is empty."""
    for visit in visits:
        yield ",".join(
            _number_text(visit.bounds[name]) if name in visit.bounds else "" for name in WINDOW
        )
        yield from window_texts(visit.children)


def add_windows(nodes: Iterable[Node], texts: Iterator[str]) -> None:
    """Set the windows of these trees' nodes to the result of `window_texts` for the same trees."""
    for node in nodes:
        node.window = tuple(next(texts, "").split(","))
        add_windows(node.children, texts)


def _number_text(value: Any) -> str:
    """A number as text that `float` can read, whatever its type (such as a `Fraction` or a number
    of numpy); other values as Python writes them, without the separators of a tree's text.
    """
    if isinstance(value, Integral):  # including booleans
        bits = int(value).bit_length()
        return str(int(value)) if bits <= MAX_BITS else f"an integer of {bits} bits"
    if isinstance(value, (Real, Decimal)):
        with suppress(ArithmeticError, ValueError):
            return repr(float(value))
    return f"{value!r:.{MAX_LENGTH}}".translate({ord(SEPARATOR): " ", ord(","): " "})


def read_trees(text: str) -> list[Node]:
    """The trees in a text, one for each node of depth 0. Reading stops at invalid text."""
    roots: list[Node] = []
    path: list[Node] = []
    with suppress(ValueError):
        for node_text in text.split(SEPARATOR):
            depth, move, value = node_text.split(",", 2)
            node = Node(move, value)
            del path[int(depth) :]
            (path[-1].children if path else roots).append(node)
            path.append(node)
    return roots
