"""Runs sandboxes on other machines, where each job is a task for a worker of a Dask cluster.

The trusted side sends a submission's files and a check, and receives replies. A job has no side
effects, so jobs without a reply are submitted again. Lost workers, tasks that run twice and a
restarted scheduler therefore do not change any result.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

from autograder.sandbox import worker
from autograder.sandbox.client import ExternalTests, JobResult, SandboxFault
from autograder.sandbox.limits import SandboxLimits
from autograder.sandbox.worker import (
    Agent,
    IncompatibleWorker,
    WorkerRequirements,
    worker_kit_digest,
)
from common.clock import CLUSTER_POLL_SECONDS, WaitBudget
from common.command_lines import advice
from common.syntax import text_of
from course.checks import Check
from course.checks.matches.match import play_ladder
from course.checks.questions import MATCHES
from course.checks.replies import Replies
from sequence import Action, Observation
from sequence.league.game import Fault, action_from_reply
from sequence.league.protocol import observation_to_plain

CONNECT_SECONDS = 10.0  # for one attempt to reach the scheduler
MAX_OUTAGE_SECONDS = 600.0  # how long a cluster may be unreachable or without workers
REPLY_SECONDS = 60.0  # how long a reachable scheduler may take to answer
KIT_MISSING_ON_WORKER = (
    "it lacks this kit's sandbox: PYTHONPATH must contain the folder of the worker kit"
)
DESERIALIZATION_ERROR = "deserialization of the task graph"  # part of the scheduler's message
KIT_MISSING_ON_SCHEDULER = (
    "the scheduler at {} lacks this kit, which it needs to distribute tasks: its PYTHONPATH "
    "must contain the folder of the worker kit, like that of the workers"
)
DASK_MISSING = f"grading on a cluster needs Dask: {advice('setup', 'cluster')} installs it"


class ClusterUnavailable(RuntimeError):
    """The cluster cannot be used; the message gives the reason."""

    fatal = True  # all other submissions would fail as well


class _ReplyLost(Exception):
    """The submitted tasks will not be answered over this connection."""


class _WorkersLost(_ReplyLost):
    """None of the workers that may run the task is still connected."""


@contextlib.contextmanager
def _connection(client: Any) -> Iterator[None]:
    """Raise `_ReplyLost` for any exception of Dask when a connection ends.

    If another thread closes a client, or a client gives up, pending requests can raise almost any
    exception, so a task's own exception must not be raised in this block.
    """
    if client.status != "running":
        raise _ReplyLost
    try:
        yield
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError | CancelledError):
            raise
        raise _ReplyLost from error


class Cluster:
    """The connection to the scheduler at `address` ("tcp://host:8786"), renewed if it is lost.

    Several threads may use it. `notify` is called with a message for each worker that is not used.
    The cluster may be unreachable, or without a usable worker, for `max_outage_seconds`.
    """

    def __init__(
        self,
        address: str,
        notify: Callable[[str], object] = lambda message: None,
        max_outage_seconds: float = MAX_OUTAGE_SECONDS,
    ) -> None:
        self.address, self._notify, self._max_outage = address, notify, max_outage_seconds
        self._lock = threading.RLock()
        self._client: Any = None
        self._closed = False
        self._unusable: dict[str, str] = {}  # workers that are not used, each with the reason
        self._verified: set[str] = set()  # workers that can be used

    def close(self) -> None:
        """Close the connection permanently. Pending requests then raise `ClusterUnavailable`."""
        self._closed = True
        with self._lock:
            client, self._client = self._client, None
        _close(client)

    def slots(self, requirements: WorkerRequirements) -> int:
        """Return the number of tasks that the currently usable workers can run in parallel.

        Raises `ClusterUnavailable` if there is no scheduler or no usable worker.
        """
        while True:
            client = self._connected(CONNECT_SECONDS)
            try:
                self._verify_workers(client, requirements)
                workers = self._usable_workers(client)
            except _ReplyLost:
                self._discard(client)
                continue
            if not workers:
                raise ClusterUnavailable(f"{self._no_worker()}{self._exclusions()}")
            return sum(workers.values())

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function` on one of the workers and return its result.

        Raises the exceptions of the function, `SandboxFault` if the function ends one worker after
        another, and `ClusterUnavailable`.
        """
        return self._run(function, arguments)

    def start_agent(self, *arguments: Any) -> Any:
        """Start an `Agent` on a worker; its methods run on that worker. Raises the same exceptions
        as `run`.
        """
        return self._run(Agent, arguments, actor=True)

    def _run(self, function: Callable[..., Any], arguments: Sequence[Any], **how: bool) -> Any:
        """Return the result of a task. The task is submitted again if the connection or the workers
        are lost.
        """
        from distributed import KilledWorker

        while True:
            client = self._connected(self._max_outage)
            try:
                workers = self._wait_for_worker(client) if self._unusable else None
                with _connection(client):
                    future = client.submit(function, *arguments, workers=workers, pure=False, **how)
                result, error = self._wait(client, future, workers)
            except _ReplyLost:
                self._discard(client)
                continue
            if isinstance(error, IncompatibleWorker):
                self._exclude(error)
            elif _is_scheduler_error(error):
                raise ClusterUnavailable(KIT_MISSING_ON_SCHEDULER.format(self.address)) from error
            elif isinstance(error, KilledWorker):
                raise SandboxFault(
                    f"workers of the cluster ended one after another ({error})"
                ) from error
            elif error is not None:
                raise error
            else:
                return result

    def _wait(
        self, client: Any, future: Any, workers: Sequence[str] | None
    ) -> tuple[Any, BaseException | None]:
        """Wait for a task; return its result and None, or None and its exception.

        Raises `_WorkersLost` if none of the `workers` that may run it is still connected,
        `_ReplyLost`, and `ClusterUnavailable` if there has been no worker for too long.
        """
        from distributed import wait

        while True:
            with _connection(client), contextlib.suppress(TimeoutError):
                wait(future, timeout=CLUSTER_POLL_SECONDS)
            status = (
                future.status
            )  # the status can change at any time, for example if a worker with a result is lost
            try:
                with _connection(client):
                    if status == "finished":
                        return future.result(timeout=REPLY_SECONDS), None
                    if status == "error" and (error := future.exception(timeout=REPLY_SECONDS)):
                        return None, error
            except Exception:
                if future.status != "error":
                    raise
            connected = self._usable_workers(client)
            if not connected:
                self._wait_for_worker(client)
            if not connected or (workers and connected.keys().isdisjoint(workers)):
                raise _WorkersLost  # the task may be waiting for lost workers

    def _wait_for_worker(self, client: Any) -> list[str]:
        """Wait until there is a usable worker; return the addresses of all usable workers.

        Raises `ClusterUnavailable` if no usable worker appears in time.
        """
        started = time.monotonic()
        while not (workers := self._usable_workers(client)):
            if time.monotonic() - started >= self._max_outage:
                raise ClusterUnavailable(
                    f"{self._no_worker()} for {self._max_outage:g} s{self._exclusions()}"
                )
            time.sleep(min(CLUSTER_POLL_SECONDS, self._max_outage))
        return [*workers]

    def _usable_workers(self, client: Any) -> dict[str, int]:
        """Return the workers that are not excluded, each with the number of tasks that it runs in
        parallel.
        """
        with _connection(client):
            identity = client.sync(
                client.scheduler.identity, n_workers=-1, callback_timeout=REPLY_SECONDS
            )
        return {
            address: facts["nthreads"]
            for address, facts in identity["workers"].items()
            if address not in self._unusable
        }

    def _verify_workers(self, client: Any, requirements: WorkerRequirements) -> None:
        """Exclude the workers that do not meet the requirements.

        Each worker first imports the module, because a task that it cannot unpickle would end it.
        """
        with _connection(client):
            self._verified &= self._usable_workers(client).keys()
        for function, argument in (
            (resolve_name, f"{worker.__name__}:__name__"),
            (worker.verify_worker, requirements),
        ):
            with _connection(client):
                futures = {
                    address: client.submit(function, argument, workers=[address], pure=False)
                    for address in self._usable_workers(client)
                    if address not in self._verified
                }
            for address, future in futures.items():
                with contextlib.suppress(_WorkersLost):
                    _, problem = self._wait(client, future, [address])
                    if _is_scheduler_error(problem):
                        raise ClusterUnavailable(
                            KIT_MISSING_ON_SCHEDULER.format(self.address)
                        ) from problem
                    if problem is not None:
                        self._exclude(
                            problem
                            if isinstance(problem, IncompatibleWorker)
                            else IncompatibleWorker(
                                address, f"{KIT_MISSING_ON_WORKER} ({problem!r:.200})"
                            )
                        )
        self._verified.update(futures.keys() - self._unusable.keys())

    def _exclude(self, error: IncompatibleWorker) -> None:
        address, reason = error.args
        with self._lock:
            already_excluded = address in self._unusable
            self._unusable[address] = reason
        if not already_excluded:
            self._notify(f"the worker at {address} is not used: {reason}")

    def _no_worker(self) -> str:
        return f"the cluster at {self.address} has had no usable worker"

    def _exclusions(self) -> str:
        return "".join(f"; {address}: {reason}" for address, reason in self._unusable.items())

    def _connected(self, max_seconds: float) -> Any:
        """Return the client of this connection, or a new one if there is none; wait for the
        scheduler.
        """
        with self._lock:
            started = time.monotonic()
            while self._client is None:
                if self._closed:
                    raise ClusterUnavailable(f"the connection to {self.address} was closed")
                try:
                    self._client = _connect(self.address)
                except (OSError, TypeError, ValueError) as error:  # the last two: an invalid
                    waited = time.monotonic() - started  # address, or one for TLS without a key
                    if not isinstance(error, OSError) or waited >= max_seconds:
                        raise ClusterUnavailable(
                            f"no scheduler can be reached at {self.address}"
                            f" ({' '.join(str(error).split()):.200})"
                        ) from error
                    time.sleep(min(CLUSTER_POLL_SECONDS, max_seconds))
            return self._client

    def _discard(self, client: Any) -> None:
        with self._lock:
            if self._client is client:
                self._client = None
        _close(client)


