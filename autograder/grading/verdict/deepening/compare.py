"""Finds the first node at which a search of study 4 differs from the reference's.

All values are from the view of the player to move, as study 4 requires, so they are compared
directly. The student's trees are plain data from a separate process; the reference runs here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from autograder.grading.verdict.deepening import words
from autograder.grading.verdict.value_perspective import has_numbers, is_near, to_number
from autograder.studies import load_module
from common.messages import english
from course.checks.positions import notation
from course.checks.questions import RECORDERS
from course.checks.questions.tracing import Recording, SearchStep
from course.checks.trees import NO_MOVE, SAME_STATE, Node
from tictactoe.nodes import Visit

Difference = dict[str, Any]  # with the keys "board", "path" and "sentence"
Pairs = Sequence[tuple[Visit, Node]]  # the nodes from the root to one node, in both trees


class Reference(NamedTuple):
    """The reference's searches, and the moves that it tries first in each expanded node."""

    recording: Recording
    promoted: Sequence[words.Promoted]  # in the order of the visits


def reference_searches(answer: Path, ask: str, case: Mapping[str, Any]) -> Reference | None:
    """Repeat the searches of a case with the reference; None if the first of them is too large."""
    return _reference_searches(answer, ask, json.dumps(case, sort_keys=True))


@cache
def _reference_searches(answer: Path, ask: str, case_text: str) -> Reference | None:
    case, promoted = json.loads(case_text), []
    make_agent = getattr(load_module(answer), case["agent"])

    def watched(**options: Any) -> Any:
        agent = make_agent(**options)
        moves = agent.moves

        def moves_and_note(state: Any, depth: int) -> list[Any]:
            entry = getattr(agent, "table", {}).get(state)
            killers = tuple(getattr(agent, "killers", {}).get(depth, ()))
            promoted.append(words.Promoted(entry.move if entry else None, killers))
            return moves(state, depth)

        agent.moves = moves_and_note
        return agent

    recording = RECORDERS[ask](SimpleNamespace(**{case["agent"]: watched}), **case)
    return Reference(recording, promoted) if recording.ends else None


def first_difference(
    reference: Reference, trees: Sequence[Node], ends: Sequence[int]
) -> Difference | None:
    """Return the first difference between the reference's trees and the student's; None if there is
    none. `ends` has the number of the student's trees after each search.
    """
    recording = reference.recording
    walk = _Walk(recording.agent, iter(reference.promoted), has_numbers(trees))
    start = their_start = 0
    # A step without an end was too large to be recorded.
    for number, (step, end) in enumerate(zip(recording.steps, recording.ends, strict=False)):
        their_end = ends[number] if number < len(ends) else len(trees)
        ours, theirs = recording.trees[start:end], trees[their_start:their_end]
        if difference := walk.compare_search(step, ours, theirs):
            return difference
        start, their_start = end, their_end
    return None


