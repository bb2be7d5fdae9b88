"""The test's side of an external test: proxies for the names of the submission.

The submission replies with plain values, which the test compares, or with a `RemoteObject`. Such an
object can be called and has attributes and items. It cannot be compared, because its `==` would be
the student's code. If the instructor's solution has a plain value instead (`CallPaths`), an object
cannot be called and its attributes cannot be read, because its `startswith` could always return
True, and its `[0]` could be different each time. Only its items are read, and only once.
"""

import ast
import base64
import builtins
import operator
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from common.syntax import parse_python

from .plain_json import UnsupportedValueError, decode, encode

Ask = Callable[[dict[str, Any]], dict[str, Any]]
MISSING = object()
LIVE = " is live"  # suffix of the path of an object
ITERATORS = ("enumerate", "filter", "generator", "map", "reversed", "zip")  # can be read only once


class ConnectionLost(BaseException):
    """The submission's process has ended, or its time is up, so the test cannot continue."""


class CallPaths:
    """Records which functions a test calls ("Account().pay"), and where it receives an object
    ("Account() is live").

    `allowed` contains the paths that were recorded with the instructor's solution; it is None if
    the solution has not run yet.
    """

    def __init__(self, allowed: Iterable[str] | None) -> None:
        self.allowed = None if allowed is None else frozenset(allowed)
        self.recorded: set[str] = set()

    def is_allowed(self, path: str) -> bool:
        """Record a path; return whether it is allowed."""
        self.recorded.add(path)
        return self.allowed is None or path in self.allowed

    def is_live(self, path: str) -> bool:
        """Record where the test receives an object; return whether the solution has an object there
        as well.
        """
        return self.is_allowed(path + LIVE)


