"""Marks code that builds on an earlier function by comparing it with a reference that builds on the
student's function.

A single mistake in `lane_counts` changes the values of `heuristic` and the moves of `TypeA`,
although both may be correct. So if a check is not entirely right, the reference runs once more.
Every call that one of its functions makes to another then gets the value that the *student's*
function returns there. The replies are then the right ones given that function.

The reference runs in this process. The student's process only computes values, in rounds. The
values that a run lacks are queried together, and the next run uses them. A mistake must cost marks
once, so only functions that lose marks in their own checks are carried forward, and only if they
are attempts (see `attempts`). Otherwise `return 0`, or a random number, would make everything that
builds on it count as right.
"""

import io
import math
import pickle
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from autograder.grading.verdict.carrying.attempts import Pair, frozen, is_attempt, plain
from autograder.grading.verdict.reference_runs import NAME, Call, Reference, ReferenceRun
from course.checks import Check, Observation
from course.checks.marking.comparison import equal
from course.checks.replies import Replies

# The values of one round can require others, up to 30 times in study 9. Every round adds a value.
MAX_ROUNDS = 400
MAX_REFERENCE_CALLS = 2_000_000  # recorded calls of the reference in all rounds of one check
MAX_VALUES = 20_000  # values that a student's module computes for one check
VALUES_PER_CASE = 200
MAX_CHOICES = 8  # sets of functions that are tried for one check
MAX_NUMBER = 1e12  # far above the values of any function of a study
QueryValues = Callable[[Check], Replies]


class LimitReached(Exception):
    """The values of these functions require more work than a check may take."""


class NoValue(Exception):
    """A function has no value in some case, or a value of another kind."""

    def __init__(self, function: str) -> None:
        super().__init__(function)
        self.function = function


class CarriedFunctions(NamedTuple):
    """The replies that are right, given some of the student's own functions."""

    expected: Sequence[Observation]  # the right reply to every case of the check
    functions: tuple[str, ...]  # the functions with a value other than the reference's


class Evidence(NamedTuple):
    """What other checks show about the student's functions, by a function's name."""

    loses_marks: Callable[[str], bool]  # whether it loses marks in the checks that call it
    items: Callable[[str], Sequence[Sequence[Pair]]]  # of its replies there, for each aspect


@dataclass
class Obstacles:
    """What kept the errors of one module from being carried forward."""

    limits: list[str] = field(default_factory=list)  # a sentence for each limit that was reached
    not_attempts: set[str] = field(default_factory=set)  # functions whose values are arbitrary

    def add_limit(self, limit: str) -> None:
        if limit not in self.limits:
            self.limits.append(limit)


def carried_forward(
    reference: Reference,
    check: Check,
    query: QueryValues,
    evidence: Evidence,
    obstacles: Obstacles,
) -> Iterator[CarriedFunctions]:
    """Yield the reference's replies to `check` when the reference builds on the student's own
    functions.

    First, all functions with a mistake are carried forward, then fewer of them, because a module
    need not call its functions where the reference calls them. The reference's own function is used
    if the student's has no value, because it fails, was not written or has another form, and if it
    is not an attempt. `query` calls the student's module. What keeps a function from being carried
    forward is added to `obstacles`.
    """
    names = {call.name for run in reference.runs(check) for call in run.calls.values()}
    search = _Search(reference, check, query, evidence, obstacles)
    choices = [_Choice(frozenset(filter(evidence.loses_marks, names)))]
    tried: set[_Choice] = set()
    while choices and len(tried) < MAX_CHOICES:
        choice = search.usable(choices.pop(0))
        if not choice.functions or choice in tried:
            continue
        tried.add(choice)
        try:
            carried = search.carried(choice)
        except LimitReached as limit:
            if choice.shallow:
                functions = ", ".join(sorted(choice.functions))
                obstacles.add_limit(f"{check.id}, given {functions}: {limit}")
                choices += _smaller(choice.functions)
            else:
                choices.insert(0, choice._replace(shallow=True))
            continue
        if carried:
            yield carried
            choices += _smaller(search.usable(choice).functions)


