"""Draws new cases of a check from a seed.

If the parts of a case depend on each other, such as cells on their position or moves on their game,
the question has its own function in the `fresh_cases.py` of its study. For other questions, an
existing case serves as a pattern, and only its positions are drawn again.

Positions come from strata in turn: boards of tic-tac-toe and trees of numbers that are won, drawn
and lost for either player, or in which only one move is legal. So even a small set has them all.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import inf
from typing import Any, TypeVar

from autograder.errors import UserError
from autograder.studies import load_module
from autograder.studies.strata import Stratified
from course.checks import Case, Check, load_study, studies
from course.checks.question import texts_of
from course.checks.toy_games import NumberTree
from sequence import example
from tictactoe import Board, ConnectFour, Qubic, State
from tictactoe.solver import value, values

MAX_MISSES = 1_000  # successive cases that were drawn before
GAME_LENGTH = 45  # in a seeded game of Sequence; few games are longer
PLAYERS, OUTCOMES = "xo", {1: "won", 0: "drawn", -1: "lost"}
ONE_MOVE = "one legal move"
TREES = ("positive", "zero", "negative", ONE_MOVE, "almost equal values", "huge values")
ALMOST = 1e-6  # the difference of values that are almost equal
HUGE = (-3e19, -2e19, 4e19, -1, 5)
Drawn = TypeVar("Drawn")
STATES = range(2_100, 9_000)  # reachable from a position of Connect Four: many more than usual
MAX_NODES = 100_000  # of its game tree


def fresh_cases(check: Check, patterns: list[Case], rng: random.Random) -> Iterator[Case]:
    """Yield distinct cases without end, each with the form of one of the patterns.

    Raises `UserError` in the same cases as `require_drawable`.
    """
    require_drawable(check, patterns)
    seen = {_key(case) for case in patterns}
    draw = _Source(check, rng)
    misses = 0
    for pattern in _in_turn(patterns, rng):
        if misses == MAX_MISSES:
            return
        case = draw.like(pattern)
        if _key(case) in seen:
            misses += 1
            continue
        misses = 0
        seen.add(_key(case))
        yield case


def _in_turn(patterns: list[Case], rng: random.Random) -> Iterator[Case]:
    """Yield all patterns in random order, again and again."""
    while True:
        yield from rng.sample(patterns, len(patterns))


def require_drawable(check: Check, patterns: Iterable[Case]) -> None:
    """Raise `UserError` if new cases cannot be drawn for a pattern, because there is no function
    for the question and the pattern has no position of a known kind.
    """
    if strange := [case for case in patterns if not _can_be_drawn(check, case)]:
        raise UserError(
            f"there is no way to draw cases like {strange[0]} of {check.id}: the "
            f"question {check.ask!r} needs a drawer in `autograder.studies.fresh_cases`. "
            "Nothing was changed"
        )


def _can_be_drawn(check: Check, pattern: Case) -> bool:
    texts = texts_of(pattern)
    return _drawer(check) is not None or (
        bool(texts)
        and all(not text.partition(" ")[1] or text.partition(" ")[0] in _DRAWN for text in texts)
    )


def _drawer(check: Check) -> Callable[[random.Random], Case] | None:
    question = (
        f"{check.ask} {check.settings.get('agent', '')}"  # the questions for two agents may differ
    )
    return _drawers().get(question) or _drawers().get(check.ask)


@cache
def _drawers() -> dict[str, Callable[[random.Random], Case]]:
    """Return the functions of all studies that draw cases, by question, or by question and agent."""
    drawers: dict[str, Callable[[random.Random], Case]] = {}
    for name in studies():
        file = load_study(name).staff_folder / "fresh_cases.py"
        if file.is_file():
            drawers |= load_module(file).DRAWERS
    return drawers


class _Source:
    """The fresh cases of a check, which come from all strata in turn."""

    def __init__(self, check: Check, rng: random.Random) -> None:
        self._rng, self._drawer = rng, _drawer(check)
        self._cases = _each(self._drawer, rng) if self._drawer else None
        self._positions = {kind: _each(drawer, rng) for kind, drawer in _DRAWN.items()}

    def like(self, pattern: Case) -> Case:
        """Return a new case, which has the form of the pattern unless the question has a drawer."""
        if self._cases is not None:
            return next(self._cases)
        on = pattern["on"]
        return {
            **pattern,
            "on": self._position(on) if isinstance(on, str) else list(map(self._position, on)),
        }

    def _position(self, text: str) -> str:
        kind, space, _ = text.partition(" ")
        return next(self._positions[kind if space else BOARD])


def _each(drawer: Callable[[random.Random], Drawn], rng: random.Random) -> Iterator[Drawn]:
    """Yield what a drawer draws, from all of its strata in turn if it has strata."""
    if isinstance(drawer, Stratified):
        yield from drawer.each(rng)
    while True:
        yield drawer(rng)


# ---- Boards of tic-tac-toe


def _board(rng: random.Random, stratum: str) -> str:
    return rng.choice(_boards()[stratum]).text


@cache
def _boards() -> Mapping[str, list[Board]]:
    """All boards that are not terminal, by stratum."""
    boards = defaultdict(list)
    for board in sorted(values(), key=lambda board: board.text):
        if len(board.legal_moves()) == 1 and not board.is_terminal():
            boards[f"board, {ONE_MOVE}"].append(board)
        elif not board.is_terminal():
            outcome = OUTCOMES[value(board, board.to_move)]
            boards[f"board, {board.to_move} to move, {outcome}"].append(board)
    return boards


# ---- Positions of other games


def _row(rng: random.Random) -> str:
    return "row " + "".join(rng.choice("xo__") for _ in range(rng.randint(5, 8)))


def _tree(rng: random.Random, stratum: str) -> str:
    """Return a tree with few different numbers, so that there are ties and equal subtrees."""
    kind, player = stratum.removeprefix("tree, ").split(" for ")
    while True:
        branches = 1 if kind == ONE_MOVE else rng.randint(2, 4)
        numbers = _numbers(rng, kind)
        depth = rng.randint(2, 3)
        tree = NumberTree(tuple(_subtree(rng, numbers, depth) for _ in range(branches)), player)
        if _belongs_to(tree, kind):
            return f"tree {tree.text}"


def _belongs_to(tree: NumberTree, kind: str) -> bool:
    """Whether a tree has the value of its kind, or almost equal moves before the best one."""
    values = [_tree_value(tree.after(move), tree.to_move) for move in tree.legal_moves()]
    best = max(values)
    if kind == "almost equal values":
        return any(0 < best - value < 4 * ALMOST for value in values[: values.index(best)])
    return kind not in TREES[:3] or kind == _sign(best)


def _numbers(rng: random.Random, kind: str) -> list[float]:
    if kind == "huge values":
        return rng.sample(HUGE, 3)
    numbers = [rng.choice((-1, -2, 0, 0.5, 3, rng.randint(-40, 40) / 4)) for _ in range(4)]
    if kind == "almost equal values":
        return [number + step * ALMOST for number in numbers[:2] for step in (-1, 0, 1)]
    return [*numbers, 0] if kind == "zero" else numbers


def _subtree(rng: random.Random, numbers: list[float], depth: int) -> tuple | float:
    if depth == 0 or (depth < 3 and rng.random() < 0.3):
        return rng.choice(numbers)
    return tuple(_subtree(rng, numbers, depth - 1) for _ in range(rng.randint(1, 4)))


def _tree_value(tree: NumberTree, player: str) -> float:
    if tree.is_terminal():
        return tree.utility(player)
    best = max if tree.to_move == player else min
    return best(_tree_value(tree.after(move), player) for move in tree.legal_moves())


def _sign(number: float) -> str:
    return "positive" if number > 0 else "negative" if number < 0 else "zero"


def _four(rng: random.Random) -> str:
    """Return a position of Connect Four from which thousands of states can be reached, for a table
    that must not lose entries. Its game tree is small enough for a search without a table.
    """
    while True:
        state = ConnectFour()
        for _ in range(rng.randint(26, 32)):
            if not state.is_terminal():
                state = state.after(rng.choice(state.legal_moves()))
        if not state.is_terminal():
            nodes: dict[State, float] = {}
            if _count_nodes(state, nodes) <= MAX_NODES and len(nodes) in STATES:
                return f"four {state.text}"


def _count_nodes(state: State, nodes: dict[State, float]) -> float:
    """Return the number of nodes of a game tree, and store that of each state below the root;
    infinity if there are too many states.
    """
    if len(nodes) >= STATES.stop:
        return inf
    if state not in nodes:
        children = map(state.after, state.legal_moves())
        nodes[state] = 1 + sum(_count_nodes(child, nodes) for child in children)
    return nodes[state]


def _example(rng: random.Random) -> str:
    while True:
        text = f"{rng.randrange(10**6)}/{rng.randrange(GAME_LENGTH)}"
        try:
            example(text)
        except ValueError:  # the game was too short
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


BOARD = ""  # boards of tic-tac-toe have no prefix
BOARDS = Stratified(
    [f"board, {player} to move, {o}" for player in PLAYERS for o in OUTCOMES.values()]
    + [f"board, {ONE_MOVE}"],
    _board,
)
TREE_STRATA = Stratified([f"tree, {kind} for {p}" for kind in TREES for p in PLAYERS], _tree)
_DRAWN: dict[str, Callable[[random.Random], str]] = {
    BOARD: BOARDS, "tree": TREE_STRATA,
    "row": _row, "example": _example, "qubic": _qubic, "four": _four,
}  # fmt: skip


def _key(case: Mapping[str, Any]) -> str:
    return repr(sorted(case.items(), key=lambda item: item[0]))
