"""Updates the names that a notebook has imported from reloaded modules."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from common.syntax import parse_python
from course.lab.live_modules import MISSING, LiveModules

IMPORT_HOOK = "course.lab.numpy_fallback"  # the module that handles all imports in a browser


@dataclass
class Source:
    """The source of a name: a module, or one of its attributes."""

    module: str
    attribute: str | None
    value: Any = MISSING  # the value of the name when it was last set


class ImportedNames:
    """Keeps a notebook's imported names up to date, except names that the notebook has reassigned.

    `expected` are the modules that belong in the notebook's folder, even if they are missing.
    """

    def __init__(
        self, namespace: dict[str, Any], modules: LiveModules, expected: frozenset[str]
    ) -> None:
        self._namespace, self._modules, self._expected = namespace, modules, expected
        self._names: dict[str, Source] = {}
        self._all_of: list[str] = []  # modules imported with `import *`

    def record_imports(self, cell: str) -> None:
        """Record the names that an executed cell has imported or assigned."""
        try:
            tree = parse_python(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for name, source in _bindings(tree):
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
        """Set each name to its module's current value, and delete names that are no longer defined."""
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
        """One line that explains why a name is not defined or a module was not found.

        None for other errors, and for errors in code outside the notebook.
        """
        name = getattr(error, "name", None)
        if _globals_of(error) is not self._namespace:
            return None
        if (
            isinstance(error, NameError)
            and name in self._names
            and (self._names[name].value is MISSING)
        ):
            return self._reason(self._names[name])
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
            return self._reason(Source(name, missing[0])) if missing[1:2] == [name] else None
        return None

    def _reason(self, source: Source) -> str:
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
    """The global names of the code that raised an error or imported a missing module."""
    namespace = None
    trace = error.__traceback__
    while trace:
        names = trace.tb_frame.f_globals
        if names.get("__name__") != IMPORT_HOOK:
            namespace = names
        trace = trace.tb_next
    return namespace


def _public(module: Any) -> list[str]:
    """The names that `import *` imports."""
    names = getattr(module, "__dict__", {})
    return list(names.get("__all__", [name for name in names if not name.startswith("_")]))


def _bindings(node: ast.AST) -> Iterator[tuple[str, Source | None]]:
    """The names that a cell binds, in order, with their source if they are imported."""
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
                yield from _bindings(child)
            case _:
                yield from _bindings(child)
