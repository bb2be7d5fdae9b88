"""Runs the questions of a check in this process, because a browser cannot start others.

There are two differences from `course.checks.running.process`. Changes that the module makes to the
interpreter are undone as far as possible. When the time is up, only Python code can be stopped; if
a single call into C never returns, the kernel must be restarted.
"""

import contextlib
import io
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from common.clock import Clock, ThreadCpuMeter
from common.messages import english
from common.progress import progress_text
from course.checks import Check
from course.checks.questions import MATCHES
from course.checks.replies import REPORT_SECONDS, Replies, read_replies
from course.checks.running.query_runner import answer_cases

TOOL_ID = 2  # the id that `sys.monitoring` reserves for profilers
EVENTS_PER_LOOK = 2000  # calls and loop iterations between two readings of the clock
NEEDS_PROCESSES = english(
    "the games of this check need separate processes, which a browser cannot start: run "
    "it in JupyterLab on your computer"
)


class NeedsProcesses(RuntimeError):
    """Raised if a check cannot run here; the message states where it can."""


class TimeIsUp(BaseException):
    """Raised inside the module, where `except Exception` does not stop it."""


def query_module(
    module: Path,
    check: Check,
    seconds: float | None = None,
    answers: Path | None = None,
    *,
    secret: str = "",
    report_progress: Callable[[str], object] = lambda text: None,
) -> Replies:
    """Run every case of `check` on `module`, a Python file, in at most `seconds` altogether.

    `report_progress` is called with a text, at most once a second. Raises `NeedsProcesses` if the
    cases are games, because reporting no points is better than reporting wrong ones.
    """
    no_replies = (None,) * len(check.cases)
    if not module.is_file():
        return Replies(no_replies, broken=english(f"{module.name} is missing"))
    if check.ask in MATCHES:
        raise NeedsProcesses(NEEDS_PROCESSES)
    clock = Clock(ThreadCpuMeter(), seconds or check.time_limit)
    cases = [{**check.settings, **case} for case in check.cases]
    lines: list[dict[str, Any]] = []
    stopped = None
    start = last_report = time.perf_counter()

    def send(line: dict[str, Any]) -> None:
        nonlocal last_report
        if clock.is_over:
            raise TimeIsUp
        lines.append(line)
        now = time.perf_counter()
        if now - last_report >= REPORT_SECONDS:
            report_progress(
                progress_text(len(lines), len(cases), "questions answered", now - start)
            )
            last_report = time.perf_counter()

    try:
        with _restored_interpreter(module.stem):
            stop_watching = _watch(clock)
            try:
                answer_cases(module.resolve(), check.ask, cases, send)
            finally:
                stop_watching()
    except TimeIsUp:
        stopped = english(f"stopped after {clock.limit_text}")
    replies = read_replies(lines, len(cases), stopped, time.perf_counter() - start)
    return replace(replies, computed=clock.spent)


@contextlib.contextmanager
def _restored_interpreter(name: str) -> Iterator[None]:
    """Undo the changes to the interpreter that loading and calling the module `name` makes."""
    modules = {key: sys.modules.get(key) for key in (name, "tictactoe.solver")}
    path, rng_state, recursion_limit = list(sys.path), random.getstate(), sys.getrecursionlimit()
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            yield
    finally:
        sys.path[:] = path
        random.setstate(rng_state)
        sys.setrecursionlimit(recursion_limit)
        for key, module in modules.items():
            sys.modules.pop(key, None)
            if module is not None:
                sys.modules[key] = module


def _watch(clock: Clock) -> Callable[[], object]:
    """Raise `TimeIsUp` in the running code when the time is up; return a callable that stops the
    watch.

    Needs Python 3.12, which the browser has. The callable is not written in Python, because
    `TimeIsUp` would be raised again in a Python function.
    """
    if not hasattr(sys, "monitoring"):
        return int
    events_left, is_over = EVENTS_PER_LOOK, False

    def count_event(_code: CodeType, _offset: int, _destination: int | None = None) -> None:
        nonlocal events_left, is_over
        events_left -= 1
        if events_left <= 0:
            is_over = is_over or clock.is_over
            if is_over:
                raise TimeIsUp  # raised repeatedly until no handler catches it
            events_left = EVENTS_PER_LOOK

    monitoring, events = sys.monitoring, sys.monitoring.events
    if monitoring.get_tool(TOOL_ID) is None:
        monitoring.use_tool_id(TOOL_ID, __name__)
    for event in (events.PY_START, events.JUMP):
        monitoring.register_callback(TOOL_ID, event, count_event)
    monitoring.set_events(TOOL_ID, events.PY_START | events.JUMP)
    return partial(monitoring.set_events, TOOL_ID, events.NO_EVENTS)
