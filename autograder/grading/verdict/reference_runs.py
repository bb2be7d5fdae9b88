"""Runs a study's reference answer, with the values of some functions replaced by a student's.

The reference is compiled with two changes. Every top-level function that students write becomes a
`_Written` object, which is what a check calls. Every use of such a function by other code of the
reference goes through `_used_by_reference`, which returns the variant whose value can be replaced.
So the code itself distinguishes who calls a function.
"""

import ast
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property, update_wrapper, wraps
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from autograder import workspace
from autograder.workspace.strip import written_functions
from common.syntax import parse_python
from course.checks import Check, Observation, Study
from course.checks.running.queries import reply

NAME = "reference"  # the name of the module that is run here
UNKNOWN = object()  # a value that is not recorded yet
MAX_CALLS = 500_000  # function calls in one case; a student's values can make a search endless


class Call(NamedTuple):
    """A call that one of the reference's functions makes to another."""

    name: str
    args: tuple
    kwargs: dict[str, Any]
    expected: Any  # what the reference's own function returns


@dataclass
class ReferenceRun:
    """The result of running the reference on one case: its reply, the functions that the check
    called, and the calls that the reference's functions made to each other.
    """

    observation: Observation = field(default_factory=dict)
    called_by_check: set[str] = field(default_factory=set)
    calls: dict[Any, Call] = field(default_factory=dict)
    call_count: int = 0  # of recorded calls, including repeated ones