class _Choice(NamedTuple):
    """The functions whose values are the student's.

    If the choice is `shallow`, no values are queried for calls within these functions, because the
    values of such calls do not matter to the code that builds on the functions. They only show
    which of the functions is wrong.
    """

    functions: frozenset[str]
    shallow: bool = False


@dataclass
class _Search:
    """The values of a student's functions, and the functions that cannot be carried forward."""

    reference: Reference
    check: Check
    query: QueryValues
    evidence: Evidence
    obstacles: Obstacles
    values: dict[Any, Any] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()

    def usable(self, choice: _Choice) -> _Choice:
        """Return the choice without the functions that cannot be carried forward."""
        return choice._replace(functions=choice.functions - self.excluded)

    def carried(self, choice: _Choice) -> CarriedFunctions | None:
        """Return the right replies given the functions of the choice that can be carried forward.

        Returns None if there are none. Raises `LimitReached`.
        """
        while (choice := self.usable(choice)).functions:
            try:
                runs = self._runs(choice)
            except NoValue as error:
                self.excluded |= {error.function}
                continue
            functions = _differing(runs, self.values)
            arbitrary = {name for name in functions if not self._is_attempt(name, runs)}
            if not arbitrary:
                observations = [run.observation for run in runs]
                return CarriedFunctions(observations, functions) if functions else None
            self.obstacles.not_attempts |= arbitrary
            self.excluded |= arbitrary
        return None

    def _runs(self, choice: _Choice) -> list[ReferenceRun]:
        if not choice.shallow:  # one query for most of the values that the runs need
            needed = {
                key: call
                for run in self.reference.runs(self.check)
                for key, call in run.calls.items()
                if call.name in choice.functions and key not in self.values
            }
            self.values |= _student_values(self.check, needed, self.query)
        numbers = range(len(self.check.cases))
        return _rebuilt(self.reference, self.check, numbers, choice, self.values, self.query)

    def _is_attempt(self, name: str, runs: Sequence[ReferenceRun]) -> bool:
        """Whether the student's function of this name is an attempt at the reference's."""
        calls = {key: call for run in runs for key, call in run.calls.items()}
        by_case = [_pairs(name, run.calls, self.values) for run in runs]
        return is_attempt(_pairs(name, calls, self.values), by_case, self.evidence.items(name))


def _smaller(functions: frozenset[str]) -> list[_Choice]:
    """Return the functions without one of them, for each of them, and each of them alone."""
    names = sorted(functions)
    fewer = [functions - {name} for name in names] + [frozenset({name}) for name in names]
    return list(map(_Choice, fewer))


def expected_in_isolation(
    reference: Reference,
    check: Check,
    number: int,
    functions: Sequence[str],
    query: QueryValues,
) -> Observation | None:
    """Return the right reply in one case, given values of the student's functions from a new
    process.

    Returns None if the functions have no values there.
    """
    for shallow in (False, True):
        choice = _Choice(frozenset(functions), shallow)
        with suppress(NoValue, LimitReached):
            (run,) = _rebuilt(reference, check, [number], choice, {}, query)
            return run.observation
    return None


def _pairs(name: str, calls: Mapping[Any, Call], values: Mapping[Any, Any]) -> list[Pair]:
    """Return pairs of the reference's and the student's value of a function, one for each of these
    calls.
    """
    return [(call.expected, values[key]) for key, call in calls.items() if call.name == name]


def _rebuilt(
    reference: Reference,
    check: Check,
    cases: Sequence[int],
    choice: _Choice,
    values: dict[Any, Any],
    query: QueryValues,
) -> list[ReferenceRun]:
    """Return the reference's runs of the cases with these numbers, with the student's values for
    the chosen functions. Missing values are added to `values`.

    Raises `NoValue` and `LimitReached`.
    """
    runs: dict[int, ReferenceRun] = {}
    remaining = cases
    count = 0
    for _ in range(MAX_ROUNDS):
        for number in remaining:
            runs[number] = reference.run(
                check, number, choice.functions, values, shallow=choice.shallow
            )
            count += runs[number].call_count
        if count > MAX_REFERENCE_CALLS:
            raise LimitReached(f"more than {MAX_REFERENCE_CALLS:,} calls")
        missing = {
            key: call
            for number in remaining
            for key, call in runs[number].calls.items()
            if key not in values
        }
        if not missing:
            return [runs[number] for number in cases]
        if len(values) + len(missing) > MAX_VALUES:
            raise LimitReached(f"more than {MAX_VALUES:,} values")
        values |= _student_values(check, missing, query)
        remaining = [
            number for number in remaining if not missing.keys().isdisjoint(runs[number].calls)
        ]
    raise LimitReached(f"more than {MAX_ROUNDS} rounds of queries")


