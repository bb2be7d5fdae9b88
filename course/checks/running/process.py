"""Runs the questions of a check on a module, in a separate process with limited computing time."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from common.clock import POLL_SECONDS, Clock, CpuMeter, WaitBudget
from common.messages import english
from common.progress import progress_text
from common.syntax import text_of
from course.checks import Case, Check
from course.checks.matches.ladder_agent import LadderPlayer
from course.checks.matches.match import AGENT, LIMITS, play_ladder
from course.checks.questions import MATCHES
from course.checks.replies import REPORT_SECONDS, Replies, parse_line, read_replies
from sequence.league.players.specs import parse

MAX_OUTPUT = 5_000_000  # characters; a correct module writes a few thousand


class CheckRunError(RuntimeError):
    """Raised if a check fails before the module is read, so the student's code is not the cause."""


def query_module(
    module: Path,
    check: Check,
    seconds: float | None = None,
    answers: Path | None = None,
    *,
    secret: str = "",
    waiting: WaitBudget | None = None,
    report_progress: Callable[[str], object] = lambda text: None,
) -> Replies:
    """Run every case of `check` on `module`, a Python file, in at most `seconds` altogether.

    The limit covers the computing time of the process and its descendants. It defaults to the
    check's `time_limit`.

    `answers` is the folder of the reference answers, which contains some opponents; `secret` is the
    source of their random deals. `waiting` is the budget that all runs of one submission share.
    `report_progress` is called with a text: after each deal of a match, and otherwise every second.

    Raises `CheckRunError` if Python itself could not be started.
    """
    if not module.is_file():
        return Replies((None,) * len(check.cases), broken=english(f"{module.name} is missing"))
    seconds = seconds or check.time_limit
    if check.ask in MATCHES:
        agent = parse(f"{module.resolve()}:{AGENT}")
        sources = [
            text_of(path.read_bytes()) for path in module.parent.glob("*.py") if path.is_file()
        ]
        return play_ladder(
            check,
            lambda: LadderPlayer(agent, LIMITS, waiting),
            seconds,
            answers,
            sources=sources,
            secret=secret,
            report_progress=report_progress,
        )
    cases: list[Case] = [{**check.settings, **case} for case in check.cases]
    request = json.dumps({"ask": check.ask, "cases": cases})
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as replies,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdin,
    ):
        stdin.write(request)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "course.checks.running.query_runner",
                    str(module.resolve()),
                ],
                stdin=stdin,
                stdout=replies,
                stderr=printed,
                cwd=module.resolve().parent,
                start_new_session=True,
            )
        except OSError as error:
            raise CheckRunError(
                f"the process that runs the module did not start: {error}"
            ) from error
        try:
            clock = Clock(CpuMeter(process.pid), seconds)
            stopped = _wait(
                process,
                clock,
                lambda: report_progress(
                    _progress(replies, len(cases), time.perf_counter() - start)
                ),
                replies,
                waiting,
            )
        finally:
            _kill(process)
        if stopped is None and process.returncode:
            stopped = english(f"the process ended with exit status {process.returncode}")
        replies.seek(0)
        lines = replies.read(MAX_OUTPUT).splitlines()
        if not lines:
            printed.seek(0)
            raise CheckRunError(
                "the process that runs the module did not start: "
                + printed.read().decode(errors="replace")[-2000:]
            )
    collected = read_replies(
        map(parse_line, lines[1:]), len(cases), stopped, time.perf_counter() - start
    )
    return replace(collected, computed=clock.spent)


def _wait(
    process: subprocess.Popen[Any],
    clock: Clock,
    report_progress: Callable[[], object],
    replies: TextIO,
    waiting: WaitBudget | None = None,
) -> str | None:
    """Wait until the process has ended, or return why it must be stopped.

    Starting Python, until the first line of `replies` is written, does not count as waiting.
    """
    meter, last_report = clock.meter, time.monotonic()
    waited: tuple[float, float] | None = None
    while not clock.is_over:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
            return None
        meter.refresh()
        if waiting and os.fstat(replies.fileno()).st_size:
            before, waited = waited, waiting.record(meter, waited)
            if before and waited and waiting.is_over:
                return waiting.reason
        if time.monotonic() - last_report >= REPORT_SECONDS:
            report_progress()
            last_report = time.monotonic()
    return english(f"stopped after {clock.limit_text}")


def _progress(replies: TextIO, cases: int, seconds: float) -> str:
    """A sentence that states how many replies are in the file after `seconds`.

    The process writes at the file's current position, so this must not change it.
    """
    what = english("questions answered")
    if not hasattr(os, "pread"):  # Windows
        return english(f"some of {cases} {what}")
    answered = max(0, os.pread(replies.fileno(), MAX_OUTPUT, 0).count(b"\n") - 1)
    return progress_text(answered, cases, what, seconds)


def _kill(process: subprocess.Popen[Any]) -> None:
    """Kill the process and, if the system has process groups, everything that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