class Reference:
    """The reference answer of a study with its hidden cases."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._runs: dict[str, list[ReferenceRun]] = {}
        self._aspects: dict[str, Mapping[str, frozenset[str]]] = {}

    def runs(self, check: Check) -> list[ReferenceRun]:
        """Return the run of each case without any student's values; it is the same for all
        students.
        """
        if check.name not in self._runs:
            self._runs[check.name] = [
                self.run(check, number, None, {}) for number in range(len(check.cases))
            ]
        return self._runs[check.name]

    def functions_called(self, check: Check) -> set[str]:
        """Return the functions that the check itself calls and therefore marks."""
        return {name for run in self.runs(check) for name in run.called_by_check}

    def functions_built_on(self, check: Check) -> set[str]:
        """Return the functions that a correct answer to the check calls."""
        return {call.name for run in self.runs(check) for call in run.calls.values()}

    def aspects_by_function(self, check: Check) -> Mapping[str, frozenset[str]]:
        """Return the aspects that have no reply without a function, for each function that the
        check calls.
        """
        if check.name not in self._aspects:
            self._aspects[check.name] = {
                name: self._aspects_without(check, name)
                for name in sorted(self.functions_called(check))
            }
        return self._aspects[check.name]

    def _aspects_without(self, check: Check, function: str) -> frozenset[str]:
        """Return the aspects that lack a reply in some case if this function raises an error."""
        observations = [
            self.run(check, number, (), {}, failing=function).observation
            for number in range(len(check.cases))
        ]
        return frozenset(
            aspect
            for aspect in check.points
            if any(aspect not in observation for observation in observations)
        )

    def run(
        self,
        check: Check,
        number: int,
        replaced: Container[str] | None,
        values: Mapping[Any, Any],
        failing: str = "",
        *,
        shallow: bool = False,
    ) -> ReferenceRun:
        """Run the reference on one case, with `values` for calls to the functions `replaced`.

        If `replaced` is None, calls to all functions are recorded, and none is replaced. The
        function `failing` raises an error when the check calls it. If the run is `shallow`, calls
        within a replaced function are neither recorded nor replaced.
        """
        recorder = _Recorder(replaced, values, failing, shallow)
        module = ModuleType(NAME)
        module.__file__ = self._code.co_filename
        vars(module)["_written"] = recorder.wrap
        vars(module)["_used_by_reference"] = _used_by_reference
        vars(module)["_used_by_itself"] = _used_by_itself
        exec(self._code, vars(module))
        question = {**check.settings, **check.cases[number]}
        recorder.run.observation = reply(module, check.ask, question)
        recorder.run.call_count = MAX_CALLS - recorder.calls_left
        return recorder.run

    @cached_property
    def _code(self) -> CodeType:
        path = workspace.answer_path(self.study)
        text = path.read_text("utf-8")
        tree, written = parse_python(text, str(path)), written_functions(text)
        functions = [
            node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in written
        ]
        _MarkUses(frozenset(node.name for node in functions)).visit(tree)
        for node in functions:
            decorator = ast.copy_location(ast.Name("_written", ast.Load()), node)
            node.decorator_list.insert(0, decorator)
        return compile(ast.fix_missing_locations(tree), str(path), "exec")


class _MarkUses(ast.NodeTransformer):
    """Marks each use of a function in the reference as a use by other code or by the function
    itself.
    """

    def __init__(self, functions: frozenset[str]) -> None:
        self.functions = functions
        self.inside: list[str] = []  # the functions and methods that enclose the current node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.inside.append(node.name)
        self.generic_visit(node)
        self.inside.pop()
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.functions or not isinstance(node.ctx, ast.Load):
            return node
        mark = "_used_by_itself" if node.id in self.inside else "_used_by_reference"
        return ast.copy_location(ast.Call(ast.Name(mark, ast.Load()), [node], []), node)


@dataclass
class _Recorder:
    """Records the calls of one run, and replaces the values of some of them."""

    replaced: Container[str] | None
    values: Mapping[Any, Any]
    failing: str
    shallow: bool = False
    inside: bool = False  # whether a replaced function is running, in a shallow run
    run: ReferenceRun = field(default_factory=ReferenceRun)
    calls_left: int = MAX_CALLS
    results: dict[Any, Any] = field(default_factory=dict)  # the value of each recorded call

    def wrap(self, function: Callable) -> "_Written":
        return _Written(function, self)

    def replaceable(self, function: Callable) -> Callable:
        """Return the function as other code of the reference calls it: calls are recorded if the
        values of the function are replaced.
        """
        name = function.__name__
        if self.replaced is not None and name not in self.replaced:
            return function

        @wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.inside:
                return function(*args, **kwargs)
            if not self.calls_left:
                raise RuntimeError(f"more than {MAX_CALLS:,} calls")
            self.calls_left -= 1
            key = name, args, tuple(sorted(kwargs.items())) if kwargs else ()
            try:
                value = self.results.get(key, UNKNOWN)
            except TypeError:  # there is a list among the arguments
                key = name, _hashable(args), _hashable(key[2])
                value = self.results.get(key, UNKNOWN)
            if value is UNKNOWN:
                expected = self._expected(function, args, kwargs)
                self.run.calls[key] = Call(name, args, kwargs, expected)
                value = self.results[key] = self.values.get(key, expected)
            return list(value) if isinstance(value, list) else value

        return recorded

    def _expected(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        self.inside = self.shallow
        try:
            return _repeatable(function(*args, **kwargs))
        finally:
            self.inside = False


class _Written:
    """A function that students write, as a check calls it."""

    def __init__(self, function: Callable, recorder: _Recorder) -> None:
        update_wrapper(self, function)
        self.function, self.recorder = function, recorder
        self.replaceable = recorder.replaceable(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.function.__name__
        self.recorder.run.called_by_check.add(name)
        if name == self.recorder.failing:
            raise RuntimeError(name)
        return self.function(*args, **kwargs)


def _used_by_reference(value: Any) -> Any:
    """Return the variant of a function whose value can be replaced, unless a question has replaced
    the function itself.
    """
    return value.replaceable if isinstance(value, _Written) else value


def _used_by_itself(value: Any) -> Any:
    """Return the original function, because it is not replaced where it calls itself."""
    return value.function if isinstance(value, _Written) else value


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if type(value) in (list, tuple) else value


def _repeatable(value: Any) -> Any:
    """Return the items of a generator as a list, because a generator can be read only once."""
    return list(value) if hasattr(value, "__next__") else value
