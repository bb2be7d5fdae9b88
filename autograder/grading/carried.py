"""Marks what builds on an earlier function by the reference built on the student's own function.

One slip in `lane_counts` makes the values of `heuristic` and the moves of `TypeA` others, although
both may be right as they stand. So where a check is not all right, the reference is run once more,
and every call that one of its functions makes to another gets the value that the *student's*
function has there. What it replies then is right, given that function.

The reference runs out here; the student's process is only asked for values, in rounds: those that a
run misses are asked for together, and the next run has them. A mistake must cost something once:
only functions that lose marks in their own checks are carried forward, and only if they are
attempts (see `attempts`). Otherwise `return 0`, or a random number, would make all that builds on
it right.
"""

import ast
import io
import pickle
import sys
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from autograder import verdicts, workspace
from autograder.grading.attempts import Pair, is_attempt, plain
from autograder.workspace.strip import written_functions
from course.probes import Check, Observation, load_study
from course.probes.ask import reply
from course.probes.outcome import equal
from course.probes.replies import Replies
from course.probes.syntax import parsed

NAME = "reference"  # of the module that is run here
ROUNDS = 40  # of asking; a tree asks for other values whenever it has got some: 30 in study 9
MOST_CALLS = 100_000  # of functions, in one case: values can make a search endless
MOST_VALUES = 20_000  # that a student's module is asked for
AT_ONCE = 200  # of them in one case
MOST = 1e12  # of a number; no function of a study comes near
Ask = Callable[[Check], Replies]
Loses = Callable[[str], bool]
Items = Callable[[str], Sequence[Sequence[Pair]]]


class NotCarried(Exception):
    """Nothing can be carried forward: a value is missing, or of another kind."""


class Given(NamedTuple):
    """What is right, given some functions of the student's own."""

    expected: Sequence[Observation]  # to every case of the check
    functions: tuple[str, ...]  # those with a value other than the reference's


def carried_forward(check: Check, ask: Ask, loses: Loses, items_of: Items) -> Given | None:
    """What the reference replies to `check` if it is built on the student's own functions.

    None if it is built on none, if those that it is built on are right there, and if they fail or
    are no attempts. `ask` asks the student's module; `loses(name)` says whether the function of
    that name has lost marks in its own checks, and `items_of(name)` has the items of its replies
    there, aspect by aspect.
    """
    plain_runs = _plain_runs(check.study, check.name)
    calls = {key: call for run in plain_runs for key, call in run.calls.items()}
    if not calls:
        return None
    own = frozenset(filter(loses, {call.name for call in calls.values()}))
    if not own:
        return None
    try:
        calls = {key: call for key, call in calls.items() if call.name in own}
        table = dict(zip(calls, _theirs(check, calls.values(), ask), strict=True))
        runs = _rebuilt(check, range(len(check.cases)), own, table, ask)
    except NotCarried:
        return None
    calls = {key: call for run in runs for key, call in run.calls.items()}
    functions = _differing(calls, table)
    if not functions or not all(
        is_attempt(
            _values(name, calls, table),
            [_values(name, run.calls, table) for run in runs],
            items_of(name),
        )
        for name in functions
    ):
        return None
    return Given([run.observation for run in runs], functions)


def right_alone(check: Check, number: int, given: Given, ask: Ask) -> Observation | None:
    """What is right in one case, given the student's own functions, which are asked nothing else.

    None if they have no values there when they are asked so.
    """
    try:
        (run,) = _rebuilt(check, [number], frozenset(given.functions), {}, ask)
    except NotCarried:
        return None
    return run.observation


class _Call(NamedTuple):
    name: str
    args: tuple
    kwargs: dict[str, Any]
    ours: Any  # what the reference's own function returns


@dataclass
class _Run:
    """The reference's reply to one case, the functions that were asked, and the calls that its
    functions made to others."""

    observation: Observation = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    calls: dict[Any, _Call] = field(default_factory=dict)


def _values(name: str, calls: Mapping[Any, _Call], table: Mapping[Any, Any]) -> list[Pair]:
    """The values of a function in these calls, the reference's and the student's."""
    return [(call.ours, table[key]) for key, call in calls.items() if call.name == name]


def functions_asked(check: Check) -> set[str]:
    """The functions that the check itself calls, and so gives marks for."""
    return {name for run in _plain_runs(check.study, check.name) for name in run.asked}


@cache
def aspects_by_function(check: str, study: str) -> Mapping[str, frozenset[str]]:
    """The aspects of a check that cannot be replied without calling a function, by the functions
    that the check calls itself."""
    asked = verdicts.hidden_study(study).checks[check]
    found: dict[str, frozenset[str]] = {}
    for name in sorted(functions_asked(asked)):
        replied = [
            _run(asked, number, (), {}, failing=name).observation
            for number in range(len(asked.cases))
        ]
        found[name] = frozenset(
            aspect for aspect in asked.points if any(aspect not in each for each in replied)
        )
    return found


def functions_built_on(check: Check) -> set[str]:
    """The functions that a right answer to the check calls by itself."""
    return {
        call.name for run in _plain_runs(check.study, check.name) for call in run.calls.values()
    }


@cache
def _plain_runs(study: str, check: str) -> list[_Run]:
    """The run of each case without values of a student, the same for all of them."""
    asked = verdicts.hidden_study(study).checks[check]
    return [_run(asked, number, None, {}) for number in range(len(asked.cases))]


