"""Collects the data needed to judge a check. This is the only part of a verdict that queries a
module.

What has to be collected depends on the result of the check, so there are four steps:

1. The replies to the hidden cases are collected and compared with the expected ones.
2. If a reply is wrong, values of the student's own functions are collected, so that the check can
   be marked by what is right given these values (see `error_carried_forward`).
3. If that does not improve the marks, the tree of a search with a wrong result is collected.
4. The one case that a page shows is run again, in a process that knows no other hidden case.

The result is a `CheckRun`, which is plain data. `judging` does the rest.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from autograder.grading.verdict.answer_key import AnswerKey
from autograder.grading.verdict.carrying.attempts import Pair, items_of
from autograder.grading.verdict.carrying.error_carried_forward import (
    CarriedFunctions,
    Evidence,
    Obstacles,
    carried_forward,
    expected_in_isolation,
)
from autograder.grading.verdict.carrying.known_mistakes import Results, given_known_mistake
from autograder.grading.verdict.divergence import TRACED, trace_check
from autograder.grading.verdict.judging import (
    CheckRun,
    carried_outcome,
    first_outcome,
    may_show_case,
)
from common.clock import speed_factor, wall_clock_limit
from course.checks import Check, Study
from course.checks.marking.comparison import has_answers
from course.checks.marking.outcome import Outcome
from course.checks.questions import MATCHES
from course.checks.replies import Replies

BUDGET_SPENT = "not called, because earlier calls had taken too long"
Query = Callable[[Study, Check, float], Replies]  # calls the module, for at most this many seconds


class TimeLimits(NamedTuple):
    """The time limits of checks, in seconds of computing.

    A check has its own limit, as in `check`, or its entry in `limits`, which only an instructor can
    set. `override` replaces it, and `highest` limits it unless the check plays games. Queries that
    only explain a mark, such as a trace, have the limit `explanation`. All queries besides the
    hidden cases share `extra`, for all checks of a submission.
    """

    override: float | None
    highest: float
    explanation: float
    limits: Mapping[str, float] = MappingProxyType({})  # by the check's id
    extra: float = math.inf

    def of(self, check: Check) -> float:
        """Return the limit of one check."""
        own = self.override or self.limits.get(check.id, check.time_limit)
        return own if check.ask in MATCHES else min(own, self.override or self.highest)


@dataclass
class SubmissionContext:
    """The known facts about one submission to a study, by the id of a check."""

    key: AnswerKey
    runs: dict[str, CheckRun] = field(default_factory=dict)
    replies: dict[str, Replies] = field(default_factory=dict)  # including checks without a run yet
    first: dict[str, Outcome] = field(default_factory=dict)  # the first outcomes of these replies
    computed: float = 0.0  # seconds of computing for queries besides the hidden cases
    waited: float = 0.0  # elapsed seconds of these queries
    obstacles: Obstacles = field(default_factory=Obstacles)


def collect(context: SubmissionContext, check: Check, query: Query, limits: TimeLimits) -> CheckRun:
    """Collect the data needed to judge a check; the run is added to the context."""
    run = _Collector(context, query, limits).run(check)
    context.runs[check.id] = run
    return run


class _Carried(NamedTuple):
    """An outcome that is judged by what would be right, given the student's own functions."""

    functions: CarriedFunctions
    outcome: Outcome


