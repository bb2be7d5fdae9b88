"""The test's side: names of the submission that are remote, and decide nothing here.

Whatever the submission replies is a plain value, which the test compares, or a `Remote`, which can
be called and looked into, but not compared: its own `==` would be the student's.
"""

import ast
import base64
import builtins
import pickle
from collections.abc import Callable, Iterable
from typing import Any

from course.probes.syntax import parsed

from .plain import NotPlain, coded, decoded

Ask = Callable[[dict[str, Any]], dict[str, Any]]


class Gone(BaseException):
    """The submission's process has ended, or its time is up: the test cannot go on."""


class Remote:
    """Something of the submission that is no plain value."""

    def __init__(self, ask: Ask, number: int, kind: str) -> None:
        self.__dict__.update(_ask=ask, _number=number, _kind=kind)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there; lists and the like that it changes change here."""
        reply = self._ask({"call": self._number, "arguments": coded(list(arguments), _argument),
                           "named": coded(named, _argument)})
        value = _value(self._ask, reply)
        for place, after in reply.get("changed", ()):
            _change(arguments[place], decoded(after, self._other))
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__qualname__", "__doc__"):
            raise AttributeError(name)
        return self._get({"attribute": name, "of": self._number})

    @property
    def __doc__(self) -> Any:
        return self._get({"attribute": "__doc__", "of": self._number})

    def __getitem__(self, key: Any) -> Any:
        return self._get({"item": coded(key, _argument), "of": self._number})

    def __len__(self) -> int:
        return self._get({"length": self._number})

    def __contains__(self, item: Any) -> bool:
        return self._get({"contains": coded(item, _argument), "of": self._number})

    def __iter__(self) -> Any:
        return self._get({"iterator": self._number})

    def __next__(self) -> Any:
        return self._get({"next": self._number})

    def __setattr__(self, name: str, value: Any) -> None:
        raise NotPlain(f"{self._what()} cannot be changed by a test")

    def __repr__(self) -> str:
        return f"<{self._what()}>"

    def _what(self) -> str:
        return f"a {self._kind} of the submission"

    def _get(self, request: dict[str, Any]) -> Any:
        return _value(self._ask, self._ask(request))

    def _other(self, data: list) -> Any:
        return _remote(self._ask, data)


def _refused(name: str) -> Callable:
    def refuse(self: Remote, *_: Any) -> Any:
        raise NotPlain(f"{self._what()} is not compared, only plain values are: numbers, texts, "
                       "containers and arrays of them")

    refuse.__name__ = name
    return refuse


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "hash", "add", "radd", "sub", "rsub",
              "mul", "rmul", "truediv", "rtruediv", "abs", "float", "int", "index", "neg"):
    setattr(Remote, f"__{_name}__", _refused(f"__{_name}__"))


class Names:
    """The submission's names, as the tests of one notebook see them."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._given: dict[str, Any] = {}  # by name, what was put among the test's own names

    def put(self, source: str, own: dict[str, Any]) -> None:
        """Put the submission's names that a test mentions into `own`, unless it has them itself."""
        for name in self._given.keys() & own.keys():
            if own[name] is self._given.pop(name):
                del own[name]
        for name in _mentioned(source):
            if name in own or hasattr(builtins, name):
                continue
            reply = self._ask({"name": name})
            if not reply.get("missing"):
                own[name] = self._given[name] = _value(self._ask, reply)


def _mentioned(source: str) -> Iterable[str]:
    try:
        tree = parsed(source)
    except SyntaxError:  # which running it will tell
        return []
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _value(ask: Ask, reply: dict[str, Any]) -> Any:
    """The value in a reply; raises what was raised there, by the nearest of Python's own."""
    if "value" in reply:
        return decoded(reply["value"], lambda data: _remote(ask, data))
    names, said = reply.get("raised"), reply.get("said")
    for name in names if isinstance(names, list) else []:
        kind = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(kind, type) and issubclass(kind, Exception) and kind not in (
                UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError, ExceptionGroup):
            raise kind(said)
    raise RuntimeError(said)


def _remote(ask: Ask, data: list) -> Remote:
    match data:
        case ["kept", int(number), str(kind), bool()]:
            return Remote(ask, number, kind)
    raise NotPlain("no value")


def _argument(value: Any) -> list:
    if type(value) is Remote:
        return ["kept", value._number]
    try:
        return ["pickled", base64.b64encode(pickle.dumps(value)).decode()]
    except Exception as error:
        raise NotPlain(f"a {type(value).__name__} cannot be given to the submission: {error}"
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
