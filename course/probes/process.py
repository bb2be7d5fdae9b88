"""Ask a module the cases of a check, in a separate process with a limit of computing time."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from course.probes import Case, Check
from course.probes.ladder_agent import LadderPlayer
from course.probes.match import AGENT, LIMITS, play_ladder
from course.probes.questions import MATCHES
from course.probes.replies import SECONDS, SILENT, Replies, parsed, read_replies
from course.probes.syntax import text_of
from sequence.league.clock import Clock, Meter, Waiting
from sequence.league.players.specs import parse
from tictactoe.show.time_left import how_far

MAX_REPLIES = 5_000_000  # characters; a right module needs a few thousand
WATCH = 0.1  # seconds between two looks at the process


class ProbeFault(RuntimeError):
    """The machinery failed before the module was even read: never a student's fault."""


def ask_module(
    module: Path,
    check: Check,
    seconds: float | None = None,
    answers: Path | None = None,
    *,
    secret: str = "",
    waiting: Waiting | None = None,
    tell: Callable[[str], object] = lambda said: None,
) -> Replies:
    """Ask `module`, a Python file, every case of `check`; at most `seconds` for all of them.

    These are seconds of computing, of the process and of all that it starts. The default of
    `seconds` is what the study's table says, or else `SECONDS`.

    `answers`: the folder of the reference answers, which holds some opponents; `secret`: what their
    deals are drawn from. `waiting` is the budget that all runs of one submission share. `tell` is
    told how games go, and every second how many cases are answered and how long the others may
    take.

    Raises `ProbeFault` if Python itself could not be started.
    """
    if not module.is_file():
        return Replies((None,) * len(check.cases), broken=f"{module.name} is missing")
    seconds = seconds or check.seconds or SECONDS
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
            tell=tell,
        )
    cases: list[Case] = [{**check.settings, **case} for case in check.cases]
    request = json.dumps({"ask": check.ask, "cases": cases})
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as replies,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile("w+", encoding="utf-8") as asked,
    ):
        asked.write(request)
        asked.seek(0)
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "course.probes.answer", str(module.resolve())],
                stdin=asked,
                stdout=replies,
                stderr=printed,
                cwd=module.resolve().parent,
                start_new_session=True,
            )
        except OSError as error:
            raise ProbeFault(f"the process that asks the module did not start: {error}") from error
        try:
            stopped = _wait(
                process,
                seconds,
                lambda: tell(_so_far(replies, len(cases), time.perf_counter() - start)),
                replies,
                waiting,
            )
        finally:
            _kill(process)
        if stopped is None and process.returncode:
            stopped = f"the process ended with exit status {process.returncode}"
        replies.seek(0)
        lines = replies.read(MAX_REPLIES).splitlines()
        if not lines:
            printed.seek(0)
            raise ProbeFault(
                "the process that asks the module did not start: "
                + printed.read().decode(errors="replace")[-2000:]
            )
    return read_replies(map(parsed, lines[1:]), len(cases), stopped, time.perf_counter() - start)


def _wait(
    process: subprocess.Popen[Any],
    seconds: float,
    tell: Callable[[], object],
    replies: TextIO,
    waiting: Waiting | None = None,
) -> str | None:
    """Wait until the process has ended; why it has to be stopped if its time is up.

    Python's own start, which ends with the first line of `replies`, uses up no budget of waiting.
    """
    meter, told = Meter(process.pid), time.monotonic()
    clock = Clock(meter, seconds)
    waited: tuple[float, float] | None = None
    while not clock.is_over:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(WATCH)
            return None
        meter.look()
        if waiting and os.fstat(replies.fileno()).st_size:
            before, waited = waited, waiting.look(meter, waited)
            if before and waited and waiting.is_over:
                return waiting.reason
        if time.monotonic() - told >= SILENT:
            tell()
            told = time.monotonic()
    return f"stopped after {clock.within}"


def _so_far(replies: TextIO, cases: int, seconds: float) -> str:
    """How many replies the file holds after so long; its position is the process's, and stays."""
    what = "questions answered"
    if not hasattr(os, "pread"):  # Windows
        return f"some of {cases} {what}"
    answered = max(0, os.pread(replies.fileno(), MAX_REPLIES, 0).count(b"\n") - 1)
    return how_far(answered, cases, what, seconds)


def _kill(process: subprocess.Popen[Any]) -> None:
    """End the process and, where there are process groups, whatever it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
