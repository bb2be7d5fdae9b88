"""Minimax in which each side is a separate class and a result is a named tuple.

Study 1: minimax, minimax with a table, and mixed play.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from tictactoe import NodeCounter, Search, counted


class Outcome(NamedTuple):
    """The value of a node for MAX, and the move that leads to it."""

    value: Any
    move: Any = None


class Side(ABC):
    """A side, which examines offers one by one and keeps the first of those that it prefers."""

    def __init__(self) -> None:
        self.kept: Outcome | None = None

    @abstractmethod
    def prefers(self, new: Any, old: Any) -> bool:
        """Whether `new` is strictly better than `old` for this side."""

    def offer(self, value: Any, move: Any) -> None:
        if self.kept is None or self.prefers(value, self.kept.value):
            self.kept = Outcome(value, move)

    @staticmethod
    def to_move(state, player) -> Side:
        return Max() if state.to_move == player else Min()


class Max(Side):
    def prefers(self, new: Any, old: Any) -> bool:
        return new > old


class Min(Side):
    def prefers(self, new: Any, old: Any) -> bool:
        return new < old


class Minimax:
    """Searches the complete game tree (Russell and Norvig, 4th edition, figure 5.3)."""

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state) -> Search:
        with NodeCounter() as counter:
            outcome = self.value(state, state.to_move)
        return Search(move=outcome.move, value=outcome.value, nodes=counter.visited)

    @counted
    def value(self, state, player) -> Outcome:
        if state.is_terminal():
            return Outcome(state.utility(player))
        side = Side.to_move(state, player)
        for move in state.legal_moves():
            side.offer(self.value(state.after(move), player).value, move)
        return side.kept


class Tabular:
    """Minimax that computes every state once: `table[state, player]` stores `(value, move)`."""

    def __init__(self) -> None:
        self.table: dict[tuple[Any, Any], Outcome] = {}

    def choose(self, state):
        """The move that `search` finds."""
        return self.search(state).move

    def search(self, state) -> Search:
        with NodeCounter() as counter:
            outcome = self.look_up(state, state.to_move)
        return Search(move=outcome.move, value=outcome.value, nodes=counter.visited)

    def look_up(self, state, player) -> Outcome:
        key = state, player
        known = self.table.get(key)
        if known is None:
            known = self.table[key] = self.value(state, player)
        return known

    @counted
    def value(self, state, player) -> Outcome:
        if state.is_terminal():
            return Outcome(state.utility(player))
        side = Side.to_move(state, player)
        for move in state.legal_moves():
            side.offer(self.look_up(state.after(move), player).value, move)
        return side.kept


class MixedTabular(Tabular):
    """Plays a mixed strategy: any of the best moves, each with the same probability."""

    def __init__(self, seed=None) -> None:
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, state):
        return self.random.choice(self.best_moves(state))

    def best_moves(self, state) -> list:
        me = state.to_move
        worth = self.look_up(state, me).value
        return [move for move in state.legal_moves()
                if self.look_up(state.after(move), me).value == worth]
