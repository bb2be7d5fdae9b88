"""Ask a module the cases of a check in this process: in a browser there are no others.

As `course.probes.process`, with two differences. What the module leaves behind is put right as far
as that can be done from inside. And only Python code is stopped when its time is up: a single call
into C that never ends can be ended only by restarting the kernel.
"""

import contextlib
import io
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from course.probes import Check
from course.probes.answer import answer_cases
from course.probes.questions import MATCHES
from course.probes.replies import SECONDS, SILENT, Replies, read_replies
from sequence.league.clock import Clock, Own
from tictactoe.show.time_left import how_far

TOOL = 2  # of those that `sys.monitoring` has; the number that it keeps for profilers
LOOKS = 2000  # calls and rounds of loops between two looks at the clock
GAMES = (
    "the games of this check need processes of their own, which a browser does not have: run "
    "it in JupyterLab on your computer"
)


class NeedsProcesses(RuntimeError):
    """This check cannot be run here; the message says where it can."""


class TimeIsUp(BaseException):
    """Raised inside the module, where `except Exception` does not stop it."""


def ask_module(
    module: Path,
    check: Check,
    seconds: float | None = None,
    answers: Path | None = None,
    *,
    secret: str = "",
    tell: Callable[[str], object] = lambda said: None,
) -> Replies:
    """Ask `module`, a Python file, every case of `check`; at most `seconds` for all of them.

    `tell` is told how many cases are answered and how long the others may take, as soon as one
    took a second since the last time.
    Raises `NeedsProcesses` where the cases are games: no points are better than wrong ones.
    """
    nothing = (None,) * len(check.cases)
    if not module.is_file():
        return Replies(nothing, broken=f"{module.name} is missing")
    if check.ask in MATCHES:
        raise NeedsProcesses(GAMES)
    clock = Clock(Own(), seconds or check.seconds or SECONDS)
    cases = [{**check.settings, **case} for case in check.cases]
    lines: list[dict[str, Any]] = []
    stopped = None
    start = told = time.perf_counter()

    def send(line: dict[str, Any]) -> None:
        nonlocal told
        if clock.is_over:
            raise TimeIsUp
        lines.append(line)
        if time.perf_counter() - told >= SILENT:
            tell(how_far(len(lines), len(cases), "questions answered", time.perf_counter() - start))
            told = time.perf_counter()

    try:
        with _as_it_was(module.stem):
            end = _watch(clock)
            try:
                answer_cases(module.resolve(), check.ask, cases, send)
            finally:
                end()
    except TimeIsUp:
        stopped = f"stopped after {clock.within}"
    return read_replies(lines, len(cases), stopped, time.perf_counter() - start)


@contextlib.contextmanager
def _as_it_was(name: str) -> Iterator[None]:
    """Put back afterwards what loading and asking the module called `name` changes."""
    modules = {key: sys.modules.get(key) for key in (name, "tictactoe.solver")}
    path, drawn, deep = list(sys.path), random.getstate(), sys.getrecursionlimit()
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield
    finally:
        sys.path[:] = path
        random.setstate(drawn)
        sys.setrecursionlimit(deep)
        for key, module in modules.items():
            sys.modules.pop(key, None)
            if module is not None:
                sys.modules[key] = module


def _watch(clock: Clock) -> Callable[[], object]:
    """Raise `TimeIsUp` in whatever runs once the clock is over; returns what ends that.

    Needs Python 3.12, as every browser has. The end is no function of Python's: in one of these it
    would be raised once more.
    """
    if not hasattr(sys, "monitoring"):
        return int
    left, over = LOOKS, False

    def look(_code: CodeType, _where: int, _to: int | None = None) -> None:
        nonlocal left, over
        left -= 1
        if left <= 0:
            over = over or clock.is_over
            if over:
                raise TimeIsUp  # again and again, until nobody catches it
            left = LOOKS

    watch, events = sys.monitoring, sys.monitoring.events
    if watch.get_tool(TOOL) is None:
        watch.use_tool_id(TOOL, __name__)
    for event in (events.PY_START, events.JUMP):
        watch.register_callback(TOOL, event, look)
    watch.set_events(TOOL, events.PY_START | events.JUMP)
    return partial(watch.set_events, TOOL, events.NO_EVENTS)
