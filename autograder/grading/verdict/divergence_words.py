"""Describes the differences between two search trees in the terms of the study.

A sentence mentions depth, limit, alpha and beta only if the search of the study has them. It states
facts about the two trees; it gives a reason only if the reason follows from the reference's tree.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.grading.verdict.deepening import words as deepening_words
from autograder.grading.verdict.value_perspective import (
    ROOT,
    Perspective,
    is_near,
    short_number,
    to_number,
)
from common.messages import english, joined
from tictactoe.nodes import Visit

NOT_VISIBLE = english("this cannot be shown")
WITHOUT_STATE = english("without a state to record")  # the end of a trace's error message
NOT_COUNTED = english(
    f"{NOT_VISIBLE}, because no call was counted: put `@counted` on the function that "
    "visits the states, and take the number of nodes from a `NodeCounter`"
)
NO_STATE = english(
    f"{NOT_VISIBLE}, because the function under `@counted` is called without a state: put "
    "`@counted` on the value function, and pass it the state"
)
VISITED_AGAIN = english(
    "your search visited this state once more, without a move: each visit counts as "
    "one node. If `@counted` is on two functions that call each other, remove one of them"
)
NO_SINGLE_MOVE = english(
    "your search visited a state that no single legal move leads to from here; every function that "
    "visits states needs `@counted`, and each visit must be one move further"
)
NOT_RECURSIVE = english(
    "the tree of your search is not known, because its counted calls are not those of a recursion: "
    "a call visited a state that cannot be reached from its caller's state by one legal move"
)
# What differs if the first search has the right tree and the right result, by the wrong aspect.
LATER = {
    "again": english("in a second search of the same state by the same agent"),
    "reply": english("in a search of another state by the same agent"),
    "entries": english("in the entries of the table or in a lookup"),
    "at_min": english("in a call of `value` for the player who is not to move"),
}
FIRST_IS_RIGHT = english(
    "the first search visits the right nodes and reports the right result; the difference is"
)
CORRECT_IN_ISOLATION = english(
    "a new agent that searches only this state gets the right result, so the result depends on "
    "something else: on an earlier search, on another agent, or on chance"
)

RIGHT_TREE = english("your search visits the right nodes, but it reports a different")
# How to describe a difference at a position that is not shown, keyed by a part of its sentence.
SENTENCE_KINDS = {
    **{
        sentence: sentence
        for sentence in (
            NOT_COUNTED,
            NO_STATE,
            VISITED_AGAIN,
            NO_SINGLE_MOVE,
            NOT_RECURSIVE,
            CORRECT_IN_ISOLATION,
        )
    },
    **deepening_words.SENTENCE_KINDS,
    FIRST_IS_RIGHT: english("the first search is right, but later calls of the same agent are not"),
    "in the table already": english(
        "your search computes a state again that is in the table already"
    ),
    "your search explored": english(
        "your search explores moves that it must not explore, or a different one first"
    ),
    "your search left out": english(
        "your search leaves out moves that it must explore, or does not count them"
    ),
    "did not compute": english("your search does not compute a state that is not in the table yet"),
    "counted no child here": english(
        "your search stops at a node that must be expanded, or does not count its children"
    ),
    "this node's value": english("your search gives a node a wrong value"),
    "used a stored result": english("your search does not explore a state that it visited before"),
    "returned no value": english(
        "your search returns no value from a node, or raises an error there"
    ),
    "The number of nodes": english(f"{RIGHT_TREE} number of nodes"),
    "In the end": english(f"{RIGHT_TREE} value"),
    "The move differs": english(f"{RIGHT_TREE} move"),
    "ends without a move": english(f"{RIGHT_TREE} move"),
    "The move that it reports": english(f"{RIGHT_TREE} move"),
}


def divergence_kind(sentence: str) -> str | None:
    """Return the kind of difference that a sentence describes, without details of the position."""
    return next((kind for part, kind in SENTENCE_KINDS.items() if part in sentence), None)


def describe_place(node: Visit, path: Sequence) -> str:
    """Describe the place of a node by the moves before it and, if it has them, its depth and
    window.
    """
    details = [english(f"depth {node.depth}")] * ("depth" in node.bounds)
    details += [
        f"{name} {short_number(node.bounds[name])}"
        for name in ("alpha", "beta")
        if name in node.bounds
    ]
    where = english(f"after {', '.join(map(str, path))}" if path else "at the root")
    return english(f"{where} ({', '.join(details)})") if details else where


def several_roots(number: int, moves: int) -> str:
    """State that the value function was called several times from outside; the root has `moves`
    moves.
    """
    called = english(f"your value function was called {number} times from outside")
    if number <= moves + 1:
        return english(
            f"{called}, but it must be called once, for the root, which also counts as a node"
        )
    return english(
        f"{NOT_VISIBLE}, because {called}: the tree is recorded only through its recursive calls"
    )


def repeated_move(move: str) -> str:
    """State that one child was explored twice."""
    return english(f"your search explored {_cell(move)} twice")


def recomputed_state(move: str) -> str:
    """State that a child was computed although it is in the table."""
    return english(
        f"your search computed the state after {_cell(move)} again, although it had computed it "
        "before: it must be in the table already"
    )


def wrong_order(move: str, expected: Any) -> str:
    """State that a different child was explored first."""
    return english(
        f"your search explored {_cell(move)} before {_cell(expected)}, which comes first"
    )


def skipped_move(expected: Any, move: str, is_last: bool) -> str:
    """State that one child is missing, and which one the search explored instead."""
    return english(
        f"your search left out {_cell(expected)} (or did not count it) and explored {_cell(move)} "
        f"next{' and no other move after it' if is_last else ''}"
    )


def later_calls(wrong: Sequence[str]) -> str:
    """State where the difference is if the first search is right; all `wrong` are in `LATER`."""
    return english(f"{FIRST_IS_RIGHT} {joined(LATER[name] for name in wrong)}")


def stored_note(move: Any) -> str:
    """Note that a state which was not explored had been visited before: the state after the missing
    move, or the node's own state if it is None.
    """
    what = english("this state" if move is None else f"the state after {_cell(move)}")
    return english(
        f". It had visited {what} before, so it may have used a stored result, but this search must "
        "explore the state again"
    )


def no_value() -> str:
    """State that the student's call returned no value, although the reference's did."""
    return english(
        "your search raised an error or returned no value here, but this node must have a value"
    )


def missing_move(
    node: Visit, expected: Any, number: int, root: Visit, has_table: bool, is_view_known: bool
) -> str:
    """State that the search ended before this child; the window is a reason only if the values
    before it are right, which is not known if the view is not.
    """
    if has_table:
        return english(
            f"your search did not compute the state after {_cell(expected)}, although it had not "
            "computed it before"
        )
    if number == 0:
        return english(
            "your search counted no child here, but this node must be expanded: "
            f"{_why_open(node, root)}"
        )
    text = english(
        f"your search left out {_cell(expected)} and the moves after it (or did not count them)"
    )
    window = _window(node, number, root) if is_view_known else None
    return english(f"{text}, although {window}" if window else text)


def extra_move(node: Visit, move: str, number: int, root: Visit, is_view_known: bool) -> str:
    """State that a child was explored after the last one that should be; for the window, see
    `missing_move`.
    """
    explored = english(f"your search explored {_cell(move)}")
    if node.state.is_terminal():
        return english(f"{explored} although the game is over")
    if number == 0 and "limit" in root.bounds:
        return english(
            f"{explored}, but the search ends here: the limit {root.bounds['limit']} is "
            "reached and the state is quiescent"
        )
    window = _window(node, number, root) if is_view_known else None
    return english(
        f"{explored} although {window}" if window else f"{explored}, which is one move too many"
    )


def rounding_note(expected: Sequence[float | None], got: Sequence[float | None], sign: int) -> str:
    """Note that a value is right except for the last digits, which can change a comparison.

    `got` has the student's values, whose view has this sign here.
    """
    for right, value in zip(expected, got, strict=True):
        if (
            right is not None
            and value is not None
            and right != sign * value
            and is_near(right, sign * value)
        ):
            return english(
                f"; one of the values before it is {right * sign!r}, but {value!r} in your search, "
                "and even such a small difference can change a comparison"
            )
    return ""


def wrong_value(node: Visit, got: str, view: Perspective, root: Visit, has_table: bool) -> str:
    """State the right value of a node, why it is right, and the value that the search returned."""
    sign = view.sign(root.state, node.state)
    expected = None if node.value is None else sign * node.value  # None if the reference raised
    returned = english(
        f"this node's value is {short_number(expected)}{_reason(node, has_table)}, but your search "
        f"returned {got:.40}"
    )
    is_reversed = _is_reversed(node, sign, to_number(got), has_table)
    if view == ROOT:
        return english(f"{returned}, so its sign is reversed") if is_reversed else returned
    viewed = english(f"{returned} (your values are read from the view of {view.words})")
    return english(f"{viewed}, so its sign is reversed in this view") if is_reversed else viewed


def wrong_from_all_views(node: Visit, got: str) -> str:
    """State that a value is wrong where the search ends, although it is unclear whose view the
    student's values have.
    """
    size = short_number(abs(node.value or 0))
    value = english(f"{size} or -{size}, depending on the view") if node.value else size
    if node.state.is_terminal():
        return english(
            f"the game is over here, so this node's value is the utility ({value}), but your search "
            f"returned {got:.40}"
        )
    return english(
        f"the search ends here, so this node's value is the heuristic value ({value}), but your "
        f"search returned {got:.40}"
    )


def right_before(node: Visit, has_table: bool, view: Perspective) -> str:
    """State that the values from which a wrong value follows are right, read from this view.

    If the agent has a table, values from the table may also have contributed. They are not known,
    but all values that the search returned before are right.
    """
    if node.state.is_terminal():
        return ""
    if has_table:
        if view == ROOT:
            return english("; all values that it returned before are right")
        return english("; in this view, all values that it returned before are right")
    if not node.children:
        return ""
    if view == ROOT:
        return english("; the values of its moves are right")
    return english("; in this view, the values of its moves are right")


def _reason(node: Visit, has_table: bool) -> str:
    """Explain why a node has its value, as far as the reference's tree shows it."""
    if node.state.is_terminal():
        return english(", because the game is over and this is the utility")
    if has_table:
        return ""
    if not node.children:
        return english(", because the search ends here and this is the heuristic value")
    best = next((child.move for child in node.children if child.value == node.value), None)
    if best is None:
        return ""
    return english(f", because the best move explored here, {_cell(best)}, leads to it")