def _rebuilt(
    check: Check, cases: Sequence[int], own: Container[str], table: dict[Any, Any], ask: Ask
) -> list[_Run]:
    """The run of each of the cases of these numbers with the student's values for the functions
    `own`; those that are missing in `table` are added. Raises `NotCarried`."""
    runs: dict[int, _Run] = {}
    left = cases
    for _ in range(ROUNDS):
        runs |= {number: _run(check, number, own, table) for number in left}
        missing = {
            key: call
            for number in left
            for key, call in runs[number].calls.items()
            if key not in table
        }
        if not missing:
            return [runs[number] for number in cases]
        table |= zip(missing, _theirs(check, missing.values(), ask), strict=True)
        left = [number for number in left if not missing.keys().isdisjoint(runs[number].calls)]
    raise NotCarried


def _run(
    check: Check,
    number: int,
    own: Container[str] | None,
    table: Mapping[Any, Any],
    failing: str = "",
) -> _Run:
    """Ask the reference one case, with the values in `table` for the functions `own` (None: for
    none, but the calls to all are kept). The function `failing` raises when the check calls it."""
    run = _Run()
    module = _mixed(check.study, own, table, run, failing)
    run.observation = reply(module, check.ask, {**check.settings, **check.cases[number]})
    return run


def _mixed(
    study: str, own: Container[str] | None, table: Mapping[Any, Any], run: _Run, failing: str
) -> ModuleType:
    """The reference as a module in which every function that students write is wrapped."""
    code, module = _compiled(study), ModuleType(NAME)
    module.__file__ = code.co_filename
    budget = iter(range(MOST_CALLS))

    def carried(function: Callable) -> Callable:
        name = function.__name__

        @wraps(function)
        def called(*args, **kwargs):
            caller = sys._getframe(1)
            if caller.f_globals is not vars(module):
                run.asked.add(name)  # by the question
                if name == failing:
                    raise RuntimeError(name)
            elif caller.f_code.co_name != name and (own is None or name in own):
                return value_of(function, args, kwargs)
            return function(*args, **kwargs)

        return called

    def value_of(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        if next(budget, None) is None:
            raise RuntimeError(f"more than {MOST_CALLS:,} calls")
        key = function.__name__, args, tuple(sorted(kwargs.items()))
        try:
            hash(key)
        except TypeError:  # there is a list among the arguments
            key = function.__name__, _hashable(args), _hashable(key[2])
        if key not in run.calls:
            run.calls[key] = _Call(
                function.__name__, args, kwargs, _listed(function(*args, **kwargs))
            )
        value = table.get(key, run.calls[key].ours)
        return list(value) if isinstance(value, list) else value

    vars(module)["_carried"] = carried
    exec(code, vars(module))
    return module


@cache
def _compiled(study: str) -> CodeType:
    """The code of a reference, with a decorator on every function that students write."""
    path = workspace.answer_path(load_study(study))
    text = path.read_text("utf-8")
    tree, written = parsed(text, str(path)), written_functions(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in written:
            node.decorator_list.insert(0, ast.copy_location(ast.Name("_carried", ast.Load()), node))
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if type(value) in (list, tuple) else value


def _listed(value: Any) -> Any:
    """A generator's items, as they can be had only once."""
    return list(value) if hasattr(value, "__next__") else value


def _theirs(check: Check, missing: Iterable[_Call], ask: Ask) -> list[Any]:
    """The student's values of these calls; raises `NotCarried`."""
    calls = list(missing)
    if len(calls) > MOST_VALUES:
        raise NotCarried
    portions = [calls[start : start + AT_ONCE] for start in range(0, len(calls), AT_ONCE)]
    cases = [
        {"names": [call.name for call in portion], "arguments": _pickled(portion)}
        for portion in portions
    ]
    replies = ask(replace(check, ask="values", settings={}, cases=cases))
    values = []
    for portion, observation in zip(portions, replies.observations, strict=True):
        for number, call in enumerate(portion):
            if str(number) not in (observation or {}):
                raise NotCarried
            values.append(_like(call.ours, observation[str(number)]))
    return values


def _pickled(calls: Sequence[_Call]) -> str:
    """The arguments; the reference's own classes and functions stand there by their names."""
    data = io.BytesIO()
    try:
        _Arguments(data).dump([(call.args, call.kwargs) for call in calls])
    except (pickle.PicklingError, AttributeError, TypeError) as error:  # a function within one
        raise NotCarried from error
    return b64encode(data.getvalue()).decode()


class _Arguments(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        ours = getattr(value, "__module__", None) == NAME and hasattr(value, "__qualname__")
        return value.__qualname__ if ours else None


def _like(ours: Any, theirs: Any) -> Any:
    """The student's value, which came as plain data, in the form of ours; raises `NotCarried`."""
    if isinstance(ours, (tuple, list)) and isinstance(theirs, list):
        if not hasattr(ours, "_fields"):
            return type(ours)(map(_frozen, theirs))
        if len(theirs) == len(ours):
            return type(ours)(*map(_like, ours, theirs))
    elif isinstance(ours, (bool, str, type(None))) or isinstance(theirs, bool):
        if type(theirs) is type(ours):
            return theirs
    elif (
        isinstance(ours, (int, float))
        and isinstance(theirs, (int, float))
        and (abs(theirs) <= MOST)
    ):  # not for NaN either
        return theirs
    raise NotCarried


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _differing(calls: Mapping[Any, _Call], table: Mapping[Any, Any]) -> tuple[str, ...]:
    return tuple(
        sorted(
            {
                call.name
                for key, call in calls.items()
                if not equal(plain(call.ours), plain(table[key]))
            }
        )
    )