def _student_values(
    check: Check, missing: Mapping[Any, Call], query: QueryValues
) -> dict[Any, Any]:
    """Return the student's values of these calls.

    Raises `NoValue` for the first function that has none, and `LimitReached`.
    """
    if len(missing) > MAX_VALUES:
        raise LimitReached(f"more than {MAX_VALUES:,} values")
    portions = _portions(missing)
    values: dict[Any, Any] = {}
    while portions:
        cases = [
            {
                "names": [name] * len(keys),
                "arguments": _pickled(name, (missing[key] for key in keys)),
            }
            for name, keys in portions
        ]
        replies = query(replace(check, ask="values", settings={}, cases=cases))
        answered = _answered(replies)
        if not answered:
            raise NoValue(portions[0][0])
        for (name, keys), observation in zip(
            portions[:answered], replies.observations[:answered], strict=True
        ):
            for number, key in enumerate(keys):
                if observation is None or str(number) not in observation:
                    raise NoValue(name)
                values[key] = _in_form_of(name, missing[key].expected, observation[str(number)])
        portions = portions[answered:]
    return values


def _portions(missing: Mapping[Any, Call]) -> list[tuple[str, list[Any]]]:
    """Return the keys of the calls in portions for one case, each with its function's name."""
    by_function: dict[str, list[Any]] = {}
    for key, call in missing.items():
        by_function.setdefault(call.name, []).append(key)
    return [
        (name, keys[start : start + VALUES_PER_CASE])
        for name, keys in by_function.items()
        for start in range(0, len(keys), VALUES_PER_CASE)
    ]


def _answered(replies: Replies) -> int:
    """Return the number of cases before the one in which the module was stopped.

    The load can decide where it is stopped, so the others are queried again. If it was not stopped,
    an empty reply means that a function has no value, so all cases count.
    """
    if replies.stopped and None in replies.observations:
        return replies.observations.index(None)
    return len(replies.observations)


def _pickled(name: str, calls: Iterable[Call]) -> str:
    """Return the pickled arguments, in which the reference's own classes and functions are replaced
    by their names.
    """
    data = io.BytesIO()
    try:
        _Arguments(data).dump([(call.args, call.kwargs) for call in calls])
    except (pickle.PicklingError, AttributeError, TypeError) as error:  # a function within one
        raise NoValue(name) from error
    return b64encode(data.getvalue()).decode()


class _Arguments(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        ours = getattr(value, "__module__", None) == NAME and hasattr(value, "__qualname__")
        return value.__qualname__ if ours else None


def _in_form_of(name: str, expected: Any, value: Any) -> Any:
    """Convert the student's value, which was received as plain data, to the form of the reference's
    value.

    Raises `NoValue` if the value of the function `name` does not have this form.
    """
    if isinstance(expected, (tuple, list)) and isinstance(value, list):
        if not hasattr(expected, "_fields"):
            return type(expected)(map(frozen, value))
        if len(value) == len(expected):
            return type(expected)(*map(partial(_in_form_of, name), expected, value))
    elif isinstance(expected, (bool, str, type(None))) or isinstance(value, bool):
        if type(value) is type(expected):
            return value
    elif (
        isinstance(expected, (int, float))
        and isinstance(value, (int, float))
        and (math.isinf(value) or abs(value) <= MAX_NUMBER)  # also rejects NaN
    ):
        return value
    raise NoValue(name)


def _differing(runs: Sequence[ReferenceRun], values: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return the functions with a value other than the reference's."""
    return tuple(
        sorted(
            {
                call.name
                for run in runs
                for key, call in run.calls.items()
                if not equal(plain(call.expected), plain(values[key]))
            }
        )
    )
