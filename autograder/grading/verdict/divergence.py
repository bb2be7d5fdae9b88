"""Finds the first node at which a student's search differs from the reference's.

Both trees are walked in the order in which they were searched. The student's tree comes from a
separate process as plain data, recorded by the node counter alone. The reference's tree is searched
here, so its alpha and beta are known. Values may be from any player's perspective (see
`value_perspective`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.grading.verdict import divergence_words as words
from autograder.grading.verdict.deepening.compare import (
    first_difference,
    reference_searches,
    unchanged_trees,
)
from autograder.grading.verdict.value_perspective import (
    ROOT,
    Perspective,
    plausible_perspectives,
    same_value,
    to_number,
)
from autograder.studies import load_module
from autograder.workspace import answer_path, load_mutant
from common.messages import english
from course.checks import Check, Study
from course.checks.marking.comparison import equal
from course.checks.marking.outcome import Outcome
from course.checks.positions import notation, read_position
from course.checks.questions import RECORDERS
from course.checks.questions.searches import agent_options, options_of
from course.checks.questions.tracing import MAX_TRACE
from course.checks.replies import Replies
from course.checks.running.queries import plain
from course.checks.trees import NO_MOVE, SAME_STATE, SEPARATOR, Node, add_windows, read_trees
from tictactoe.nodes import Trace, Visit

TABLE = "table"  # the question for agents that store their results
SINGLE = ("search", TABLE)  # questions about a single search by minimax or alpha-beta
TRACED = tuple(RECORDERS)  # the questions whose searches can be repeated
CELL, MOVE = english("cell {move}"), english("move {move}")  # names of moves in sentences
RESULT = ("move", "value", "nodes")  # the parts of a search's result


def trace_check(check: Check, case: Mapping[str, Any]) -> Check:
    """Return the check that requests the trees that the student's agent searches in one case."""
    return replace(check, ask="trace", settings={}, cases=({**case, "of": check.ask},))


def first_divergence(
    study: Study, check: Check, outcome: Outcome, replies: Replies
) -> dict[str, Any] | None:
    """Return where the trees in `replies` differ from the reference's in the case that the outcome
    explains, as `{"board", "path", "sentence"}`. The board is None if the sentence is not about a
    node.

    Returns None if nothing can be stated because a tree is too large or the search raised an error.
    """
    if outcome.case is None:
        return None
    case, reply = outcome.case["question"], replies.observations[0] or {}
    if not isinstance(reply.get("trace"), list):
        error = (reply.get("errors") or {}).get("trace", "")
        return _without_node(words.NO_STATE) if words.WITHOUT_STATE in error else None
    theirs = read_trees(SEPARATOR.join(map(str, reply["trace"])))
    if not theirs:
        return None if reply["trace"] else _without_node(words.NOT_COUNTED)
    if check.ask not in SINGLE:
        return _deepening_divergence(study, check, outcome, reply, theirs)
    options = tuple(sorted(options_of(case).items()))
    ours = _reference_tree(answer_path(study), case["agent"], case["on"], options)
    if ours is None:
        return None
    if len(theirs) > 1:
        text = words.several_roots(len(theirs), len(ours.state.legal_moves()))
        return (
            _without_node(text) if text.startswith(words.NOT_VISIBLE) else _at_node(ours, [], text)
        )
    return _tree_divergence(check, outcome, reply, ours, theirs[0])


def _tree_divergence(
    check: Check, outcome: Outcome, reply: Mapping[str, Any], ours: Visit, theirs: Node
) -> dict[str, Any] | None:
    """Compare the only tree of a student's search with the reference's."""
    views = plausible_perspectives(ours, theirs)
    is_finished = reply.get("found") is not None or "found" in (reply.get("errors") or {})
    if not (views or is_finished):  # an error ended the search before anything had a value
        return None
    walk = _Walk(check.ask == TABLE, views, ours, is_finished, _is_nested(theirs))
    difference = walk.compare(ours, theirs, [])
    result = result_in_isolation(Replies((reply,)))
    return difference or _same_tree(ours, outcome, result, walk.view)


def _deepening_divergence(
    study: Study, check: Check, outcome: Outcome, reply: Mapping[str, Any], theirs: list[Node]
) -> dict[str, Any] | None:
    """Do the same for a question of study 4, whose searches may have several trees."""
    assert outcome.case is not None
    reference = reference_searches(answer_path(study), check.ask, outcome.case["question"])
    if reference is None:
        return None
    windows, ends = reply.get("windows"), reply.get("ends")
    if isinstance(windows, list):
        add_windows(theirs, iter(SEPARATOR.join(map(str, windows)).split(SEPARATOR)))
    if not (isinstance(ends, list) and all(type(end) is int for end in ends)):
        ends = []
    difference = first_difference(reference, theirs, ends)
    if difference:
        return difference
    if correct_in_isolation(outcome, result_in_isolation(Replies((reply,)))):
        return _without_node(words.CORRECT_IN_ISOLATION)
    return unchanged_trees(reference, theirs, outcome.case, equal)


