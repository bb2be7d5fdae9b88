"""Describes the differences between two searches of study 4.

Every sentence states facts about the two trees. It gives a reason only if the reason follows from
the reference's tree, for example from a node's depth, its window or the nodes visited so far.
"""

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from autograder.grading.verdict.value_perspective import is_near, short_number, to_number
from common.messages import english, joined
from course.checks.trees import WINDOW, Node
from tictactoe.nodes import Visit

VISITED_AGAIN = english(
    "your search visited this state once more, without a move: each visit counts as one node, so a "
    "search must call `value` once for each child"
)
NO_SINGLE_MOVE = english(
    "your search visited a state that no single legal move leads to from here; each visit must be "
    "one move further"
)
# How to describe a difference at a position that is not shown, keyed by a part of its sentence.
SENTENCE_KINDS = {
    **{sentence: sentence for sentence in (VISITED_AGAIN, NO_SINGLE_MOVE)},
    "calls `value` here with": english("your search calls `value` with a wrong depth or window"),
    "returned no value here": english(
        "your search returns no value from a node, or raises an error there"
    ),
    "the budget of": english("your search continues although its budget is used up"),
    "answers here": english("your search expands a state although its entry in the table answers"),
    "is the table's move": english(
        "your search does not begin with the move that a correct search has in its table"
    ),
    "killer of this depth": english(
        "your search tries another move where a correct search tries a killer move"
    ),
    "so limit": english("your search ends before a limit that it must begin"),
    "after limit": english("your search begins another limit when it should stop"),
    ". Only `": english(
        "your search visits the right nodes, but another part of its reply differs"
    ),
    "interrupted limit": english(
        "your search reports the best move so far of an interrupted limit"
    ),
}


class Promoted(NamedTuple):
    """The moves that the reference tries first in a node."""

    table: Any  # the move of the state's entry; None if there is no entry
    killers: Sequence[Any]


class Facts(NamedTuple):
    """The known facts about the searches at the current node."""

    limit: int
    budget: int | None  # None if the agent has none
    visited: int  # the number of the node, counted from the start of the search


def describe_place(place: str, path: Sequence[tuple[Visit, Node]]) -> str:
    """Describe a node: the search, the moves from the root, the depth and the window."""
    node = path[-1][0]
    moves = [str(ours.move) for ours, _ in path[1:]]
    details = ", ".join(f"{name} {short_number(node.bounds[name])}" for name in WINDOW)
    where = english(f"after {', '.join(moves)}" if moves else "at the root")
    return english(f"{place}, {where} ({details})" if place else f"{where} ({details})")


def differing_window(ours: Visit, theirs: Node) -> list[str]:
    """Return the names of the arguments in which the two calls differ; none if they are unknown."""
    if len(theirs.window) != len(WINDOW) or not all(theirs.window):
        return []
    return [
        name
        for name, text in zip(WINDOW, theirs.window, strict=True)
        if not is_near(ours.bounds[name], to_number(text))
    ]


def wrong_window(ours: Visit, theirs: Node, names: Sequence[str]) -> str:
    """State the arguments of a call that differ from the right ones."""
    got = dict(zip(WINDOW, theirs.window, strict=True))
    wrong = joined(f"{name} = {_short_text(got[name])}" for name in names)
    right = joined(f"{name} = {short_number(ours.bounds[name])}" for name in names)
    return english(
        f"your search calls `value` here with {wrong}, but {right} "
        f"{'is' if len(names) == 1 else 'are'} right"
    )


def no_value(facts: Facts) -> str:
    """State that the student's call returned no value, although the reference's did."""
    text = english(
        "your search raised an error or returned no value here, but this node must have a value"
    )
    if facts.budget is None or facts.visited >= facts.budget:
        return text
    return english(f"{text}: it is node {facts.visited}, and the budget is {facts.budget} nodes")


def missing_move(node: Visit, number: int, facts: Facts, has_table: bool) -> str:
    """State that only the first `number` children were visited; the reference visits more."""
    if number:
        move = node.children[number].move
        text = english(
            f"your search left out move {move} and the moves after it (or did not count them)"
        )
        return english(f"{text}, although {_best(node, number)}")
    text = english("your search counted no child here, but this node must be expanded")
    if node.bounds["depth"] < facts.limit:
        text = english(
            f"{text}: depth {node.bounds['depth']} is less than the limit {facts.limit}"
            f"{', and no entry of the table answers' if has_table else ''}"
        )
    return text


def extra_move(node: Visit, move: str, number: int, facts: Facts) -> str:
    """State that a child was visited after the last one that the reference visits."""
    text = english(f"your search explored move {move:.20}")
    if node.state.is_terminal():
        return english(f"{text}, although the game is over")
    if node.value is None and not node.children and facts.budget is not None:
        return english(f"{text}, although {_budget_used(facts)}")
    if node.value is None:
        return english(f"{text}, although the limit was interrupted before that")
    if number:
        return english(f"{text}, although {_best(node, number)}")
    if node.bounds["depth"] >= facts.limit:
        reached = english(f"depth {node.bounds['depth']} has reached the limit {facts.limit}")
        return english(f"{text}, but the search ends here: {reached}")
    return english(
        f"{text}, but the entry of this state in the table answers here, so it is not expanded"
    )


