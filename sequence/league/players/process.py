"""A player whose agent lives in a process of its own, so that what goes wrong there stays there.

The process is a fresh interpreter, not a fork: it holds nothing of the league's memory, and the
state of the game never enters it. There is one for each agent and game: games are independent of
one another (they may be played in any order, side by side, and again), no leak lasts longer than a
game, and the tenth of a second that a start takes is little beside a game on the clock. The limits
keep accidents in; code that means harm needs a sandbox, as a transport of its own.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.league.clock import Clock, Meter, Waiting, factor
from sequence.league.game import Gone, Illegal, Late, Limits, Raised, UnknownAgent, action_of
from sequence.league.players.specs import LeagueError, Spec, parse
from sequence.league.wire import MAX_LINE, clean, observation_to_plain

WATCH = 0.25  # seconds between two looks at what a process uses
# The same run every time: no random order of sets. One thread: clocks and memory are for one.
FIXED = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class ProcessPlayer:
    """The connection to an agent in a process of its own; after `end` it can be begun again.

    `waiting` is the budget of waiting that several games share, if they share one. Raises
    `LeagueError` for an agent that another process cannot make from its text.
    """

    module = "sequence.league.players.inside"  # what the process runs

    def __init__(
        self, agent: Spec, limits: Limits | None = None, waiting: Waiting | None = None
    ) -> None:
        if agent.where == "__main__":
            raise LeagueError(
                f"another process cannot import {agent.cls}, which is defined in a "
                "notebook or a script: write it to a file (%%writefile), or trust it "
                "(transport=TrustedPlayer)"
            )
        if parse(agent.text).options != agent.options:
            raise LeagueError(
                f"{agent.text} cannot be made in another process: its arguments are "
                "not plain values"
            )
        self._spec = agent
        self._limits, self._waiting = limits or Limits(), waiting
        self._process: subprocess.Popen[bytes] | None = None
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Start the process and load the agent in it; raises `Late`, `Gone` and `Raised`.

        It passes on what is not the agent's fault: OSError if the machine cannot start a process,
        `LeagueError` if it cannot enforce the limits.
        """
        process = subprocess.Popen(
            (sys.executable, "-P", "-m", self.module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=_environment(),
        )
        self._process = process
        self._meter = Meter(process.pid)
        self._answered = 0.0  # what it had computed by its last answer
        # A thread writes and reads: no write or read that never ends can hold the league up.
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(
            target=_carry, args=(process, self._requests, self._replies), daemon=True
        ).start()
        reply = self._exchange(
            {
                "agent": self._spec.text,
                "seed": seed,
                "memory": self._limits.memory,
                "cpu": self._limits.cpu * factor(),
            },
            seconds,
        )
        if "limits" in reply:
            raise LeagueError(f"this machine cannot set the limits: {clean(str(reply['limits']))}")
        if "unknown" in reply:
            raise UnknownAgent(f"could not be loaded: {reply['unknown']}")
        if "ready" not in reply:
            raise Raised(f"could not be loaded: {reply.get('error', 'it sent no answer')}")

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises `Late`, `Gone`, `Raised` and `Illegal`."""
        return action_of(self._exchange(observation_to_plain(observation), seconds))

    def end(self) -> None:
        """Kill the process and those that it started in its group."""
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        self._requests.put(None)

    def _exchange(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        # Who thinks on while others do, does so on its own clock.
        clock = Clock(self._meter, seconds, since=self._answered)
        self._requests.put(json.dumps(request).encode() + b"\n")
        try:
            line = self._line(clock)
        finally:
            self.spent = clock.spent
            self._answered = self._meter.seconds()
        if not line:
            raise Gone(f"ended its process ({_end_of(self._process)})")
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise Illegal(f"wrote {clean(repr(line[:40]))}, which is not an answer")
        return reply

    def _line(self, clock: Clock) -> bytes:
        """The next line, "" when the process has ended; raises `Late`."""
        line: bytes | None = None
        waited: tuple[float, float] | None = None
        while line is None:
            with suppress(queue.Empty):
                line = self._replies.get(timeout=WATCH)
            self._meter.look()
            if clock.is_over:
                raise Late(clock.within if clock.waited else "")
            if self._waiting:
                before, waited = waited, self._waiting.look(self._meter, waited)
                if before and waited and self._waiting.is_over:
                    raise Gone(f"ended its process ({self._waiting.reason})")
        return line


def _carry(
    process: subprocess.Popen[bytes],
    requests: queue.SimpleQueue[bytes | None],
    replies: queue.SimpleQueue[bytes],
) -> None:
    """Write each request and read its reply, "" when the process has ended."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None and stdout is not None, "both are pipes"
    with suppress(OSError), stdin, stdout:
        while (request := requests.get()) is not None:
            try:
                stdin.write(request)
                stdin.flush()
                replies.put(stdout.readline(MAX_LINE))
            except OSError:
                replies.put(b"")


def _environment() -> dict[str, str]:
    """This process' environment, and its modules: what can be imported here can be there."""
    places = [str(Path(place).resolve()) for place in sys.path]
    return os.environ | FIXED | {"PYTHONPATH": os.pathsep.join(places)}


def _end_of(process: subprocess.Popen[bytes] | None) -> str:
    if process is None:
        return "it was ended"
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
    code = process.returncode
    if code is None:
        return "it closed its output"
    if code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):  # the real-time signals have no names
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
