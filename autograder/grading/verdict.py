"""Decides the mark of one check: compares the module's replies with the expected ones, out here.

The hidden cases come from `autograder/verdicts/`, the comparison is `course.probes.outcome`, the
words are `course.probes.explain`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from autograder import verdicts
from autograder.grading.attempts import Pair, items_of
from autograder.grading.carried import (
    Given,
    aspects_by_function,
    carried_forward,
    functions_asked,
    functions_built_on,
    right_alone,
)
from autograder.grading.divergence import (
    TRACED,
    first_divergence,
    found_alone,
    is_right_alone,
    searches_alike,
    trace_check,
)
from autograder.grading.divergence_words import kind_of
from autograder.grading.shown_cases import shown_cases
from autograder.mutants.machine_made import load_machine_slips, machine_file
from course.probes import Check, Observation, Study, load_expected
from course.probes.outcome import Outcome, Shown, as_alone, mark, others_of, without_case
from course.probes.questions import MATCHES
from course.probes.replies import Replies
from sequence.league.clock import factor, patience

CAUSES = ("slip", "cause", "matching", "found_in", "not_in", "is_doubtful", "common", "resembles")
NO_MORE = "not asked, as asking had taken too long"
Ask = Callable[[str, Check, float], Replies]  # a module's name, what it is asked, and for how long


class Seconds(NamedTuple):
    """The time limits of checks: `given` overrides the check's own and the `usual` one, and none is
    above what `limits` has for it; what only explains, as a trace does, has `later`. All that is
    asked besides the hidden cases has `more` together, for all checks of a submission."""

    given: float | None
    usual: float
    later: float
    limits: Mapping[str, float] = MappingProxyType({})  # by the check's id
    more: float = math.inf

    def of(self, check: Check) -> float:
        """The limit of one check."""
        seconds = self.given or check.seconds or self.usual
        return min(seconds, self.limits.get(check.id, seconds))


@dataclass
class Asked:
    """A check that was asked: its replies, and those to the trace of the case that explains it."""

    study: Study
    check: Check
    replies: Replies
    trace: Replies | None = None
    given: Given | None = None  # by which it has a better mark
    alone: Replies | None = None  # to the one case that is shown, from a process that knew no other
    expected: Observation | None = None  # there, given what that process said


@dataclass
class Known:
    """What the checks that were decided have shown of one submission, by id."""

    asked: dict[str, Asked] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)
    replies: dict[str, Replies] = field(default_factory=dict)  # also to checks yet to be decided
    machine: dict[str, frozenset[int]] = field(default_factory=dict)  # the machine-made slips
    computed: float = 0.0  # seconds, of what was asked besides the hidden cases
    waited: float = 0.0  # for that, on the wall


def decide(check_id: str, ask: Ask, seconds: Seconds, known: Known | None = None) -> Outcome:
    """The outcome of a check ("study3.type_a"): points, the case that explains them, the cause.

    `ask(module, check, seconds)` asks the student's module the cases, wherever that runs. `known`
    is what other checks of the same submission have shown; it is brought up to date.
    """
    known = known or Known()
    study = verdicts.hidden_study(check_id.split(".", maxsplit=1)[0])
    check = next(c for c in study.checks.values() if c.id == check_id)

    def replies_to(asked: Check) -> Replies:
        return ask(study.module, asked, seconds.of(asked))

    def more(asked: Check, most: float) -> Replies:
        left = seconds.more - known.computed
        if left <= 0 or known.waited > patience(seconds.more) * factor():
            return Replies((None,) * len(asked.cases), stopped=NO_MORE)
        replies = ask(study.module, asked, min(most, left))
        if replies.computed:
            known.computed += replies.computed / factor()
        elif replies.stopped:  # without a sandbox, where it is not measured
            known.computed += min(most, left)
        if replies.computed or replies.stopped:  # else load could decide
            known.waited += replies.seconds
        return replies

    def values_of(asked: Check) -> Replies:
        return more(asked, seconds.of(asked))

    def briefly(asked: Check) -> Replies:  # what only explains
        return more(asked, seconds.later)

    def first_replies(asked: Check) -> Replies:
        if asked.id not in known.replies:
            known.replies[asked.id] = replies_to(asked)
        return known.replies[asked.id]

    asked = known.asked[check_id] = Asked(study, check, first_replies(check))
    outcome = _plain(asked)
    known.shown[check_id] = Shown(outcome.full, outcome.matching)
    known.machine[check_id] = _machine_slips(asked)
    if outcome.is_wrong_somewhere and not outcome.is_match:
        asked.given = _better(asked, outcome, first_replies, values_of)
    if check.ask in TRACED and outcome.is_wrong_somewhere and not asked.given:
        asked.trace = briefly(trace_check(check, outcome.case["asked"]))
    shown = _in_its_light(asked, known)
    if (
        not shown.full
        and not shown.is_match
        and not _is_unshown(asked, shown)
        and _shows_replies(asked, shown)
    ):
        _ask_alone(asked, shown.case["number"], briefly)
    return explain(check_id, known)


def _ask_alone(asked: Asked, number: int, briefly: Callable[[Check], Replies]) -> None:
    """Ask the one case that is shown, or none where the module is broken, in a new process."""
    check = asked.check
    cases = [] if asked.replies.broken else [check.cases[number]]
    asked.alone = briefly(replace(check, cases=cases))
    if asked.given:  # what is right given the values for all cases could tell of them too
        expected, _ = load_expected(verdicts.expected_file(asked.study), [asked.check])
        asked.expected = (
            right_alone(check, number, asked.given, briefly) or expected[check.name][number]
        )


def _is_unshown(asked: Asked, outcome: Outcome) -> bool:
    """Whether the case that explains the outcome is none that a page may show."""
    return (
        outcome.case is not None
        and not asked.replies.broken
        and outcome.case["number"] not in shown_cases(asked.check)
    )


def _shows_replies(asked: Asked, shown: Outcome) -> bool:
    """Whether a page would show something that the module said."""
    case = shown.case
    return bool(
        asked.replies.broken
        or case["errors"]
        or any(value is not None for value in case["got"].values())
    )


def _plain(asked: Asked) -> Outcome:
    """The outcome by the reference's replies, before anything else is known."""
    expected, slips = load_expected(verdicts.expected_file(asked.study), [asked.check])
    return mark(
        asked.check,
        asked.replies,
        expected[asked.check.name],
        slips,
        shown=shown_cases(asked.check),
    )


