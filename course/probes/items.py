"""Finds the items in which two lists differ, and names each by what it belongs to.

A reply of forty numbers tells nobody where it is wrong; "move 5: expected 3, got 4" does.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

LONG = 60  # characters: a list that is shorter may be shown whole
FEW = 3  # items that are named where many differ

Same = Callable[[Any, Any], bool]
Levels = Sequence[Sequence[str]]  # the names of a list's items, then those of each item's items


class Item(NamedTuple):
    """One difference: what it belongs to ("move 5"; empty for the whole), and both values."""

    label: str
    expected: str
    got: str


def differing(expected: Any, got: Any, levels: Levels, same: Same) -> list[Item]:
    """The items in which a reply differs from the expected one.

    `levels` names the items of the list, and of the lists in it, and so on; it may be empty. A text
    that has names is a list of letters.
    """
    return list(_differing(expected, got, levels, same, ""))


def is_long(value: Any) -> bool:
    """Whether a value takes too much room to be compared by eye."""
    return len(json.dumps(value)) > LONG


def _differing(expected: Any, got: Any, levels: Levels, same: Same, path: str) -> Iterator[Item]:
    if same(expected, got):
        return
    lists = isinstance(expected, list) and isinstance(got, list)
    texts = bool(levels) and isinstance(expected, str) and isinstance(got, str)
    if (lists or texts) and (levels or is_long(expected) or is_long(got)):
        if len(expected) != len(got):
            yield _of_lengths(list(expected), list(got), path)
            return
        places = [n for n, (e, g) in enumerate(zip(expected, got, strict=True)) if not same(e, g)]
        if not levels and len(places) > FEW and any(isinstance(e, (str, list)) for e in expected):
            yield _of_order(expected, got, places[0], path)
            return
        names = levels[0] if levels else ()
        for n in places:
            name = names[n] if n < len(names) else f"item {n + 1}"
            yield from _differing(
                expected[n], got[n], levels[1:], same, ", ".join(filter(None, (path, name)))
            )
        return
    yield Item(path, json.dumps(expected), json.dumps(got))


def _of_lengths(expected: list[Any], got: list[Any], path: str) -> Item:
    missing, more = _only_in(expected, got), _only_in(got, expected)
    return Item(
        path,
        f"{items_of(expected)}{_some(', among them', missing)}",
        f"{items_of(got)}{_some(', among them', more)}",
    )


def _of_order(expected: list[Any], got: list[Any], place: int, path: str) -> Item:
    missing, more = _only_in(expected, got), _only_in(got, expected)
    if missing:
        return Item(path, _some("with", missing), _some("with", more) + " instead")
    label = f"the same items in another order, from item {place + 1} on"
    return Item(
        ", ".join(filter(None, (path, label))), json.dumps(expected[place]), json.dumps(got[place])
    )


def _only_in(some: list[Any], others: list[Any]) -> list[str]:
    left = Counter(map(json.dumps, some)) - Counter(map(json.dumps, others))
    return list(left.elements())


def items_of(values: Sequence[Any]) -> str:
    """How many there are, in words."""
    return "1 item" if len(values) == 1 else f"{len(values)} items"


def _some(word: str, items: list[str]) -> str:
    if not items:
        return ""
    more = f" and {len(items) - FEW} more" if len(items) > FEW else ""
    return f"{word} {', '.join(items[:FEW])}{more}"
