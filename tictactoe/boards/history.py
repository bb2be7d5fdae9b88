"""The moves of a game on a board, with undo, redo and resignation."""

from collections.abc import Callable
from typing import Generic, TypeVar

from tictactoe.contract import Move, State

S = TypeVar("S", bound=State)


class History(Generic[S]):
    """The states of a game so far and the moves between them, with undo and redo.

    Undo and redo jump between the person's own decisions, given by `is_own_turn(state)`, and skip
    the agents' moves in between. A resignation counts as a separate step.
    """

    def __init__(self, start: S) -> None:
        self.restart(start)

    def restart(self, start: S) -> None:
        """Begin a new game."""
        self.states: list[S] = [start]
        self.moves: list[Move] = []
        self.resigned = False
        self._undone: list[tuple[Move, S]] = []  # the last one is redone first

    @property
    def state(self) -> S:
        """The position that is on the board."""
        return self.states[-1]

    def play(self, move: Move, state: S) -> None:
        """Make a move; undone moves can no longer be redone."""
        self._append(move, state)
        self._undone.clear()

    def resign(self) -> None:
        """Resign in the current position."""
        self.resigned = True
        self._undone.clear()

    def undo(self, is_own_turn: Callable[[S], bool]) -> bool:
        """Go back to the previous decision; returns False if there is none."""
        if self.resigned:
            self.resigned = False
            return True
        last = next(
            (
                number
                for number in range(len(self.moves) - 1, -1, -1)
                if is_own_turn(self.states[number])
            ),
            None,
        )
        if last is None:
            return False
        later = zip(self.moves[last:], self.states[last + 1 :], strict=True)
        self._undone += reversed(list(later))
        del self.states[last + 1 :], self.moves[last:]
        return True

    def redo(self, is_own_turn: Callable[[S], bool]) -> bool:
        """Go forward to the next decision; returns False if nothing was undone."""
        if not self._undone:
            return False
        while self._undone:
            self._append(*self._undone.pop())
            if is_own_turn(self.state):
                break
        return True

    def _append(self, move: Move, state: S) -> None:
        self.moves.append(move)
        self.states.append(state)
