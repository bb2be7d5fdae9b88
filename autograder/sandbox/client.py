"""The trusted side of the sandbox. It sends jobs in, enforces their limits and receives plain data.

All that is known about a reply is that it comes from the submission. A reply that does not match
the schema counts as no answer, and can harm only the submission itself.
"""

import base64
import contextlib
import json
import math
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
from nbformat.v4 import new_output

from autograder.sandbox.inside.frames import LENGTH, End, send
from autograder.sandbox.launch import CannotIsolate, request_fork, start
from autograder.sandbox.limits import SandboxLimits
from common.clock import POLL_SECONDS, Clock, CpuMeter, WaitBudget, speed_factor, wall_clock_limit
from common.messages import english
from common.syntax import text_of
from course.checks import Check
from course.checks.matches.match import AGENT, play_ladder
from course.checks.positions import is_from_game
from course.checks.question import texts_of
from course.checks.questions import MATCHES
from course.checks.replies import Replies, parse_line, read_replies
from course.checks.running.process import MAX_OUTPUT
from sequence import Action, Observation
from sequence.league.game import AgentError, PlayerExited, TimeLimitExceeded, action_from_reply
from sequence.league.protocol import clean, observation_to_plain

GRACE_SECONDS = 1.0  # of CPU time, between interrupting a cell and ending its process
START_SECONDS = 10.0  # of CPU time within which a fork must be isolated
MAX_BYTES_PER_CHARACTER = 12  # in JSON
OVERHEAD_BYTES = 1_000_000  # of a notebook's messages, in addition to the outputs
KERNEL_LIMIT_FACTOR = 2  # the kernel enforces this multiple of the CPU limit, as a second safeguard
REPLY_KEYS = ("value", "changed", "missing", "raised", "message")  # passed on to a test
MAX_DEPTH = 20  # depth of nested lists in a reply
# Imported in advance for notebooks only; a module that uses them must not run in a light job.
HEAVY_MODULES = (b"numpy", b"matplotlib", b"IPython")
LIGHT_JOBS = ("questions", "agent")  # kinds of jobs that do not need these modules
# These are public because notebooks use them. A submission's module must contain its own search,
# and an agent must choose its own actions. Greedy plays the games from which some checks take their
# positions.
ORACLES = ("tictactoe.solver", "sequence.agents.fitted", "sequence.agents.ismcts")
GREEDY = "sequence.agents.greedy"
# Characters that control a terminal, reverse the direction of a line, or cannot be written to a
# file.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SandboxFault(RuntimeError):
    """An internal error of the sandbox, which must not lead to a mark."""


class JobEnded(Exception):
    """The process was stopped for the reason in the message; if the message is empty, the process
    ended on its own.
    """


class ClockExpired(Exception):
    """The time of a clock is up; the message states the limit."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(english(f"stopped after {clock.limit_text}"))
        self.clock = clock


@dataclass
class JobResult:
    """The result of running a notebook: the outputs of each cell, or None for a cell that did not
    finish.

    `stopped` explains why the run ended early; `late` contains the cells that were interrupted
    because they did not finish, each with a description of its time limit.
    """

    outputs: list[list | None]
    counts: list[int | None]
    late: dict[int, str] = field(default_factory=dict)
    stopped: str | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    calls: dict[int, list[str]] = field(default_factory=dict)  # the calls that external tests made
    longest: float = 0.0  # CPU seconds of the slowest cell

    def record_cell(self, number: int, frame: Mapping[str, Any]) -> None:
        """Keep the outputs of a cell from its last message."""
        self.outputs[number] = [o for o in map(_rebuilt_output, _list(frame.get("outputs"))) if o]
        self.counts[number] = _execution_count(frame)

    def record_late(
        self, number: int, time_up: ClockExpired, notebook_clock: Clock, kind: str
    ) -> None:
        """Record that a cell did not finish in time; `kind` is "cell" or "test".

        Raises `JobEnded` if the time of the notebook is up, or the cell was already interrupted.
        """
        if time_up.clock is notebook_clock:
            raise JobEnded(english("the notebook's time was up")) from None
        if number in self.late:
            raise JobEnded(
                english(
                    f"a {'test' if kind == 'test' else 'cell'} did not finish within "
                    f"{self.late[number]} and could not be interrupted"
                )
            ) from None
        self.late[number] = time_up.clock.limit_text


def _execution_count(frame: Mapping[str, Any]) -> int | None:
    """Return the execution count in a cell's message, if it is valid in a notebook."""
    count = frame.get("execution_count")
    return count if type(count) is int and count >= 0 else None


