"""Students who compare their pages learn a few fixed hidden cases and no others."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits
from autograder.grading.verdict.shown_cases import MAX_SHOWN
from autograder.grading.verdict.verdict import decide
from autograder.studies import hidden_cases
from course.checks import Check, Study, load_expected, studies
from course.checks.marking.comparison import is_right
from course.checks.marking.explain import ALL_HIDDEN, as_html, as_text
from course.checks.marking.outcome import NO_ANSWER, RAISED, Outcome, describe_case
from course.checks.question import NOT_WRITTEN
from course.checks.questions import MATCHES
from course.checks.replies import Replies

ENOUGH = 0.95  # of the checks affected by a known mistake, show a position
Failure = Callable[[Check, int, list], Replies]  # of a module with one wrong case


def checks_of(*names: str) -> Iterator[Check]:
    """The hidden checks of these studies, except matches."""
    for name in names:
        yield from (
            check
            for check in hidden_cases.hidden_study(name).checks.values()
            if check.ask not in MATCHES
        )


def right_replies(check: Check) -> list[Mapping[str, Any]]:
    """The reference's replies to a check."""
    hidden = hidden_cases.hidden_study(check.study)
    return load_expected(hidden_cases.expected_file(hidden), [check])[0][check.name]


def answers_wrongly(check: Check, number: int, right: list) -> Replies:
    """The module replies wrongly to one case."""
    return Replies(
        tuple(
            {**reply, **dict.fromkeys(check.points, "no")} if n == number else reply
            for n, reply in enumerate(right)
        )
    )


def raises(check: Check, number: int, right: list) -> Replies:
    """The module raises an error at one case, and the message contains the case."""
    said = {"errors": dict.fromkeys(check.points, f"ValueError: {check.cases[number]}")}
    return Replies(tuple(said if n == number else reply for n, reply in enumerate(right)))


def is_a_stub(check: Check, number: int, right: list) -> Replies:
    """The module pretends to be a stub at one case, and the message contains the case."""
    said = {"errors": dict.fromkeys(check.points, f"{NOT_WRITTEN}: {check.cases[number]}")}
    return Replies(tuple(said if n == number else reply for n, reply in enumerate(right)))


def never_ends(check: Check, number: int, right: list) -> Replies:
    """The module is stopped at one case, and has no reply to the following ones."""
    return Replies(
        tuple(right[:number]) + (None,) * (len(right) - number),
        stopped="stopped after 2 s of computing time",
    )


def shown_cases(check: Check) -> frozenset[int]:
    """The cases of a check that a page may show."""
    return load_answer_key(hidden_cases.hidden_study(check.study)).shown_cases[check.name]


def page(check: Check, number: int, failure: Failure, *, protected: bool = True) -> Outcome:
    """The outcome on the page of a module that fails in one case and is correct otherwise."""
    right = right_replies(check)

    def ask(_study: Study, asked: Check, _seconds: float) -> Replies:
        if asked.name != check.name:
            return Replies(tuple(right_replies(asked)))
        if asked.ask != check.ask:  # a trace, or values of its functions
            return Replies((None,) * len(asked.cases))
        if asked.cases == check.cases:
            return failure(check, number, right)
        return Replies(
            tuple({"errors": dict.fromkeys(check.points, repr(case))} for case in asked.cases)
        )  # it replies with its own query

    key = load_answer_key(hidden_cases.hidden_study(check.study))
    if not protected:
        every = {name: frozenset(range(len(c.cases))) for name, c in key.study.checks.items()}
        key = replace(key, shown_cases=every)
    return decide(SubmissionContext(key), check, ask, TimeLimits(None, 20, 20))


def cases_on(outcome: Outcome, check: Check) -> set[int]:
    """The cases of a check that can be found in the output of grading."""
    text = as_text(outcome) + as_html(outcome) + repr(outcome.to_json())
    return ({outcome.case["number"]} if outcome.case else set()) | {
        number
        for number, case in enumerate(check.cases)
        if repr(case) in text or describe_case(check, case) in text
    }


def learned_cases(check: Check, failure: Failure, *, protected: bool = True) -> set[int]:
    """The cases that students learn together if each of them fails at a different one."""
    return set().union(
        *(
            cases_on(page(check, number, failure, protected=protected), check)
            for number in range(len(check.cases))
        )
    )


@pytest.mark.parametrize("failure", [answers_wrongly, raises, is_a_stub, never_ends])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[] if name == "study2" else [pytest.mark.slow, pytest.mark.content(name)],
        )
        for name in studies()
    ],
)
def test_students_who_compare_pages_learn_the_fixed_cases_alone(name, failure):
    """This holds for any number of students and any way to fail at a case."""
    for check in checks_of(name):
        assert learned_cases(check, failure) == shown_cases(check), check.id


@pytest.mark.parametrize("failure", [answers_wrongly, raises, never_ends])
@pytest.mark.parametrize("name", ["study2", pytest.param("study3", marks=pytest.mark.slow)])
def test_without_the_protection_they_learn_all(name, failure):
    """The same students learn every case if each may be shown."""
    for check in checks_of(name):
        every = set(range(len(check.cases)))
        assert learned_cases(check, failure, protected=False) == every, check.id


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
    """It still has the points of each aspect and the kind of problem."""
    check = hidden_cases.hidden_study("study3").checks["type_a"]
    number = min({*range(len(check.cases))} - shown_cases(check))
    outcome = page(check, number, failure)
    assert (outcome.case, outcome.divergence, outcome.problem) == (None, None, problem)
    assert outcome.is_case_hidden
    assert (ALL_HIDDEN in as_text(outcome)) == (failure is not is_a_stub)
    assert outcome.earned < outcome.points
    assert NO_ANSWER not in as_text(outcome)
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_a_shown_case_is_preferred():
    """A module that is wrong everywhere gets a page with a position."""
    for check in checks_of("study1", "study2", "study3"):
        right = right_replies(check)
        wrong = Replies(tuple({**reply, **dict.fromkeys(check.points, "no")} for reply in right))
        outcome = page(check, 0, lambda *_, wrong=wrong: wrong)
        assert outcome.case["number"] in shown_cases(check)
        assert not outcome.is_case_hidden


def test_few_cases_are_shown_and_expose_most_mistakes():
    """At most three cases of a check and at most half of them are shown, but at least one."""
    shown = all_of_them = 0
    for check in checks_of(*studies()):
        hidden = hidden_cases.hidden_study(check.study)
        expected, mistakes = load_expected(hidden_cases.expected_file(hidden), [check])
        few = shown_cases(check)
        assert 1 <= len(few) <= min(MAX_SHOWN, max(1, len(check.cases) // 2))
        for mistake in mistakes:
            wrong = {
                number
                for number, reply in enumerate(mistake.observed.get(check.name, ()))
                if not all(
                    is_right(check.ask, expected[check.name][number], reply or {}, name)
                    for name in check.points
                )
            }
            all_of_them += bool(wrong)
            shown += bool(wrong & few)
    assert shown >= ENOUGH * all_of_them, f"{shown} of {all_of_them}"
