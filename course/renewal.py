"""Puts new code into the classes and functions of a module that is executed once more.

A class keeps its identity: what the new one has is moved into the old one, so instances, subclasses
and `isinstance` go on working. An old function that something still refers to calls the new one.
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

_caches: WeakSet[Any] = WeakSet()  # what `functools.cache` has made in these modules
OF_A_LAYOUT = (GetSetDescriptorType, MemberDescriptorType)  # belong to one class and its instances
CALL = """
{kind} {name}(*args, **kwargs):
    from course.live_modules import successor
    {give} successor({module!r}, {path!r})(*args, **kwargs){after}
"""
# How a function of each kind passes on what the new one gives. A function keeps its kind: Python
# deprecates code of another kind.
PLAIN, GENERATOR = ("def", "return", ""), ("def", "return (yield from", ")")
COROUTINE = ("async def", "return await", "")
ASYNC_GENERATOR = ("async def", "async for item in", ": yield item")


def classes_of(namespace: dict[str, Any]) -> dict[str, type]:
    """The classes that a module defines, by their qualified names."""
    found: dict[str, type] = {}

    def visit(members: Mapping[str, Any]) -> None:
        for value in list(members.values()):
            if (
                isinstance(value, type)
                and value.__module__ == namespace["__name__"]
                and value.__qualname__ not in found
            ):
                found[value.__qualname__] = value
                visit(vars(value))

    visit(namespace)
    return found


@contextmanager
def classes_renewed(before: dict[str, type], namespace: dict[str, Any]) -> Iterator[None]:
    """Meanwhile a class statement of the module with this namespace renews the class in `before`
    that has its name, if there is one and its instances can have the new form."""
    build = builtins.__build_class__

    def renew(body: FunctionType, name: str, *bases: Any, **options: Any) -> Any:
        new = build(body, name, *bases, **options)
        old = before.get(body.__qualname__) if body.__globals__ is namespace else None
        if old is None or not isinstance(new, type) or not _take(old, new):
            return new
        if "__class__" in body.__code__.co_cellvars:  # for super(): the cell holds the new class
            for cell in gc.get_referrers(new):
                if isinstance(cell, CellType):
                    cell.cell_contents = old
        return old

    builtins.__build_class__ = renew  # type: ignore[assignment]  # typeshed names its parameters
    try:
        yield
    finally:
        builtins.__build_class__ = build


def _take(old: type, new: type) -> bool:
    """Move what `new` has to `old`; False if the instances of the two differ in layout."""
    if type(old) is not type(new) or any(
        getattr(old, name, None) != getattr(new, name, None) for name in ("__slots__", "_fields")
    ):
        return False
    try:
        if old.__bases__ != new.__bases__:
            old.__bases__ = new.__bases__
        for name in set(vars(old)) - set(vars(new)):
            if not isinstance(vars(old)[name], OF_A_LAYOUT):
                delattr(old, name)
        for name, value in list(vars(new).items()):
            if not isinstance(value, OF_A_LAYOUT):
                setattr(old, name, value)
    except (TypeError, AttributeError):  # a metaclass that does not allow it, as that of enums
        return False
    return True


def forward(namespace: dict[str, Any]) -> None:
    """From now on the functions and methods that a module defines call their successors."""
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
    """The functions in a member of a module or a class, each with what leads to it from there."""
    if isinstance(value, property):
        inside = [(getattr(value, part), "." + part) for part in ("fget", "fset", "fdel")]
    elif isinstance(value, cached_property):
        inside = [(value.func, ".func")]
    else:
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        inside = [(value, "")]
        if not isinstance(value, (FunctionType, type)):  # functools.cache, for example
            with suppress(Exception):  # whatever the object does when it is asked
                inside.append((value.__wrapped__, ""))
    yield from ((one, suffix) for one, suffix in inside if isinstance(one, FunctionType))


def _call(function: FunctionType, module: str, path: str) -> CodeType:
    """Code for `function` that calls whatever is at `path` of the module by then."""
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
    made: dict[str, FunctionType] = {}
    exec(CALL.format(kind=kind, name=name, module=module, path=path, give=give, after=after), made)
    return made[name].__code__.replace(co_freevars=function.__code__.co_freevars)


def current(module: ModuleType, path: str) -> Any:
    """The function at `path`, which is "Minimax.search" or, of a property, "Chips.all.fget".

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
