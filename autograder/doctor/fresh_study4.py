"""Draws whole cases of study 4 from a seed: positions of Connect Four, small trees, windows."""

from collections.abc import Callable
from random import Random
from typing import Any

from course.probes import Case
from course.probes.positions import notation, read_position
from tictactoe import ConnectFour

FEWEST_MARKS, FEW_MARKS, MOST_MARKS = 4, 18, 32
COLUMNS = range(7)
KINDS = ("exact", "lower", "upper")
TENTHS = range(-10, 11)
MOST_DEPTH = 3  # of a cut that is noted


def _four(rng: Random, most: int = MOST_MARKS) -> str:
    """A position after random moves from which at least two moves are open."""
    while True:
        state = ConnectFour()
        for _ in range(rng.randint(FEWEST_MARKS, most)):
            if state.is_terminal():
                break
            state = state.after(rng.choice(state.legal_moves()))
        if len(state.legal_moves()) > 1:
            return notation(state)


def _tree(rng: Random) -> str:
    """A tree with some ends near the root; few numbers, so that there are ties and equal parts."""
    numbers = [rng.choice((-1, 0.5)), rng.choice((0, 1, 2)), rng.randint(-12, 12) / 4]

    def drawn(depth: int) -> tuple | float:
        if depth == 0 or (depth < 3 and rng.random() < 0.25):
            return rng.choice(numbers)
        return tuple(drawn(depth - 1) for _ in range(rng.randint(2, 3)))

    return f"tree {drawn(4)}"


def _position(rng: Random, most: int = MOST_MARKS) -> dict[str, Any]:
    """Where to search: a board, in some order and with some estimates, or a tree."""
    if rng.random() < 0.35:
        case = {"on": _tree(rng), "estimates": "made up"}
        return case | ({"order": "backwards"} if rng.random() < 0.5 else {})
    case = {"on": _four(rng, most)}
    if rng.random() < 0.6:
        case["order"] = rng.choice(("centre", "backwards"))
    return case | ({"estimates": "made up"} if rng.random() < 0.4 else {})


def _promoted(rng: Random) -> Case:
    return {
        "lists": [
            [rng.sample(COLUMNS, rng.randint(2, 7)), rng.choices(COLUMNS, k=number)]
            for number in (1, 2, rng.randint(0, 4))
        ]
    }


def _window(rng: Random) -> list[float]:
    """Alpha and beta, from a few tenths, so that a value often meets one of them."""
    alpha, beta = sorted(rng.sample(TENTHS, 2))
    return [rng.choice((alpha / 10, alpha / 10, "-inf")), rng.choice((beta / 10, beta / 10, "inf"))]


def _bound(rng: Random) -> Case:
    found: list[list] = []
    while len(found) < 5:
        window = _window(rng)
        value = rng.choice(
            [end for end in window if not isinstance(end, str)] + [rng.choice(TENTHS) / 10]
        )
        if [value, *window] not in found:
            found.append([value, *window])
    return {"arguments": found}


def _answers(rng: Random) -> Case:
    found: list[list] = []
    while len(found) < 6:
        ((value, *window),) = rng.sample(_bound(rng)["arguments"], 1)
        left = rng.randint(1, 4)
        case = [
            value,
            left,
            rng.choice(KINDS),
            max(0, left + rng.choice((-2, -1, 0, 0, 1))),
            *window,
        ]
        if case not in found:
            found.append(case)
    return {"entries": found}


def _limited(rng: Random) -> Case:
    return {
        **_position(rng),
        "limit": rng.randint(1, 5),
        "window": [alpha if isinstance(alpha, str) else alpha / 4 for alpha in _window(rng)],
    }


def _killers(rng: Random) -> Case:
    case = {**_position(rng), "limit": rng.randint(2, 5)}
    moves = read_position(case["on"]).legal_moves()
    return case | {
        "cuts": [
            [rng.randint(0, MOST_DEPTH), rng.choice((*moves, *moves, *COLUMNS))]
            for _ in range(rng.randint(4, 8))
        ]
    }


def _table(rng: Random) -> Case:
    return {**_position(rng), "limit": rng.randint(2, 5)}


def _iterated(rng: Random) -> Case:
    budget = rng.choice((1, 20, 60, 150, 300, 500))
    return {
        **_position(rng, FEW_MARKS),
        "budget": budget + rng.randrange(5),
        "deepest": rng.randint(2, 9),
    }


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "deep_promoted": _promoted, "deep_bound": _bound, "deep_answers": _answers,
    "deep_limited": _limited, "deep_killers": _killers, "deep_table": _table,
    "deep_iterated": _iterated,
}  # fmt: skip