@dataclass(frozen=True)
class ExternalTests:
    """The cells of a notebook that run in a separate process, without any of its code."""

    sandbox: "Sandbox | None"  # a second sandbox; None until a cluster's worker starts it
    allowed_calls: Mapping[int, Sequence[str] | None]  # by number of the cell; None: all
    imports: Sequence[str]  # the instructor's imports, and the definitions in locked cells
    withheld: Sequence[str] = ()  # names that the submission must not define

    def request(self, cells: Sequence[str], characters: int) -> dict[str, Any]:
        """Return the request for a job that runs those of the `cells` that are external tests."""
        return {
            "tests": {number: cells[number] for number in self.allowed_calls},
            "calls": {
                number: calls for number, calls in self.allowed_calls.items() if calls is not None
            },
            "imports": list(self.imports),
            "withheld": list(self.withheld),
            "characters": characters,
        }


class Sandbox:
    """A sandbox, started with `with Sandbox(limits) as sandbox`; for one thread only.

    Folders in `hidden` are not visible inside. `fork_server` is the path of a fork server, if one
    is running (see `launch.fork_server`). `waiting`, which callers may set, is the waiting time
    that all jobs of one submission share. Raises `CannotIsolate` if this machine cannot isolate
    jobs.
    """

    waiting: WaitBudget | None = None

    def __init__(
        self, limits: SandboxLimits, hidden: Iterable[Path] = (), fork_server: Path | None = None
    ) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        control = request_fork(fork_server)
        if control:
            self._control = control
        else:
            self._process, self._control = start(hidden)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the parent of jobs, and thereby everything that is still running inside."""
        self._control.close()
        if self._process:
            self._process.kill()
            self._process.wait()

    def run_cells(
        self,
        files: Mapping[str, bytes],
        cells: Sequence[str],
        cell_seconds: float,
        later_seconds: float,
        all_seconds: float,
        tests: ExternalTests | None = None,
        *,
        limits: Mapping[int, float] = MappingProxyType({}),
    ) -> JobResult:
        """Run code cells, in order, in a folder with `files`; `tests` run in a separate process.

        A cell that does not finish in `cell_seconds` of CPU time, or in its own limit of `limits`,
        is interrupted, and each later cell has only `later_seconds`; all cells together have
        `all_seconds`. Raises `SandboxFault`.
        """
        if tests and tests.sandbox is None:
            raise ValueError("external tests need a separate sandbox")
        result = JobResult([None] * len(cells), [None] * len(cells))
        test_numbers = tests.allowed_calls if tests else {}
        started = time.monotonic()
        request = {
            "cells": [None if n in test_numbers else cell for n, cell in enumerate(cells)],
            "characters": self.limits.characters,
        }
        max_bytes = MAX_BYTES_PER_CHARACTER * self.limits.characters + OVERHEAD_BYTES
        with contextlib.ExitStack() as stack:
            job = stack.enter_context(self.job("cells", files, request, max_bytes))
            tester: Job | None = None
            if tests and tests.sandbox:
                test_request = tests.request(cells, self.limits.characters)
                tester = stack.enter_context(
                    tests.sandbox.job("tests", {}, test_request, max_bytes)
                )
            try:
                notebook_clock = job.clock(all_seconds)
                for number in range(len(cells)):
                    seconds = limits.get(number, cell_seconds)
                    if result.late:
                        seconds = min(seconds, later_seconds)
                    if tester and number in test_numbers:
                        _TestRun(job, tester, number, result, notebook_clock, seconds).run()
                    else:
                        _run_cell(job, number, result, notebook_clock, seconds)
            except JobEnded as end:
                result.stopped = str(end)
        if result.stopped == "":
            result.stopped = english(f"a cell ended the Python process{job.exit_description()}")
        result.seconds, result.cpu = round(time.monotonic() - started, 3), job.cpu
        return result

    def run_check(
        self,
        files: Mapping[str, bytes],
        module: str,
        check: Check,
        seconds: float,
        answers: Path | None = None,
        secret: str = "",
    ) -> Replies:
        """Run every case of `check` on the module of that name among `files`, in a separate fork.

        All cases together have `seconds` of CPU time. `answers` is the folder of the staff's
        answers, which contains some opponents; `secret` is the seed of the deals. Raises
        `SandboxFault`.
        """
        if module not in files:
            return Replies((None,) * len(check.cases), broken=english(f"{module} is missing"))
        if check.ask in MATCHES:
            sources = [text_of(data) for name, data in files.items() if name.endswith(".py")]
            return play_ladder(
                check,
                lambda: SandboxPlayer(self, files, module),
                seconds,
                answers,
                sources=sources,
                secret=secret,
            )
        cases = [{**check.settings, **case} for case in check.cases]
        started = time.monotonic()
        stopped: str | None = None
        frames: list[dict[str, Any]] = []
        request = {"module": module, "ask": check.ask, "cases": cases}
        with self.job("questions", files, request, MAX_OUTPUT) as job:
            try:
                clock = job.clock(seconds)
                while len(frames) <= len(cases):
                    frames.append(_sanitized(job.receive(clock)))
            except (JobEnded, ClockExpired) as end:
                stopped = str(end)
        answered = sum("case" in frame for frame in frames)
        if stopped == "":
            stopped = (
                None
                if answered == len(cases) or "broken" in frames[-1:]
                else english(f"the process ended before it replied{job.exit_description()}")
            )
        return replace(
            read_replies(frames, len(cases), stopped, time.monotonic() - started), computed=job.cpu
        )

    @contextlib.contextmanager
    def job(
        self, kind: str, files: Mapping[str, bytes], request: dict[str, Any], max_bytes: int
    ) -> Iterator["Job"]:
        """Start a process inside the sandbox for one job; its messages may total at most
        `max_bytes`.

        Raises `SandboxFault`.
        """
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs:
                    header = self._header(kind, files, request)
                    socket.send_fds(self._control, [json.dumps(header).encode()], [theirs.fileno()])
                _, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
            except OSError as error:
                raise SandboxFault(f"the sandbox does not respond: {error}") from error
            if not descriptors:
                raise SandboxFault("the sandbox has ended")
            job = Job(ours, descriptors[0], self.limits, max_bytes, self.waiting)
            encoded = {name: base64.b64encode(data).decode() for name, data in files.items()}
            try:
                job.start(request | {"files": encoded})
                yield job
            finally:
                job.kill()
                data = self._control.recv(1 << 16)
                if not data:  # in that case, the process ended because the sandbox ended
                    raise SandboxFault("the sandbox has ended")
                end = End.from_buffer_copy(data)
                job.status, job.cpu = end.status, end.cpu

    def _header(
        self, kind: str, files: Mapping[str, bytes], request: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the part of a request that the parent reads; see `inside.zygote`."""
        uses_heavy_modules = any(name in data for data in files.values() for name in HEAVY_MODULES)
        cpu_seconds = math.ceil(KERNEL_LIMIT_FACTOR * self.limits.cpu_seconds * speed_factor())
        return {
            "kind": kind,
            "light": kind in LIGHT_JOBS and not uses_heavy_modules,
            "limits": asdict(self.limits) | {"cpu_seconds": cpu_seconds},
            "absent": _absent(kind, request),
        }


