"""Values as JSON: numbers, texts, containers and numpy arrays, by their exact types; never pickle.

What is not such a value is left to `other`, which gives it a number under which its owner keeps it.
A number, a text, a list of them as they are; everything else is a list that begins with its kind.
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

DEPTH = 50  # of containers in containers
ARRAY = re.compile(r"[<>|=][biufcSU]\d{1,6}")  # kinds of items that are no objects
CONTAINERS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
BY_TEXT = {
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
    "date": (date, date.isoformat, date.fromisoformat),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
}
OWN_EQUALITY = (Counter, OrderedDict)  # of dictionaries that compare as such all the same
Other = Callable[[Any], list]


class NotPlain(ValueError):
    """It is no plain value, or none that this side understands."""


def coded(value: Any, other: Other, depth: int = 0) -> Any:
    """The value as JSON takes it; `other` codes what is not plain, or raises `NotPlain`."""
    kind = type(value)
    if depth > DEPTH:
        raise NotPlain(f"more than {DEPTH} containers in containers")
    if value is None or kind in (bool, float, str):
        return value
    if kind is int:
        return value if abs(value) < 1 << 63 else ["int", hex(value)]
    if kind in CONTAINERS.values():
        return [kind.__name__, *(coded(item, other, depth + 1) for item in value)]
    if kind is dict:
        return [
            "dict",
            *(
                [coded(key, other, depth + 1), coded(item, other, depth + 1)]
                for key, item in value.items()
            ),
        ]
    if kind is complex:
        return ["complex", value.real, value.imag]
    if kind in (bytes, bytearray):
        return [kind.__name__, base64.b64encode(value).decode()]
    if kind is range:
        return ["range", *(coded(n, other) for n in (value.start, value.stop, value.step))]
    if kind is np.ndarray and ARRAY.fullmatch(value.dtype.str):
        return [
            "array",
            value.dtype.str,
            list(value.shape),
            base64.b64encode(value.tobytes()).decode(),
        ]
    if kind is type({}.keys()):
        return ["keys", *(coded(key, other, depth + 1) for key in value)]
    if kind is timedelta:
        return ["timedelta", value.days, value.seconds, value.microseconds]
    for name, (made, text, _) in BY_TEXT.items():
        if kind is made:
            return [name, text(value)]
    if isinstance(value, np.generic) and ARRAY.fullmatch(value.dtype.str):
        return ["number", value.dtype.str, base64.b64encode(value.tobytes()).decode()]
    return other(value)


def decoded(data: Any, other: Callable[[list], Any], depth: int = 0) -> Any:
    """The value that was coded; `other` makes what is not plain. Raises `NotPlain` for all that
    `coded` would not have written."""
    if depth > DEPTH:
        raise NotPlain(f"more than {DEPTH} containers in containers")
    if data is None or type(data) in (bool, int, float, str):
        return data
    try:
        match data:
            case ["list" | "tuple" | "set" | "frozenset" as kind, *items]:
                return CONTAINERS[kind](decoded(item, other, depth + 1) for item in items)
            case ["dict", *items]:
                return {
                    decoded(key, other, depth + 1): decoded(item, other, depth + 1)
                    for key, item in items
                }
            case ["keys", *items]:
                return dict.fromkeys(decoded(item, other, depth + 1) for item in items).keys()
            case ["timedelta", int(days), int(seconds), int(microseconds)]:
                return timedelta(days, seconds, microseconds)
            case [str(name), str(text)] if name in BY_TEXT:
                return BY_TEXT[name][2](text)
            case ["int", str(digits)]:
                return int(digits, 16)
            case ["complex", float(real), float(imaginary)]:
                return complex(real, imaginary)
            case ["bytes" | "bytearray" as kind, str(text)]:
                return {"bytes": bytes, "bytearray": bytearray}[kind](
                    base64.b64decode(text, validate=True)
                )
            case ["range", start, stop, step]:
                return range(*(decoded(n, other) for n in (start, stop, step)))
            case ["array", str(kind), [*shape], str(text)] if ARRAY.fullmatch(kind):
                items = np.frombuffer(base64.b64decode(text, validate=True), kind)
                return items.reshape(shape).copy()
            case ["number", str(kind), str(text)] if ARRAY.fullmatch(kind):
                return np.frombuffer(base64.b64decode(text, validate=True), kind)[0]
    except (TypeError, ValueError, ArithmeticError, IndexError, MemoryError) as error:
        raise NotPlain(f"no plain value: {error}") from error
    if isinstance(data, list):
        return other(data)
    raise NotPlain(f"no plain value: a {type(data).__name__}")


def base_of(value: Any) -> Any:
    """The plain value that an instance of a subclass is, if it compares as that; else `value`.

    A `Counter` is a dictionary, a named tuple a tuple, a member of an `IntEnum` a number.
    """
    for base in (dict, list, tuple, set, frozenset, str, int, float, np.ndarray):
        if isinstance(value, base) and type(value) is not base:
            own = type(value).__eq__ is base.__eq__ or isinstance(value, OWN_EQUALITY)
            return (np.array if base is np.ndarray else base)(value) if own else value
    return value