def _by(given: Given, asked: Asked) -> Outcome:
    """The outcome by what is right given the student's own functions."""
    return replace(
        mark(asked.check, asked.replies, given.expected, (), shown=shown_cases(asked.check)),
        given=given.functions,
    )


def _better(
    asked: Asked,
    plain: Outcome,
    first_replies: Callable[[Check], Replies],
    values_of: Callable[[Check], Replies],
) -> Given | None:
    """What is right given the student's own functions, if that has a better mark."""
    others = {
        other.id: other
        for other in asked.study.checks.values()
        if other is not asked.check and other.ask not in MATCHES
    }

    @cache
    def is_full(name: str) -> bool:
        return _plain(Asked(asked.study, others[name], first_replies(others[name]))).full

    def loses_elsewhere(function: str) -> bool:
        return any(
            function in functions_asked(other) and not is_full(name)
            for name, other in others.items()
        )

    def loses(function: str) -> bool:
        return function in functions_asked(asked.check) or loses_elsewhere(function)

    def own_items(function: str) -> list[list[Pair]]:
        return [
            found
            for other in (asked.check, *others.values())
            if function in functions_asked(other)
            for found in _items(Asked(asked.study, other, first_replies(other)), function)
        ]

    given = carried_forward(asked.check, values_of, loses_elsewhere, own_items)
    both = functions_asked(asked.check) & functions_built_on(asked.check)
    if both and (given is None or not _by(given, asked).full):
        here = carried_forward(asked.check, values_of, loses, own_items)
        if here and not _by(here, asked).full:  # a function that is asked here must cost something
            given = max(filter(None, (given, here)), key=lambda found: _by(found, asked).earned)
    return given if given and _by(given, asked).earned > plain.earned else None


