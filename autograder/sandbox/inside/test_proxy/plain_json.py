"""Encodes numbers, strings, containers and numpy arrays as JSON according to their exact types,
without pickle.

Simple numbers and strings are encoded unchanged; any other value is a list that begins with its
kind. Values of other types are left to a function `other`, which can encode a reference.
"""

import base64
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

MAX_DEPTH = 50  # depth of nested containers
PLAIN_DTYPE = re.compile(r"[<>|=][biufcSU]\d{1,6}")  # the types of arrays without objects
CONTAINERS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
DICT_KEYS: type = type({}.keys())
BY_TEXT: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
    "date": (date, date.isoformat, date.fromisoformat),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
}
OWN_EQUALITY = (Counter, OrderedDict)  # their own `==` still compares like that of a dictionary
BASES: tuple[type[Any], ...] = (
    dict,
    list,
    tuple,
    set,
    frozenset,
    str,
    int,
    float,
    np.ndarray,
)
Other = Callable[[Any], list]
NO_MATCH = object()


class UnsupportedValueError(ValueError):
    """A value cannot be encoded, or cannot be decoded because it is not an encoded value."""


def encode(value: Any, other: Other, depth: int = 0) -> Any:
    """Encode a value for JSON; `other` encodes unsupported types, or raises
    `UnsupportedValueError`."""
    if depth > MAX_DEPTH:
        raise UnsupportedValueError(f"more than {MAX_DEPTH} nested containers")
    kind = type(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind in (*CONTAINERS.values(), dict, DICT_KEYS):
        return _encode_container(value, lambda item: encode(item, other, depth + 1))
    for supported, encoder in ENCODERS.items():
        if kind is supported:
            return encoder(value)
    if kind is np.ndarray and PLAIN_DTYPE.fullmatch(value.dtype.str):
        return ["array", value.dtype.str, list(value.shape), _base64(value.tobytes())]
    if isinstance(value, np.generic) and PLAIN_DTYPE.fullmatch(value.dtype.str):
        return ["number", value.dtype.str, _base64(value.tobytes())]
    return other(value)


def _encode_container(value: Any, encode_item: Callable[[Any], Any]) -> list:
    if type(value) is dict:
        return ["dict", *([encode_item(key), encode_item(item)] for key, item in value.items())]
    name = "keys" if type(value) is DICT_KEYS else type(value).__name__
    return [name, *map(encode_item, value)]


def _encode_int(value: int) -> Any:
    return value if abs(value) < 1 << 63 else ["int", hex(value)]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _encoder_by_text(name: str) -> Callable[[Any], list]:
    _, to_text, _ = BY_TEXT[name]
    return lambda value: [name, to_text(value)]


ENCODERS: dict[type, Callable[[Any], Any]] = {
    int: _encode_int,
    complex: lambda value: ["complex", value.real, value.imag],
    bytes: lambda value: ["bytes", _base64(value)],
    bytearray: lambda value: ["bytearray", _base64(value)],
    range: lambda value: ["range", *map(_encode_int, (value.start, value.stop, value.step))],
    timedelta: lambda value: ["timedelta", value.days, value.seconds, value.microseconds],
} | {kind: _encoder_by_text(name) for name, (kind, *_) in BY_TEXT.items()}


def decode(data: Any, other: Callable[[list], Any], depth: int = 0) -> Any:
    """Decode a value; `other` decodes what the function `other` of `encode` has encoded.

    Raises `UnsupportedValueError` for everything that `encode` does not produce.
    """
    if depth > MAX_DEPTH:
        raise UnsupportedValueError(f"more than {MAX_DEPTH} nested containers")
    if data is None or type(data) in (bool, int, float, str):
        return data
    if not isinstance(data, list):
        raise UnsupportedValueError(f"not an encoded value: a {type(data).__name__}")
    try:
        value = _decode_container(data, lambda item: decode(item, other, depth + 1))
        if value is NO_MATCH:
            value = _decode_atom(data)
    except (TypeError, ValueError, ArithmeticError, IndexError, MemoryError) as error:
        raise UnsupportedValueError(f"not an encoded value: {error}") from error
    return other(data) if value is NO_MATCH else value


def _decode_container(data: list, decode_item: Callable[[Any], Any]) -> Any:
    match data:
        case ["list" | "tuple" | "set" | "frozenset" as kind, *items]:
            return CONTAINERS[kind](map(decode_item, items))
        case ["dict", *items]:
            return {decode_item(key): decode_item(item) for key, item in items}
        case ["keys", *items]:
            return dict.fromkeys(map(decode_item, items)).keys()
    return NO_MATCH


def _decode_atom(data: list) -> Any:
    match data:
        case ["timedelta", int(days), int(seconds), int(microseconds)]:
            return timedelta(days, seconds, microseconds)
        case [str(name), str(text)] if name in BY_TEXT:
            return BY_TEXT[name][2](text)
        case ["int", str(digits)]:
            return int(digits, 16)
        case ["complex", float(real), float(imaginary)]:
            return complex(real, imaginary)
        case ["bytes", str(text)]:
            return base64.b64decode(text, validate=True)
        case ["bytearray", str(text)]:
            return bytearray(base64.b64decode(text, validate=True))
        case ["range", start, stop, step]:
            return range(*map(_decode_int, (start, stop, step)))
        case ["array", str(dtype), [*shape], str(text)] if PLAIN_DTYPE.fullmatch(dtype):
            array = np.frombuffer(base64.b64decode(text, validate=True), dtype)
            return array.reshape(shape).copy()
        case ["number", str(dtype), str(text)] if PLAIN_DTYPE.fullmatch(dtype):
            return np.frombuffer(base64.b64decode(text, validate=True), dtype)[0]
    return NO_MATCH


def _decode_int(data: Any) -> int:
    match data:
        case int():
            return data
        case ["int", str(digits)]:
            return int(digits, 16)
    raise ValueError("not an integer")


def base_value(value: Any) -> Any:
    """Convert an instance of a subclass to its base type if it compares like a value of that type;
    otherwise return `value`.

    For example, a `Counter` becomes a dictionary, a named tuple a tuple, and a member of an
    `IntEnum` a number.
    """
    for base in BASES:
        if isinstance(value, base) and type(value) is not base:
            own = type(value).__eq__ is base.__eq__ or isinstance(value, OWN_EQUALITY)
            return (np.array if base is np.ndarray else base)(value) if own else value
    return value
