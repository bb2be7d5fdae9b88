"""The trusted side of the sandbox: sends jobs in, watches them, and takes plain data out.

What comes out is trusted only to be what the submission replied. Whatever does not fit the schema
counts as no answer, and can harm nobody but the submission itself.
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
from autograder.sandbox.launch import CannotIsolate, knock, start
from autograder.sandbox.limits import Limits
from course.probes import Check
from course.probes.match import AGENT, play_ladder
from course.probes.positions import is_from_game
from course.probes.process import MAX_REPLIES
from course.probes.question import texts_of
from course.probes.questions import MATCHES
from course.probes.replies import Replies, parsed, read_replies
from course.probes.syntax import text_of
from sequence import Action, Observation
from sequence.league.clock import Clock, Meter, Waiting, factor, patience
from sequence.league.game import Gone, Late, Raised, action_of
from sequence.league.wire import clean, observation_to_plain

WATCH = 0.1  # seconds between two looks at what a job uses
GRACE = 1.0  # seconds of computing from the interrupt of a cell to the end of its process
START = 10.0  # seconds of computing in which a fork must be behind its walls
BYTES = 12  # that JSON needs at most for one character
ROOM = 1_000_000  # bytes for what stands beside the outputs of a notebook
SPARE = 2  # times the limit of computing: where the kernel stops what the watch has missed
REPLY = ("value", "changed", "missing", "raised", "said")  # what a test is told
MAX_DEPTH = 20  # of lists in lists in a reply
# What only a warm parent for notebooks has imported: a module that asks for it is slow elsewhere.
HEAVY = (b"numpy", b"matplotlib", b"IPython")
LIGHT = ("questions", "agent")  # the jobs that need none of it themselves
# Notebooks use these, so they are public; a module that is asked has to search by itself, and an
# agent has to play by itself. Greedy plays the games from which some checks take their positions.
ORACLES = ("tictactoe.solver", "sequence.agents.fitted", "sequence.agents.ismcts")
GREEDY = "sequence.agents.greedy"
# What could steer a terminal, turn a line around, or not be written to a file.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SandboxFault(RuntimeError):
    """The machinery failed: no mark may come of it."""


@dataclass
class Ran:
    """The result of running a notebook: the outputs of each cell, None if it did not finish.

    `stopped` says in a sentence why the run ended early; `late` holds the cells that were
    interrupted because they did not finish, with the time that they were given in words.
    """

    outputs: list[list | None]
    counts: list[int | None]
    late: dict[int, str] = field(default_factory=dict)
    stopped: str | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    calls: dict[int, list[str]] = field(default_factory=dict)  # of tests outside: what they called
    longest: float = 0.0  # seconds of computing of the cell that needed most

    def keep(self, number: int, frame: Mapping[str, Any]) -> None:
        """Keep what a cell put out, as its last message has it."""
        self.outputs[number] = [o for o in map(_output, _list(frame.get("outputs"))) if o]
        self.counts[number] = _counted(frame)


def _counted(said: Mapping[str, Any]) -> int | None:
    """The execution count that a cell tells of, if a notebook can have it."""
    count = said.get("execution_count")
    return count if type(count) is int and count >= 0 else None


@dataclass(frozen=True)
class Outside:
    """The cells that test a notebook from outside: what they import, and where they run."""

    sandbox: "Sandbox | None"  # another one; None until the worker of a cluster starts it
    tests: Mapping[int, Sequence[str] | None]  # by number: what may be called, None for anything
    imports: Sequence[str]  # the instructor's, and what locked cells define
    withheld: Sequence[str] = ()  # names that the submission must not define


class Ended(Exception):
    """The process was stopped for the reason in the message, or ended by itself if it is empty."""


class TimeUp(Exception):
    """The time of a clock is up; the message says so."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(f"stopped after {clock.within}")
        self.clock = clock


