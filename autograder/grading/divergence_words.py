"""Puts what differs between two search trees into words: the study's own ones.

A sentence speaks of depth, limit, alpha and beta only where the search of the study has them.
"""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from autograder.grading.views import ROOT, View, number_of
from tictactoe.nodes import Visit

UNSEEN = "this cannot be shown"
WITHOUT_STATE = "without a state to record"  # how the error of a trace ends
NOT_COUNTED = (
    f"{UNSEEN}, because no call was counted: put `@counted` on the function that "
    "visits the states, and take the number of nodes from a `NodeCounter`"
)
NO_STATE = (
    f"{UNSEEN}, because the function under `@counted` is called without a state: put "
    "`@counted` on the value function, and pass it the state"
)
VISITED_AGAIN = (
    "your search visited this state once more, without a move: each visit counts as "
    "one node, so `@counted` belongs on one function only"
)
NO_SINGLE_MOVE = (
    "your search visited a state that no single legal move leads to from here; every "
    "function that visits states needs `@counted`, and each visit is one move on"
)
AFTER_THE_FIRST = (
    "the first search visits the right nodes and finds the right values; what "
    "differs is asked of the same agent afterwards, and so depends on what its "
    "table keeps"
)
ALONE_IS_RIGHT = (
    "a new agent that searches nothing but this state is right in all of this; so "
    "your search keeps something from an earlier search, or shares it with another "
    "agent"
)

RIGHT_TREE = "your search visits the right nodes and finds their values, but it reports another"
# What is said of a difference at a position that is not shown, by a part of its sentence.
KINDS = {
    **{
        sentence: sentence
        for sentence in (
            NOT_COUNTED,
            NO_STATE,
            VISITED_AGAIN,
            NO_SINGLE_MOVE,
            AFTER_THE_FIRST,
            ALONE_IS_RIGHT,
        )
    },
    "in the table already": "your search computes a state again that is in the table already",
    "your search explored": "your search explores moves that it must not explore, or another first",
    "your search left out": "your search leaves out moves that it must explore",
    "did not compute": "your search does not compute a state that is not in the table yet",
    "stopped here": "your search stops at a node that must be expanded",
    "this node's value": "your search gives a node a wrong value, although all before it are right",
    "Only its count": f"{RIGHT_TREE} number of nodes",
    "What it reports": f"{RIGHT_TREE} value",
    "Only the move": f"{RIGHT_TREE} move",
    "ends without a move": f"{RIGHT_TREE} move",
    "The move that it reports": f"{RIGHT_TREE} move",
}


def kind_of(sentence: str) -> str | None:
    """What kind of difference a sentence describes, without anything of the position."""
    return next((kind for part, kind in KINDS.items() if part in sentence), None)


def place(node: Visit, path: Sequence) -> str:
    """Where a node is: after which moves, and with what depth and window, if it has them."""
    told = [f"depth {node.depth}"] * ("depth" in node.bounds)
    told += [
        f"{name} {_short(node.bounds[name])}" for name in ("alpha", "beta") if name in node.bounds
    ]
    where = f"after {', '.join(map(str, path))}" if path else "at the root"
    return f"{where} ({', '.join(told)})" if told else where


def several_roots(number: int, moves: int) -> str:
    """The value function was called several times from outside, at a root with so many moves."""
    called = f"your value function was called {number} times from outside"
    if number <= moves + 1:
        return f"{called}, but it must be called once, for the root, which is a node too"
    return f"{UNSEEN}, because {called}: a tree is seen only where it calls itself"


def twice(move: str) -> str:
    """One child was explored two times."""
    return f"your search explored {_cell(move)} twice"


def in_the_table(move: str) -> str:
    """A child was computed although a table holds it."""
    return (
        f"your search computed the state after {_cell(move)} again, but it is in the table already"
    )


def out_of_order(move: str, expected: Any) -> str:
    """Another child was explored first."""
    return f"your search explored {_cell(move)} next, but {_cell(expected)} comes first"


def skipped(expected: Any, move: str) -> str:
    """One child is missing, and the search went on."""
    return f"your search left out {_cell(expected)} and went on with {_cell(move)}"


def left_out(node: Visit, expected: Any, number: int, root: Visit, keeps: bool) -> str:
    """The search ended before this child."""
    if keeps:
        return (
            f"your search did not compute the state after {_cell(expected)}, which is not in "
            "the table yet"
        )
    if number == 0:
        return f"your search stopped here, but this node must be expanded: {_why_open(node, root)}"
    text = f"your search left out {_cell(expected)} and the moves after it"
    window = _window(node, number, root)
    return f"{text}, although {window}" if window else text


