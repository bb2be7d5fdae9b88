"""Finds the player from whose perspective a search tree is evaluated.

Minimax uses the same perspective in all nodes; negamax uses that of the player to move in each
node. The reference's values are from the perspective of the player who moves at the root. A
student's values may be from any perspective, provided that it is the same throughout. If no
perspective fits nearly all nodes, it is unclear which one the student chose.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isclose
from typing import Any, NamedTuple

from common.messages import english
from course.checks.trees import Node
from tictactoe.nodes import Visit

TOLERANCE = 1e-9  # for values that rounding has changed
NEARLY_ALL = 0.9  # share of the values that must fit an unusual perspective


class Perspective(NamedTuple):
    """A perspective: a description of the player, and the sign that the root's value has in a node."""

    words: str
    sign: Callable[[Any, Any], int]  # takes the root's state and the node's state


def _of_player(player: str) -> Perspective:
    return Perspective(player, lambda root, state: 1 if root.to_move == player else -1)


ROOT = Perspective(english("the player to move at the root"), lambda root, state: 1)
PERSPECTIVES = (
    ROOT,
    Perspective(
        english("the player to move in each node"),
        lambda root, state: 1 if state.to_move == root.to_move else -1,
    ),
    Perspective(
        english("the player who has just moved in each node"),
        lambda root, state: -1 if state.to_move == root.to_move else 1,
    ),
    _of_player("x"),
    _of_player("o"),
)


def plausible_perspectives(ours: Visit, theirs: Node) -> Sequence[Perspective]:
    """Return the perspectives that the student's values may have: the one that fits nearly all of
    them, or all perspectives if none does, or none if the search has no numbers as values.
    """
    if not has_numbers([theirs]):
        return ()
    pairs = list(_corresponding_nodes(ours, theirs))

    def fitting(perspective: Perspective) -> int:
        return sum(_fits(node, value, perspective, ours) for node, value in pairs)

    best = max(PERSPECTIVES, key=fitting)
    return (best,) if fitting(best) >= NEARLY_ALL * len(pairs) else PERSPECTIVES


def has_numbers(nodes: Iterable[Node]) -> bool:
    """Whether a student's search has a number as the value of any of these nodes or those below."""
    return any(to_number(node.value) is not None or has_numbers(node.children) for node in nodes)


def same_value(ours: Visit, value: str, perspective: Perspective, root: Visit) -> bool:
    """Whether a student's value, from this perspective, means the same as the reference's.

    Outside the window, a value is only a bound, so all values there mean the same.
    """
    theirs = to_number(value)
    if theirs is None or ours.value is None:
        return False
    low, high = (ours.bounds.get(name, bound) for name, bound in (("alpha", -inf), ("beta", inf)))
    theirs *= perspective.sign(root.state, ours.state)
    return is_near(*(min(max(number, low), high) for number in (ours.value, theirs)))


def _fits(ours: Visit, value: str, perspective: Perspective, root: Visit) -> bool:
    """Whether a student's value fits a perspective; the value of a finished game is no bound."""
    if not ours.state.is_terminal():
        return same_value(ours, value, perspective, root)
    theirs = to_number(value)
    sign = perspective.sign(root.state, ours.state)
    return theirs is not None and is_near(ours.value or 0, sign * theirs)


def is_near(right: float, number: float | None) -> bool:
    """Whether a number is right, except for rounding."""
    return number is not None and isclose(right, number, rel_tol=0, abs_tol=TOLERANCE)


def to_number(value: Any) -> float | None:
    """Convert an untrusted value to a number; None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def short_number(value: Any) -> str:
    """Write a number with at most ten digits; anything else as Python writes it."""
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)


def _corresponding_nodes(ours: Visit, theirs: Node) -> Iterator[tuple[Visit, str]]:
    """Yield the pairs of nodes to which the same moves lead in both trees, if the perspective
    matters there.
    """
    if ours.value:
        yield ours, theirs.value
    known = {child.move: child for child in theirs.children}
    for child in ours.children:
        if str(child.move) in known:
            yield from _corresponding_nodes(child, known[str(child.move)])
