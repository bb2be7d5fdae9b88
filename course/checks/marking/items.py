"""Finds the items in which two lists differ, and labels each of them.

If a reply has forty numbers, "move 5: expected 3, got 4" is more useful than two lists.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from common.messages import english, translate, translate_plural

MAX_SHORT = 60  # characters; longer values are not shown in full
MAX_LISTED = 3  # items that are listed if many differ

Same = Callable[[Any, Any], bool]
Levels = Sequence[Sequence[str]]  # the names of a list's items, then those of each item's items


class Item(NamedTuple):
    """One difference: its label ("move 5", or empty for the whole value), and both values."""

    label: str
    expected: str
    got: str


def differing(expected: Any, got: Any, levels: Levels, same: Same) -> list[Item]:
    """The items in which a reply differs from the expected one.

    `levels` names the items of the list, then the items of the lists in it, and so on; it may be
    empty. A string whose items have names is compared letter by letter.
    """
    return list(_differences(expected, got, levels, same, ""))


def is_long(value: Any) -> bool:
    """Whether a value is too long to compare by eye."""
    return len(json.dumps(value)) > MAX_SHORT


def _differences(expected: Any, got: Any, levels: Levels, same: Same, path: str) -> Iterator[Item]:
    if same(expected, got):
        return
    if not _is_compared_by_item(expected, got, levels):
        yield Item(path, json.dumps(expected), json.dumps(got))
        return
    if len(expected) != len(got):
        yield _length_difference(list(expected), list(got), same, path)
        return
    places = [n for n, (e, g) in enumerate(zip(expected, got, strict=True)) if not same(e, g)]
    if (
        not levels
        and len(places) > MAX_LISTED
        and any(isinstance(e, (str, list)) for e in expected)
    ):
        yield _order_difference(expected, got, places[0], same, path)
        return
    names = levels[0] if levels else ()
    for n in places:
        name = names[n] if n < len(names) else english(f"item {n + 1}")
        yield from _differences(expected[n], got[n], levels[1:], same, _joined(path, name))


def _is_compared_by_item(expected: Any, got: Any, levels: Levels) -> bool:
    """Whether both are lists, or strings with named letters, that are too long to show in full."""
    are_lists = isinstance(expected, list) and isinstance(got, list)
    are_letters = bool(levels) and isinstance(expected, str) and isinstance(got, str)
    return (are_lists or are_letters) and (bool(levels) or is_long(expected) or is_long(got))


def _joined(path: str, name: str) -> str:
    return english(f"{path}, {name}") if path and name else path or name


def _length_difference(expected: list[Any], got: list[Any], same: Same, path: str) -> Item:
    missing, extra = _unmatched(expected, got, same)
    return Item(
        path,
        _including(items_of(expected), missing),
        _including(items_of(got), extra),
    )


def _order_difference(
    expected: list[Any], got: list[Any], place: int, same: Same, path: str
) -> Item:
    missing, extra = _unmatched(expected, got, same)
    if missing:
        return Item(
            path,
            translate("with {items}", items=_listed(missing)),
            translate("with {items} instead", items=_listed(extra)),
        )
    label = english(f"the same items in another order, from item {place + 1} on")
    return Item(_joined(path, label), json.dumps(expected[place]), json.dumps(got[place]))


def _unmatched(expected: list[Any], got: list[Any], same: Same) -> tuple[list[str], list[str]]:
    """The items of each list that have no equal one, such as 1.0 for 1, in the other."""
    missing, extra = [], list(got)
    for item in expected:
        place = next((n for n, other in enumerate(extra) if same(item, other)), None)
        if place is None:
            missing.append(item)
        else:
            del extra[place]
    return [*map(json.dumps, missing)], [*map(json.dumps, extra)]


def items_of(values: Sequence[Any]) -> str:
    """The number of values, in words and in the language of the course."""
    return translate_plural("{number} item", "{number} items", len(values))


def _including(number: str, items: list[str]) -> str:
    if not items:
        return number
    return translate("{number}, including {items}", number=number, items=_listed(items))


def _listed(items: list[str]) -> str:
    listed = ", ".join(items[:MAX_LISTED])
    if len(items) <= MAX_LISTED:
        return listed
    return translate("{items} and {number} more", items=listed, number=len(items) - MAX_LISTED)
