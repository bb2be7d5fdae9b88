"""Search trees as text: "depth,move,value" of each node, in the order in which they were visited.

So they come out of a student's process, and so the published searches are kept.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tictactoe.nodes import Visit

BETWEEN = ";"  # the nodes
NO_MOVE, SAME_STATE = "", "="  # of a root or a state that no move leads to; of one visited again


@dataclass
class Node:
    """A node of a tree that was read: its move and value are texts, as nobody vouches for them."""

    move: str
    value: str
    children: list["Node"] = field(default_factory=list)


def node_texts(visits: Iterable[Visit], depth: int = 0, parent: Any = None) -> Iterator[str]:
    """Each node of these trees as "depth,move,value"; a root has no move where none led to it."""
    for visit in visits:
        move = visit.move
        if move is None:
            move = SAME_STATE if depth and visit.state == parent else NO_MOVE
        yield f"{depth},{move},{visit.value!r}"
        yield from node_texts(visit.children, depth + 1, visit.state)


def read_trees(text: str) -> list[Node]:
    """The trees of a text, one for each node of depth 0; what is no such text ends the last one."""
    roots: list[Node] = []
    path: list[Node] = []
    with suppress(ValueError):
        for node_text in text.split(BETWEEN):
            depth, move, value = node_text.split(",", 2)
            node = Node(move, value)
            del path[int(depth) :]
            (path[-1].children if path else roots).append(node)
            path.append(node)
    return roots