def result_in_isolation(trace: Replies) -> list | None:
    """Return the move, value and nodes of a new agent that searched nothing else; None if unknown."""
    result = (trace.observations[0] or {}).get("found")
    return result if isinstance(result, list) and len(result) == len(RESULT) else None


def correct_in_isolation(outcome: Outcome, result: Sequence | None) -> bool:
    """Whether a new agent that searched nothing else has the right result, although the result in
    the outcome is wrong.
    """
    if outcome.case is None or result is None:
        return False
    expected, got = outcome.case["expected"], outcome.case["got"]
    known = {name: value for name, value in zip(RESULT, result, strict=True) if name in expected}
    return all(equal(expected[name], value) for name, value in known.items()) and not all(
        equal(expected[name], got[name]) for name in known
    )


def has_same_result(study: Study, mutant: str, case: Mapping[str, Any], result: Sequence) -> bool:
    """Whether a new agent of the mutant finds the same result as the student's agent in isolation.

    A search that is wrong only after another search has a different mistake from one that is always
    wrong.
    """
    agent = case["agent"]
    recorder = next(  # the first search is the same for all questions about an agent
        RECORDERS[check.ask]
        for check in study.checks.values()
        if check.ask in RECORDERS and check.settings.get("agent") == agent
    )
    theirs = recorder(load_mutant(study.name, mutant), **case).first_result
    return (
        isinstance(theirs, Sequence)
        and len(theirs) == len(result)
        and all(map(equal, plain(theirs), result))
    )


def _is_nested(node: Node) -> bool:
    """Whether a legal move, or none, leads from the state of each call to those that it makes."""
    return all(child.move != NO_MOVE and _is_nested(child) for child in node.children)


def _without_node(sentence: str) -> dict[str, Any]:
    return {"board": None, "path": [], "sentence": sentence}


@cache
def _reference_tree(answer: Path, agent: str, on: str, options: tuple) -> Visit | None:
    made = getattr(load_module(answer), agent)(**agent_options(dict(options)))
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

    has_table: bool  # whether the agents store what they have found in a table
    views: Sequence[Perspective]  # the plausible perspectives; if several, it is unclear which
    root: Visit
    is_finished: bool  # whether no error ended the student's search
    is_nested: bool  # whether each of its counted calls is made by that of the state before
    skipped: bool = False  # whether a value of the student's search could not be compared
    seen: set = field(default_factory=set)  # the states that the reference has visited so far

    @property
    def view(self) -> Perspective | None:
        """The perspective of the student's values, if it is known and they could be compared."""
        return self.views[0] if len(self.views) == 1 and not self.skipped else None

    def compare(self, ours: Visit, theirs: Node, path: list) -> dict[str, Any] | None:
        was_visited = ours.state in self.seen
        self.seen.add(ours.state)
        for number in range(max(len(ours.children), len(theirs.children))):
            expected = ours.children[number] if number < len(ours.children) else None
            got = theirs.children[number] if number < len(theirs.children) else None
            if expected is None or got is None or str(expected.move) != got.move:
                return self._other_child(ours, theirs, number, path, was_visited)
            difference = self.compare(expected, got, [*path, expected.move])
            if difference:
                return difference
        if self._has_failed(theirs):
            return _at_node(ours, path, words.no_value())
        if to_number(theirs.value) is None:  # its meaning is unclear, so nothing is stated
            self.skipped = True
            return None
        if any(same_value(ours, theirs.value, view, self.root) for view in self.views):
            return None
        if len(self.views) != 1:
            return self._without_view(ours, theirs, path)
        (view,) = self.views
        text = words.wrong_value(ours, theirs.value, view, self.root, self.has_table)
        if not self.skipped:
            text += words.right_before(ours, self.has_table, view)
        return _at_node(ours, path, text)

    def _other_child(
        self, ours: Visit, theirs: Node, number: int, path: list, was_visited: bool
    ) -> dict[str, Any]:
        """Describe a child that is missing, superfluous or another one."""
        is_missing = number >= len(theirs.children)
        if is_missing and not (self.is_nested or self._has_failed(theirs)):
            return _without_node(words.NOT_RECURSIVE)
        sentence = self._different(ours, theirs, number)
        sentence += self._stored_note(ours, theirs, number, was_visited)
        return _at_node(ours, path, sentence)

    def _without_view(self, ours: Visit, theirs: Node, path: list) -> dict[str, Any] | None:
        """Describe a value that is wrong from all views at a node where the search ends. Any other
        value may follow from one whose sign is wrong, which is not known: that of a child, or one
        in the table.
        """
        is_end = not ours.children and (ours.state.is_terminal() or not self.has_table)
        if not self.views or not is_end:
            return None
        return _at_node(ours, path, words.wrong_from_all_views(ours, theirs.value))

    def _has_failed(self, theirs: Node) -> bool:
        """Whether an error in this call ended the student's search."""
        return not self.is_finished and theirs.value == str(None)

    def _different(self, ours: Visit, theirs: Node, number: int) -> str:
        """Describe what is wrong with the student's child of this number, or why it should not be
        missing.
        """
        return self._wrong_child(ours, theirs, number) + words.rounding_note(
            [to_number(child.value) for child in ours.children[:number]],
            [to_number(child.value) for child in theirs.children[:number]],
            -1 if self._is_opposite(ours, number) else 1,
        )

    def _is_opposite(self, ours: Visit, number: int) -> bool:
        """Whether the student's values of the first `number` children have the opposite sign."""
        return self.view is not None and any(
            self.view.sign(self.root.state, child.state) < 0 for child in ours.children[:number]
        )

    def _wrong_child(self, ours: Visit, theirs: Node, number: int) -> str:
        expected = ours.children[number].move if number < len(ours.children) else None
        moves = [child.move for child in theirs.children]
        if number >= len(moves):
            if self._has_failed(theirs):
                return words.no_value()
            return words.missing_move(
                ours, expected, number, self.root, self.has_table, self.view is not None
            )
        move = moves[number]
        if move in (NO_MOVE, SAME_STATE):
            return words.VISITED_AGAIN if move == SAME_STATE else words.NO_SINGLE_MOVE
        if move in moves[:number]:
            return words.repeated_move(move)
        if self.has_table and self._after(ours.state, move) in self.seen:
            return words.recomputed_state(move)
        if expected is None:
            return words.extra_move(ours, move, number, self.root, self.view is not None)
        if str(expected) in moves[number:]:
            return words.wrong_order(move, expected)
        return words.skipped_move(expected, move, is_last=number == len(moves) - 1)

    def _stored_note(self, ours: Visit, theirs: Node, number: int, was_visited: bool) -> str:
        """Note that the state which is not expanded, or that of the missing child, had been visited
        before, if that is so and the search stores nothing.
        """
        if self.has_table or self._has_failed(theirs) or number >= len(ours.children):
            return ""
        if not self.is_nested:
            return ""
        expected = ours.children[number]
        if str(expected.move) in [child.move for child in theirs.children[number:]]:
            return ""
        if was_visited and not theirs.children:
            return words.stored_note(None)
        return words.stored_note(expected.move) if expected.state in self.seen else ""

    @staticmethod
    def _after(state: Any, move: str) -> Any:
        return next((state.after(m) for m in state.legal_moves() if str(m) == move), None)


