"""The definition of a kind of question: how it is run and described, and what its reply contains."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from common.messages import english
from course.checks.positions import python_expression

NOT_WRITTEN = english("not written yet")  # the start of the error of an incomplete stub
DEFINES_NO = " defines no "  # in the error of a module that leaves something out
MAX_ITEMS = 1000  # items in a reply, including those of nested lists
LABELS = english("card {item}"), english("line {item}"), english("the cells {item}")  # see `each`
Part = tuple[tuple[str, ...], Callable[[], Any]]  # aspects, and the function that computes them
Labels = Callable[
    [Mapping[str, Any]], Sequence[Sequence[str]]
]  # the names of a case's items, level by level


class BadReply(Exception):
    """Raised if the student's code returns a value that does not answer the question."""


def call(name: str, case: Mapping[str, Any]) -> str:
    """The question as a Python call of the function `name`: first the positions, then the rest."""
    rest = (f"{key}={value!r}" for key, value in case.items() if key != "on")
    return f"{name}({', '.join([*positions_of(case), *rest])})"


def positions_of(case: Mapping[str, Any]) -> list[str]:
    """The positions of a case, each as a Python expression."""
    return [python_expression(text) for text in texts_of(case)]


def texts_of(case: Mapping[str, Any]) -> list[str]:
    """The positions that a case names, in the notation of the tables; there may be none."""
    on = case.get("on", [])
    return [on] if isinstance(on, str) else on


@dataclass(frozen=True)
class Question:
    """One kind of question.

    `ask(module, **case)` yields the parts of the reply, so that a failure in one part costs only
    the aspects of that part; it runs in the process of the student's module and knows no correct
    answer. `aspects` are the parts of the reply that can earn points. `describe(case)` returns the
    question in Python notation. `reading` explains aspects whose values are not self-explanatory.
    `comparators` has a function `same(expected, got)` for each aspect whose correct replies need
    not be equal; it is not called in the student's process. `shares` are aspects whose value, from
    0 to 1, is the share of the points earned. `labels` names the items of an aspect's list, so that
    only items that differ are shown: `labels[aspect](case)` contains the names of the items and
    then, if the items are lists, the names of their items.
    """

    ask: Callable[..., Iterator[Part]]
    aspects: tuple[str, ...]
    describe: Callable[[Mapping[str, Any]], str]
    reading: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()  # aspects in which an error is part of the reply, not a failure
    comparators: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    shares: tuple[str, ...] = ()
    is_match: bool = False  # whether games are played by `course.checks.matches.match`


def each(key: str, what: str = "") -> Labels:
    """Labels for a list with one item per item of the case's list `key`: "card js", "card 2c"."""
    return lambda case: [[f"{what} {_plain_text(item)}".strip() for item in case.get(key, ())]]


def board_by_board(labels: Labels) -> Labels:
    """Labels for a list that contains, for each position of the case, the items named by `labels`."""

    def labels_for(case: Mapping[str, Any]) -> list[Sequence[str]]:
        boards, (items, *rest) = range(1, len(positions_of(case)) + 1), labels(case)
        several = len(boards) > 1
        return [
            [
                english(f"{item} on board {board}") if several else item
                for board in boards
                for item in items
            ],
            *rest,
        ]

    return labels_for


def each_position(case: Mapping[str, Any]) -> list[list[str]]:
    """Labels for a list with one item per position of the case."""
    return [positions_of(case)]


def _plain_text(item: Any) -> str:
    return str(tuple(item) if isinstance(item, list) else item)


def get(module: ModuleType, name: str) -> Any:
    """The object `name` of the student's module; raises `BadReply` if it is not defined."""
    if not hasattr(module, name):
        raise BadReply(
            english(f"{Path(module.__file__ or module.__name__).name}{DEFINES_NO}{name}")
        )
    return getattr(module, name)


def items(iterable: Any) -> list[Any]:
    """The items as a list, cut off one item past the limit, so that a longer iterable is rejected."""
    return list(islice(iterable, MAX_ITEMS + 1))
