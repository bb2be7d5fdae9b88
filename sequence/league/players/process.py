"""A player whose agent runs in a separate process, which isolates the league from its failures.

The process is a new interpreter, not a fork, so it contains none of the league's memory, and it
never receives the state of the game. Each agent has a separate process for each game. Games are
therefore independent (they can be played in any order, in parallel and repeatedly), and no leak
lasts longer than a game; the 0.1 s that a start takes is short compared with a timed game. The
limits contain accidents only; malicious code needs a sandbox, as a separate transport.
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

from common.clock import POLL_SECONDS, Clock, CpuMeter, WaitBudget, speed_factor
from common.messages import english
from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.league.game import (
    AgentError,
    IllegalReply,
    Limits,
    PlayerExited,
    TimeLimitExceeded,
    UnknownAgent,
    action_from_reply,
)
from sequence.league.players.specs import LeagueError, Spec, parse
from sequence.league.protocol import MAX_LINE, clean, observation_to_plain

# For repeatable runs: sets in a fixed order, and a single thread, which clocks and memory limits
# assume.
FIXED_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class ProcessPlayer:
    """The connection to an agent in a separate process; `begin` may be called again after `end`.

    `waiting` is a budget of waiting time that several games share. Raises `LeagueError` for an
    agent that another process cannot create from its text.
    """

    module = "sequence.league.players.inside"  # the module that the process runs

    def __init__(
        self, agent: Spec, limits: Limits | None = None, waiting: WaitBudget | None = None
    ) -> None:
        if agent.where == "__main__":
            raise LeagueError(
                f"another process cannot import {agent.cls}, which is defined in a notebook or a "
                "script: write it to a file (%%writefile), or run it in this process if you trust "
                "it (transport=InProcessPlayer)"
            )
        if parse(agent.text).options != agent.options:
            raise LeagueError(
                f"{agent.text} cannot be created in another process, because its arguments are not "
                "plain values"
            )
        self._spec = agent
        self._limits, self._waiting = limits or Limits(), waiting
        self._process: subprocess.Popen[bytes] | None = None
        self.spent = 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Start the process and load the agent in it.

        Raises `TimeLimitExceeded`, `PlayerExited` or `AgentError`. Errors that the agent did not
        cause are OSError, if the machine cannot start a process, and `LeagueError`, if it cannot
        enforce the limits.
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
        self._meter = CpuMeter(process.pid)
        self._answered = 0.0  # computing time of the process at its last answer
        # A separate thread writes and reads, so that a blocked pipe cannot block the league.
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(
            target=_exchange_lines, args=(process, self._requests, self._replies), daemon=True
        ).start()
        reply = self._exchange(
            {
                "agent": self._spec.text,
                "seed": seed,
                "memory": self._limits.memory,
                "cpu": self._limits.cpu * speed_factor(),
            },
            seconds,
        )
        if "limits" in reply:
            raise LeagueError(f"this machine cannot set the limits: {clean(str(reply['limits']))}")
        if "unknown" in reply:
            raise UnknownAgent(english(f"could not be loaded: {reply['unknown']}"))
        if "ready" not in reply:
            raise AgentError(
                english(f"could not be loaded: {reply.get('error', 'it sent no answer')}")
            )

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises a `Fault`."""
        return action_from_reply(self._exchange(observation_to_plain(observation), seconds))

    def end(self) -> None:
        """Kill the process and all processes in its group, which it has started."""
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
        # An agent that keeps computing during another player's turn does so on its own clock.
        clock = Clock(self._meter, seconds, since=self._answered)
        self._requests.put(json.dumps(request).encode() + b"\n")
        try:
            line = self._line(clock)
        finally:
            self.spent = clock.spent
            self._answered = self._meter.seconds()
        if not line:
            raise PlayerExited(english(f"ended its process ({_exit_text(self._process)})"))
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise IllegalReply(english(f"wrote {clean(repr(line[:40]))}, which is not an answer"))
        return reply

    def _line(self, clock: Clock) -> bytes:
        """The next line, or "" if the process has ended. Raises `TimeLimitExceeded`."""
        line: bytes | None = None
        waited: tuple[float, float] | None = None
        while line is None:
            with suppress(queue.Empty):
                line = self._replies.get(timeout=POLL_SECONDS)
            self._meter.refresh()
            if clock.is_over:
                raise TimeLimitExceeded(clock.limit_text if clock.timed_out_waiting else "")
            if self._waiting:
                before, waited = waited, self._waiting.record(self._meter, waited)
                if before and waited and self._waiting.is_over:
                    raise PlayerExited(english(f"ended its process ({self._waiting.reason})"))
        return line


def _exchange_lines(
    process: subprocess.Popen[bytes],
    requests: queue.SimpleQueue[bytes | None],
    replies: queue.SimpleQueue[bytes],
) -> None:
    """Write each request and read its reply, which is "" if the process has ended."""
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
    """This process's environment, with a PYTHONPATH that makes the same modules importable."""
    places = [str(Path(place).resolve()) for place in sys.path]
    return os.environ | FIXED_ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(places)}


def _exit_text(process: subprocess.Popen[bytes] | None) -> str:
    if process is None:
        return "it was ended"
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
    code = process.returncode
    if code is None:
        return "it closed its output"
    if code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):  # real-time signals have no names
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
