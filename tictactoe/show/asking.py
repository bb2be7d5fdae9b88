"""How a board asks its agents: one question at a time, and late answers do not count.

Clicks come in whatever thread the kernel hands them over in, and an agent that lets the kernel
handle messages while it thinks lets them in as well. So nothing waits for an agent: the board
changes at once, and whoever is asking now goes on with what is on the board when the answer comes.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any


class Asking:
    """The questions of one board, which is changed only while `lock` is held.

    `question` shows the board and returns what is to be found out for it, as a function without
    arguments, or None for nothing. `take` is given what that function returns; both are called with
    the lock held, the function without it. An answer to a question from before the last `renew` is
    dropped.
    """

    def __init__(self, lock: RLock, question: Callable[[], Callable[[], Any] | None],
                 take: Callable[[Any], None]) -> None:
        self.lock = lock
        self._question, self._take = question, take
        self._number = 0  # of what is on the board: another one after each `renew`
        self._is_asking = False

    def renew(self) -> None:
        """Drop what was asked before; call it with the lock held in which the board was changed."""
        self._number += 1

    def go_on(self) -> None:
        """Ask until there is nothing to ask; if somebody is asking already, that one will."""
        with self.lock:
            if self._is_asking:
                self._question()  # which shows the board
                return
            self._is_asking = True
        try:
            while asked := self._next():
                number, question = asked
                answer = question()
                with self.lock:
                    if number == self._number:
                        self._take(answer)
        except BaseException:
            self._is_asking = False
            raise

    def _next(self) -> tuple[int, Callable[[], Any]] | None:
        """The next question with its number; if there is none, nobody is asking any more."""
        with self.lock:
            question = self._question()
            if question is None:
                self._is_asking = False
                return None
            return self._number, question
