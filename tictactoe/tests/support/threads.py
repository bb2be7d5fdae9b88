"""Helpers for tests with many threads, which switch as often as possible."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import Queue
from typing import Any

PATIENCE = 60  # seconds after which a test that hangs fails


@contextlib.contextmanager
def restless() -> Iterator[None]:
    """Make threads switch after almost every instruction within the block, so races are likely."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of the calls, each in a separate thread; all start simultaneously."""
    barrier, results, errors = threading.Barrier(len(calls)), [None] * len(calls), []

    def run(number: int) -> None:
        try:
            barrier.wait(PATIENCE)
            results[number] = calls[number]()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(calls))
    ]
    with restless():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    return results


@contextlib.contextmanager
def beside(call: Callable[[], Any]) -> Iterator[None]:
    """Run the call in another thread during the block; the block ends when the thread has ended."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive()


class Held:
    """An agent that answers on command: `asked` receives the positions, `answers` the moves."""

    def __init__(self) -> None:
        self.asked: Queue = Queue()
        self.answers: Queue = Queue()

    def choose(self, state: Any) -> Any:
        """The next answer; raises it if it is an error."""
        self.asked.put(state)
        answer = self.answers.get(timeout=PATIENCE)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def question(self) -> Any:
        """The next position for which the agent is queried."""
        return self.asked.get(timeout=PATIENCE)
