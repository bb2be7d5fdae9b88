"""The test's side: names of the submission that are remote, and decide nothing here.

Whatever the submission replies is a plain value, which the test compares, or a `Remote`, which can
be called and looked into, but not compared: its own `==` would be the student's. Where the
instructor's own solution has a plain value (`Paths`), an object is not called or looked into: its
`startswith` could always be true, and its `[0]` different each time. Only its items are read, once.
"""

import ast
import base64
import builtins
import operator
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from course.probes.syntax import parsed

from .plain import NotPlain, coded, decoded

Ask = Callable[[dict[str, Any]], dict[str, Any]]
MISSING = object()
LIVE = " is live"  # after the path of an object
ENDING = ("enumerate", "filter", "generator", "map", "reversed", "zip")  # are read only once


class Gone(BaseException):
    """The submission's process has ended, or its time is up: the test cannot go on."""


class Paths:
    """What was called, as in "Account().pay", and where the test met an object, as in "Account() is
    live"; once the instructor's solution has been run, also what may be: `known`, None until then.
    """

    def __init__(self, known: Iterable[str] | None) -> None:
        self.known = None if known is None else frozenset(known)
        self.met: set[str] = set()

    def may(self, path: str) -> bool:
        """Whether this may be called."""
        self.met.add(path)
        return self.known is None or path in self.known

    def live(self, path: str) -> bool:
        """Whether the solution, too, has an object there."""
        return self.may(path + LIVE)


class Remote:
    """Something of the submission that is no plain value; `base` is the plain value that it is
    besides, as a dictionary is of a `Counter`. If it is not `live`, only its items are read, once,
    when the test wants the first of them."""

    def __init__(
        self, names: "Names", number: int, kind: str, path: str, base: Any, *, live: bool
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
        """Call it there; lists and the like that it changes change here."""
        if not self._names.paths.may(self._path):
            raise NotPlain(
                f"{self._what()} is not called: {self._path.rpartition('.')[0]} is a "
                "plain value in the instructor's solution"
            )
        reply = self._names.ask(
            {
                "call": self._number,
                "arguments": coded(list(arguments), _argument),
                "named": coded(named, _argument),
            }
        )
        value = self._names.value(reply, f"{self._path}()")
        for place, after in reply.get("changed", ()):
            _change(
                (named if isinstance(place, str) else arguments)[place],
                self._names.value({"value": after}, f"{self._path}()"),
            )
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__qualname__", "__doc__"):
            raise AttributeError(name)
        known = self._names.paths.known
        if known is not None and f"{self._path}.{name}" not in known and hasattr(self._base, name):
            return getattr(self._base, name)
        return self._get({"attribute": name, "of": self._number}, f".{name}")

    @property
    def __doc__(self) -> Any:  # type: ignore[override]  # `object` has an attribute
        return self._get({"attribute": "__doc__", "of": self._number}, ".__doc__")

    def __getitem__(self, key: Any) -> Any:
        if not self._live:
            return self._all_items()[key]
        return self._get({"item": coded(key, _argument), "of": self._number}, "[]")

    def __len__(self) -> int:
        if not self._live:
            return len(self._all_items())
        return self._get({"length": self._number}, "")

    def __iter__(self) -> Any:
        if self._live:
            return self._get({"iterator": self._number}, "[]")
        items = self._all_items()
        if self._kind in ENDING:
            self.__dict__["_items"] = []
        return iter(items)

    def _all_items(self) -> list[Any]:
        """The items as they are when they are first wanted; another question could be answered in
        another way."""
        if self._items is None:
            one_by_one = self._names.value(self._names.ask({"iterator": self._number}), self._path)
            if type(one_by_one) is not Remote:
                raise NotPlain(f"{self._what()} has no items")
            self.__dict__["_items"] = list(one_by_one.read())
        return self._items

    def read(self) -> Iterator[Any]:
        """The items that are left of an iterator."""
        while "StopIteration" not in (reply := self._names.ask({"next": self._number})).get(
            "raised", ()
        ):
            yield self._names.value(reply, self._path)

    def __next__(self) -> Any:
        if not self._live:
            raise NotPlain(self._refusal())
        reply = self._names.ask({"next": self._number})
        if "StopIteration" in (reply.get("raised") or ()):
            raise StopIteration
        return self._names.value(reply, self._path)

    def __setattr__(self, name: str, value: Any) -> None:
        raise NotPlain(f"{self._what()} cannot be changed by a test")

    def __repr__(self) -> str:
        return f"<{self._what()}>"

    def _what(self) -> str:
        return f"a {self._kind} of the submission"

    def _refusal(self) -> str:
        return (
            f"{self._what()} is not looked into: {self._path} is a plain value in the "
            "instructor's solution"
        )

    def _get(self, request: dict[str, Any], step: str) -> Any:
        if not self._live:
            raise NotPlain(self._refusal())
        return self._names.value(self._names.ask(request), self._path + step)


def _decided(decide: Callable) -> Callable:
    """An operator that is decided here, by the plain value that a `Remote` is; if it is none, it
    refuses."""

    def decided(self: Remote, *others: Any) -> Any:
        plain = [other._base if type(other) is Remote else other for other in (self, *others)]
        if any(value is MISSING for value in plain):
            raise NotPlain(
                f"{self._what()} is not compared, only plain values are: numbers, "
                "texts, containers and arrays of them"
            )
        return decide(*plain)

    return decided


def _turned(decide: Callable) -> Callable:
    return lambda own, other: decide(other, own)


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
    setattr(Remote, f"__{_name}__", _decided(getattr(operator, f"__{_name}__")))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Remote, f"__r{_name}__", _decided(_turned(getattr(operator, f"__{_name}__"))))
