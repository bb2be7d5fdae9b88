"""Cells that need numpy where it is missing, in a browser: they show what they showed when built.

`course.notebook` asks this module about errors there. An import of numpy or matplotlib in a cell
brings a stand-in, so that the cell's other imports are done. A cell that goes on to use numpy shows
the outputs that it had when the live course was made, and so does one that uses its results.
"""

import ast
import builtins
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from course.drawn_before import NoAxes, outputs_before
from course.probes.syntax import parsed

SAID = (
    "This cell needs {}, which is not in this browser. It shows what it showed when this site "
    "was made:"
)


class NotHere(ModuleNotFoundError):
    """Raised by every use of a module that is not here."""


class Absent:
    """Stands in for a module that is missing: it can be imported, and not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise NotHere(f"{self._name}.{attribute}: there is no {self._name} here", name=self._name)


STAND_INS = {"matplotlib": NoAxes(), "numpy": Absent("numpy"), "scipy": Absent("scipy")}


def stand_in(shell: Any) -> None:
    """From now on, what a cell imports of a missing module is its stand-in; modules get the truth.

    What matplotlib's does draws nothing.
    """
    really = builtins.__import__
    missing = {name for name in STAND_INS if find_spec(name) is None}

    def imported(name: str, globals: Any = None, *rest: Any, **named: Any) -> Any:
        root = _root(name)
        if root in missing and globals is shell.user_global_ns:
            return STAND_INS[root]
        return really(name, globals, *rest, **named)

    builtins.__import__ = imported


def _root(name: str) -> str:
    return name.partition(".")[0]


class Explained:
    """Which errors of a notebook come of what is missing."""

    def __init__(self) -> None:
        self._unset: dict[str, str] = {}  # names that cells could not set, and for want of what

    def outputs(self, error: BaseException, cell: str) -> tuple[str, list[str]] | None:
        """Words and outputs to be shown instead of the error; None if it is another one."""
        name = getattr(error, "name", None)
        missing = (
            self._unset.get(name or "")
            if isinstance(error, NameError)
            else (_root(name or "") if isinstance(error, ModuleNotFoundError) else None)
        )
        if missing is None or missing not in STAND_INS:
            return None
        self._unset |= dict.fromkeys(_set_in(cell), missing)
        return SAID.format(missing), outputs_before(cell)


def _set_in(cell: str) -> Iterator[str]:
    """The names that a cell would have set."""
    lines = (line for line in cell.splitlines() if line[:1] not in ("%", "!"))
    try:
        tree = parsed("\n".join(lines))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield _root(node.asname or node.name)
