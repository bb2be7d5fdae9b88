"""Replaces numpy and matplotlib in a browser that does not have them.

`course.notebook` uses this module. If a cell imports numpy or matplotlib, it gets a fallback, so
that its other imports succeed. A cell that uses numpy, or the results of such a cell, shows the
outputs that it had when the live course was built.
"""

import ast
import builtins
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from common.syntax import parse_python
from course.lab.prerendered import NullAxes, prerendered_outputs

UNAVAILABLE_MESSAGE = (
    "This cell needs {}, which is not available in the browser. These are its outputs from when "
    "this site was built:"
)


class PackageUnavailable(ModuleNotFoundError):
    """Raised by every use of a package that is not available."""


class MissingPackage:
    """The fallback for a package: it can be imported, but not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise PackageUnavailable(
            f"{self._name}.{attribute}: {self._name} is not available here", name=self._name
        )


FALLBACKS = {
    "matplotlib": NullAxes(),
    "numpy": MissingPackage("numpy"),
    "scipy": MissingPackage("scipy"),
}


def install_fallback(shell: Any) -> None:
    """Let cells import the fallbacks of missing packages; imports in modules still fail.

    The fallback for matplotlib draws nothing.
    """
    original_import = builtins.__import__
    missing = {name for name in FALLBACKS if find_spec(name) is None}

    def import_or_fallback(name: str, globals: Any = None, *rest: Any, **named: Any) -> Any:
        root = _root(name)
        if root in missing and globals is shell.user_global_ns:
            return FALLBACKS[root]
        return original_import(name, globals, *rest, **named)

    builtins.__import__ = import_or_fallback


def _root(name: str) -> str:
    return name.partition(".")[0]


class MissingPackages:
    """Recognises the errors in a notebook that are caused by missing packages."""

    def __init__(self) -> None:
        self._unset: dict[str, str] = {}  # name that a cell could not assign -> missing package

    def outputs(self, error: BaseException, cell: str) -> tuple[str, list[str]] | None:
        """A text and outputs to show instead of the error; None if the error has another cause."""
        name = getattr(error, "name", None)
        missing = (
            self._unset.get(name or "")
            if isinstance(error, NameError)
            else (_root(name or "") if isinstance(error, ModuleNotFoundError) else None)
        )
        if missing is None or missing not in FALLBACKS:
            return None
        self._unset |= dict.fromkeys(_assigned_names(cell), missing)
        return UNAVAILABLE_MESSAGE.format(missing), prerendered_outputs(cell)


def _assigned_names(cell: str) -> Iterator[str]:
    """The names that a cell would have assigned."""
    lines = (line for line in cell.splitlines() if line[:1] not in ("%", "!"))
    try:
        tree = parse_python("\n".join(lines))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield _root(node.asname or node.name)