class Sandbox:
    """A sandbox, started with `with Sandbox(limits) as sandbox`; for one thread only.

    Folders that are `hidden` are not seen inside. Where a warm parent has been started in advance,
    `door` leads to it: see `launch.door`. `waiting`, which may be set, is the budget of all jobs of
    one submission. Raises `CannotIsolate` where this machine cannot isolate.
    """

    waiting: Waiting | None = None

    def __init__(
        self, limits: Limits, hidden: Iterable[Path] = (), door: Path | None = None
    ) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        control = knock(door)
        if control:
            self._control = control
        else:
            self._process, self._control = start(hidden)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the warm parent, and with it whatever still runs inside."""
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
        outside: "Outside | None" = None,
        *,
        limits: Mapping[int, float] = MappingProxyType({}),
    ) -> Ran:
        """Run code cells, in order, beside `files`; those of `outside` in a process of their own.

        A cell that does not finish in `cell_seconds` of computing, or in its own of `limits`, is
        interrupted, and later ones have only `later_seconds`; all together have `all_seconds`.
        Raises `SandboxFault`.
        """
        ran = Ran([None] * len(cells), [None] * len(cells))
        tests = outside.tests if outside else {}
        begun = time.monotonic()
        request = {
            "cells": [None if number in tests else cell for number, cell in enumerate(cells)],
            "characters": self.limits.characters,
        }
        most = BYTES * self.limits.characters + ROOM
        with contextlib.ExitStack() as opened:
            job = opened.enter_context(self.job("cells", files, request, most))
            other: Job | None = None
            if outside:
                if outside.sandbox is None:
                    raise ValueError("tests from outside need a sandbox of their own")
                other = opened.enter_context(
                    outside.sandbox.job(
                        "tests",
                        {},
                        {
                            "tests": {number: cells[number] for number in tests},
                            "calls": {
                                number: calls
                                for number, calls in tests.items()
                                if calls is not None
                            },
                            "imports": list(outside.imports),
                            "withheld": list(outside.withheld),
                            "characters": self.limits.characters,
                        },
                        most,
                    )
                )
            try:
                notebook = job.clock(all_seconds)
                for number in range(len(cells)):
                    seconds = limits.get(number, cell_seconds)
                    if ran.late:
                        seconds = min(seconds, later_seconds)
                    if other and number in tests:
                        self._run_test(job, other, number, ran, notebook, seconds)
                    else:
                        self._run_cell(job, number, ran, notebook, seconds)
            except Ended as end:
                ran.stopped = str(end)
        if ran.stopped == "":
            ran.stopped = f"a cell ended the Python process{job.how_it_ended()}"
        ran.seconds, ran.cpu = round(time.monotonic() - begun, 3), job.cpu
        return ran

    def _run_cell(self, job: "Job", number: int, ran: Ran, notebook: Clock, seconds: float) -> None:
        """Receive one cell's outputs, interrupting it when its time is over."""
        cell = job.clock(seconds)
        while True:
            try:
                frame = job.receive(cell, notebook)
            except TimeUp as up:
                if up.clock is notebook:
                    raise Ended("the notebook's time was up") from None
                if number in ran.late:
                    raise Ended(
                        f"a cell did not finish within {ran.late[number]} and could not be "
                        "interrupted"
                    ) from None
                ran.late[number] = cell.within
                job.interrupt()
                cell = job.clock(GRACE)
                continue
            if frame.get("end") == number:
                ran.keep(number, frame)
                ran.longest = max(ran.longest, cell.spent)
                return

    def _run_test(
        self, job: "Job", other: "Job", number: int, ran: Ran, notebook: Clock, seconds: float
    ) -> None:
        """Have the process `other` run a test, which asks `job`, the submission's, meanwhile."""
        theirs, ours = job.clock(seconds), other.clock(seconds)
        while job.receive(theirs, notebook).get("begin") != number:
            pass
        other.tell({"go": number}, ours)
        while True:
            try:
                frame = other.receive(ours, notebook)
                if frame.get("end") == number:
                    break
                if not isinstance(frame.get("ask"), dict):
                    raise Ended("a test's process said something odd")
                job.tell(frame["ask"], theirs)
                reply = job.receive(theirs, notebook)
                answer = {key: reply[key] for key in REPLY if key in reply}
            except TimeUp as up:
                if up.clock is notebook:
                    raise Ended("the notebook's time was up") from None
                if number in ran.late:
                    raise Ended(
                        f"a test did not finish within {ran.late[number]} and could not be "
                        "interrupted"
                    ) from None
                ran.late[number] = up.clock.within
                late, (theirs, ours) = ours, (job.clock(GRACE), other.clock(GRACE))
                if up.clock is late:
                    other.interrupt()
                    continue
                job.interrupt()
                job.receive(theirs)
                answer = {"gone": str(up)}
            other.tell(answer, ours)
        ran.keep(number, frame)
        ran.longest = max(ran.longest, theirs.spent, ours.spent)
        ran.calls[number] = frame.get("calls", [])
        job.tell({"over": True}, theirs)
        while job.receive(theirs, notebook).get("end") != number:
            pass

    def ask(
        self,
        files: Mapping[str, bytes],
        module: str,
        check: Check,
        seconds: float,
        answers: Path | None = None,
        secret: str = "",
    ) -> Replies:
        """Ask the module of that name among `files` every case of `check`, in a fork of its own.

        It has `seconds` of computing time for all of them. `answers`: the folder of the staff's
        answers, which holds some opponents; `secret`: what their deals are drawn from. Raises
        `SandboxFault`.
        """
        if module not in files:
            return Replies((None,) * len(check.cases), broken=f"{module} is missing")
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
        begun = time.monotonic()
        stopped: str | None = None
        frames: list[dict[str, Any]] = []
        request = {"module": module, "ask": check.ask, "cases": cases}
        with self.job("questions", files, request, MAX_REPLIES) as job:
            try:
                clock = job.clock(seconds)
                while len(frames) <= len(cases):
                    frames.append(_plain(job.receive(clock)))
            except (Ended, TimeUp) as end:
                stopped = str(end)
        answered = sum("case" in frame for frame in frames)
        if stopped == "":
            stopped = (
                None
                if answered == len(cases) or "broken" in frames[-1:]
                else f"the process ended before it had answered{job.how_it_ended()}"
            )
        return replace(
            read_replies(frames, len(cases), stopped, time.monotonic() - begun), computed=job.cpu
        )

    @contextlib.contextmanager
    def job(
        self, kind: str, files: Mapping[str, bytes], request: dict[str, Any], most: int
    ) -> Iterator["Job"]:
        """Start a process inside for one job; its messages together may have `most` bytes.

        Raises `SandboxFault`.
        """
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs:
                    light = kind in LIGHT and not any(
                        name in data for data in files.values() for name in HEAVY
                    )
                    header = {
                        "kind": kind,
                        "light": light,
                        "limits": asdict(self.limits)
                        | {"cpu_seconds": math.ceil(SPARE * self.limits.cpu_seconds * factor())},
                        "absent": _absent(kind, request),
                    }
                    socket.send_fds(self._control, [json.dumps(header).encode()], [theirs.fileno()])
                _, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
            except OSError as error:
                raise SandboxFault(f"the sandbox does not respond: {error}") from error
            if not descriptors:
                raise SandboxFault("the sandbox has ended")
            job = Job(ours, descriptors[0], self.limits, most, self.waiting)
            try:
                job.begin(
                    request
                    | {
                        "files": {
                            name: base64.b64encode(data).decode() for name, data in files.items()
                        }
                    }
                )
                yield job
            finally:
                job.kill()
                said = self._control.recv(1 << 16)
                if not said:  # then the process ended with it, whatever it did
                    raise SandboxFault("the sandbox has ended")
                end = End.from_buffer_copy(said)
                job.status, job.cpu = end.status, end.cpu


