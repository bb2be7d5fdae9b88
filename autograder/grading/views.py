"""From whose view the values of a search tree are: minimax has one, negamax has another in every
node.

The reference's are from the view of the player who moves at the root. A student's may be from any,
as long as it is the same throughout; which it is, most of the nodes tell.
"""

from collections.abc import Callable, Iterator
from math import inf, isclose
from typing import Any, NamedTuple

from course.probes.trees import Node
from tictactoe.nodes import Visit


class View(NamedTuple):
    """Whose view a tree's values are from: in words, and the sign of the root's value in a node."""

    words: str
    sign: Callable[[Any, Any], int]  # of the root's state and the node's


def _for(player: str) -> View:
    return View(player, lambda root, state: 1 if root.to_move == player else -1)


ROOT = View("the player to move at the root", lambda root, state: 1)
VIEWS = (
    ROOT,
    View(
        "the player to move in each node",
        lambda root, state: 1 if state.to_move == root.to_move else -1,
    ),
    View(
        "the player who has just moved in each node",
        lambda root, state: -1 if state.to_move == root.to_move else 1,
    ),
    _for("x"),
    _for("o"),
)


def view_of(ours: Visit, theirs: Node) -> View:
    """The view that all of the student's values are from, or else most of them, by minimax's or
    negamax's habit; the root's where others fit no better."""
    pairs = list(_pairs(ours, theirs))

    def fitting(view: View) -> int:
        return sum(is_same(node, value, view, ours) for node, value in pairs)

    best = max(VIEWS, key=fitting)
    return best if fitting(best) == len(pairs) else max(VIEWS[:2], key=fitting)


def is_same(ours: Visit, value: str, view: View, root: Visit) -> bool:
    """Whether a student's value, from this view, means the same as the reference's.

    Outside the window, a value is only a bound: any other one there means the same.
    """
    theirs = number_of(value)
    if theirs is None or ours.value is None:
        return False
    low, high = (ours.bounds.get(name, bound) for name, bound in (("alpha", -inf), ("beta", inf)))
    theirs *= view.sign(root.state, ours.state)
    return isclose(
        *(min(max(number, low), high) for number in (ours.value, theirs)), rel_tol=0, abs_tol=1e-9
    )


def number_of(value: Any) -> float | None:
    """A value that nobody vouches for as a number; None if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _pairs(ours: Visit, theirs: Node) -> Iterator[tuple[Visit, str]]:
    """The nodes of both trees that the same moves lead to, where a view makes a difference."""
    if ours.value:
        yield ours, theirs.value
    known = {child.move: child for child in theirs.children}
    for child in ours.children:
        if str(child.move) in known:
            yield from _pairs(child, known[str(child.move)])