def _is_scheduler_error(error: BaseException | None) -> bool:
    """Whether an error means that the scheduler could not read a task. Such an error contains no
    text of a submission.
    """
    return type(error) is RuntimeError and DESERIALIZATION_ERROR in str(error)


def _close(client: Any) -> None:
    if client is not None:
        with contextlib.suppress(Exception):  # the scheduler may be unreachable
            client.close(timeout=1)


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterUnavailable(DASK_MISSING) from error
    for name in ("distributed", "distributed.client", "distributed.core"):
        # This module reports lost connections itself.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return Client(address, timeout=CONNECT_SECONDS)


class ClusterSandbox:
    """A `Sandbox` on the workers of a cluster.

    `waiting` is the waiting time that all jobs of one submission share. It is sent to a worker,
    which returns how much of it has been used.
    """

    def __init__(
        self,
        cluster: Cluster,
        limits: SandboxLimits,
        hidden: Sequence[Path] = (),
        waiting: WaitBudget | None = None,
    ) -> None:
        self._cluster, self.limits, self.waiting = cluster, limits, waiting
        self._requirements = worker_requirements(limits, hidden)

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
        """Like `Sandbox.run_cells`; also raises `ClusterUnavailable`."""
        tests = tests and replace(tests, sandbox=None)
        return self._record_waiting(
            *self._cluster.run(
                partial(worker.run_cells, waiting=self.waiting),
                self._requirements,
                dict(files),
                list(cells),
                (cell_seconds, later_seconds, all_seconds),
                tests,
                dict(limits),
            )
        )

    def run_check(
        self,
        files: Mapping[str, bytes],
        module: str,
        check: Check,
        seconds: float,
        answers: Path | None = None,
        secret: str = "",
    ) -> Replies:
        """Like `Sandbox.run_check`; also raises `ClusterUnavailable`.

        Games are played on this machine, which has the opponents and the deals; only the agent runs
        on the worker.
        """
        if module not in files or check.ask not in MATCHES:
            return self._record_waiting(
                *self._cluster.run(
                    partial(worker.run_check, waiting=self.waiting),
                    self._requirements,
                    dict(files),
                    module,
                    check,
                    seconds,
                )
            )
        agent = self._cluster.start_agent(self._requirements, dict(files), module, self.waiting)
        sources = [text_of(data) for name, data in files.items() if name.endswith(".py")]
        try:
            return play_ladder(
                check,
                lambda: ClusterPlayer(agent, self._record_waiting),
                seconds,
                answers,
                sources=sources,
                secret=secret,
            )
        finally:
            with contextlib.suppress(Exception):  # if the worker is lost, so is the sandbox
                agent.close().result()

    def _record_waiting(self, result: Any, waited: float) -> Any:
        """Return the result of a job, and record that the submission has waited for `waited`
        seconds so far.
        """
        if self.waiting:
            self.waiting.spent = max(self.waiting.spent, waited)
        return result


