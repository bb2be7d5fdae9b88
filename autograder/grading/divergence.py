"""Finds the first node at which a student's search departs from the reference's.

Both trees are walked in the order in which they were searched. The student's comes from its own
process as plain data, recorded by the node counter alone; the reference's is searched here, with
alpha and beta known. Values may be from any player's view: see `views`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from autograder.grading import divergence_words as words
from autograder.grading.views import ROOT, View, is_same, number_of, view_of
from autograder.workspace import load_answer, load_mutant
from course.probes import Check
from course.probes.outcome import Outcome, equal
from course.probes.positions import notation, read_position
from course.probes.questions.searches import MAX_TRACE, agent_options, options_of
from course.probes.replies import Replies
from course.probes.trees import BETWEEN, NO_MOVE, SAME_STATE, Node, read_trees
from tictactoe.nodes import Trace, Visit

TABLE = "table"  # the question whose agents keep what they have found
TRACED = ("search", TABLE)  # the questions whose agents walk a tree
THREE = ("move", "value", "nodes")


def trace_check(check: Check, case: Mapping[str, Any]) -> Check:
    """The check that asks for the tree that the student's agent searches in one case."""
    asked = {"on": case["on"], "agent": case["agent"], **options_of(case)}
    return replace(check, ask="trace", settings={}, cases=(asked,))


def first_divergence(check: Check, outcome: Outcome, replies: Replies) -> dict[str, Any] | None:
    """Where the tree in `replies` departs from the reference's in the case that the outcome
    explains: `{"board", "path", "sentence"}`; the board is None if the sentence is of no node.

    None if nothing can be said: a tree is too large, or the search raised an error.
    """
    if outcome.case is None:
        return None
    case = outcome.case["asked"]
    ours = _reference(
        check.study, case["agent"], case["on"], tuple(sorted(options_of(case).items()))
    )
    reply = replies.observations[0] or {}
    if ours is None or not isinstance(reply.get("trace"), list):
        error = (reply.get("errors") or {}).get("trace", "")
        return _unseen(words.NO_STATE) if words.WITHOUT_STATE in error else None
    theirs = read_trees(BETWEEN.join(map(str, reply["trace"])))
    if not theirs:
        return None if reply["trace"] else _unseen(words.NOT_COUNTED)
    if len(theirs) > 1:
        text = words.several_roots(len(theirs), len(ours.state.legal_moves()))
        return _unseen(text) if text.startswith(words.UNSEEN) else _told(ours, [], text)
    view = view_of(ours, theirs[0])
    found = _Walk(check.ask == TABLE, view, ours).compare(ours, theirs[0], [])
    return found or _same_tree(ours, outcome, found_alone(replies), view)


def found_alone(trace: Replies) -> list | None:
    """What a new agent found that searched nothing else: move, value, nodes; None if unknown."""
    found = (trace.observations[0] or {}).get("found")
    return found if isinstance(found, list) and len(found) == len(THREE) else None


def is_right_alone(outcome: Outcome, alone: list | None) -> bool:
    """Whether a new agent that searched nothing else was right in all that is asked of a search."""
    if outcome.case is None or alone is None:
        return False
    expected = outcome.case["expected"]
    return all(
        equal(expected[name], value)
        for name, value in zip(THREE, alone, strict=True)
        if name in expected
    )


def searches_alike(study: str, mutant: str, case: Mapping[str, Any], alone: list | None) -> bool:
    """Whether a new agent of the mutant, too, finds what the student's found alone, if known.

    A search that is wrong after another one and right alone is another slip than one that is wrong.
    """
    if alone is None:
        return True
    options = agent_options(options_of(case))
    made = getattr(load_mutant(study, mutant), case["agent"])(**options)
    return all(map(equal, made.search(read_position(case["on"])), alone))


def _unseen(sentence: str) -> dict[str, Any]:
    return {"board": None, "path": [], "sentence": sentence}


@cache
def _reference(study: str, agent: str, on: str, options: tuple) -> Visit | None:
    made = getattr(load_answer(study), agent)(**agent_options(dict(options)))
    with Trace(most=MAX_TRACE) as trace:
        try:
            made.search(read_position(on))
        except RuntimeError:  # too large to be explained
            return None
    if trace.roots and "depth" in trace.roots[0].bounds:
        trace.roots[0].bounds["limit"] = made.limit
    return trace.roots[0] if trace.roots else None