def one_too_many(node: Visit, move: str, number: int, root: Visit) -> str:
    """A child was explored after the last one that should be."""
    explored = f"your search explored {_cell(move)}"
    if node.state.is_terminal():
        return f"{explored} although the game is over"
    if number == 0 and "limit" in root.bounds:
        return (
            f"{explored}, but the search ends here: the limit {root.bounds['limit']} is "
            "reached and the state is quiescent"
        )
    window = _window(node, number, root)
    return f"{explored} although {window}" if window else f"{explored}, which is one move too many"


def rounded(expected: Sequence[float | None], got: Sequence[float | None]) -> str:
    """Values that are right but for the last digits, which a comparison does not overlook."""
    for right, value in zip(expected, got, strict=True):
        if (
            right is not None
            and value is not None
            and right != value
            and isclose(abs(right), abs(value), rel_tol=0, abs_tol=1e-9)
        ):
            return f"; there, {right!r} is {value!r} in your search, by rounding"
    return ""


def different_value(node: Visit, got: str, view: View, root: Visit, keeps: bool) -> str:
    """The children are right, and the value is not; of an agent that `keeps` values, they are not
    all that went into it."""
    sign = view.sign(root.state, node.state)
    expected, number = sign * node.value, number_of(got)
    returned = f"this node's value is {_short(expected)}, but your search returned {got:.40}"
    if view != ROOT:
        returned += f" (your values are mostly from the view of {view.words})"
    if number is not None and number == -expected != 0:
        returned += ", so its sign is turned round"
    if node.state.is_terminal():
        return f"{returned}; the game is over here, so this is the utility"
    if keeps:
        return f"{returned}; so far, all that was put into the table is right"
    if node.children:
        return f"{returned}; the values of its moves are right"
    return f"{returned}; the search ends here, so this is the heuristic value"


def same_tree(view: View) -> str:
    """Nothing differs inside the search."""
    seen = "" if view == ROOT else f", from the view of {view.words}"
    return f"your search visits the right nodes and finds the right value of each{seen}."


def other_count(expected: int, got: Any) -> str:
    """Only the number of nodes differs."""
    return f"Only its count is another: these are {expected} nodes, and it reports {got!s:.40}."


def other_result(expected: float, got: Any, is_other_view: bool) -> str:
    """The root's value is right in the tree, and another in what is returned."""
    hint = (
        " for the player to move at the root"
        if is_other_view or number_of(got) == -expected
        else ""
    )
    return (
        f"What it reports in the end is another value: {_short(expected)} is right{hint}, and "
        f"it reports {got!s:.40}."
    )


def other_move(expected: str, got: str, values: Mapping[str, float | None]) -> str:
    """Another move was kept at the root."""
    if got == str(None):
        return "It ends without a move, although one of those that it explored is the best."
    if got not in values:
        return f"The move that it reports, {got:.20}, is none that it explored at the root."
    if list(values).index(got) > list(values).index(expected):
        return (
            f"Only the move differs: {_cell(got)} is worth no more than {_cell(expected)}, "
            "which comes first."
        )
    return f"Only the move differs: {_cell(got)} is worth less than {_cell(expected)}."


def _why_open(node: Visit, root: Visit) -> str:
    """Why a node is neither an end nor evaluated."""
    limit = root.bounds.get("limit")
    if limit is None:
        return "the game is not over"
    if node.depth < limit:
        return f"depth {node.depth} is less than the limit {limit}"
    return "the state is not quiescent"


def _window(node: Visit, number: int, root: Visit) -> str | None:
    """How the value of the first `number` children compares with the bound that ends a node."""
    values = [child.value for child in node.children[:number]]
    if "beta" not in node.bounds or not values:
        return None
    if node.state.to_move == root.state.to_move:
        best, beta = max(values), node.bounds["beta"]
        return f"{_short(best)} {'>=' if best >= beta else '<'} beta {_short(beta)}"
    best, alpha = min(values), node.bounds["alpha"]
    return f"{_short(best)} {'<=' if best <= alpha else '>'} alpha {_short(alpha)}"


def _cell(move: Any) -> str:
    return f"cell {move!s:.20}"


def _short(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)