class ClusterPlayer:
    """Connects the league to a submission's agent on a worker.

    `record_waiting` is called with each reply and the time for which the submission has waited.
    """

    def __init__(self, agent: Any, record_waiting: Callable[[Any, float], Any]) -> None:
        self._agent, self._record_waiting, self.spent = agent, record_waiting, 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent; raises `TimeLimitExceeded`, `PlayerExited` and `AgentError`."""
        self._request(self._agent.begin, seed, seconds)

    def ask(self, observation: Observation, seconds: float) -> Action:
        """Return the agent's action; raises a `Fault` of `sequence.league.game`."""
        return action_from_reply(
            self._request(self._agent.ask, observation_to_plain(observation), seconds)
        )

    def end(self) -> None:
        """End the agent's process."""
        self._request(self._agent.end)

    def _request(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            self.spent, answer, waited = method(*arguments).result()
        except SandboxFault:
            raise
        except Exception as error:  # Dask can raise any exception for a lost worker
            raise SandboxFault(f"the worker of an agent was lost ({error!r:.200})") from error
        reply = self._record_waiting(answer, waited)
        if isinstance(reply, Fault):
            raise reply
        return reply


@cache
def cluster(address: str, max_outage_seconds: float = MAX_OUTAGE_SECONDS) -> Cluster:
    """Return this process's connection to a cluster."""
    return Cluster(address, max_outage_seconds=max_outage_seconds)


def worker_requirements(limits: SandboxLimits, hidden: Sequence[Path] = ()) -> WorkerRequirements:
    """Return the requirements that a worker must meet to run jobs for this process."""
    return WorkerRequirements(worker_kit_digest(), limits, tuple(map(str, hidden)))
