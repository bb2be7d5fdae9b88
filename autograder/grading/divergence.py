"""Finds the first node at which a student's search departs from the reference's.

Both trees are walked in the order in which they were searched. The student's comes from its own
process as plain data, recorded by the node counter alone; the reference's is searched here, with
alpha and beta known.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import isclose
from typing import Any

from autograder.workspace import load_answer
from course.probes import Check
from course.probes.positions import notation, read_position
from course.probes.questions.searches import MAX_TRACE, agent_options, options_of
from course.probes.replies import Replies
from course.probes.trees import BETWEEN, Node, read_trees
from tictactoe.nodes import Trace, Visit

TRACED = ("search", "table")  # the questions whose agents walk a tree


def trace_check(check: Check, case: Mapping[str, Any]) -> Check:
    """The check that asks for the tree that the student's agent searches in one case."""
    asked = {"on": case["on"], "agent": case["agent"], **options_of(case)}
    return replace(check, ask="trace", settings={}, cases=(asked,))


def first_divergence(check: Check, case: Mapping[str, Any],
                     replies: Replies) -> dict[str, Any] | None:
    """Where the tree in `replies` departs from the reference's: `{"board", "path", "sentence"}`.

    None if the trees are the same, or if one of them is missing or too large.
    """
    theirs = _trees(replies)
    ours = _reference(check.study, case["agent"], case["on"],
                      tuple(sorted(options_of(case).items())))
    if not theirs or ours is None:
        return None
    if len(theirs) > 1:
        return _told(ours, [], f"your value function was called {len(theirs)} times from outside, "
                               "but it must be called once, for the root, which is a node too")
    return _compare(ours, theirs[0], [])


@cache
def _reference(study: str, agent: str, on: str, options: tuple) -> Visit | None:
    made = getattr(load_answer(study), agent)(**agent_options(dict(options)))
    with Trace(most=MAX_TRACE) as trace:
        try:
            made.search(read_position(on))
        except RuntimeError:  # too large to be explained
            return None
    return trace.roots[0] if trace.roots else None


def _trees(replies: Replies) -> list[Node]:
    """The student's trees, one for each outermost call of the value function."""
    chunks = (replies.observations[0] or {}).get("trace")
    return read_trees(BETWEEN.join(map(str, chunks))) if isinstance(chunks, list) else []


def _compare(ours: Visit, theirs: Node, path: list) -> dict[str, Any] | None:
    for number in range(max(len(ours.children), len(theirs.children))):
        expected = ours.children[number] if number < len(ours.children) else None
        got = theirs.children[number] if number < len(theirs.children) else None
        if expected is None or got is None or str(expected.move) != got.move:
            return _told(ours, path, _different_child(ours, number, expected, got))
        found = _compare(expected, got, [*path, expected.move])
        if found:
            return found
    if not _same(ours.value, theirs.value):
        return _told(ours, path, f"this node's value is {_short(ours.value)}, "
                                 f"but your search returned {theirs.value:.40}")
    return None


def _told(node: Visit, path: list, sentence: str) -> dict[str, Any]:
    bounds = [f"{name} {_short(node.bounds[name])}" for name in ("alpha", "beta")
              if name in node.bounds]
    where = f"after {', '.join(map(str, path))}" if path else "at the root"
    return {"board": notation(node.state), "path": list(path), "sentence":
            f"{where} ({', '.join([f'depth {node.depth}', *bounds])}): {sentence}"}


def _different_child(node: Visit, number: int, expected: Visit | None, got: Node | None) -> str:
    if expected is not None and got is not None:
        return (f"your search explored {_named(got.move, node)} next, but "
                f"{_named(expected.move, node)} comes first")
    if got is None:
        if number == 0:
            return "your search stopped here, but this node must be expanded"
        return f"your search left out {_named(expected.move, node)} and the moves after it"
    explored = f"your search explored {_named(got.move, node)}"
    if node.state.is_terminal():
        return f"{explored} although the game is over"
    if number == 0:
        return f"{explored}, although the search is cut off here and the state is evaluated"
    return f"{explored} although {_cut(node)}"


def _cut(node: Visit) -> str:
    """Why the reference stopped before this node's children were all explored."""
    values = [child.value for child in node.children]
    player = node.bounds.get("player")
    if "beta" not in node.bounds or player is None:
        return "the reference stops before it"
    if node.state.to_move == player:
        return f"{_short(max(values))} >= beta {_short(node.bounds['beta'])}"
    return f"{_short(min(values))} <= alpha {_short(node.bounds['alpha'])}"


def _named(move: Any, node: Visit) -> str:
    return f"{'cell' if hasattr(node.state, 'lanes') else 'move'} {move!s:.20}"


def _same(ours: float | None, theirs: str) -> bool:
    try:
        return isclose(ours, float(theirs), rel_tol=0, abs_tol=1e-9)
    except (TypeError, ValueError):
        return False


def _short(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)
