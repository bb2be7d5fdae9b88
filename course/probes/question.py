"""Define a question of a check: how it is asked, what the reply holds, how it is put into words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from course.probes.positions import written

NOT_WRITTEN = "not written yet"  # how the error of an unfilled stub begins
MAX_ITEMS = 1000  # in a reply, its inner lists' included
Part = tuple[tuple[str, ...], Callable[[], Any]]  # aspects, and what computes them
Labels = Callable[[Mapping[str, Any]], Sequence[Sequence[str]]]  # of a case: names, level by level


class BadReply(Exception):
    """The student's code returned something that does not answer the question."""


def call(name: str, case: Mapping[str, Any]) -> str:
    """The question as a call of the function `name` in Python: the positions, then the rest."""
    rest = (f"{key}={value!r}" for key, value in case.items() if key != "on")
    return f"{name}({', '.join([*positions_of(case), *rest])})"


def positions_of(case: Mapping[str, Any]) -> list[str]:
    """The positions of a case, each as an expression in Python."""
    return [written(text) for text in texts_of(case)]


def texts_of(case: Mapping[str, Any]) -> list[str]:
    """The positions that a case names, in its own notation; a case may have none."""
    on = case.get("on", [])
    return [on] if isinstance(on, str) else on


@dataclass(frozen=True)
class Question:
    """One kind of question.

    `ask(module, **case)` yields the parts of the reply, so that what fails in one part costs only
    the aspects of that part; it runs in the student's process and knows no right answer. `aspects`
    are what it replies and what points can be given for. `describe(case)` says in Python notation
    what is asked. `reading` says how to read the value of an aspect, where that is not obvious.
    `judged` holds `same(expected, got)` for aspects whose right replies need not be equal; the
    trusted side calls it. `shares` are aspects whose value is the share of the points that is
    earned, from 0 to 1. `labels` names what the items of an aspect's list belong to, so that only
    those that differ are shown: `labels[aspect](case)` holds the names of the items, then, where
    each is a list itself, those of its items.
    """

    ask: Callable[..., Iterator[Part]]
    aspects: tuple[str, ...]
    describe: Callable[[Mapping[str, Any]], str]
    reading: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()  # aspects whose error is not a failure, but says how it went
    judged: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    shares: tuple[str, ...] = ()
    is_match: bool = False  # it is games, played by `course.probes.match`


def each(key: str, what: str = "") -> Labels:
    """Labels for a list with an item for each of the case's list `key`: "card js", "card 2c"."""
    return lambda case: [[f"{what} {_plainly(item)}".strip() for item in case.get(key, ())]]


def board_by_board(labels: Labels) -> Labels:
    """Labels for a list that has the items of `labels` for each position of the case in turn."""

    def named(case: Mapping[str, Any]) -> list[Sequence[str]]:
        boards, (items, *rest) = range(1, len(positions_of(case)) + 1), labels(case)
        several = len(boards) > 1
        return [
            [f"{item} on board {board}" if several else item for board in boards for item in items],
            *rest,
        ]

    return named


def each_position(case: Mapping[str, Any]) -> list[list[str]]:
    """Labels for a list with an item for each position of the case."""
    return [positions_of(case)]


def _plainly(item: Any) -> str:
    return str(tuple(item) if isinstance(item, list) else item)


def get(module: ModuleType, name: str) -> Any:
    """The object that the student's module calls `name`; raises `BadReply` if there is none."""
    if not hasattr(module, name):
        raise BadReply(f"{Path(module.__file__ or module.__name__).name} defines no {name}")
    return getattr(module, name)


def items(iterable: Any) -> list[Any]:
    """The items as a list; of an endless iterable one too many, so that it is refused."""
    return list(islice(iterable, MAX_ITEMS + 1))