def repeated_move(move: str) -> str:
    """State that one child was explored twice."""
    return english(f"your search explored move {move:.20} twice")


def other_move(node: Visit, moves: Sequence[str], number: int, first: Promoted) -> str:
    """State that a child is not the next one in the right order, and why that one comes next.

    `moves` are the student's children of this node.
    """
    expected, got = node.children[number].move, f"{moves[number]:.20}"
    if str(expected) in moves[number:]:
        text = english(f"your search explored move {got} before move {expected}, which comes first")
    else:
        is_last = number == len(moves) - 1
        text = english(
            f"your search left out move {expected} (or did not count it) and explored move {got} "
            f"next{' and no other move after it' if is_last else ''}"
        )
    if number == 0 and first.table is not None and expected == first.table:
        return english(f"{text}: in the right search, move {expected} is the table's move")
    if expected in first.killers:
        return english(
            f"{text}: in the right search, move {expected} is the "
            f"{'latest' if expected == first.killers[0] else 'older'} killer of this depth"
        )
    return text


def wrong_value(node: Visit, theirs: Node, facts: Facts) -> str:
    """State the right value of a node, why it is right, and the value that the search returned."""
    got = _short_text(theirs.value)
    if node.value is None:
        text = english(f"your search returned {got} here")
        if not node.children and facts.budget is not None and facts.visited >= facts.budget:
            return english(f"{text}, but it must raise `OutOfNodes`, because {_budget_used(facts)}")
        return english(f"{text}, although the limit was interrupted below this node")
    text = english(
        f"this node's value is {short_number(node.value)}, because {_reason(node, facts)}, but "
        f"your search returned {got}"
    )
    number = to_number(theirs.value)
    others = [-child.value for child in node.children if child.value is not None]
    if number and is_near(-node.value, number) and not any(is_near(v, number) for v in others):
        text = english(f"{text}, so its sign is reversed")
    return english(f"{text}; the values of its moves are right") if node.children else text


def _reason(node: Visit, facts: Facts) -> str:
    """Explain why a node has its value, as far as the reference's tree shows it."""
    if node.state.is_terminal():
        return english("the game is over and this is the utility")
    if node.children:
        best = max(node.children, key=lambda child: -inf if child.value is None else -child.value)
        return english(f"the best move explored here, move {best.move}, leads to it")
    if node.bounds["depth"] >= facts.limit:
        return english("the search ends here and this is the estimate")
    return english("the table's entry for this state has this value")


def too_few_limits(done: int, trees: Sequence[Visit]) -> str:
    """State that the student began only `done` limits; the reference's trees of these are `trees`."""
    if not trees or trees[-1].value is None:
        return english(f"your search began {done} limits, so limit {done + 1} is missing")
    return english(
        f"your search ended with limit {done}, but its value {short_number(trees[-1].value)} is "
        f"between -1 and 1 and it is not the deepest limit, so limit {done + 1} must begin as well"
    )


def too_many_limits(done: int, last: Visit, deepest: int) -> str:
    """State that the student began another limit after the last one, whose tree is `last`."""
    text = english(f"your search began another search after limit {done}")
    if last.value is None:
        return english(f"{text}, which was interrupted because the budget was used up")
    if abs(last.value) >= 1:
        return english(f"{text}, although its value {short_number(last.value)} is final")
    return english(f"{text}, although that is the deepest limit") if done == deepest else text


def several_calls(number: int) -> str:
    """State that one search called `value` several times from outside."""
    return english(
        f"your search called `value` {number} times from outside, but it must call it once"
    )


def unfinished_move(move: Any, limit: int) -> str:
    """State that the reported move is the best one so far of an interrupted limit."""
    return english(
        f"move {move} is the best one so far of the interrupted limit {limit}, but only limits that "
        "were completed count"
    )


def same_tree(aspects: Sequence[str], has_values: bool) -> str:
    """State that no tree differs, although these aspects of the reply do."""
    names = joined(f"`{name}`" for name in aspects)
    return english(
        f"your search visits the right nodes"
        f"{' and finds the right value of each' if has_values else ''}. "
        f"Only {names} {'differs' if len(aspects) == 1 else 'differ'}"
    )


def _best(node: Visit, number: int) -> str:
    """Compare the best value of the first `number` children with beta; children have the opponent's
    view.
    """
    best = max(-child.value for child in node.children[:number] if child.value is not None)
    beta = node.bounds["beta"]
    return english(
        f"{short_number(best)} {'>=' if best >= beta else '<'} beta {short_number(beta)}"
    )


def _budget_used(facts: Facts) -> str:
    return english(f"the budget of {facts.budget} nodes is used up (this is node {facts.visited})")


def _short_text(text: str) -> str:
    number = to_number(text)
    return f"{text:.40}" if number is None else short_number(number)
