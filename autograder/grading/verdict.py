"""Decides the mark of one check: compares the module's replies with the expected ones, out here.

The hidden cases come from `autograder/verdicts/`, the comparison is `course.probes.outcome`, the
words are `course.probes.explain`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from autograder import verdicts
from autograder.grading.divergence import TRACED, first_divergence, trace_check
from course.probes import Check
from course.probes.outcome import Outcome, mark_by_file
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
    check = next(c for c in study.checks.values() if c.id == check_id)
    replies = ask(study.module, check, seconds.given or check.seconds or seconds.usual)
    outcome = mark_by_file(check, replies, verdicts.expected_file(study))
    if check.ask in TRACED and outcome.is_wrong_somewhere and outcome.slip is None:
        asked = outcome.case["asked"]
        trace = ask(study.module, trace_check(check, asked), seconds.later)
        outcome = replace(outcome, divergence=first_divergence(check, asked, trace))
    return outcome