def _at_node(node: Visit, path: list, sentence: str) -> dict[str, Any]:
    if not hasattr(node.state, "lanes"):  # moves of other games are not cells
        sentence = sentence.replace(CELL.partition("{")[0], MOVE.partition("{")[0])
    return {
        "board": notation(node.state),
        "path": list(path),
        "sentence": english(f"{words.describe_place(node, path)}: {sentence}"),
    }


def _same_tree(
    ours: Visit, outcome: Outcome, result: Sequence | None, view: Perspective | None
) -> dict[str, Any] | None:
    """Describe the difference if the trees are the same, but the reported result differs or comes
    from another search.
    """
    if outcome.case is None:
        return None
    expected, got = outcome.case["expected"], outcome.case["got"]
    wrong = [name for name in expected if not equal(expected[name], got[name])]
    if result is None or not wrong:
        return None
    if not set(wrong) & set(RESULT):
        has_replies = all(got[name] is not None for name in wrong)
        is_known = has_replies and set(wrong) <= words.LATER.keys()
        return _without_node(words.later_calls(wrong)) if is_known else None
    isolated = dict(zip(RESULT, result, strict=True))
    compared = [name for name in RESULT if name in expected]
    if correct_in_isolation(outcome, result):
        return _without_node(words.CORRECT_IN_ISOLATION)
    if not all(equal(got[name], isolated[name]) for name in compared):
        return None
    return _without_node(" ".join(_result_sentences(ours, wrong, expected, got, view)))


def _result_sentences(
    ours: Visit, wrong: list[str], expected: Mapping, got: Mapping, view: Perspective | None
) -> Iterator[str]:
    yield words.identical_tree(view)
    if "nodes" in wrong:
        yield words.wrong_count(expected["nodes"], got["nodes"])
    if "value" in wrong:
        yield words.wrong_result(expected["value"], got["value"], view not in (ROOT, None))
    if "move" in wrong:
        values = {str(child.move): to_number(child.value) for child in ours.children}
        yield words.wrong_move(str(expected["move"]), str(got["move"]), values)