class Job:
    """One process inside, controlled from outside: exchanges messages with it and can end it.

    All its messages together may have `most` bytes, and it may wait as long as `waiting` has left.
    """

    def __init__(
        self,
        talk: socket.socket,
        pidfd: int,
        limits: Limits,
        most: int,
        waiting: Waiting | None = None,
    ) -> None:
        self.talk, self.pidfd, self.limits, self.left = talk, pidfd, limits, most
        self.cpu, self.status = 0.0, 0  # known at the end
        self._budget = waiting
        self._waiting: Waiting | None = None
        self.meter = Meter(_pid(pidfd))
        self._whole = self.clock(limits.cpu_seconds, may_wait=True)
        self._buffer = bytearray()
        self._looked = time.monotonic()
        talk.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(talk, selectors.EVENT_READ)

    def clock(self, seconds: float, may_wait: bool = False, since: float | None = None) -> Clock:
        """A clock for the process and all that it starts, from now on or since the meter's time."""
        return Clock(self.meter, seconds, may_wait, since)

    def begin(self, request: dict[str, Any]) -> None:
        """Send the request; raises `SandboxFault` unless the process is behind its walls."""
        self.talk.settimeout(patience(START))
        with contextlib.suppress(OSError):  # it has ended: what it said, if anything, is read below
            send(self.talk, request)
        self.talk.setblocking(False)
        try:
            frame = self.receive(self.clock(START))
        except (Ended, TimeUp) as error:
            raise SandboxFault(f"a process inside the sandbox did not start ({error})") from error
        if frame != {"ready": True}:
            raise SandboxFault(f"a process could not be isolated: {frame.get('fault')}")
        self._waiting = self._budget  # from here on, the submission decides how long it takes

    def tell(self, frame: dict[str, Any], clock: Clock) -> None:
        """Send one more message; raises `TimeUp`, and `Ended` where nobody reads."""
        try:
            self.talk.settimeout(patience(clock.seconds))
            send(self.talk, frame)
        except TimeoutError:
            clock.waited = True
            raise TimeUp(clock) from None
        except ConnectionError as error:
            raise Ended from error
        finally:
            self.talk.setblocking(False)

    def receive(self, *clocks: Clock) -> dict[str, Any]:
        """The next message; raises `TimeUp` for any of the clocks, `Ended` where there is none."""
        waited: tuple[float, float] | None = (
            None  # as it was at the last look; what takes less than two looks does not count
        )
        while True:
            if len(self._buffer) >= LENGTH.size:
                (size,) = LENGTH.unpack_from(self._buffer)
                if size > self.left:
                    raise Ended("its output exceeded the limit")
                if len(self._buffer) >= LENGTH.size + size:
                    data = bytes(self._buffer[LENGTH.size : LENGTH.size + size])
                    del self._buffer[: LENGTH.size + size]
                    self.left -= size
                    frame = parsed(data)
                    return frame if isinstance(frame, dict) else {}
            if self._selector.select(WATCH):
                try:
                    part = self.talk.recv(1 << 20)
                except ConnectionError:
                    part = b""
                if not part:
                    raise Ended
                self._buffer += part
            if time.monotonic() - self._looked >= WATCH:
                self._look()
                for clock in clocks:
                    if clock.is_over:
                        raise TimeUp(clock)
                if self._waiting:
                    before, waited = waited, self._waiting.look(self.meter, waited)
                    if before and waited and self._waiting.is_over:
                        raise Ended(self._waiting.reason)

    def how_it_ended(self) -> str:
        """How the process ended, in brackets, according to the system; empty if unknown."""
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            if number == signal.SIGKILL and self.cpu >= self.limits.cpu_seconds:
                return f" (stopped after {self._whole.within})"
            if number != signal.SIGKILL:
                return f" ({signal.strsignal(number)})"
        return ""

    def _look(self) -> None:
        """End the job if all its processes together use more than they may."""
        self._looked = time.monotonic()
        self.meter.look()
        memory = _memory(self.meter.family)
        if memory > self.limits.memory_mb << 20:
            raise Ended(f"stopped: it used more than {self.limits.memory_mb} MB of memory")
        if self._whole.is_over:
            raise Ended(f"stopped after {self._whole.within}")

    def interrupt(self) -> None:
        """Interrupt the process, as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)

    def kill(self) -> None:
        """End the process, and so everything in its pid namespace."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)
        self._selector.close()