def _items(asked: Asked, function: str) -> list[list[Pair]]:
    """The items of the replies to a check that come from a function, for each aspect."""
    expected, _ = load_expected(verdicts.expected_file(asked.study), [asked.check])
    return [
        [
            item
            for right, reply in zip(
                expected[asked.check.name], asked.replies.observations, strict=True
            )
            for item in items_of(right[aspect], (reply or {}).get(aspect))
        ]
        for aspect in sorted(aspects_by_function(asked.check.name, asked.study.name)[function])
    ]


def explain(check_id: str, known: Known) -> Outcome:
    """The outcome of a check that was decided, in the light of all that is known by now.

    A module can put whatever it was asked into what it replies, so a page shows nothing of the
    replies that decide a mark: only those of a process that knew no hidden case but the one shown.
    That is one of a few that are fixed for the check (see `shown_cases`), or none.
    """
    asked = known.asked[check_id]
    outcome = _in_its_light(asked, known)
    if _is_unshown(asked, outcome):
        kind = outcome.divergence and kind_of(outcome.divergence["sentence"])
        return replace(
            without_case(outcome),
            divergence=kind
            and {"board": None, "path": [], "sentence": f"at a position that is not shown, {kind}"},
        )
    if asked.alone is None:
        return outcome
    return as_alone(outcome, asked.check, asked.alone, asked.expected)


def _in_its_light(asked: Asked, known: Known) -> Outcome:
    outcome = _explained(asked, known)
    if asked.given is None:
        return outcome
    better = _by(asked.given, asked)
    if better.full:
        return better
    return replace(better, **{name: getattr(outcome, name) for name in CAUSES})


def _explained(asked: Asked, known: Known) -> Outcome:
    """The outcome by the reference's replies, with its cause."""
    expected, slips = load_expected(verdicts.expected_file(asked.study), [asked.check])
    order = [check.id for check in asked.study.checks.values()]
    others = others_of(asked.check.id, order, known.shown)
    outcome = mark(
        asked.check,
        asked.replies,
        expected[asked.check.name],
        slips,
        others,
        shown_cases(asked.check),
    )
    if outcome.full or asked.check.ask in MATCHES:
        return outcome
    alone = asked.trace and found_alone(asked.trace)
    if alone and outcome.slip is not None:
        slips = [
            slip
            for slip in slips
            if slip.name not in outcome.matching
            or searches_alike(asked.study.name, slip.name, outcome.case["asked"], alone)
        ]
        outcome = mark(
            asked.check,
            asked.replies,
            expected[asked.check.name],
            slips,
            others,
            shown_cases(asked.check),
        )
    resembles = None
    if (outcome.slip is None or outcome.is_doubtful) and not is_right_alone(outcome, alone):
        resembles = _resembles(asked, known)
    if resembles:  # one slip that explains all that is known, unlike the doubtful one
        outcome = replace(
            outcome, resembles=resembles, slip=None, cause=None, found_in=None, not_in=None
        )
    if asked.trace is not None and outcome.slip is None:
        outcome = replace(outcome, divergence=first_divergence(asked.check, outcome, asked.trace))
    return outcome


def _machine_slips(asked: Asked) -> frozenset[int]:
    """The machine-made mutants whose replies to a check these are."""
    if asked.check.ask in MATCHES or asked.replies.broken or asked.replies.stopped:
        return frozenset()
    expected, _ = load_expected(verdicts.expected_file(asked.study), [asked.check])
    return load_machine_slips(machine_file(asked.study)).matching(
        asked.check, asked.replies.observations, expected[asked.check.name]
    )


def _resembles(asked: Asked, known: Known) -> str | None:
    """The sentence of the machine-made mutants that have the replies to this check, and to all
    others that they spoil."""
    table = load_machine_slips(machine_file(asked.study))
    found = known.machine[asked.check.id]
    for other, seen in known.machine.items():
        found -= table.felt_by(other.partition(".")[2], found) - seen
    return table.sentence(asked.check, found)