class Job:
    """One process inside the sandbox, as seen from outside: this object exchanges messages with it
    and can end it.

    The messages of the process may total at most `max_bytes`. `waiting` is the remaining waiting
    time.
    """

    def __init__(
        self,
        connection: socket.socket,
        pidfd: int,
        limits: SandboxLimits,
        max_bytes: int,
        waiting: WaitBudget | None = None,
    ) -> None:
        self.connection, self.pidfd, self.limits = connection, pidfd, limits
        self.cpu, self.status = 0.0, 0  # set when the process has ended
        self._bytes_left = max_bytes
        self._budget = waiting
        self._waiting: WaitBudget | None = None
        self.meter = CpuMeter(_pid(pidfd))
        self._total_clock = self.clock(limits.cpu_seconds, may_wait=True)
        self._buffer = bytearray()
        self._last_measured = time.monotonic()
        connection.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(connection, selectors.EVENT_READ)

    def clock(self, seconds: float, may_wait: bool = False, since: float | None = None) -> Clock:
        """Return a clock for the process and its descendants that starts now, or at the meter's
        value `since`.
        """
        return Clock(self.meter, seconds, may_wait, since)

    def start(self, request: dict[str, Any]) -> None:
        """Send the request; raises `SandboxFault` unless the process has been isolated."""
        self.connection.settimeout(wall_clock_limit(START_SECONDS))
        with contextlib.suppress(OSError):  # the process has ended; its last message is read below
            send(self.connection, request)
        self.connection.setblocking(False)
        try:
            frame = self.receive(self.clock(START_SECONDS))
        except (JobEnded, ClockExpired) as error:
            raise SandboxFault(f"a process inside the sandbox did not start ({error})") from error
        if frame != {"ready": True}:
            raise SandboxFault(f"a process could not be isolated: {frame.get('fault')}")
        self._waiting = self._budget  # from here on, the submission decides how long it takes

    def send(self, frame: dict[str, Any], clock: Clock) -> None:
        """Send one message; raises `ClockExpired`, or `JobEnded` if the process has ended."""
        try:
            self.connection.settimeout(wall_clock_limit(clock.seconds))
            send(self.connection, frame)
        except TimeoutError:
            clock.timed_out_waiting = True
            raise ClockExpired(clock) from None
        except ConnectionError as error:
            raise JobEnded from error
        finally:
            self.connection.setblocking(False)

    def receive(self, *clocks: Clock) -> dict[str, Any]:
        """Return the next message. Raises `ClockExpired` if the time of any clock is up, and
        `JobEnded` if the process has ended.
        """
        waited: tuple[float, float] | None = None  # at the last measurement
        while True:
            frame = self._next_frame()
            if frame is not None:
                return frame
            if self._selector.select(POLL_SECONDS):
                self._fill_buffer()
            if time.monotonic() - self._last_measured >= POLL_SECONDS:
                self._enforce_limits()
                for clock in clocks:
                    if clock.is_over:
                        raise ClockExpired(clock)
                waited = self._enforce_waiting_limit(waited)

    def _next_frame(self) -> dict[str, Any] | None:
        """Take one message from the buffer; return None if no message is complete."""
        if len(self._buffer) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack_from(self._buffer)
        if size > self._bytes_left:
            raise JobEnded(english("its output exceeded the limit"))
        if len(self._buffer) < LENGTH.size + size:
            return None
        data = bytes(self._buffer[LENGTH.size : LENGTH.size + size])
        del self._buffer[: LENGTH.size + size]
        self._bytes_left -= size
        frame = parse_line(data)
        return frame if isinstance(frame, dict) else {}

    def _fill_buffer(self) -> None:
        """Read what the process has sent; raises `JobEnded` at the end of the stream."""
        try:
            chunk = self.connection.recv(1 << 20)
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise JobEnded
        self._buffer += chunk

    def _enforce_limits(self) -> None:
        """End the job if its processes together exceed a limit."""
        self._last_measured = time.monotonic()
        self.meter.refresh()
        memory = _memory(self.meter.processes)
        if memory > self.limits.memory_mb << 20:
            raise JobEnded(
                english(f"stopped: it used more than {self.limits.memory_mb} MB of memory")
            )
        if self._total_clock.is_over:
            raise JobEnded(english(f"stopped after {self._total_clock.limit_text}"))

    def _enforce_waiting_limit(
        self, previous: tuple[float, float] | None
    ) -> tuple[float, float] | None:
        """End the job if the waiting time is used up; return the new measurement.

        The wait for a message that arrives within two measurements does not count.
        """
        if not self._waiting:
            return previous
        current = self._waiting.record(self.meter, previous)
        if previous and current and self._waiting.is_over:
            raise JobEnded(self._waiting.reason)
        return current

    def exit_description(self) -> str:
        """Return in parentheses how the process ended, according to the system; "" if this is
        unknown.
        """
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            if number == signal.SIGKILL and self.cpu >= self.limits.cpu_seconds:
                return english(f" (stopped after {self._total_clock.limit_text})")
            if number != signal.SIGKILL:
                return f" ({signal.strsignal(number)})"
        return ""

    def interrupt(self) -> None:
        """Interrupt the process, as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)

    def kill(self) -> None:
        """End the process, and thereby everything in its pid namespace."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)
        self._selector.close()


