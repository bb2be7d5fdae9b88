"""How a board asks its agents: one question at a time, and late answers do not count.

Clicks come in whatever thread the kernel hands them over in, and an agent that lets the kernel
handle messages while it thinks lets them in as well. So nothing waits for an agent: the board
changes at once, and whoever is asking now goes on with what is on the board when the answer comes.
What a click in a page asks for is found out in a thread of its own: the next click may come in. (In
a browser there is none: the next click waits.)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import RLock
from typing import Any

from tictactoe.show.beside import beside

# What is to be found out, as a function without arguments, and what is done with the answer.
Question = tuple[Callable[[], Any], Callable[[Any], None]]

_in_a_page: ContextVar[bool] = ContextVar("in_a_page", default=False)


@contextmanager
def clicked_in_a_page() -> Iterator[None]:
    """What is asked meanwhile is found out beside: the page's next click must not wait for it."""
    token = _in_a_page.set(True)
    try:
        yield
    finally:
        _in_a_page.reset(token)


class Asking:
    """The questions of one board, which is changed only while `lock` is held.

    `question` shows the board and returns what is to be found out for it, or None for nothing. It
    is called with the lock held, and so is what it returns for the answer; finding out is not. An
    answer to a question from before the last `renew` is dropped.
    """

    def __init__(self, lock: RLock, question: Callable[[], Question | None]) -> None:
        self.lock = lock
        self._question = question
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
            first = self._next()
        if first is None:
            return
        if _in_a_page.get():
            beside(partial(self._ask, first))
        else:
            self._ask(first)

    def _ask(self, asked: tuple[int, Question] | None) -> None:
        try:
            while asked:
                number, (find_out, take) = asked
                answer = find_out()
                with self.lock:
                    if number == self._number:
                        take(answer)
                asked = self._next()
        except BaseException:
            self._is_asking = False
            raise

    def _next(self) -> tuple[int, Question] | None:
        """The next question with its number; if there is none, nobody is asking any more."""
        with self.lock:
            question = self._question()
            if question is None:
                self._is_asking = False
                return None
            return self._number, question
