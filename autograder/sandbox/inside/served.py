"""The submission's side of a test cell: its names, what they do, and plain values for answers."""

import base64
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .plain import NotPlain, base_of, coded, decoded

CHANGEABLE = ("list", "dict", "set", "bytearray", "array")


class Served:
    """Answers what a test asks of the names in `names`, until it is over."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self.kept: list[Any] = []  # what is not plain, by its number

    def until_over(self, send: Callable[[dict], None], receive: Callable[[], dict]) -> None:
        """Answer request after request."""
        while "over" not in (request := receive()):
            send(self.answer(request))

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one request: a value, or what was raised."""
        changed: list[Any] = []
        try:
            value = self._done(request, changed)
            if "name" in request and value is MISSING:
                return {"missing": True}
            return {"value": coded(value, self._number), "changed": changed}
        except BaseException as error:
            return {"raised": [kind.__name__ for kind in type(error).__mro__], "said": _said(error)}

    def _done(self, request: Mapping[str, Any], changed: list) -> Any:
        match request:
            case {"name": name}:
                return self.names.get(name, MISSING)
            case {"call": number, "arguments": given, "named": named}:
                arguments = decoded(given, self._own)
                keywords = decoded(named, self._own)
                value = self.kept[number](*arguments, **keywords)
                changed += self._changes(enumerate(given[1:]), arguments)
                changed += self._changes(((name, before) for name, before in named[1:]), keywords)
                return value
            case {"attribute": name, "of": number}:
                return getattr(self.kept[number], name)
            case {"item": key, "of": number}:
                return self.kept[number][decoded(key, self._own)]
            case {"length": number}:
                return len(self.kept[number])
            case {"iterator": number}:
                return iter(self.kept[number])
            case {"next": number}:
                return next(self.kept[number])
        raise NotPlain("no request")

    def _changes(self, given: Iterable[tuple[Any, Any]], arguments: Any) -> Iterator[list]:
        """The arguments that the call has changed, by their places or names."""
        for place, before in given:
            if isinstance(before, list) and before[0] in CHANGEABLE:
                after = coded(arguments[place], self._number)
                if after != before:
                    yield [place, after]

    def _number(self, value: Any) -> list:
        self.kept.append(value)
        base = base_of(value)
        plain = [] if base is value else [coded(base, self._number)]
        return ["kept", len(self.kept) - 1, type(value).__name__, *plain]

    def _own(self, data: list) -> Any:
        match data:
            case ["kept", number]:
                return self.kept[number]
            case ["pickled", text]:  # an object of a public package, from the test
                return pickle.loads(base64.b64decode(text))
        raise NotPlain("no value")


MISSING = object()


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"
