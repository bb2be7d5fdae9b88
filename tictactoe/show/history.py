"""The line of a game on a board: what was played, what was taken back, who gave up."""

from collections.abc import Callable
from typing import Generic, TypeVar

from tictactoe.contract import Move, State

S = TypeVar("S", bound=State)


class History(Generic[S]):
    """The states of a game so far and the moves between them, with a way back and forth.

    Undo and redo go to the person's own decisions, which `mine(state)` tells: what the agents did
    in between goes with them. A resignation counts as a step of its own.
    """

    def __init__(self, start: S) -> None:
        self.restart(start)

    def restart(self, start: S) -> None:
        """Begin a new game."""
        self.states: list[S] = [start]
        self.moves: list[Move] = []
        self.resigned = False
        self._taken_back: list[tuple[Move, S]] = []  # the next one to be played again is last

    @property
    def state(self) -> S:
        """The position that is on the board."""
        return self.states[-1]

    def play(self, move: Move, state: S) -> None:
        """Make a move; what was taken back before is forgotten."""
        self._append(move, state)
        self._taken_back.clear()

    def resign(self) -> None:
        """Give the game up where it is."""
        self.resigned = True
        self._taken_back.clear()

    def undo(self, mine: Callable[[S], bool]) -> bool:
        """Go back to the decision before this one; False if there is none."""
        if self.resigned:
            self.resigned = False
            return True
        last = next(
            (number for number in range(len(self.moves) - 1, -1, -1) if mine(self.states[number])),
            None,
        )
        if last is None:
            return False
        later = zip(self.moves[last:], self.states[last + 1 :], strict=True)
        self._taken_back += reversed(list(later))
        del self.states[last + 1 :], self.moves[last:]
        return True

    def redo(self, mine: Callable[[S], bool]) -> bool:
        """Go forward again to the next decision; False if nothing was taken back."""
        if not self._taken_back:
            return False
        while self._taken_back:
            self._append(*self._taken_back.pop())
            if mine(self.state):
                break
        return True

    def _append(self, move: Move, state: S) -> None:
        self.moves.append(move)
        self.states.append(state)
