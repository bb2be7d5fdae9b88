"""Small classes for lanes with an owner, an evaluated position, goals, and comparable moves.

Study 3: Shannon's Type A agent: a depth limit, quiescence, a heuristic, and move ordering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from tictactoe import EMPTY, NodeCounter, Search, counted, opponent


# ---------------------------------------------------------------- lanes

class Counts(NamedTuple):
    two: int
    one: int

    @property
    def weight(self) -> int:
        return 3 * self.two + self.one


class Lane:
    """The marks in one lane."""

    __slots__ = ("marks",)

    def __init__(self, state, cells: Iterable[int]) -> None:
        self.marks = [mark for cell in cells if (mark := state[cell]) != EMPTY]

    def owner(self) -> str | None:
        """The player to whom all marks in this lane belong."""
        marks = self.marks
        if not marks or marks.count(marks[0]) != len(marks):
            return None
        return marks[0]

    def __len__(self) -> int:
        return len(self.marks)


class Position:
    """The lanes of a state, sorted by owner and number of marks."""

    def __init__(self, state) -> None:
        self._lanes: dict[tuple[str, int], int] = {}
        for cells in state.lanes:
            lane = Lane(state, cells)
            owner = lane.owner()
            if owner is not None:
                key = owner, len(lane)
                self._lanes[key] = self._lanes.get(key, 0) + 1

    def counts(self, player: str) -> Counts:
        return Counts(self._lanes.get((player, 2), 0), self._lanes.get((player, 1), 0))

    def tenths(self, player: str) -> int:
        return self.counts(player).weight - self.counts(opponent(player)).weight


def lane_counts(state, player: str) -> Counts:
    return Position(state).counts(player)


def heuristic(state, player: str) -> float:
    return Position(state).tenths(player) / 10


def is_quiescent(state) -> bool:
    position = Position(state)
    return not any(position.counts(player).two for player in ("x", "o"))


# ---------------------------------------------------------------- priorities

class Priority(IntEnum):
    WINS = 1
    BLOCKS = 2
    RAISES = 3
    KEEPS = 4
    LOWERS = 5


@dataclass(order=True)
class Candidate:
    """A move that can be compared: by its priority, then by its cell."""

    priority: Priority
    cell: int
    after: Any = field(default=None, compare=False)


def priority(state, move, player: str) -> Priority:
    return _rate(state, Position(state), move, player).priority


def _rate(state, position: Position, move, player: str) -> Candidate:
    after = state.after(move)
    if after.is_terminal() and after.utility(player) > 0:
        return Candidate(Priority.WINS, move, after)
    then, other = Position(after), opponent(player)
    if then.counts(other).two < position.counts(other).two:
        return Candidate(Priority.BLOCKS, move, after)
    difference = then.tenths(player) - position.tenths(player)
    if difference > 0:
        return Candidate(Priority.RAISES, move, after)
    if difference < 0:
        return Candidate(Priority.LOWERS, move, after)
    return Candidate(Priority.KEEPS, move, after)


def by_priority(state) -> Iterator[int]:
    position, player = Position(state), state.to_move
    heap: list[Candidate] = []
    for move in state.legal_moves():
        heappush(heap, _rate(state, position, move, player))
    while heap:
        yield heappop(heap).cell


# ---------------------------------------------------------------- the agents

class Result(NamedTuple):
    value: float
    move: Any = None


class Goal:
    """The goal of a node, which keeps the first of the best results."""

    def __init__(self, state, alpha: float = -inf, beta: float = inf) -> None:
        self.state, self.alpha, self.beta = state, alpha, beta
        self.result: Result | None = None

    @classmethod
    def of(cls, state, player: str, *window: float) -> Goal:
        return (Highest if state.to_move == player else Lowest)(state, *window)

    def update(self, value: float, move) -> None:
        if self.result is None or self.is_better(value, self.result.value):
            self.result = Result(value, move)
            self.narrow(value)

    def is_better(self, value: float, old: float) -> bool:
        raise NotImplementedError

    def narrow(self, value: float) -> None:
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        raise NotImplementedError


class Highest(Goal):
    def is_better(self, value: float, old: float) -> bool:
        return value > old

    def narrow(self, value: float) -> None:
        self.alpha = max(self.alpha, value)

    @property
    def is_cut(self) -> bool:
        return self.result.value >= self.beta


class Lowest(Goal):
    def is_better(self, value: float, old: float) -> bool:
        return value < old

    def narrow(self, value: float) -> None:
        self.beta = min(self.beta, value)

    @property
    def is_cut(self) -> bool:
        return self.result.value <= self.alpha


def _settled(state, player: str, depth: int, limit: int) -> Result | None:
    """The result of a node that is not searched; None if it is searched."""
    if state.is_terminal():
        return Result(state.utility(player))
    if depth >= limit and is_quiescent(state):
        return Result(heuristic(state, player))
    return None


class TypeA:
    def __init__(self, limit: int = 2) -> None:
        self.limit = limit

    def choose(self, state):
        return self.search(state).move

    def search(self, state) -> Search:
        with NodeCounter() as nodes:
            result = self.value(state, state.to_move, 0)
        return Search(move=result.move, value=result.value, nodes=nodes.visited)

    @counted
    def value(self, state, player: str, depth: int) -> Result:
        settled = _settled(state, player, depth, self.limit)
        if settled is not None:
            return settled
        goal = Goal.of(state, player)
        for move in state.legal_moves():
            goal.update(self.value(state.after(move), player, depth + 1).value, move)
        return goal.result


class TypeAPlus:
    def __init__(self, limit: int = 2, order: Callable[[Any], Iterable] = by_priority) -> None:
        self.limit = limit
        self.order = order

    def choose(self, state):
        return self.search(state).move

    def search(self, state) -> Search:
        with NodeCounter() as nodes:
            result = self.value(state, state.to_move, 0, -inf, inf)
        return Search(move=result.move, value=result.value, nodes=nodes.visited)

    @counted
    def value(self, state, player: str, depth: int, alpha: float, beta: float) -> Result:
        settled = _settled(state, player, depth, self.limit)
        if settled is not None:
            return settled
        goal = Goal.of(state, player, alpha, beta)
        for move in self.order(state):
            below = self.value(state.after(move), player, depth + 1, goal.alpha, goal.beta)
            goal.update(below.value, move)
            if goal.is_cut:
                break
        return goal.result
