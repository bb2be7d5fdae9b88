"""Requests from a board to its agents: they run one at a time, and late responses are dropped.

Clicks can arrive in any thread of the kernel, even while an agent is thinking, if the agent lets
the kernel handle messages. Therefore, no click waits for an agent. The board changes immediately,
and when the response arrives, the thread that is running the current request continues with the new
position. Requests caused by a click in a page run in a background thread, so that the next click
can be handled. (Python in a browser has no threads, so the next click waits there.)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import RLock
from typing import Any

from tictactoe.boards.background import run_in_background

# A function without arguments that computes a result, and the function that receives the result.
Request = tuple[Callable[[], Any], Callable[[Any], None]]

_in_browser_click: ContextVar[bool] = ContextVar("in_a_page", default=False)


@contextmanager
def handling_browser_click() -> Iterator[None]:
    """Run requests in the background within the block, so that the next click need not wait."""
    token = _in_browser_click.set(True)
    try:
        yield
    finally:
        _in_browser_click.reset(token)


class AgentRequests:
    """The requests of one board, which may change only while `lock` is held.

    `next_request` paints the board and returns the next request, or None. The lock is held while it
    is called and while the result is received, but not during the computation. Results of requests
    made before the last `invalidate` are dropped.
    """

    def __init__(self, lock: RLock, next_request: Callable[[], Request | None]) -> None:
        self.lock = lock
        self._next_request = next_request
        self._version = 0  # version of the board, which `invalidate` increases
        self._is_running = False

    def invalidate(self) -> None:
        """Drop pending requests; call it after changing the board, with the lock still held."""
        self._version += 1

    def run(self) -> None:
        """Run requests until none are left, unless another thread is already doing so."""
        with self.lock:
            if self._is_running:
                self._next_request()  # paints the board
                return
            self._is_running = True
            first = self._next()
        if first is None:
            return
        if _in_browser_click.get():
            run_in_background(partial(self._process, first))
        else:
            self._process(first)

    def _process(self, request: tuple[int, Request] | None) -> None:
        try:
            while request:
                version, (compute, receive) = request
                result = compute()
                with self.lock:
                    if version == self._version:
                        receive(result)
                request = self._next()
        except BaseException:
            self._is_running = False
            raise

    def _next(self) -> tuple[int, Request] | None:
        """The next request and the board's version; None if there are no more."""
        with self.lock:
            request = self._next_request()
            if request is None:
                self._is_running = False
                return None
            return self._version, request
