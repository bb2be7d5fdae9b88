"""Asks a module the cases of a check, in a process of its own with a time limit."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.probes import Case, Check, Observation

MAX_REPLIES = 5_000_000  # characters; what a right module says is a few thousand
MAX_SAID = 500  # characters of one error
SECONDS = 10.0  # for one check; the reference needs less than two


@dataclass(frozen=True)
class Replies:
    """What came back from one check: one observation per case, None where there was none.

    `broken` says why the module could not be loaded, `stopped` why the process ended before all
    cases were answered; both None if all went well. `seconds` is the wall time of the process.
    """

    observations: tuple[Observation | None, ...]
    broken: str | None = None
    stopped: str | None = None
    seconds: float = field(default=0.0, compare=False)


class ProbeFault(RuntimeError):
    """The machinery failed before the module was even read: never a student's fault."""


def ask_module(module: Path, check: Check, seconds: float = SECONDS) -> Replies:
    """Ask `module`, a Python file, every case of `check`; at most `seconds` for all of them.

    Raises `ProbeFault` if Python itself could not be started.
    """
    if not module.is_file():
        return Replies((None,) * len(check.cases), broken=f"{module.name} is missing")
    cases: list[Case] = [{**check.settings, **case} for case in check.cases]
    request = json.dumps({"ask": check.ask, "cases": cases})
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as replies, \
            tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "course.probes.answer", str(module.resolve())],
                stdin=subprocess.PIPE, stdout=replies, stderr=printed, cwd=module.resolve().parent,
                text=True, encoding="utf-8", start_new_session=True)
        except OSError as error:
            raise ProbeFault(f"the process that asks the module did not start: {error}") from error
        stopped = None
        try:
            process.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            stopped = f"stopped after {seconds:g} s"
        finally:
            _kill(process)
        if stopped is None and process.returncode:
            stopped = f"the process ended with exit status {process.returncode}"
        replies.seek(0)
        lines = replies.read(MAX_REPLIES).splitlines()
        if not lines:
            printed.seek(0)
            raise ProbeFault("the process that asks the module did not start: "
                             + printed.read().decode(errors="replace")[-2000:])
    return read_replies(map(parsed, lines[1:]), len(cases), stopped, time.perf_counter() - start)


def _kill(process: subprocess.Popen) -> None:
    """End the process and, where there are process groups, whatever it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _is_observation(data: dict) -> bool:
    """Whether this is a reply of our own making, and not what a module wrote in its place."""
    observation = data.get("observation")
    errors = observation.get("errors", {}) if isinstance(observation, dict) else None
    return isinstance(errors, dict) and all(isinstance(text, str) for text in errors.values())


def read_replies(lines: Iterable[Any], cases: int, stopped: str | None, seconds: float) -> Replies:
    """The observations among what came back; whatever does not fit the schema is no answer."""
    observations: list[Observation | None] = [None] * cases
    for data in lines:
        if isinstance(data, dict) and "broken" in data:
            return Replies(tuple(observations), _one_line(data["broken"]), stopped, seconds)
        number = data.get("case") if isinstance(data, dict) else None
        if type(number) is int and number in range(cases) and _is_observation(data):
            observation = observations[number] = data["observation"]
            if "errors" in observation:
                observation["errors"] = {
                    name: _one_line(text) for name, text in observation["errors"].items()}
    if stopped is None and None in observations:
        stopped = "the process ended before it had answered"
    return Replies(tuple(observations), None, stopped, seconds)


def _one_line(text: object) -> str:
    """What a module said of itself, short enough to be told, on one line."""
    return f"{' '.join(str(text).split()):.{MAX_SAID}}"


def parsed(line: str | bytes) -> Any:
    """What a line of JSON holds; None if it was cut off, or is not ours."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