@dataclass
class _Walk:
    """A walk through both searches, up to the first difference."""

    agent: Any  # the reference's
    promoted: Iterator[words.Promoted]
    has_values: bool  # whether the student's counted calls return numbers
    visited: int = 0  # nodes of the current search so far
    step: SearchStep | None = None
    limit: int = 0  # that of the current tree

    @property
    def has_table(self) -> bool:
        return hasattr(self.agent, "table")

    def compare_search(
        self, step: SearchStep, ours: Sequence[Visit], theirs: Sequence[Node]
    ) -> Difference | None:
        """Compare the trees of one search: one tree, or one for each limit."""
        self.step, self.visited = step, 0
        if step.limit is not None and len(theirs) > 1:
            return _without_node(words.several_calls(len(theirs)))
        for number, (root, their_root) in enumerate(zip(ours, theirs, strict=False), 1):
            self.limit = number if step.limit is None else step.limit
            if difference := self._compare([(root, their_root)]):
                return difference
        if len(theirs) < len(ours):
            return _without_node(words.too_few_limits(len(theirs), ours[: len(theirs)]))
        if len(theirs) > len(ours):
            text = words.too_many_limits(len(ours), ours[-1], self.agent.deepest)
            return _without_node(text)
        return None

    def _compare(self, pairs: Pairs) -> Difference | None:
        ours, theirs = pairs[-1]
        self.visited += 1
        facts = words.Facts(self.limit, getattr(self.agent, "budget", None), self.visited)
        first = next(self.promoted) if ours.children else words.Promoted(None, ())
        for number in range(max(len(ours.children), len(theirs.children))):
            if self._is_other_child(ours, theirs, number):
                return self._at(pairs, *self._child_sentence(ours, theirs, number, facts, first))
            child = ours.children[number], theirs.children[number]
            if difference := self._compare([*pairs, child]):
                return difference
        if not self.has_values or _same_value(ours.value, theirs.value):
            return None
        if theirs.value == str(None):
            return self._at(pairs, words.no_value(facts), True)
        return self._at(pairs, words.wrong_value(ours, theirs, facts), True)

    @staticmethod
    def _is_other_child(ours: Visit, theirs: Node, number: int) -> bool:
        if number >= min(len(ours.children), len(theirs.children)):
            return True
        return str(ours.children[number].move) != theirs.children[number].move

    def _child_sentence(
        self, ours: Visit, theirs: Node, number: int, facts: words.Facts, first: words.Promoted
    ) -> tuple[str, bool]:
        """Describe the student's child of this number, or its absence, and state whether the window
        could be the cause.
        """
        moves = [child.move for child in theirs.children]
        if number >= len(moves):
            if theirs.value == str(None) and self.has_values:
                return words.no_value(facts), False
            return words.missing_move(ours, number, facts, self.has_table), True
        move = moves[number]
        if move in (NO_MOVE, SAME_STATE):
            return words.VISITED_AGAIN if move == SAME_STATE else words.NO_SINGLE_MOVE, False
        if move in moves[:number]:
            return words.repeated_move(move), False
        if number >= len(ours.children):
            return words.extra_move(ours, move, number, facts), True
        return words.other_move(ours, moves, number, first), False

    def _at(self, pairs: Pairs, sentence: str, may_be_window: bool) -> Difference:
        """Return the difference at the last of these nodes, or at the first one on the way to it
        that has another window, if that can be the cause.
        """
        for number in range(1, len(pairs) + 1 if may_be_window else 0):
            names = words.differing_window(*pairs[number - 1])
            if names:
                pairs, sentence = pairs[:number], words.wrong_window(*pairs[number - 1], names)
                break
        assert self.step is not None
        place = (
            self.step.place if self.step.limit else english(f"in the search to limit {self.limit}")
        )
        return {
            "board": notation(pairs[-1][0].state),
            "path": [ours.move for ours, _ in pairs[1:]],
            "sentence": english(f"{words.describe_place(place, pairs)}: {sentence}"),
        }


def _without_node(sentence: str) -> Difference:
    return {"board": None, "path": [], "sentence": sentence}


def _same_value(ours: float | None, theirs: str) -> bool:
    """Whether two values are the same; a call that raised an error has none."""
    if ours is None:
        return theirs == str(None)
    return is_near(ours, to_number(theirs))


def unchanged_trees(
    reference: Reference,
    trees: Sequence[Node],
    case: Mapping[str, Any],
    same: Callable[[Any, Any], bool],
) -> Difference | None:
    """Describe a wrong reply of a module whose trees are all the same as the reference's. Returns
    None if nothing can be stated, because one of the trees was too large.

    `case` is the explaining case of the outcome; `same` compares two values.
    """
    expected, got = case["expected"], case["got"]
    wrong = [name for name in expected if not same(expected[name], got[name])]
    is_known = reference.recording.is_complete and all(got[name] is not None for name in wrong)
    if not wrong or not is_known:
        return None
    unfinished = _unfinished_move(reference.recording)
    if "move" in wrong and unfinished and same(unfinished[0], got["move"]):
        return _without_node(words.unfinished_move(*unfinished))
    return _without_node(words.same_tree(wrong, has_numbers(trees)))


def _unfinished_move(recording: Recording) -> tuple[Any, int] | None:
    """Return the best move so far of the limit that was interrupted, and the limit; None if there
    is no such move.
    """
    last = recording.trees[-1]
    done = [child for child in last.children if child.value is not None]
    if last.value is not None or not done:
        return None
    return min(done, key=lambda child: child.value or 0).move, len(recording.trees)
