"""What a question is: how it is asked, what it replies, and how it is put into words."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from course.probes.positions import written

NOT_WRITTEN = "not written yet"  # how the error of an unfilled stub begins
MAX_ITEMS = 1000  # in a reply, its inner lists' included
Part = tuple[tuple[str, ...], Callable[[], Any]]  # aspects, and what computes them


class BadReply(Exception):
    """The student's code returned something that is no answer to the question."""


def call(name: str, case: Mapping[str, Any]) -> str:
    """The question as a call of the function `name` in Python: the positions, then the rest."""
    rest = (f"{key}={value!r}" for key, value in case.items() if key != "on")
    return f"{name}({', '.join([*positions_of(case), *rest])})"


def positions_of(case: Mapping[str, Any]) -> list[str]:
    """The positions of a case, each as an expression in Python."""
    return [written(text) for text in texts_of(case)]


def texts_of(case: Mapping[str, Any]) -> list[str]:
    """The positions that a case names, as it names them; a case may do without."""
    on = case.get("on", [])
    return [on] if isinstance(on, str) else on


@dataclass(frozen=True)
class Question:
    """One kind of question.

    `ask(module, **case)` yields the parts of the reply, so that what fails in one part costs only
    the aspects of that part; it runs in the student's process and knows no right answer. `aspects`
    are what it replies and what points can be given for. `describe(case)` says in the words of
    Python what is asked. `reading` says of an aspect how its value is to be read, where that is
    not obvious.
    """

    ask: Callable[..., Iterator[Part]]
    aspects: tuple[str, ...]
    describe: Callable[[Mapping[str, Any]], str]
    reading: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()  # aspects of which an error is no trouble, but says how it went
    is_match: bool = False  # it is games, played by `course.probes.match`


def get(module: ModuleType, name: str) -> Any:
    """What the student's module calls `name`; raises `BadReply` if it defines no such thing."""
    if not hasattr(module, name):
        raise BadReply(f"{Path(module.__file__).name} defines no {name}")
    return getattr(module, name)


def items(iterable: Any) -> list:
    """The items as a list; one too many of an endless iterable, so that it is refused."""
    return list(islice(iterable, MAX_ITEMS + 1))