@dataclass(frozen=True)
class _Collector:
    """Queries the module of one submission within the limits of time."""

    context: SubmissionContext
    query: Query
    limits: TimeLimits

    @property
    def key(self) -> AnswerKey:
        return self.context.key

    def run(self, check: Check) -> CheckRun:
        replies, first = self.replies(check), self.first_outcome(check)
        run = CheckRun(check, replies, first)
        carried = None
        answered = has_answers(check, [each or {} for each in replies.observations])
        if answered and not (first.full or first.stopped or check.ask in MATCHES):
            carried = self._carried(check, first)
        if carried:
            run = replace(run, carried=carried.outcome)
        elif first.case is not None and first.has_wrong_answer and check.ask in TRACED:
            trace = self._explaining(trace_check(check, first.case["question"]))
            run = replace(run, trace=trace)
        if _needs_rerun(self.key, run):
            run = self._rerun_in_isolation(run, carried.functions if carried else None)
        return run

    # ---- The hidden cases

    def replies(self, check: Check) -> Replies:
        """Return the replies to the hidden cases of a check, which are collected only once."""
        known = self.context.replies
        if check.id not in known:
            known[check.id] = self.query(self.key.study, check, self.limits.of(check))
        return known[check.id]

    def first_outcome(self, check: Check) -> Outcome:
        known = self.context.first
        if check.id not in known:
            known[check.id] = first_outcome(self.key, check, self.replies(check))
        return known[check.id]

    # ---- Other queries, which share a budget

    def _values(self, check: Check) -> Replies:
        replies = self._within_budget(check, self.limits.of(check))
        if replies.stopped and replies.observations[0] is None:  # otherwise, it is called again
            self.context.obstacles.add_limit(
                f"{check.id}: values of its functions: {replies.stopped}"
            )
        return replies

    def _explaining(self, check: Check) -> Replies:
        return self._within_budget(check, self.limits.explanation)

    def _within_budget(self, check: Check, seconds: float) -> Replies:
        context, extra = self.context, self.limits.extra
        left = extra - context.computed
        if left <= 0 or context.waited > wall_clock_limit(extra) * speed_factor():
            return Replies((None,) * len(check.cases), stopped=BUDGET_SPENT)
        replies = self.query(self.key.study, check, min(seconds, left))
        if replies.computed:
            context.computed += replies.computed / speed_factor()
        elif replies.stopped:  # without a sandbox, the computing time is not measured
            context.computed += min(seconds, left)
        if replies.computed or replies.stopped:  # otherwise the load could matter
            context.waited += replies.seconds
        return replies

    # ---- Errors carried forward

    def _carried(self, check: Check, first: Outcome) -> _Carried | None:
        """Return the best outcome given the student's own functions, if it is better than the first
        outcome.
        """
        best = self._carried_forward(check, losing=frozenset())
        if not (best and best.outcome.full):
            called = self.key.reference.functions_called(check)
            if called & self.key.reference.functions_built_on(check):
                other = self._carried_forward(check, losing=called)
                # A function that is called here must cost marks.
                if other and not other.outcome.full:
                    options = [best, other] if best else [other]
                    best = max(options, key=lambda option: option.outcome.earned)
        if not (best and best.outcome.full):
            results = Results(self.replies, self.first_outcome)
            functions = given_known_mistake(self.key, check, results, self.context.obstacles)
            if functions:
                outcome = carried_outcome(self.key, check, self.replies(check), functions)
                best = _Carried(functions, outcome)
        return best if best and best.outcome.earned > first.earned else None

    def _carried_forward(self, check: Check, losing: Collection[str]) -> _Carried | None:
        """Call `carried_forward` and return the best outcome; functions are carried forward if they
        are in `losing` or lose marks in other checks.
        """
        evidence = Evidence(
            lambda function: function in losing or self._loses_marks(function, check),
            lambda function: self._items(function, check),
        )
        best = None
        for functions in carried_forward(
            self.key.reference, check, self._values, evidence, self.context.obstacles
        ):
            outcome = carried_outcome(self.key, check, self.replies(check), functions)
            if best is None or outcome.earned > best.outcome.earned:
                best = _Carried(functions, outcome)
            if outcome.full:
                break
        return best

    def _others_calling(self, function: str, check: Check) -> list[Check]:
        return [
            other
            for other in self.key.study.checks.values()
            if other.name != check.name
            and other.ask not in MATCHES
            and function in self.key.reference.functions_called(other)
        ]

    def _loses_marks(self, function: str, check: Check) -> bool:
        """Whether a function loses marks in a check other than this one."""
        others = self._others_calling(function, check)
        return any(not self.first_outcome(other).full for other in others)

    def _items(self, function: str, check: Check) -> list[list[Pair]]:
        """Return the items of a function's replies in all checks that call it, one sequence for
        each aspect.
        """
        items = []
        reference = self.key.reference
        own = [check] if function in reference.functions_called(check) else []
        for each in own + self._others_calling(function, check):
            expected, replies = self.key.expected[each.name], self.replies(each)
            items += [
                [
                    item
                    for right, reply in zip(expected, replies.observations, strict=True)
                    for item in items_of(right[aspect], (reply or {}).get(aspect))
                ]
                for aspect in sorted(reference.aspects_by_function(each)[function])
            ]
        return items

    # ---- The case that a page shows

    def _rerun_in_isolation(self, run: CheckRun, carried: CarriedFunctions | None) -> CheckRun:
        """Run the one case that a page shows in a new process, or no case if the module is broken."""
        check, case = run.check, run.marked.case
        if case is None:
            return run
        number = case["number"]
        cases = [] if run.replies.broken else [check.cases[number]]
        rerun = self._explaining(replace(check, cases=cases))
        if not carried:
            return replace(run, rerun=rerun)
        # A reply that is derived from the values for all cases could reveal some of the cases.
        expected = expected_in_isolation(
            self.key.reference, check, number, carried.functions, self._explaining
        )
        right = expected or self.key.expected[check.name][number]
        return replace(run, rerun=rerun, rerun_expected=right)


def _needs_rerun(key: AnswerKey, run: CheckRun) -> bool:
    """Whether a page would show a part of the module's reply to one of the hidden cases."""
    outcome = run.marked
    if outcome.case is None or outcome.full or run.check.ask in MATCHES:
        return False
    return may_show_case(key, run.check, run.replies, outcome) and bool(
        run.replies.broken
        or outcome.case["errors"]
        or any(value is not None for value in outcome.case["got"].values())
    )
