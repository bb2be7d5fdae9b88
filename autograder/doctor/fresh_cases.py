"""Draws fresh cases of a check from a seed.

Where what a case holds must fit together, cells to their position and moves to their game, a
question has a drawer of its own (`fresh_study5.py` and its neighbours). Of any other a case of the
check is the pattern, and every position in it is drawn anew; a board of tic-tac-toe from all that
are not terminal.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from autograder.doctor import (
    fresh_sequence,
    fresh_study4,
    fresh_study5,
    fresh_study8,
    fresh_study9,
)
from autograder.errors import Refused
from course.probes import Case, Check
from course.probes.question import texts_of
from sequence import example
from tictactoe import Board, Qubic
from tictactoe.solver import values

DRAWERS = (
    fresh_study5.DRAWERS
    | fresh_sequence.DRAWERS
    | fresh_study8.DRAWERS
    | fresh_study9.DRAWERS
    | fresh_study4.DRAWERS
)
MOST_ACTIONS = 45  # of a seeded game of Sequence: few games are longer


def fresh_cases(check: Check, patterns: list[Case], rng: random.Random) -> Iterator[Case]:
    """Draw cases without end, none of them twice, each with the shape of one of the patterns.

    Raises `Refused` as `require_drawable` does.
    """
    require_drawable(check, patterns)
    seen = {_key(case) for case in patterns}
    misses = 0
    while misses < 1_000:
        case = _fresh(check, rng.choice(patterns), rng)
        if _key(case) in seen:
            misses += 1
            continue
        misses = 0
        seen.add(_key(case))
        yield case


def require_drawable(check: Check, patterns: Iterable[Case]) -> None:
    """Raise `Refused` for a pattern that cannot be drawn anew: there is no drawer for the question,
    and the pattern names no position of a kind that is known here."""
    if strange := [case for case in patterns if not _can_be_drawn(check, case)]:
        raise Refused(
            f"there is no way to draw cases like {strange[0]} of {check.id}: the "
            f"question {check.ask!r} needs a drawer in `autograder.doctor.fresh_cases`. "
            "Nothing was changed"
        )


def _can_be_drawn(check: Check, pattern: Case) -> bool:
    texts = texts_of(pattern)
    return _drawer(check) is not None or (
        bool(texts)
        and all(not text.partition(" ")[1] or text.partition(" ")[0] in _DRAWN for text in texts)
    )


def _drawer(check: Check) -> Callable[[random.Random], Case] | None:
    agents = f"{check.ask} {check.settings.get('agent', '')}"  # two agents may be asked differently
    return DRAWERS.get(agents) or DRAWERS.get(check.ask)


def _fresh(check: Check, pattern: Case, rng: random.Random) -> Case:
    if drawer := _drawer(check):
        return drawer(rng)
    on = pattern["on"]
    return {
        **pattern,
        "on": _position(on, rng) if isinstance(on, str) else [_position(text, rng) for text in on],
    }


def _position(text: str, rng: random.Random) -> str:
    kind, space, _ = text.partition(" ")
    if not space:
        return rng.choice(_boards()).text
    return _DRAWN[kind](rng)


@cache
def _boards() -> list[Board]:
    return sorted(
        (board for board in values() if not board.is_terminal()), key=lambda board: board.text
    )


def _row(rng: random.Random) -> str:
    return "row " + "".join(rng.choice("xo__") for _ in range(rng.randint(5, 8)))


def _tree(rng: random.Random) -> str:
    """Few different numbers, so that there are ties and equal subtrees."""
    numbers = [rng.choice((-1, -2, 0, 0.5, 3, rng.randint(-40, 40) / 4)) for _ in range(4)]

    def drawn(depth: int) -> tuple | float:
        if depth == 0 or (depth < 3 and rng.random() < 0.3):
            return rng.choice(numbers)
        return tuple(drawn(depth - 1) for _ in range(rng.randint(1, 4)))

    return f"tree {drawn(rng.randint(3, 4))}"


def _example(rng: random.Random) -> str:
    while True:
        text = f"{rng.randrange(10**6)}/{rng.randrange(MOST_ACTIONS)}"
        try:
            example(text)
        except ValueError:  # that game was shorter
            continue
        return f"example {text}"


def _qubic(rng: random.Random) -> str:
    while True:
        state = Qubic()
        for _ in range(rng.randrange(40)):
            if state.is_terminal():
                break
            state = state.after(rng.choice(state.legal_moves()))
        if not state.is_terminal():
            return f"qubic {state.text}"


_DRAWN = {"row": _row, "tree": _tree, "example": _example, "qubic": _qubic}


def _key(case: Mapping[str, Any]) -> str:
    return repr(sorted(case.items(), key=lambda item: item[0]))
