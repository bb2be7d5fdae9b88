"""Carries a known mistake forward if the module's replies are those of a module with this mistake.

Values of a function can be carried forward (see `error_carried_forward`) only if they are plain
data. A method that changes its object, such as a search that fills a table, has no such values. Its
mistake is carried forward if it is a named or a generated mutant: the replies to the checks that
call the method must be exactly those of the mutant, and so must the replies to a check that builds
on it. Then this check is right, given the method, however the module is structured.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from autograder.grading.verdict.answer_key import AnswerKey
from autograder.grading.verdict.carrying.attempts import is_attempt, items_of
from autograder.grading.verdict.carrying.error_carried_forward import CarriedFunctions, Obstacles
from autograder.studies.mutants import load_mutants
from autograder.workspace import answer_path
from autograder.workspace.fault_places import FaultPlaces
from course.checks import Check, Observation
from course.checks.marking.outcome import Outcome
from course.checks.replies import Replies


class Results(NamedTuple):
    """The replies of a module to each check, and the first outcome of each check."""

    replies: Callable[[Check], Replies]
    outcome: Callable[[Check], Outcome]


class _Mistake(NamedTuple):
    """A named or generated mutant that gives the module's replies to the check."""

    functions: tuple[str, ...]  # those with the mistake
    expected: Sequence[Observation]  # the replies of a module with the mistake
    is_shown: Callable[[Check], bool]  # whether another check has the replies of this mutant


def given_known_mistake(
    key: AnswerKey, check: Check, results: Results, obstacles: Obstacles
) -> CarriedFunctions | None:
    """Return the replies of the known mistake that these replies show; None if there is none.

    The mistake must cost marks in the checks that call its functions most directly, and this check
    must not be one of them. The replies there must be those of an attempt; otherwise, its functions
    are added to `obstacles`.
    """
    places = _places(key)
    for mistake in _matching(key, check, results):
        names = places.own_checks(mistake.functions)
        own = [key.study.checks[name] for name in sorted(names)]
        if not own or check.name in names:
            continue
        if not all(map(mistake.is_shown, own)) or all(results.outcome(each).full for each in own):
            continue
        if any(_is_attempt(key, each, results) for each in own):
            right = key.expected[check.name]  # an error is never right, even if it is the mutant's
            expected = [
                {**correct, **(observation or {})}
                for correct, observation in zip(right, mistake.expected, strict=True)
            ]
            return CarriedFunctions(expected, mistake.functions)
        obstacles.not_attempts.update(mistake.functions)
    return None


@cache
def _places(key: AnswerKey) -> FaultPlaces:
    return FaultPlaces(key.study, answer_path(key.study).read_text("utf-8"))


@cache
def _functions_of_mutants(key: AnswerKey) -> Mapping[str, Callable[[], tuple[str, ...]]]:
    """Return, by the name of a mutant, a function that finds those of its functions that differ."""
    places, answer = _places(key), answer_path(key.study).read_text("utf-8")
    return {
        mutant.name: cache(lambda mutant=mutant: places.changed_functions(mutant.apply(answer)))
        for mutant in load_mutants(key.study.name)
    }


def _matching(key: AnswerKey, check: Check, results: Results) -> Iterator[_Mistake]:
    """Yield the mutants that have exactly these replies to a check."""
    named = {mistake.name: mistake for mistake in key.mistakes}
    for name in results.outcome(check).matching:
        mistake = named[name]

        def is_named_mistake(other: Check, mistake=mistake) -> bool:
            outcome = results.outcome(other)
            affects = other.name in mistake.observed
            return mistake.name in outcome.matching if affects else outcome.full

        functions = _functions_of_mutants(key).get(name, tuple)()
        yield _Mistake(functions, mistake.observed[check.name], is_named_mistake)

    def generated(other: Check) -> frozenset[int]:
        observations = results.replies(other).observations
        return key.generated.matching(other, observations, key.expected[other.name])

    for number in sorted(generated(check)):

        def is_generated_mistake(other: Check, number=number) -> bool:
            if key.generated.affecting(other.name, [number]):
                return number in generated(other)
            return results.outcome(other).full

        replies = [observation or {} for observation in results.replies(check).observations]
        yield _Mistake((key.generated.mutants[number][0],), replies, is_generated_mistake)


def _is_attempt(key: AnswerKey, check: Check, results: Results) -> bool:
    """Whether some aspect of the replies to a check follows the right replies."""
    right, replies = key.expected[check.name], results.replies(check).observations
    for aspect in check.points:
        cases = [
            list(items_of(expected[aspect], (reply or {}).get(aspect)))
            for expected, reply in zip(right, replies, strict=True)
        ]
        items = [item for case in cases for item in case]
        if is_attempt(items, cases, [items]):
            return True
    return False
