"""Updates the classes and functions of a module when it is executed again.

A class keeps its identity: the members of the new class are moved to the old one, so instances,
subclasses and `isinstance` continue to work. Existing references to an old function call the new one.
"""

import builtins
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import (
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any
from weakref import WeakSet

_caches: WeakSet[Any] = WeakSet()  # the functions with `functools.cache` in these modules
LAYOUT_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)  # cannot be moved
CALL = """
{kind} {name}(*args, **kwargs):
    from course.lab.live_modules import successor
    {give} successor({module!r}, {path!r})(*args, **kwargs){after}
"""
# How a function of each kind returns the result of the new one. A function must keep its kind,
# because replacing its code with that of another kind is deprecated.
PLAIN, GENERATOR = ("def", "return", ""), ("def", "return (yield from", ")")
COROUTINE = ("async def", "return await", "")
ASYNC_GENERATOR = ("async def", "async for item in", ": yield item")


def classes_of(namespace: dict[str, Any]) -> dict[str, type]:
    """The classes that a module defines, by their qualified names."""
    classes: dict[str, type] = {}

    def visit(members: Mapping[str, Any]) -> None:
        for value in list(members.values()):
            if (
                isinstance(value, type)
                and value.__module__ == namespace["__name__"]
                and value.__qualname__ not in classes
            ):
                classes[value.__qualname__] = value
                visit(vars(value))

    visit(namespace)
    return classes


@contextmanager
def updating_classes(before: dict[str, type], namespace: dict[str, Any]) -> Iterator[None]:
    """Within the `with` block, a class statement of the module with this namespace updates the
    class of the same name in `before`, if there is one and its instances have the same layout.
    """
    build = builtins.__build_class__

    def build_or_update(body: FunctionType, name: str, *bases: Any, **options: Any) -> Any:
        new = build(body, name, *bases, **options)
        old = before.get(body.__qualname__) if body.__globals__ is namespace else None
        if old is None or not isinstance(new, type) or not _move_members(old, new):
            return new
        if (
            "__class__" in body.__code__.co_cellvars
        ):  # for super(), whose cell contains the new class
            for cell in gc.get_referrers(new):
                if isinstance(cell, CellType):
                    cell.cell_contents = old
        return old

    builtins.__build_class__ = build_or_update  # type: ignore[assignment]  # typeshed names its parameters
    try:
        yield
    finally:
        builtins.__build_class__ = build


def _move_members(old: type, new: type) -> bool:
    """Move the members of `new` to `old`; False if their instances differ in layout."""
    if type(old) is not type(new) or any(
        getattr(old, name, None) != getattr(new, name, None) for name in ("__slots__", "_fields")
    ):
        return False
    try:
        if old.__bases__ != new.__bases__:
            old.__bases__ = new.__bases__
        for name in set(vars(old)) - set(vars(new)):
            if not isinstance(vars(old)[name], LAYOUT_DESCRIPTORS):
                delattr(old, name)
        for name, value in list(vars(new).items()):
            if not isinstance(value, LAYOUT_DESCRIPTORS):
                setattr(old, name, value)
    except (TypeError, AttributeError):  # not allowed by the metaclass of enums, for example
        return False
    return True


def forward(namespace: dict[str, Any]) -> None:
    """Make the functions and methods of a module call their successors from now on."""
    name = namespace["__name__"]
    members = {"": namespace} | {
        qualified + ".": vars(one) for qualified, one in classes_of(namespace).items()
    }
    for prefix, values in members.items():
        for key, value in list(values.items()):
            for function, suffix in _functions_in(value):
                if function.__module__ == name:
                    if hasattr(value, "cache_clear"):
                        _caches.add(value)
                    code = _call(function, name, prefix + key + suffix)
                    function.__defaults__ = function.__kwdefaults__ = None
                    function.__code__ = code
    for cache in _caches:
        cache.cache_clear()


def _functions_in(value: Any) -> Iterator[tuple[FunctionType, str]]:
    """The functions in a member of a module or a class, each with its path from the member."""
    if isinstance(value, property):
        inside = [(getattr(value, part), "." + part) for part in ("fget", "fset", "fdel")]
    elif isinstance(value, cached_property):
        inside = [(value.func, ".func")]
    else:
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        inside = [(value, "")]
        if not isinstance(value, (FunctionType, type)):  # such as functools.cache
            with suppress(Exception):  # accessing the object may run any code
                inside.append((value.__wrapped__, ""))
    yield from ((one, suffix) for one, suffix in inside if isinstance(one, FunctionType))


def _call(function: FunctionType, module: str, path: str) -> CodeType:
    """Code for `function` that calls the function at `path` of the module at that time."""
    name = function.__name__ if function.__name__.isidentifier() else "function"
    kind, give, after = (
        ASYNC_GENERATOR
        if isasyncgenfunction(function)
        else COROUTINE
        if iscoroutinefunction(function)
        else GENERATOR
        if isgeneratorfunction(function)
        else PLAIN
    )
    namespace: dict[str, FunctionType] = {}
    exec(
        CALL.format(kind=kind, name=name, module=module, path=path, give=give, after=after),
        namespace,
    )
    return namespace[name].__code__.replace(co_freevars=function.__code__.co_freevars)


def current(module: ModuleType, path: str) -> Any:
    """The function at `path`, such as "Minimax.search" or, for a property, "Chips.all.fget".

    Raises AttributeError if there is none.
    """
    value: Any = module
    for part in path.split("."):
        if isinstance(value, (ModuleType, type)):
            if part not in vars(value):
                raise AttributeError(f"{module.__name__}.py does not define {path}")
            value = vars(value)[part]
        else:
            value = getattr(value, part, value)
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
