"""The submission's side of an external test. It looks up names, calls functions and encodes the
results.
"""

import base64
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .plain_json import UnsupportedValueError, base_value, decode, encode

MUTABLE_KINDS = ("list", "dict", "set", "bytearray", "array")


class ProxyServer:
    """Answers the requests of a test about the names in `names`."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names
        self._objects: list[Any] = []  # objects that cannot be encoded; a reference is an index

    def serve(self, send: Callable[[dict], None], receive: Callable[[], dict]) -> None:
        """Answer requests until the test is over."""
        while "over" not in (request := receive()):
            send(self.answer(request))

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request: a value, or the exception that was raised."""
        changed: list[Any] = []
        try:
            value = self._evaluate(request, changed)
            if "name" in request and value is MISSING:
                return {"missing": True}
            return {"value": encode(value, self._encode_reference), "changed": changed}
        except BaseException as error:
            return {
                "raised": [kind.__name__ for kind in type(error).__mro__],
                "message": _message(error),
            }

    def _evaluate(self, request: Mapping[str, Any], changed: list) -> Any:
        match request:
            case {"name": name}:
                return self.names.get(name, MISSING)
            case {"call": number, "arguments": encoded, "named": named}:
                arguments = decode(encoded, self._decode_reference)
                keywords = decode(named, self._decode_reference)
                value = self._objects[number](*arguments, **keywords)
                changed += self._changes(enumerate(encoded[1:]), arguments)
                changed += self._changes(((name, before) for name, before in named[1:]), keywords)
                return value
            case {"attribute": name, "of": number}:
                return getattr(self._objects[number], name)
            case {"item": key, "of": number}:
                return self._objects[number][decode(key, self._decode_reference)]
            case {"length": number}:
                return len(self._objects[number])
            case {"iterator": number}:
                return iter(self._objects[number])
            case {"next": number}:
                return next(self._objects[number])
        raise UnsupportedValueError("not a request")

    def _changes(self, encoded: Iterable[tuple[Any, Any]], arguments: Any) -> Iterator[list]:
        """Yield the arguments that the call has changed, by position or name."""
        for key, before in encoded:
            if isinstance(before, list) and before[0] in MUTABLE_KINDS:
                after = encode(arguments[key], self._encode_reference)
                if after != before:
                    yield [key, after]

    def _encode_reference(self, value: Any) -> list:
        self._objects.append(value)
        base = base_value(value)
        plain = [] if base is value else [encode(base, self._encode_reference)]
        return ["kept", len(self._objects) - 1, type(value).__name__, *plain]

    def _decode_reference(self, data: list) -> Any:
        match data:
            case ["kept", number]:
                return self._objects[number]
            case ["pickled", text]:  # an object of a public package, from the test
                return pickle.loads(base64.b64decode(text))
        raise UnsupportedValueError("not a reference")


MISSING = object()


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"