def _is_reversed(node: Visit, sign: int, number: float | None, has_table: bool) -> bool:
    """Whether a returned number is the right one with the opposite sign, and not the value of another
    move, which the search may have preferred; values in a table are not known.
    """
    if not number or node.value is None or not is_near(number, -sign * node.value):
        return False
    if has_table and not node.state.is_terminal():
        return False
    others = [child.value for child in node.children if child.value is not None]
    return not any(is_near(value, sign * number) for value in others)


def identical_tree(view: Perspective | None) -> str:
    """Nothing differs inside the search; without a view, its values are not known."""
    if view is None:
        return english("your search visits the right nodes.")
    if view == ROOT:
        return english("your search visits the right nodes and finds the right value of each.")
    return english(
        "your search visits the right nodes and finds the right value of each, "
        f"from the view of {view.words}."
    )


def wrong_count(expected: int, got: Any) -> str:
    """The reported number of nodes differs."""
    return english(
        f"The number of nodes differs: these are {expected}, but it reports {got!s:.40}."
    )


def wrong_result(expected: float, got: Any, is_other_perspective: bool) -> str:
    """State that the root's value is right in the tree, but a different value is returned."""
    is_reversed = is_other_perspective or to_number(got) == -expected
    return english(
        f"In the end it reports a different value: {short_number(expected)} is right"
        f"{' for the player to move at the root' if is_reversed else ''}, but it "
        f"reports {got!s:.40}."
    )