class RemoteObject:
    """An object of the submission that is not a plain value.

    `base` is its value as a plain type, if there is one, such as a dictionary for a `Counter`. If
    the object is not `live`, only its items are read, and only once, when the test uses the first
    of them.
    """

    def __init__(
        self, names: "RemoteNames", number: int, kind: str, path: str, base: Any, *, live: bool
    ) -> None:
        self.__dict__.update(
            _names=names,
            _number=number,
            _kind=kind,
            _path=path,
            _base=base,
            _live=live,
            _items=None,
        )

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the object in the submission's process, and apply the changes that it makes to
        mutable arguments here as well.
        """
        if not self._names.paths.is_allowed(self._path):
            raise UnsupportedValueError(
                f"{self._description()} cannot be called: {self._path.rpartition('.')[0]} is a "
                "plain value in the instructor's solution"
            )
        reply = self._names.ask(
            {
                "call": self._number,
                "arguments": encode(list(arguments), _encode_argument),
                "named": encode(named, _encode_argument),
            }
        )
        value = self._names.value(reply, f"{self._path}()")
        for key, after in reply.get("changed", ()):
            _apply_change(
                (named if isinstance(key, str) else arguments)[key],
                self._names.value({"value": after}, f"{self._path}()"),
            )
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__qualname__", "__doc__"):
            raise AttributeError(name)
        allowed = self._names.paths.allowed
        if (
            allowed is not None
            and f"{self._path}.{name}" not in allowed
            and hasattr(self._base, name)
        ):
            return getattr(self._base, name)
        return self._get({"attribute": name, "of": self._number}, f".{name}")

    @property
    def __doc__(self) -> Any:  # type: ignore[override]  # in `object` it is an attribute
        return self._get({"attribute": "__doc__", "of": self._number}, ".__doc__")

    def __getitem__(self, key: Any) -> Any:
        if not self._live:
            return self._all_items()[key]
        return self._get({"item": encode(key, _encode_argument), "of": self._number}, "[]")

    def __len__(self) -> int:
        if not self._live:
            return len(self._all_items())
        return self._get({"length": self._number}, "")

    def __iter__(self) -> Any:
        if self._live:
            return self._get({"iterator": self._number}, "[]")
        items = self._all_items()
        if self._kind in ITERATORS:
            self.__dict__["_items"] = []
        return iter(items)

    def _all_items(self) -> list[Any]:
        """Return the items. They are requested only when they are first used, because a second
        request could get a different reply.
        """
        if self._items is None:
            iterator = self._names.value(self._names.ask({"iterator": self._number}), self._path)
            if type(iterator) is not RemoteObject:
                raise UnsupportedValueError(f"{self._description()} has no items")
            self.__dict__["_items"] = list(iterator.read())
        return self._items

    def read(self) -> Iterator[Any]:
        """Yield the remaining items of an iterator."""
        while "StopIteration" not in (reply := self._names.ask({"next": self._number})).get(
            "raised", ()
        ):
            yield self._names.value(reply, self._path)

    def __next__(self) -> Any:
        if not self._live:
            raise UnsupportedValueError(self._not_live_message())
        reply = self._names.ask({"next": self._number})
        if "StopIteration" in (reply.get("raised") or ()):
            raise StopIteration
        return self._names.value(reply, self._path)

    def __setattr__(self, name: str, value: Any) -> None:
        raise UnsupportedValueError(f"{self._description()} cannot be changed by a test")

    def __repr__(self) -> str:
        return f"<{self._description()}>"

    def _description(self) -> str:
        return f"a {self._kind} of the submission"

    def _not_live_message(self) -> str:
        return (
            f"{self._description()} has no attributes or items here: {self._path} is a plain value "
            "in the instructor's solution"
        )

    def _get(self, request: dict[str, Any], step: str) -> Any:
        if not self._live:
            raise UnsupportedValueError(self._not_live_message())
        return self._names.value(self._names.ask(request), self._path + step)


def _local_operator(function: Callable) -> Callable:
    """Return an operator that uses the plain values of remote objects, and raises an error if an
    object has none.
    """

    def operate(self: RemoteObject, *others: Any) -> Any:
        plain = [other._base if type(other) is RemoteObject else other for other in (self, *others)]
        if any(value is MISSING for value in plain):
            raise UnsupportedValueError(
                f"{self._description()} cannot be compared; only plain values can: numbers, "
                "strings, and containers and arrays of them"
            )
        return function(*plain)

    return operate


def _reflected(function: Callable) -> Callable:
    return lambda own, other: function(other, own)


for _name in (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "abs",
    "neg",
    "index",
    "contains",
):
    setattr(RemoteObject, f"__{_name}__", _local_operator(getattr(operator, f"__{_name}__")))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(
        RemoteObject,
        f"__r{_name}__",
        _local_operator(_reflected(getattr(operator, f"__{_name}__"))),
    )
for _kind in (bool, hash, float, int):
    setattr(RemoteObject, f"__{_kind.__name__}__", _local_operator(_kind))


class RemoteNames:
    """The submission's names as the tests of one notebook see them."""

    def __init__(self, ask: Ask, withheld: Iterable[str] = ()) -> None:
        self.ask, self.withheld = ask, frozenset(withheld)
        self.paths = CallPaths(None)
        self._defined: dict[str, Any] = {}  # values that `define` added, by name

    def define(self, source: str, namespace: dict[str, Any]) -> None:
        """Define the submission's names that a test uses in `namespace`, unless they exist there.

        Withheld names are not defined, so a test that uses one raises a `NameError`.
        """
        for name in self._defined.keys() & namespace.keys():
            if namespace[name] is self._defined.pop(name):
                del namespace[name]
        for name in _used_names(source):
            if name in namespace or name in self.withheld or hasattr(builtins, name):
                continue
            reply = self.ask({"name": name})
            if not reply.get("missing"):
                namespace[name] = self._defined[name] = self.value(reply, name)

    def value(self, reply: dict[str, Any], path: str) -> Any:
        """Return the value in a reply; raise an exception as the nearest built-in class."""
        if "value" in reply:
            return decode(reply["value"], lambda data: self._remote_object(data, path))
        names, message = reply.get("raised"), reply.get("message")
        for name in names if isinstance(names, list) else []:
            kind = getattr(builtins, name, None) if isinstance(name, str) else None
            if (
                isinstance(kind, type)
                and issubclass(kind, Exception)
                and kind not in SPECIAL_EXCEPTIONS
            ):
                raise kind(message)
        raise RuntimeError(message)

    def _remote_object(self, data: list, path: str) -> RemoteObject:
        match data:
            case ["kept", int(number), str(kind)]:
                return RemoteObject(
                    self, number, kind, path, MISSING, live=self.paths.is_live(path)
                )
            case ["kept", int(number), str(kind), base]:
                plain, live = self.value({"value": base}, path), self.paths.is_live(path)
                return RemoteObject(self, number, kind, path, plain, live=live) if live else plain
        raise UnsupportedValueError("not a reference")


# These classes need more arguments than a message, or would silently end a loop of the test.
SPECIAL_EXCEPTIONS = (
    UnicodeDecodeError,
    UnicodeEncodeError,
    UnicodeTranslateError,
    ExceptionGroup,
    StopIteration,
    StopAsyncIteration,
)


def _used_names(source: str) -> Iterable[str]:
    try:
        tree = parse_python(source)
    except SyntaxError:  # the error is reported when the code runs
        return []
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _encode_argument(value: Any) -> list:
    if type(value) is RemoteObject:
        return ["kept", value._number]
    try:
        return ["pickled", base64.b64encode(pickle.dumps(value)).decode()]
    except Exception as error:
        raise UnsupportedValueError(
            f"a {type(value).__name__} cannot be passed to the submission: {error}"
        ) from error


def _apply_change(ours: Any, after: Any) -> None:
    """Update an argument of the test to its contents after the call."""
    if type(ours) is not type(after):
        raise UnsupportedValueError("the type of an argument has changed")
    if isinstance(ours, (list, bytearray)):
        ours[:] = after
    elif isinstance(ours, (dict, set)):
        ours.clear()
        ours.update(after)
    else:
        ours[...] = after
