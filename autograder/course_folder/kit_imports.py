"""Finds imports of modules and names that the kit does not have, without importing anything.

The files that import, and the kit's own modules, are only parsed. So nothing is executed, and a
module whose imports fail can be examined too.
"""

import ast
import warnings
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path

from common.syntax import parse_python
from course.checks.study_paths import study_roots
from course.lab.live_modules import KIT as PACKAGES

Import = tuple[str, str]  # a module, and a name in it or ""
NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)
IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


class KitModules:
    """The modules of the kit and of the studies in use."""

    def __init__(self) -> None:
        self._roots = [str(root) for root in study_roots()]
        self._spec, self._names = cache(self._find), cache(self._parse)

    def missing(self, module: str, name: str) -> str:
        """Return the dotted name of what an import would not find, or "".

        Modules outside the kit are not searched for.
        """
        parts = module.split(".")
        if parts[0] not in PACKAGES:
            return ""
        for end in range(1, len(parts) + 1):
            if self._spec(prefix := ".".join(parts[:end])) is None:
                return prefix
        if name in ("", "*") or name.startswith("__") or self._spec(f"{module}.{name}"):
            return ""
        names = self._names(module)
        return "" if names is None or name in names else f"{module}.{name}"

    def _find(self, module: str) -> ModuleSpec | None:
        """Return the module's file and folders; parts of a package can be in several folders."""
        folders = self._roots
        if parent := module.rpartition(".")[0]:
            package = self._spec(parent)
            folders = (package and package.submodule_search_locations) or []
        loader = (SourceFileLoader, SOURCE_SUFFIXES)
        candidates = [FileFinder(folder, loader).find_spec(module) for folder in folders]
        specs = [spec for spec in candidates if spec is not None]
        result = next((spec for spec in specs if spec.loader), next(iter(specs), None))
        if result is not None and result.submodule_search_locations is not None:
            result.submodule_search_locations = [
                folder for spec in specs for folder in spec.submodule_search_locations or ()
            ]
        return result

    def _parse(self, module: str) -> set[str] | None:
        """Return the names that a module defines; None if only executing it could show them."""
        spec = self._spec(module)
        if spec is None or not spec.has_location or spec.origin is None:
            return set()  # a folder without __init__.py
        try:
            tree = parse_code(Path(spec.origin).read_bytes())
            names, listed = {*_defined(tree)}, {*_listed(tree)}
        except (*NOT_PARSED, OSError):
            return None
        is_dynamic = "*" in names or ("__getattr__" in names and not listed)
        return None if is_dynamic else names | listed


def parse_code(code: str | bytes) -> ast.Module:
    """Return the syntax tree of code, without warnings about its style; raises one of `NOT_PARSED`."""
    with warnings.catch_warnings(action="ignore"):
        return parse_python(code)


def imports_of(tree: ast.Module) -> Iterator[Import]:
    """Yield the absolute imports of a module, except those whose failure it handles."""
    waiting: list[ast.AST] = [tree]
    while waiting:  # without recursion, because an `elif` is nested in the `if` before it
        node = waiting.pop()
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((module, alias.name) for alias in names)
            case ast.Try(handlers=handlers) if any(map(_handles_import_errors, handlers)):
                waiting += [*handlers, *node.orelse, *node.finalbody]
            case _:
                waiting += ast.iter_child_nodes(node)


def _handles_import_errors(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(
        isinstance(node, ast.Name) and node.id in IMPORT_ERRORS for node in ast.walk(handler.type)
    )


def _defined(node: ast.AST) -> Iterator[str]:
    """Yield the names that code binds, without those inside functions and classes."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda():
            return
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _defined(child)


def _listed(tree: ast.Module) -> Iterator[str]:
    """Yield the names in a module's `__all__`, if it is a literal."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="__all__")],
                value=ast.List(elts=elements) | ast.Tuple(elts=elements),
            ):
                yield from (str(each.value) for each in elements if isinstance(each, ast.Constant))
