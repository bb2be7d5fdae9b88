"""Which checks of a study can tell a changed module from the reference: those that reach it.

A change in a function that no question of a check ever comes to cannot be seen there, so the check
need not be asked. What is reached is what runs on the check's own cases, and every function that
is named in what is reached, however seldom it is called.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType

from course.probes import Check, Study
from course.probes.ask import reply
from course.probes.syntax import parsed

NAME = "reference"  # of the module and of its file here
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Reach:
    """The functions that each check of a study reaches in the reference."""

    def __init__(self, study: Study, reference: str) -> None:
        self._functions, self._rest = _parts(reference)
        named = {name: _named(node) for name, node in self._functions.items()}
        self._reached = {
            name: _closed(_run(check, reference) & named.keys(), named)
            for name, check in study.checks.items()
        }

    def size(self, check: str) -> int:
        """How many functions a check reaches."""
        return len(self._reached[check])

    def checks(self, text: str) -> set[str]:
        """The names of the checks that reach what `text` has otherwise than the reference.

        All of them, where more than the insides of functions is changed.
        """
        functions, rest = _parts(text)
        if rest != self._rest or functions.keys() != self._functions.keys():
            return set(self._reached)
        changed = {
            name
            for name, node in functions.items()
            if ast.dump(node) != ast.dump(self._functions[name])
        }
        return {check for check, reached in self._reached.items() if changed & reached}


def _parts(text: str) -> tuple[dict[str, Function], str]:
    """Each function and method, by its qualified name, and all that stands outside of them."""
    outside = parsed(text)
    for node in dict(_functions(outside, "")).values():
        node.body = []
    return dict(_functions(parsed(text), "")), ast.dump(outside)


def _functions(tree: ast.AST, path: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield path + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{path}{node.name}.")
        else:  # an `if` or a `try`
            yield from _functions(node, path)


def _named(function: Function) -> set[str]:
    """The words in a function that may be the name of another one."""
    words = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                words.add(word)
    return words


def _closed(reached: set[str], named: Mapping[str, set[str]]) -> frozenset[str]:
    """What is reached, with all that is named there, and in that."""
    while True:
        words = set().union(*(named[name] for name in reached))
        more = {name for name in named if not words.isdisjoint(name.split("."))} - reached
        if not more:
            return frozenset(reached)
        reached |= more


def _run(check: Check, reference: str) -> set[str]:
    """The functions of the reference that run when it answers the check's cases."""
    seen: set[CodeType] = set()
    module = ModuleType(NAME)

    def look(frame, event, _argument) -> None:
        if event == "call" and frame.f_code.co_filename == NAME:
            seen.add(frame.f_code)

    exec(compile(reference, NAME, "exec"), vars(module))
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        for case in check.cases:
            reply(module, check.ask, {**check.settings, **case})
    finally:
        sys.setprofile(before)
    return {code.co_qualname.partition(".<locals>")[0] for code in seen}
