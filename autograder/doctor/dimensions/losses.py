"""In which cases each mutant loses marks, and so in which direction it breaks a requirement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autograder.doctor.dimensions.values import Value, position_values, values_of
from course.checks import Case, Check, KnownMistake, Observation
from course.checks.marking.comparison import is_right, same
from course.checks.question import texts_of

Losses = Mapping[Value, "MutantCounts"]


class MutantCounts(NamedTuple):
    """The mutants that lose marks in cases with a value, and the ones that lose only there."""

    there: frozenset[str]
    only_there: frozenset[str]


def losses_by_value(
    check: Check,
    expected: Sequence[Observation],
    mistakes: Sequence[KnownMistake],
    options: Sequence[str],
) -> Losses:
    """Return, for each value of a check's cases, which mutants lose marks there."""
    there: dict[Value, set[str]] = {}
    only: dict[Value, set[str]] = {}
    for mistake in mistakes:
        lost = [
            values
            for case, right, got in zip(
                check.cases,
                expected,
                mistake.observed.get(check.name, expected),
                strict=True,
            )
            for values in _lost(check, case, right, got or {}, options)
        ]
        for value in frozenset().union(*lost):
            there.setdefault(value, set()).add(mistake.name)
        for value in frozenset.intersection(*lost) if lost else ():
            only.setdefault(value, set()).add(mistake.name)
    return {
        value: MutantCounts(frozenset(names), frozenset(only.get(value, ())))
        for value, names in there.items()
    }


def _lost(
    check: Check, case: Case, expected: Observation, got: Observation, options: Sequence[str]
) -> Iterator[frozenset[Value]]:
    """Yield the values of each part of a case in which a reply is wrong.

    If an aspect is a list with an item for each position, then each position is a part.
    """
    texts = texts_of(case)
    wrong = [
        aspect
        for aspect in check.points
        if aspect in expected and not is_right(check.ask, expected, got, aspect)
    ]
    if not wrong:
        return
    parts: set[int] = set()
    for aspect in wrong:
        pairs = _by_position(expected[aspect], got.get(aspect), len(texts))
        if pairs is None:
            yield values_of(check, case, options)
            return
        parts |= {
            number
            for number, (right, reply) in enumerate(pairs)
            if not same(check.ask, aspect, [right], [reply])
        }
    shared = values_of(check, {**case, "on": []}, options)
    for number in parts:
        yield shared | position_values(check, texts[number])


def _by_position(right: Any, reply: Any, positions: int) -> list[tuple[Any, Any]] | None:
    """Return the expected item and that of the reply for each position, if there are such items."""
    lists = isinstance(right, list) and isinstance(reply, list)
    if positions > 1 and lists and len(right) == len(reply) == positions:
        return list(zip(right, reply, strict=True))
    return None
