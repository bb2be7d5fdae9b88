"""Determines which checks of a study a change of the reference can affect.

A check cannot be affected by a change in a function that it never reaches, so the check need not
run again. A check reaches the functions that run on its own cases, and every function whose name
occurs in a reached function, even if that function is rarely called.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType

from common.syntax import parse_python
from course.checks import Check, Study
from course.checks.running.queries import reply

MODULE_NAME = "reference"
Function = ast.FunctionDef | ast.AsyncFunctionDef


class AffectedChecks:
    """Finds the checks that a change affects because they reach a changed function."""

    def __init__(self, study: Study, reference: str) -> None:
        self._functions, self._module_level = _split(reference)
        references = {name: _references(node) for name, node in self._functions.items()}
        self._reached = {
            name: _with_references(
                _called_functions(check, reference) & references.keys(), references
            )
            for name, check in study.checks.items()
        }

    def reached_count(self, check: str) -> int:
        """Return the number of functions that a check reaches."""
        return len(self._reached[check])

    def checks(self, text: str) -> set[str]:
        """Return the names of the checks that reach a function which differs between `text` and the
        reference.

        If there are differences outside functions, all checks are returned.
        """
        functions, module_level = _split(text)
        if module_level != self._module_level or functions.keys() != self._functions.keys():
            return set(self._reached)
        changed = {
            name
            for name, node in functions.items()
            if ast.dump(node) != ast.dump(self._functions[name])
        }
        return {check for check, reached in self._reached.items() if changed & reached}


def _split(text: str) -> tuple[dict[str, Function], str]:
    """Return each function and method by its qualified name, and a dump of everything outside them."""
    outside = parse_python(text)
    for node in dict(_functions(outside, "")).values():
        node.body = []
    return functions_and_methods(text), ast.dump(outside)


def functions_and_methods(text: str) -> dict[str, Function]:
    """Return each function and method of a module by its qualified name."""
    return dict(_functions(parse_python(text), ""))


def _functions(tree: ast.AST, path: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield path + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{path}{node.name}.")
        else:  # an `if` or a `try`
            yield from _functions(node, path)


def _references(function: Function) -> set[str]:
    """Return the words in a function that may be the names of other functions."""
    words = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                words.add(word)
    return words


def _with_references(reached: set[str], references: Mapping[str, set[str]]) -> frozenset[str]:
    """Return the reached functions, and all functions that they reference directly or indirectly."""
    while True:
        words = set().union(*(references[name] for name in reached))
        more = {name for name in references if not words.isdisjoint(name.split("."))} - reached
        if not more:
            return frozenset(reached)
        reached |= more


def _called_functions(check: Check, reference: str) -> set[str]:
    """Return the functions of the reference that run on the check's cases."""
    called: set[CodeType] = set()
    module = ModuleType(MODULE_NAME)

    def profile(frame, event, _argument) -> None:
        if event == "call" and frame.f_code.co_filename == MODULE_NAME:
            called.add(frame.f_code)

    exec(compile(reference, MODULE_NAME, "exec"), vars(module))
    previous = sys.getprofile()
    sys.setprofile(profile)
    try:
        for case in check.cases:
            reply(module, check.ask, {**check.settings, **case})
    finally:
        sys.setprofile(previous)
    return {code.co_qualname.partition(".<locals>")[0] for code in called}
