"""Decides the mark of one check: compares the module's replies with the expected ones, out here.

The hidden cases come from `autograder/verdicts/`, the comparison is `course.probes.outcome`, the
words are `course.probes.explain`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from autograder import verdicts
from autograder.grading.carried import carried_forward, functions_asked
from autograder.grading.divergence import TRACED, first_divergence, trace_check
from course.probes import Check, Study, load_expected
from course.probes.outcome import Outcome, mark
from course.probes.questions import MATCHES
from course.probes.replies import Replies

Ask = Callable[[str, Check, float], Replies]  # a module's name, what it is asked, and for how long


class Seconds(NamedTuple):
    """The time limits of one check: `given` overrides the check's own and the `usual` one; a
    trace, which only explains, has `later`."""

    given: float | None
    usual: float
    later: float


def decide(check_id: str, ask: Ask, seconds: Seconds) -> Outcome:
    """The outcome of a check ("study3.type_a"): points, the case that explains them, the cause.

    `ask(module, check, seconds)` asks the student's module the cases, wherever that runs.
    """
    study = verdicts.hidden_study(check_id.split(".", maxsplit=1)[0])
    check = _named(study, check_id)
    expected, slips = load_expected(verdicts.expected_file(study))

    def asked(check: Check) -> Replies:
        return ask(study.module, check, seconds.given or check.seconds or seconds.usual)

    @cache
    def marked(name: str) -> Outcome:
        return mark(study.checks[name], asked(study.checks[name]), expected[name], slips)

    replies = asked(check)
    outcome = mark(check, replies, expected[check.name], slips)
    if outcome.is_wrong_somewhere and not outcome.is_match:
        outcome = _better(outcome, study, replies, lambda other: marked(other.name), asked)
    if (check.ask in TRACED and outcome.is_wrong_somewhere and outcome.slip is None
            and not outcome.given):
        asked = outcome.case["asked"]
        trace = ask(study.module, trace_check(check, asked), seconds.later)
        outcome = replace(outcome, divergence=first_divergence(check, asked, trace))
    return outcome


def _better(outcome: Outcome, study: Study, replies: Replies,
            marked: Callable[[Check], Outcome], ask: Callable[[Check], Replies]) -> Outcome:
    """The outcome by what is right given the student's own functions, if that has a better mark."""
    check = _named(study, outcome.check)
    others = [other for other in study.checks.values()
              if other is not check and other.ask not in MATCHES]

    def loses_elsewhere(function: str) -> bool:
        return any(function in functions_asked(other) and not marked(other).full
                   for other in others)

    def loses(function: str) -> bool:
        return function in functions_asked(check) or loses_elsewhere(function)

    def given(wrong: Callable[[str], bool]) -> Outcome:
        found = carried_forward(check, ask, wrong)
        return outcome if found is None else replace(
            mark(check, replies, found.expected, ()), given=found.functions)

    carried = given(loses_elsewhere)
    if not carried.full:  # a function that is asked in this check too must cost something in it
        carried = max(carried, given(loses), key=lambda o: 0 if o.full else o.earned)
    return carried if carried.earned > outcome.earned else outcome


def _named(study: Study, check_id: str) -> Check:
    return next(check for check in study.checks.values() if check.id == check_id)