class SandboxPlayer:
    """Connects the league to a submission's agent, in a fork of its own for every game.

    A failure of the machinery is raised as `SandboxFault`, and costs the agent no warning.
    """

    def __init__(self, sandbox: Sandbox, files: Mapping[str, bytes], module: str) -> None:
        self._sandbox, self._files, self._module = sandbox, files, module
        self._open = contextlib.ExitStack()
        self._job: Job | None = None
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent; raises `Late`, `Gone` and `Raised`."""
        request = {"module": self._module, "agent": AGENT, "seed": seed}
        self._job = self._open.enter_context(
            self._sandbox.job("agent", self._files, request, MAX_REPLIES)
        )
        self._answered = self._job.meter.seconds()
        reply = self.reply(seconds)
        if "ready" not in reply:
            why = reply.get("error") or reply.get("unknown") or "it gave no valid reply"
            raise Raised(f"could not be loaded: {clean(str(why))}")

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises `Late`, `Gone`, `Raised` and `Illegal`."""
        return action_of(self.reply(seconds, observation_to_plain(observation)))

    def end(self) -> None:
        """End the fork."""
        self._job = None
        self._open.close()

    def reply(self, seconds: float, request: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the agent's process says next, to `request` if there is one; as plain data.

        Raises `Late` and `Gone`.
        """
        job = self._job
        if job is None:
            raise SandboxFault("an agent was asked although its process was not running")
        clock = job.clock(seconds, since=self._answered)  # who thinks on does so on its own
        try:
            if request is not None:
                job.tell(request, clock)
            reply = _plain(job.receive(clock))
            job.meter.look()
            if clock.is_over:
                raise TimeUp(clock)
            return reply
        except TimeUp as error:
            raise Late(clock.within if clock.waited else "") from error
        except Ended as error:
            raise Gone(f"ended its process{f' ({error})' if str(error) else ''}") from error
        finally:
            self.spent = clock.spent
            self._answered = job.meter.seconds()


def _absent(kind: str, request: Mapping[str, Any]) -> tuple[str, ...]:
    """The public modules that this job must not find: opponents and oracles."""
    if kind not in LIGHT:
        return ()
    texts = chain.from_iterable(map(texts_of, request.get("cases", ())))
    return ORACLES if any(map(is_from_game, texts)) else (*ORACLES, GREEDY)


def _pid(pidfd: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _memory(family: Iterable[psutil.Process]) -> int:
    """Memory of processes in bytes, shared pages divided among those who share them."""
    memory = 0
    for member in family:
        with contextlib.suppress(psutil.Error):
            memory += member.memory_full_info().pss
    return memory


def _list(data: Any) -> list:
    return data if isinstance(data, list) else []


def _plain(data: Any, depth: int = 0) -> Any:
    """A reply without control characters, and without what is nested too deeply to be one."""
    if isinstance(data, str):
        return CONTROLS.sub("?", data)
    if depth > MAX_DEPTH:
        return None
    if isinstance(data, list):
        return [_plain(item, depth + 1) for item in data]
    if isinstance(data, dict):
        return {_plain(key): _plain(value, depth + 1) for key, value in data.items()}
    return data


def _output(data: Any):
    """An output of a cell, made anew from its parts; None if it is none."""
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
                output.execution_count = _counted(data)
            return output
    return None


def _writable(text: str) -> str:
    """`text` without half characters, which no file takes."""
    return text.encode("utf-8", "replace").decode()


__all__ = ["CannotIsolate", "Outside", "Ran", "Sandbox", "SandboxFault", "SandboxPlayer"]