def wrong_move(expected: str, got: str, values: Mapping[str, float | None]) -> str:
    """State that a different move was chosen at the root."""
    if got == str(None):
        return english(
            "It ends without a move, although one of the moves that it explored is the best."
        )
    if got not in values:
        return english(
            f"The move that it reports, {got:.20}, is not one that it explored at the root."
        )
    if list(values).index(got) > list(values).index(expected):
        return english(
            f"The move differs: {_cell(got)} is worth no more than {_cell(expected)}, "
            "which comes first."
        )
    return english(f"The move differs: {_cell(got)} is worth less than {_cell(expected)}.")


def _why_open(node: Visit, root: Visit) -> str:
    """Explain why a node must be expanded."""
    limit = root.bounds.get("limit")
    if limit is None:
        return english("the game is not over")
    if node.depth < limit:
        return english(f"depth {node.depth} is less than the limit {limit}")
    return english("the state is not quiescent")


def _window(node: Visit, number: int, root: Visit) -> str | None:
    """Describe how the value of the first `number` children compares with the bound that causes a
    cut-off. Whether an equal value causes one depends on the study's variant.
    """
    values = [child.value for child in node.children[:number] if child.value is not None]
    if "beta" not in node.bounds or not values:
        return None
    is_max = node.state.to_move == root.state.to_move
    best, name = (max(values), "beta") if is_max else (min(values), "alpha")
    bound = node.bounds[name]
    if best == bound:
        is_cut = number == len(node.children)
        return english(f"{short_number(best)} {'equals' if is_cut else 'only equals'} {name}")
    return f"{short_number(best)} {'>' if best > bound else '<'} {name} {short_number(bound)}"


def _cell(move: Any) -> str:
    return english(f"cell {move!s:.20}")
