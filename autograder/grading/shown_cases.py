"""Chooses the hidden cases of a check that feedback may show.

A page explains a check by one case that went wrong. If any case could be shown, students who
compare their pages would learn all of them, one by deliberately failing at each. So the cases that
may be shown are fixed: the few that expose most known mistakes. They depend on the study's hidden
positions and mutants alone, so they are the same for all students and submissions.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from autograder import verdicts
from course.probes import Check, load_expected
from course.probes.outcome import is_right
from course.probes.questions import MATCHES

MOST = 4  # of the cases of a check
SHARE = 2  # and at most one case in so many, but at least one


def shown_cases(check: Check) -> frozenset[int]:
    """The numbers of the hidden cases of `check` that a page may show; of games, all."""
    if check.ask in MATCHES:
        return frozenset(range(len(check.cases)))
    return _shown_cases(check.study, check.name, check.digest)


@cache
def _shown_cases(study: str, name: str, _digest: str) -> frozenset[int]:
    """A greedy cover: each case is the one that exposes the most mutants that the others do not. A
    mutant counts the more, the fewer cases expose it."""
    hidden = verdicts.hidden_study(study)
    check = hidden.checks[name]
    mutants = _exposed(check)
    numbers = range(len(check.cases))
    shown: list[int] = []
    for _ in range(max(1, min(MOST, len(numbers) // SHARE))):
        gain = {
            number: (
                _weight(number, [cases for cases in mutants if not cases & {*shown}]),
                _weight(number, mutants),
                -number,
            )
            for number in numbers
            if number not in shown
        }
        shown.append(max(gain, key=gain.__getitem__))
    return frozenset(shown)


def _weight(number: int, mutants: Iterable[set[int]]) -> Fraction:
    """What a case exposes; exact, so that it is the same on every machine."""
    return sum((Fraction(1, len(cases)) for cases in mutants if number in cases), Fraction())


def _exposed(check: Check) -> list[set[int]]:
    """For each mutant that loses marks in the check, the cases that expose it."""
    expected, slips = load_expected(
        verdicts.expected_file(verdicts.hidden_study(check.study)), [check]
    )
    replies = [slip.observed[check.name] for slip in slips if check.name in slip.observed]
    return [
        {
            number
            for number, (right, reply) in enumerate(
                zip(expected[check.name], observed, strict=True)
            )
            if not all(is_right(check.ask, right, reply or {}, aspect) for aspect in check.points)
        }
        for observed in replies
    ]
