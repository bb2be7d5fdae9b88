"""Draws complete cases of study 4 from a seed: positions of Connect Four, small trees and windows."""

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

from autograder.studies.strata import Stratified
from autograder.workspace import load_answer, load_mutant
from course.checks import Case
from course.checks.positions import notation, read_position
from course.checks.running.queries import reply
from course.checks.toy_games import NumberTree
from tictactoe import ConnectFour

FEWEST_MARKS, FEW_MARKS, MOST_MARKS = 4, 18, 32
COLUMNS = range(7)
KINDS = ("exact", "lower", "upper")
TENTHS = range(-10, 11)
LARGE, ALMOST = 5_000, 1e-6  # a large utility, and the difference of values that are almost equal
WIN, LOSS, DEEPEST = "a win was found", "a loss was found", "the deepest limit was completed"
SAME_MOVE, OTHER_MOVE = "interrupted, same move", "interrupted, another move so far"
ENDS = (WIN, LOSS, DEEPEST, SAME_MOVE, OTHER_MOVE)  # how a search ends
MOST_DEPTH = 3  # maximum depth of a cut that is recorded


def _four(rng: Random, most: int = MOST_MARKS) -> str:
    """A position after random moves, in which at least two moves are legal."""
    while True:
        state = ConnectFour()
        for _ in range(rng.randint(FEWEST_MARKS, most)):
            if state.is_terminal():
                break
            state = state.after(rng.choice(state.legal_moves()))
        if len(state.legal_moves()) > 1:
            return notation(state)


def _tree(rng: Random) -> str:
    """A tree with some leaves near the root, and with few numbers, so that there are ties. Some
    numbers are large, others almost equal, and o may be the first to move.
    """
    numbers = [rng.choice((-1, 0.5)), rng.choice((0, 1, 2)), rng.randint(-12, 12) / 4]
    kind = rng.random()
    if kind < 0.1:
        numbers = [number * LARGE + sign for number in numbers for sign in (-LARGE, LARGE)]
    elif kind < 0.3:
        numbers = [number + step * ALMOST for number in numbers for step in (-1, 0, 1)]
    elif kind < 0.45:
        numbers = [-1, 0, 0, 1]  # for values of 0

    def drawn(depth: int) -> tuple | float:
        if depth == 0 or (depth < 3 and rng.random() < 0.25):
            return rng.choice(numbers)
        branches = 1 if rng.random() < 0.15 else rng.randint(2, 3)
        return tuple(drawn(depth - 1) for _ in range(branches))

    return f"tree {NumberTree(drawn(4), rng.choice('xo')).text}"


def _position(rng: Random, most: int = MOST_MARKS) -> dict[str, Any]:
    """The position to search: a board, with a move order and an evaluation, or a tree."""
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


def _window(rng: Random) -> list[float | str]:
    """Alpha and beta, which are multiples of a tenth, so that values often equal one of them."""
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


def _iterated(rng: Random, stratum: str) -> Case:
    """Return a case in which deepening ends as the stratum says."""
    while True:
        case = _any_iterated(rng)
        if stratum == _end_of(case):
            return case


def _end_of(case: Case) -> str:
    """How the search of a case ends."""
    move, value, log = _deepened(case, load_answer("study4"))
    if abs(value) >= 1:
        return WIN if value > 0 else LOSS
    if len(log) == case["deepest"]:
        return DEEPEST
    other, *_ = _deepened(case, load_mutant("study4", "unfinished_limit_played"))
    return SAME_MOVE if move == other else OTHER_MOVE


def _deepened(case: Case, module: ModuleType) -> tuple:
    found = reply(module, "deep_iterated", {**case, "agent": "Deepening"})
    return found["move"], found["value"], found["log"]


def _any_iterated(rng: Random) -> Case:
    budget = rng.choice((1, 20, 60, 150, 300, 500))
    return {
        **_position(rng, FEW_MARKS),
        "budget": budget + rng.randrange(5),
        "deepest": rng.randint(2, 9),
    }


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "deep_promoted": _promoted, "deep_bound": _bound, "deep_answers": _answers,
    "deep_limited": _limited, "deep_killers": _killers, "deep_table": _table,
    "deep_iterated": Stratified(ENDS, _iterated),
}  # fmt: skip