for _kind in (bool, hash, float, int):
    setattr(Remote, f"__{_kind.__name__}__", _decided(_kind))


class Names:
    """The submission's names, as the tests of one notebook see them."""

    def __init__(self, ask: Ask, withheld: Iterable[str] = ()) -> None:
        self.ask, self.withheld = ask, frozenset(withheld)
        self.paths = Paths(None)
        self._given: dict[str, Any] = {}  # by name, what was put among the test's own names

    def put(self, source: str, own: dict[str, Any]) -> None:
        """Put the submission's names that a test mentions into `own`, unless it has them itself,
        or they are withheld: a test that uses one of those fails with a `NameError`."""
        for name in self._given.keys() & own.keys():
            if own[name] is self._given.pop(name):
                del own[name]
        for name in _mentioned(source):
            if name in own or name in self.withheld or hasattr(builtins, name):
                continue
            reply = self.ask({"name": name})
            if not reply.get("missing"):
                own[name] = self._given[name] = self.value(reply, name)

    def value(self, reply: dict[str, Any], path: str) -> Any:
        """The value in a reply; raises what was raised there, by the nearest of Python's own."""
        if "value" in reply:
            return decoded(reply["value"], lambda data: self._remote(data, path))
        names, said = reply.get("raised"), reply.get("said")
        for name in names if isinstance(names, list) else []:
            kind = getattr(builtins, name, None) if isinstance(name, str) else None
            if isinstance(kind, type) and issubclass(kind, Exception) and kind not in ODD:
                raise kind(said)
        raise RuntimeError(said)

    def _remote(self, data: list, path: str) -> Remote:
        match data:
            case ["kept", int(number), str(kind)]:
                return Remote(self, number, kind, path, MISSING, live=self.paths.live(path))
            case ["kept", int(number), str(kind), base]:
                plain, live = self.value({"value": base}, path), self.paths.live(path)
                return Remote(self, number, kind, path, plain, live=live) if live else plain
        raise NotPlain("no value")


# They need more than a message; or would end a loop of the test, and all that it has yet to see.
ODD = (
    UnicodeDecodeError,
    UnicodeEncodeError,
    UnicodeTranslateError,
    ExceptionGroup,
    StopIteration,
    StopAsyncIteration,
)


def _mentioned(source: str) -> Iterable[str]:
    try:
        tree = parsed(source)
    except SyntaxError:  # which running it will tell
        return []
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _argument(value: Any) -> list:
    if type(value) is Remote:
        return ["kept", value._number]
    try:
        return ["pickled", base64.b64encode(pickle.dumps(value)).decode()]
    except Exception as error:
        raise NotPlain(
            f"a {type(value).__name__} cannot be given to the submission: {error}"
        ) from error


def _change(ours: Any, after: Any) -> None:
    """Give what a test passed the contents that it has after the call."""
    if type(ours) is not type(after):
        raise NotPlain("what was passed has become something else")
    if isinstance(ours, (list, bytearray)):
        ours[:] = after
    elif isinstance(ours, (dict, set)):
        ours.clear()
        ours.update(after)
    else:
        ours[...] = after
