"""Finds the checks that call a function most directly, in which a mistake in it costs marks."""

import ast
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, ModuleType

from autograder.workspace.affected_checks import functions_and_methods
from course.checks import Check, Study
from course.checks.questions import MATCHES
from course.checks.running.queries import reply

MODULE_NAME = "reference"
FEW_CASES = 2  # of each check; usually, they call all functions


class FaultPlaces:
    """The checks of a study that call the functions of a correct module."""

    def __init__(self, study: Study, text: str) -> None:
        self._study, self._text = study, text
        self._functions = functions_and_methods(text)
        self._depths: dict[int | None, Mapping[str, Mapping[str, int]]] = {}

    def changed_functions(self, text: str) -> tuple[str, ...]:
        """Return the functions in which a module differs from the correct one."""
        theirs = functions_and_methods(text)
        names = [*self._functions, *(name for name in theirs if name not in self._functions)]
        return tuple(name for name in names if _dump(self._functions, name) != _dump(theirs, name))

    def own_checks(self, functions: Iterable[str]) -> set[str]:
        """Return the names of the checks that call one of these functions most directly, that is,
        through the fewest other functions of the module.
        """
        checks: set[str] = set()
        for function in functions:
            depths = self._by_check(function, FEW_CASES) or self._by_check(function, None)
            checks |= {name for name in depths if depths[name] == min(depths.values())}
        return checks

    def _by_check(self, function: str, most: int | None) -> dict[str, int]:
        if most not in self._depths:
            self._depths[most] = {
                name: _depths(check, self._text, most)
                for name, check in self._study.checks.items()
                if check.ask not in MATCHES
            }
        return {
            name: depths[function]
            for name, depths in self._depths[most].items()
            if function in depths
        }


def _dump(functions: Mapping[str, ast.AST], name: str) -> str:
    return ast.dump(functions[name]) if name in functions else ""


def _depths(check: Check, text: str, most: int | None) -> dict[str, int]:
    """Return, for each function that runs on the first cases of the check, the lowest number of the
    module's other functions through which the check calls it.
    """
    depths: dict[str, int] = {}
    stack: list[str] = []
    names: dict[CodeType, str] = {}

    def profile(frame, event, _argument) -> None:
        code = frame.f_code
        if code.co_filename != MODULE_NAME or event not in ("call", "return"):
            return
        if event == "return":
            stack.pop()
            return
        name = names.get(code)
        if name is None:
            name = names[code] = code.co_qualname.partition(".<locals>")[0]
        if depths.get(name) != 0:
            depth = len({*stack} - {name})
            depths[name] = min(depth, depths.get(name, depth))
        stack.append(name)

    module = ModuleType(MODULE_NAME)
    exec(compile(text, MODULE_NAME, "exec"), vars(module))
    previous = sys.getprofile()
    sys.setprofile(profile)
    try:
        for case in check.cases[:most]:
            stack.clear()
            reply(module, check.ask, {**check.settings, **case})
    finally:
        sys.setprofile(previous)
    return depths
