"""The names that a notebook imports from modules that are reloaded, and what they stand for."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course.live_modules import MISSING, LiveModules
from course.probes.syntax import parsed

IMPORT_HOOK = "course.without_numpy"  # every import goes through it in a browser


@dataclass
class Source:
    """Where a name comes from: a module, or an attribute of it."""

    module: str
    attribute: str | None
    value: Any = MISSING  # what the name stood for when it was last set


class ImportedNames:
    """Keeps a notebook's names up to date. A name that the notebook has set itself is left alone.

    `expected` are modules that belong in the notebook's folder, even if they are missing there.
    """

    def __init__(
        self, namespace: dict[str, Any], modules: LiveModules, expected: frozenset[str]
    ) -> None:
        self._namespace, self._modules, self._expected = namespace, modules, expected
        self._names: dict[str, Source] = {}
        self._all_of: list[str] = []  # modules of which `import *` was asked

    def note(self, cell: str) -> None:
        """Note which names a cell, which has been run, has imported or set in another way."""
        try:
            tree = parsed(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for name, source in _stored(tree):
            if source is None or not self._is_live(source.module):
                self._names.pop(name, None)
            elif name == "*":
                self._all_of = [*{*self._all_of, source.module}]
            else:
                source.value = self._namespace.get(name, MISSING)
                if source.value is MISSING or source.value is self._value(source):
                    self._names[name] = source
                if source.module in self._expected and not self._modules.is_live(source.module):
                    self._modules.expect(source.module)
        self.update()

    def update(self) -> None:
        """Set each name to what its module defines now; one that is not defined is unset."""
        for module in self._all_of:
            for name in _public(self._modules.value(module, None)):
                if name not in self._namespace:
                    self._names.setdefault(name, Source(module, name))
                elif name not in self._names and (
                    self._namespace[name] is self._modules.value(module, name)
                ):
                    self._names[name] = Source(module, name, self._namespace[name])
        for name, source in list(self._names.items()):
            if self._namespace.get(name, MISSING) is not source.value:
                del self._names[name]
                continue
            source.value = self._value(source)
            if source.value is not MISSING:
                self._namespace[name] = source.value
            else:
                self._namespace.pop(name, None)

    def explain(self, error: BaseException) -> str | None:
        """Why a name is not set or a module not found, in one line; None for all other errors, and
        for those of other code than the notebook's."""
        name = getattr(error, "name", None)
        if _globals_of(error) is not self._namespace:
            return None
        if (
            isinstance(error, NameError)
            and name in self._names
            and (self._names[name].value is MISSING)
        ):
            return self._why(self._names[name])
        if isinstance(error, NameError):
            return next(
                (
                    self._modules.broken[module]
                    for module in self._all_of
                    if module in self._modules.broken
                ),
                None,
            )
        if isinstance(error, ModuleNotFoundError) and name and self._is_live(name):
            return f"{name}.py is missing"
        if isinstance(error, ImportError) and name and self._is_live(name):
            missing = str(error).split("'")[1::2]  # cannot import name 'Tabular' from 'minimax'
            return self._why(Source(name, missing[0])) if missing[1:2] == [name] else None
        return None

    def _why(self, source: Source) -> str:
        if source.module in self._modules.broken:
            return self._modules.broken[source.module]
        if self._modules.value(source.module, None) is MISSING:
            return f"{source.module}.py is missing"
        return f"{source.module}.py does not define {source.attribute}"

    def _is_live(self, module: str) -> bool:
        return module in self._expected or self._modules.is_live(module)

    def _value(self, source: Source) -> Any:
        return self._modules.value(source.module, source.attribute)


def _globals_of(error: BaseException) -> dict[str, Any] | None:
    """The global names of the code that raised an error, or that imported what is missing."""
    found = None
    trace = error.__traceback__
    while trace:
        names = trace.tb_frame.f_globals
        found = found if names.get("__name__") == IMPORT_HOOK else names
        trace = trace.tb_next
    return found


def _public(module: Any) -> list[str]:
    """What `import *` brings."""
    names = getattr(module, "__dict__", {})
    return list(names.get("__all__", [name for name in names if not name.startswith("_")]))


def _stored(node: ast.AST) -> Iterator[tuple[str, Source | None]]:
    """The names that a cell sets, in order; with their source if it imports them."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield child.name, None
            case (
                ast.Lambda()
                | ast.ListComp()
                | ast.SetComp()
                | ast.DictComp()
                | (ast.GeneratorExp())
            ):
                pass
            case ast.Import():
                for alias in child.names:
                    root = alias.name.partition(".")[0]
                    yield alias.asname or root, Source(alias.name if alias.asname else root, None)
            case ast.ImportFrom():
                for alias in child.names:
                    yield (
                        alias.asname or alias.name,
                        (None if child.level else Source(child.module or "", alias.name)),
                    )
            case ast.Name(ctx=ast.Store() | ast.Del()):
                yield child.id, None
            case ast.ExceptHandler(name=str(name)):
                yield name, None
                yield from _stored(child)
            case _:
                yield from _stored(child)
