"""Chooses the hidden cases of a check that feedback may show.

A page explains a check by one case that went wrong. If any case could be shown, students who
deliberately fail at different cases and compare their pages would learn all of them. So the cases
that may be shown are fixed. They are the few that expose most known mistakes. They depend on the
study's hidden positions and mutants alone, so they are the same for all students and submissions.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from course.checks import Check, KnownMistake, Observation
from course.checks.marking.comparison import is_right
from course.checks.questions import MATCHES

MAX_SHOWN = 4  # cases of a check
CASES_PER_SHOWN = 2  # at most one of this many cases is shown, but at least one per check


def shown_cases(
    check: Check, expected: Sequence[Observation], mistakes: Iterable[KnownMistake]
) -> frozenset[int]:
    """Return the numbers of the hidden cases of `check` that a page may show; all if the
    check plays matches.

    This is a greedy cover, in which each case exposes the most mistakes that the previous cases do
    not expose. The fewer cases expose a mistake, the more it counts.
    """
    numbers = range(len(check.cases))
    if check.ask in MATCHES:
        return frozenset(numbers)
    exposing = [
        _exposing(check, expected, mistake.observed[check.name])
        for mistake in mistakes
        if check.name in mistake.observed
    ]
    chosen: list[int] = []
    for _ in range(max(1, min(MAX_SHOWN, len(numbers) // CASES_PER_SHOWN))):
        gain = {
            number: (
                _weight(number, [cases for cases in exposing if not cases & {*chosen}]),
                _weight(number, exposing),
                -number,
            )
            for number in numbers
            if number not in chosen
        }
        chosen.append(max(gain, key=gain.__getitem__))
    return frozenset(chosen)


def _weight(number: int, exposing: Iterable[set[int]]) -> Fraction:
    """Return how much a case exposes as an exact number, which is the same on every machine."""
    return sum((Fraction(1, len(cases)) for cases in exposing if number in cases), Fraction())


def _exposing(
    check: Check, expected: Sequence[Observation], observed: Sequence[Observation | None]
) -> set[int]:
    """Return the cases in which a mistake's replies differ from the expected ones."""
    return {
        number
        for number, (right, reply) in enumerate(zip(expected, observed, strict=True))
        if not all(is_right(check.ask, right, reply or {}, aspect) for aspect in check.points)
    }