def _run_cell(
    job: Job, number: int, result: JobResult, notebook_clock: Clock, seconds: float
) -> None:
    """Receive the outputs of one cell; interrupt it when its time is up."""
    clock = job.clock(seconds)
    while True:
        try:
            frame = job.receive(clock, notebook_clock)
        except ClockExpired as time_up:
            result.record_late(number, time_up, notebook_clock, "cell")
            job.interrupt()
            clock = job.clock(GRACE_SECONDS)
            continue
        if frame.get("end") == number:
            result.record_cell(number, frame)
            result.longest = max(result.longest, clock.spent)
            return


class _TestRun:
    """Runs one external test in the job `tester`, and relays its requests to the notebook."""

    def __init__(
        self,
        job: Job,
        tester: Job,
        number: int,
        result: JobResult,
        notebook_clock: Clock,
        seconds: float,
    ) -> None:
        self._job, self._tester, self._number, self._result = job, tester, number, result
        self._notebook_clock = notebook_clock
        self._set_clocks(seconds)

    def _set_clocks(self, seconds: float) -> None:
        self._job_clock, self._test_clock = self._job.clock(seconds), self._tester.clock(seconds)

    def run(self) -> None:
        """Run the test and record its outputs and calls."""
        self._skip_to("begin")
        self._tester.send({"go": self._number}, self._test_clock)
        frame = self._relay_until_end()
        self._result.record_cell(self._number, frame)
        self._result.longest = max(
            self._result.longest, self._job_clock.spent, self._test_clock.spent
        )
        self._result.calls[self._number] = frame.get("calls", [])
        self._job.send({"over": True}, self._job_clock)
        self._skip_to("end")

    def _skip_to(self, key: str) -> None:
        """Read the notebook's messages up to the one that announces this test."""
        while self._job.receive(self._job_clock, self._notebook_clock).get(key) != self._number:
            pass

    def _relay_until_end(self) -> dict[str, Any]:
        """Relay the test's requests to the notebook and the replies back; return the test's last
        message.
        """
        while True:
            try:
                frame = self._tester.receive(self._test_clock, self._notebook_clock)
                if frame.get("end") == self._number:
                    return frame
                reply = self._reply_of_notebook(frame)
            except ClockExpired as time_up:
                self._result.record_late(self._number, time_up, self._notebook_clock, "test")
                test_is_late = time_up.clock is self._test_clock
                self._set_clocks(GRACE_SECONDS)
                if test_is_late:
                    self._tester.interrupt()
                    continue
                self._job.interrupt()
                self._job.receive(self._job_clock)
                reply = {"lost": str(time_up)}
            self._tester.send(reply, self._test_clock)

    def _reply_of_notebook(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        request = frame.get("ask")
        if not isinstance(request, dict):
            raise JobEnded(english("the process of a test sent an invalid message"))
        self._job.send(request, self._job_clock)
        reply = self._job.receive(self._job_clock, self._notebook_clock)
        return {key: reply[key] for key in REPLY_KEYS if key in reply}


class SandboxPlayer:
    """Connects the league to a submission's agent, which runs in a new fork for every game.

    An internal error is raised as `SandboxFault`, and does not count as a warning for the agent.
    """

    def __init__(self, sandbox: Sandbox, files: Mapping[str, bytes], module: str) -> None:
        self._sandbox, self._files, self._module = sandbox, files, module
        self._stack = contextlib.ExitStack()
        self._job: Job | None = None
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent; raises `TimeLimitExceeded`, `PlayerExited` and `AgentError`."""
        request = {"module": self._module, "agent": AGENT, "seed": seed}
        self._job = self._stack.enter_context(
            self._sandbox.job("agent", self._files, request, MAX_OUTPUT)
        )
        self._last_reply = self._job.meter.seconds()
        reply = self.reply(seconds)
        if "ready" not in reply:
            why = reply.get("error") or reply.get("unknown") or "it did not reply with valid data"
            raise AgentError(f"could not be loaded: {clean(str(why))}")

    def ask(self, observation: Observation, seconds: float) -> Action:
        """Return the agent's action; raises a `Fault` of `sequence.league.game`."""
        return action_from_reply(self.reply(seconds, observation_to_plain(observation)))

    def end(self) -> None:
        """End the fork."""
        self._job = None
        self._stack.close()

    def reply(self, seconds: float, request: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the next message of the agent's process as plain data. It is the reply to
        `request`, if that is given.

        Raises `TimeLimitExceeded` and `PlayerExited`.
        """
        job = self._job
        if job is None:
            raise SandboxFault(
                "the process of an agent was not running when its action was requested"
            )
        # Computing time after the last reply counts as well.
        clock = job.clock(seconds, since=self._last_reply)
        try:
            if request is not None:
                job.send(request, clock)
            reply = _sanitized(job.receive(clock))
            job.meter.refresh()
            if clock.is_over:
                raise ClockExpired(clock)
            return reply
        except ClockExpired as error:
            raise TimeLimitExceeded(clock.limit_text if clock.timed_out_waiting else "") from error
        except JobEnded as error:
            raise PlayerExited(f"ended its process{f' ({error})' if str(error) else ''}") from error
        finally:
            self.spent = clock.spent
            self._last_reply = job.meter.seconds()


def _absent(kind: str, request: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the public modules that this job must not import: opponents and oracles."""
    if kind not in LIGHT_JOBS:
        return ()
    texts = chain.from_iterable(map(texts_of, request.get("cases", ())))
    return ORACLES if any(map(is_from_game, texts)) else (*ORACLES, GREEDY)


def _pid(pidfd: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _memory(family: Iterable[psutil.Process]) -> int:
    """Return the memory of processes in bytes; each shared page is divided among the processes that
    share it.
    """
    memory = 0
    for member in family:
        with contextlib.suppress(psutil.Error):
            memory += member.memory_full_info().pss
    return memory


def _list(data: Any) -> list:
    return data if isinstance(data, list) else []


def _sanitized(data: Any, depth: int = 0) -> Any:
    """Return a reply without control characters; values that are nested too deeply become None."""
    if isinstance(data, str):
        return CONTROLS.sub("?", data)
    if depth > MAX_DEPTH:
        return None
    if isinstance(data, list):
        return [_sanitized(item, depth + 1) for item in data]
    if isinstance(data, dict):
        return {_sanitized(key): _sanitized(value, depth + 1) for key, value in data.items()}
    return data


def _rebuilt_output(data: Any):
    """Rebuild an output of a cell from its valid parts; return None if it is not an output."""
    match data:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return new_output("stream", name=name, text=_writable(text))
        case {
            "output_type": "error",
            "ename": str(name),
            "evalue": str(value),
            "traceback": [*lines],
        } if all(isinstance(line, str) for line in lines):
            return new_output(
                "error",
                ename=_writable(name),
                evalue=_writable(value),
                traceback=list(map(_writable, lines)),
            )
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(bundle)}:
            output = new_output(
                kind,
                data={
                    _writable(mime): _writable(value)
                    for mime, value in bundle.items()
                    if isinstance(value, str)
                },
            )
            if kind == "execute_result":
                output.execution_count = _execution_count(data)
            return output
    return None


def _writable(text: str) -> str:
    """Return `text` without lone surrogates, which cannot be written to a file."""
    return text.encode("utf-8", "replace").decode()


__all__ = [
    "CannotIsolate",
    "ExternalTests",
    "JobResult",
    "Sandbox",
    "SandboxFault",
    "SandboxPlayer",
]
