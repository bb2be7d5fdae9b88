"""Decides the mark of one check: compares the module's replies with the expected ones, out here.

The hidden cases come from `autograder/verdicts/`, the comparison is `course.probes.outcome`, the
words are `course.probes.explain`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from autograder import verdicts
from autograder.grading.divergence import TRACED, first_divergence, trace_check
from autograder.mutants.machine_made import load_machine_slips, machine_file
from course.probes import Check, Study, load_expected
from course.probes.outcome import Earlier, Outcome, mark_by_file
from course.probes.questions import MATCHES
from course.probes.replies import Replies

Ask = Callable[[str, Check, float], Replies]  # a module's name, what it is asked, and for how long


class Seconds(NamedTuple):
    """The time limits of one check: `given` overrides the check's own and the `usual` one; a
    trace, which only explains, has `later`."""

    given: float | None
    usual: float
    later: float


@dataclass
class Known:
    """What the checks decided so far have shown of one submission."""

    earlier: dict[str, Earlier] = field(default_factory=dict)
    machine: dict[str, frozenset[int]] = field(default_factory=dict)  # check -> mutants, if any


def decide(check_id: str, ask: Ask, seconds: Seconds, known: Known | None = None) -> Outcome:
    """The outcome of a check ("study3.type_a"): points, the case that explains them, the cause.

    `ask(module, check, seconds)` asks the student's module the cases, wherever that runs. `known`
    is what earlier checks of the same submission have shown; it is brought up to date.
    """
    known = known or Known()
    study = verdicts.hidden_study(check_id.split(".", maxsplit=1)[0])
    check = next(c for c in study.checks.values() if c.id == check_id)
    replies = ask(study.module, check, seconds.given or check.seconds or seconds.usual)
    outcome = mark_by_file(check, replies, verdicts.expected_file(study), known.earlier)
    known.earlier[check.id] = Earlier(outcome.full, outcome.matching)
    outcome = replace(outcome, resembles=_resembles(study, check, outcome, replies, known))
    if check.ask in TRACED and outcome.is_wrong_somewhere and outcome.slip is None:
        trace = ask(study.module, trace_check(check, outcome.case["asked"]), seconds.later)
        outcome = replace(outcome, divergence=first_divergence(check, outcome, trace))
    return outcome


def _resembles(study: Study, check: Check, outcome: Outcome, replies: Replies,
               known: Known) -> str | None:
    """The sentence of the machine-made mutants whose replies these are, if no slip is known.

    A mutant that spoils another check has to have the replies to that one as well.
    """
    if check.ask in MATCHES or replies.broken or replies.stopped:
        return None
    table = load_machine_slips(machine_file(study))
    expected, _ = load_expected(verdicts.expected_file(study))
    found = table.matching(check, replies.observations, expected[check.name])
    for other, seen in known.machine.items():
        found -= table.felt_by(other, found) - seen
    known.machine[check.name] = found
    return table.sentence(check, found) if found and outcome.slip is None else None
