"""Students who compare their pages learn a few hidden cases that are fixed, and no others."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from autograder import verdicts
from autograder.grading import verdict
from autograder.grading.shown_cases import MOST, shown_cases
from autograder.grading.verdict import Seconds, decide
from course.probes import Check, load_expected, studies
from course.probes.explain import UNSHOWN, as_html, as_text
from course.probes.outcome import NO_ANSWER, RAISED, Outcome, describe_case, is_right
from course.probes.question import NOT_WRITTEN
from course.probes.questions import MATCHES
from course.probes.replies import Replies

ENOUGH = 0.95  # of the checks that a known mistake spoils, show a position
QUICK = ["study1", "study2", "study3"]
Failure = Callable[[Check, int, list], Replies]  # of a module at one case, given the right replies


def checks_of(*names: str) -> Iterator[Check]:
    """The hidden checks of these studies that are no games."""
    for name in names:
        yield from (
            check
            for check in verdicts.hidden_study(name).checks.values()
            if check.ask not in MATCHES
        )


def right_replies(check: Check) -> list[Mapping[str, Any]]:
    """What the reference replies to a check."""
    hidden = verdicts.hidden_study(check.study)
    return load_expected(verdicts.expected_file(hidden), [check])[0][check.name]


def answers_wrongly(check: Check, number: int, right: list) -> Replies:
    """At one case, nothing that it replies is right."""
    return Replies(
        tuple(
            {**reply, **dict.fromkeys(check.points, "no")} if n == number else reply
            for n, reply in enumerate(right)
        )
    )


def raises(check: Check, number: int, right: list) -> Replies:
    """At one case it raises an error whose text has the case."""
    said = {"errors": dict.fromkeys(check.points, f"ValueError: {check.cases[number]}")}
    return Replies(tuple(said if n == number else reply for n, reply in enumerate(right)))


def is_a_stub(check: Check, number: int, right: list) -> Replies:
    """At one case it pretends not to be written, and says the case."""
    said = {"errors": dict.fromkeys(check.points, f"{NOT_WRITTEN}: {check.cases[number]}")}
    return Replies(tuple(said if n == number else reply for n, reply in enumerate(right)))


def never_ends(check: Check, number: int, right: list) -> Replies:
    """It is stopped at one case, and has answered none after it."""
    return Replies(
        tuple(right[:number]) + (None,) * (len(right) - number),
        stopped="stopped after 2 s of computing time",
    )


def page(check: Check, number: int, failure: Failure) -> Outcome:
    """The outcome that a page shows of a module that fails at one case, and otherwise is right."""
    right = right_replies(check)

    def ask(_module: str, asked: Check, _seconds: float) -> Replies:
        if asked.name != check.name:
            return Replies(tuple(right_replies(asked)))
        if asked.ask != check.ask:  # a trace, or values of its functions
            return Replies((None,) * len(asked.cases))
        if asked.cases == check.cases:
            return failure(check, number, right)
        return Replies(
            tuple({"errors": dict.fromkeys(check.points, repr(case))} for case in asked.cases)
        )  # it says what it is asked alone

    return decide(check.id, ask, Seconds(None, 20, 20))


def cases_on(outcome: Outcome, check: Check) -> set[int]:
    """The cases of a check that can be found in what is known of an outcome outside of grading."""
    text = as_text(outcome) + as_html(outcome) + repr(outcome.to_json())
    return ({outcome.case["number"]} if outcome.case else set()) | {
        number
        for number, case in enumerate(check.cases)
        if repr(case) in text or describe_case(check, case) in text
    }


def learnt(check: Check, failure: Failure) -> set[int]:
    """What as many students as the check has cases learn, if each fails at another one."""
    return set().union(
        *(cases_on(page(check, number, failure), check) for number in range(len(check.cases)))
    )


@pytest.mark.parametrize("failure", [answers_wrongly, raises, is_a_stub, never_ends])
@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in studies()[len(QUICK) :])],
)
def test_students_who_compare_pages_learn_the_fixed_cases_alone(name, failure):
    """However many there are, and however each of them fails at a case of their own."""
    for check in checks_of(name):
        assert learnt(check, failure) == shown_cases(check), check.id


@pytest.mark.parametrize("failure", [answers_wrongly, raises, never_ends])
def test_without_the_protection_they_learn_all(failure, monkeypatch):
    """The same students learn every case where each may be shown."""
    monkeypatch.setattr(verdict, "shown_cases", lambda check: frozenset(range(len(check.cases))))
    for check in checks_of("study2", "study3"):
        assert learnt(check, failure) == set(range(len(check.cases))), check.id


@pytest.mark.parametrize(
    ("failure", "problem"),
    [
        (answers_wrongly, None),
        (raises, RAISED),
        (is_a_stub, NOT_WRITTEN),
        (never_ends, "stopped after 2 s of computing time"),
    ],
)
def test_a_page_without_a_position_says_so(failure, problem):
    """It still has the points of each aspect and the kind of the problem."""
    check = verdicts.hidden_study("study3").checks["type_a"]
    number = min({*range(len(check.cases))} - shown_cases(check))
    outcome = page(check, number, failure)
    assert (outcome.case, outcome.divergence, outcome.problem) == (None, None, problem)
    assert outcome.unshown
    assert (UNSHOWN in as_text(outcome)) == (failure is not is_a_stub)
    assert outcome.earned < outcome.points
    assert NO_ANSWER not in as_text(outcome)
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_a_shown_case_is_preferred():
    """A module that is wrong everywhere gets a page with a position."""
    for check in checks_of(*QUICK):
        right = right_replies(check)
        wrong = Replies(tuple({**reply, **dict.fromkeys(check.points, "no")} for reply in right))
        outcome = page(check, 0, lambda *_, wrong=wrong: wrong)
        assert outcome.case["number"] in shown_cases(check)
        assert not outcome.unshown


def test_few_cases_are_shown_and_expose_most_mistakes():
    """At most three of a check and at most half of them, and at least one."""
    shown = all_of_them = 0
    for check in checks_of(*studies()):
        hidden = verdicts.hidden_study(check.study)
        expected, slips = load_expected(verdicts.expected_file(hidden), [check])
        few = shown_cases(check)
        assert 1 <= len(few) <= min(MOST, max(1, len(check.cases) // 2))
        for slip in slips:
            wrong = {
                number
                for number, reply in enumerate(slip.observed.get(check.name, ()))
                if not all(
                    is_right(check.ask, expected[check.name][number], reply or {}, name)
                    for name in check.points
                )
            }
            all_of_them += bool(wrong)
            shown += bool(wrong & few)
    assert shown >= ENOUGH * all_of_them, f"{shown} of {all_of_them}"