@dataclass
class _Walk:
    """A walk through both trees, up to the first difference."""

    keeps: bool  # whether the agents keep what they have found in a table
    view: View
    root: Visit
    seen: set = field(default_factory=set)  # the states that the reference has visited so far

    def compare(self, ours: Visit, theirs: Node, path: list) -> dict[str, Any] | None:
        self.seen.add(ours.state)
        for number in range(max(len(ours.children), len(theirs.children))):
            expected = ours.children[number] if number < len(ours.children) else None
            got = theirs.children[number] if number < len(theirs.children) else None
            if expected is None or got is None or str(expected.move) != got.move:
                return _told(ours, path, self._different(ours, theirs, number))
            found = self.compare(expected, got, [*path, expected.move])
            if found:
                return found
        if is_same(ours, theirs.value, self.view, self.root):
            return None
        return _told(
            ours, path, words.different_value(ours, theirs.value, self.view, self.root, self.keeps)
        )

    def _different(self, ours: Visit, theirs: Node, number: int) -> str:
        """What is wrong with the student's child of this number, or with its absence."""
        return self._wrong_child(ours, theirs, number) + words.rounded(
            [number_of(child.value) for child in ours.children[:number]],
            [number_of(child.value) for child in theirs.children[:number]],
        )

    def _wrong_child(self, ours: Visit, theirs: Node, number: int) -> str:
        expected = ours.children[number].move if number < len(ours.children) else None
        rest = [child.move for child in theirs.children[number:]]
        if rest and rest[0] in (NO_MOVE, SAME_STATE):
            return words.VISITED_AGAIN if rest[0] == SAME_STATE else words.NO_SINGLE_MOVE
        if rest and rest[0] in (child.move for child in theirs.children[:number]):
            return words.twice(rest[0])
        if rest and self.keeps and self._after(ours.state, rest[0]) in self.seen:
            return words.in_the_table(rest[0])
        if expected is not None and not rest:
            return words.left_out(ours, expected, number, self.root, self.keeps)
        if expected is not None and str(expected) in rest:
            return words.out_of_order(rest[0], expected)
        if expected is not None:
            return words.skipped(expected, rest[0])
        return words.one_too_many(ours, rest[0], number, self.root)

    @staticmethod
    def _after(state: Any, move: str) -> Any:
        return next((state.after(m) for m in state.legal_moves() if str(m) == move), None)


def _told(node: Visit, path: list, sentence: str) -> dict[str, Any]:
    if not hasattr(node.state, "lanes"):  # moves of other games are no cells
        sentence = sentence.replace("cell ", "move ")
    return {
        "board": notation(node.state),
        "path": list(path),
        "sentence": f"{words.place(node, path)}: {sentence}",
    }


def _same_tree(
    ours: Visit, outcome: Outcome, found: list | None, view: View
) -> dict[str, Any] | None:
    """The trees are the same: what is said of them is not, or comes from another search."""
    if outcome.case is None:
        return None
    expected, got = outcome.case["expected"], outcome.case["got"]
    wrong = [name for name in expected if not equal(expected[name], got[name])]
    if found is None or not wrong:
        return None
    if not set(wrong) & set(THREE):
        return _unseen(words.AFTER_THE_FIRST)
    alone = dict(zip(THREE, found, strict=True))
    asked = [name for name in THREE if name in expected]
    if is_right_alone(outcome, found):
        return _unseen(words.ALONE_IS_RIGHT)
    if not all(equal(got[name], alone[name]) for name in asked):
        return None
    return _unseen(" ".join(_of_result(ours, wrong, expected, got, view)))


def _of_result(
    ours: Visit, wrong: list[str], expected: Mapping, got: Mapping, view: View
) -> Iterator[str]:
    yield words.same_tree(view)
    if "nodes" in wrong:
        yield words.other_count(expected["nodes"], got["nodes"])
    if "value" in wrong:
        yield words.other_result(expected["value"], got["value"], view != ROOT)
    if "move" in wrong:
        values = {str(child.move): number_of(child.value) for child in ours.children}
        yield words.other_move(str(expected["move"]), str(got["move"]), values)
