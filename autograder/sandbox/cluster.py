"""A sandbox on another machine: each question is a task for a worker of a Dask cluster.

The trusted side sends a submission's files and what they are asked, and gets replies. A worker that
is lost, a task that was sent twice and a scheduler that is restarted change nothing: asking leaves
nothing behind, so that whatever has got no reply is asked again.
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
from autograder.sandbox.client import Outside, Ran, SandboxFault
from autograder.sandbox.limits import Limits
from autograder.sandbox.worker import Agent, Terms, Unfit, kit_digest
from course.probes import Check
from course.probes.match import play_ladder
from course.probes.questions import MATCHES
from course.probes.replies import Replies
from course.probes.syntax import text_of
from sequence import Action, Observation
from sequence.league.clock import Waiting
from sequence.league.game import Fault, action_of
from sequence.league.wire import observation_to_plain

CONNECT = 10.0  # seconds for one attempt to reach the scheduler
PATIENCE = 600.0  # seconds that a cluster may be away, or without a worker
ANSWER = 60.0  # seconds for a scheduler that is there to answer
LOOK = 5.0  # seconds between two looks at a cluster that does not answer
LACKS = "it lacks this kit's sandbox: PYTHONPATH has to name the folder of the worker kit"
GRAPH = "deserialization of the task graph"  # in the words of a scheduler that cannot do it
WITHOUT = (
    "the scheduler at {} lacks this kit, without which it cannot pass work on: its "
    "PYTHONPATH has to name the folder of the worker kit, as that of the workers"
)
MISSING = (
    "grading on a cluster needs Dask: install the extra `cluster` (python3 run.py setup cluster)"
)


class ClusterGone(RuntimeError):
    """The cluster cannot be used; the message says why."""

    for_all = True  # whoever comes next would meet it too


class _Lost(Exception):
    """What was submitted will get no reply over this connection."""


class _Left(_Lost):
    """None of the workers that may do it is there any more."""


@contextlib.contextmanager
def _connection(client: Any) -> Iterator[None]:
    """What Dask raises as a connection ends is `_Lost`, whatever it is.

    A client that another thread closes, or that gives up, makes of what is under way nearly any
    exception. So what a task itself raises must not be told in here.
    """
    if client.status != "running":
        raise _Lost
    try:
        yield
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError | CancelledError):
            raise
        raise _Lost from error


class Cluster:
    """The connection to the scheduler at `address` ("tcp://host:8786"), renewed where it is lost.

    May be used by several threads. `tell` is told which workers are not used, and why. A cluster
    may be away, or without a worker that can be used, for `patience` seconds.
    """

    def __init__(
        self,
        address: str,
        tell: Callable[[str], object] = lambda said: None,
        patience: float = PATIENCE,
    ) -> None:
        self.address, self._tell, self._patience = address, tell, patience
        self._lock = threading.RLock()
        self._client: Any = None
        self._closed = False
        self._unfit: dict[str, str] = {}  # workers that are not used, and why
        self._fit: set[str] = set()  # workers that were examined

    def close(self) -> None:
        """End the connection for good: what is under way raises `ClusterGone`."""
        self._closed = True
        with self._lock:
            client, self._client = self._client, None
        _end(client)

    def slots(self, terms: Terms) -> int:
        """How many tasks the workers that can be used do at once, now.

        Raises `ClusterGone` if there is no scheduler, or no such worker.
        """
        while True:
            client = self._connected(CONNECT)
            try:
                self._examine(client, terms)
                workers = self._workers(client)
            except _Lost:
                self._forget(client)
                continue
            if not workers:
                raise ClusterGone(f"{self._no_worker()}{self._refusals()}")
            return sum(workers.values())

    def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function` on one of the workers, and give what it returns.

        Raises what it raises, `SandboxFault` if it ends one worker after the other, and
        `ClusterGone`.
        """
        return self._settled(function, arguments)

    def agent(self, *arguments: Any) -> Any:
        """A worker's `Agent`; what is asked of it goes straight to that worker. Raises as `do`."""
        return self._settled(Agent, arguments, actor=True)

    def _settled(self, function: Callable[..., Any], arguments: Sequence[Any], **how: bool) -> Any:
        """The result of what is submitted, as often as connection or workers are lost."""
        from distributed import KilledWorker

        while True:
            client = self._connected(self._patience)
            try:
                workers = self._some_worker(client) if self._unfit else None
                with _connection(client):
                    future = client.submit(function, *arguments, workers=workers, pure=False, **how)
                result, error = self._awaited(client, future, workers)
            except _Lost:
                self._forget(client)
                continue
            if isinstance(error, Unfit):
                self._refuse(error)
            elif _is_schedulers(error):
                raise ClusterGone(WITHOUT.format(self.address)) from error
            elif isinstance(error, KilledWorker):
                raise SandboxFault(
                    f"workers of the cluster ended one after the other ({error})"
                ) from error
            elif error is not None:
                raise error
            else:
                return result

    def _awaited(
        self, client: Any, future: Any, workers: Sequence[str] | None
    ) -> tuple[Any, BaseException | None]:
        """What a task returned, or what it raised; nothing else is told by an exception.

        Raises `_Left` if none of the `workers` that may do it is there any more, `_Lost`, and
        `ClusterGone` where there has been no worker for too long.
        """
        from distributed import wait

        while True:
            with _connection(client), contextlib.suppress(TimeoutError):
                wait(future, timeout=LOOK)
            status = future.status  # may change at any time, as when a worker is lost with a result
            try:
                with _connection(client):
                    if status == "finished":
                        return future.result(timeout=ANSWER), None
                    if status == "error" and (error := future.exception(timeout=ANSWER)):
                        return None, error
            except Exception:
                if future.status != "error":
                    raise
            there = self._workers(client)
            if not there:
                self._some_worker(client)
            if not there or (workers and there.keys().isdisjoint(workers)):
                raise _Left  # the task may wait for workers that are gone

    def _some_worker(self, client: Any) -> list[str]:
        """The workers that are not known to be unfit, as soon as there is one.

        Raises `ClusterGone` where there is none for too long.
        """
        begun = time.monotonic()
        while not (workers := self._workers(client)):
            if time.monotonic() - begun >= self._patience:
                raise ClusterGone(f"{self._no_worker()} for {self._patience:g} s{self._refusals()}")
            time.sleep(min(LOOK, self._patience))
        return [*workers]

    def _workers(self, client: Any) -> dict[str, int]:
        """The workers that are not known to be unfit, each with how much it does at once."""
        with _connection(client):
            found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER)
        return {
            address: facts["nthreads"]
            for address, facts in found["workers"].items()
            if address not in self._unfit
        }

    def _examine(self, client: Any, terms: Terms) -> None:
        """Refuse the workers that do not fit.

        First each imports what it will be asked: a task that cannot be unpickled would end it.
        """
        with _connection(client):
            self._fit &= self._workers(client).keys()
        for function, argument in (
            (resolve_name, f"{worker.__name__}:__name__"),
            (worker.examine, terms),
        ):
            with _connection(client):
                asked = {
                    address: client.submit(function, argument, workers=[address], pure=False)
                    for address in self._workers(client)
                    if address not in self._fit
                }
            for address, future in asked.items():
                with contextlib.suppress(_Left):
                    _, problem = self._awaited(client, future, [address])
                    if _is_schedulers(problem):
                        raise ClusterGone(WITHOUT.format(self.address)) from problem
                    if problem is not None:
                        self._refuse(
                            problem
                            if isinstance(problem, Unfit)
                            else Unfit(address, f"{LACKS} ({problem!r:.200})")
                        )
        self._fit.update(asked.keys() - self._unfit.keys())

    def _refuse(self, unfit: Unfit) -> None:
        address, why = unfit.args
        with self._lock:
            known = address in self._unfit
            self._unfit[address] = why
        if not known:
            self._tell(f"the worker at {address} is not used: {why}")

    def _no_worker(self) -> str:
        return f"the cluster at {self.address} has had no worker that can be used"

    def _refusals(self) -> str:
        return "".join(f"; {address}: {why}" for address, why in self._unfit.items())

    def _connected(self, patience: float) -> Any:
        """The client of this connection, a new one if there is none; waits for the scheduler."""
        with self._lock:
            begun = time.monotonic()
            while self._client is None:
                if self._closed:
                    raise ClusterGone(f"the connection to {self.address} was closed")
                try:
                    self._client = _client(self.address)
                except (OSError, TypeError, ValueError) as error:  # the last two: an odd address,
                    waited = time.monotonic() - begun  # or one for TLS without a key
                    if not isinstance(error, OSError) or waited >= patience:
                        raise ClusterGone(
                            f"no scheduler can be reached at {self.address}"
                            f" ({' '.join(str(error).split()):.200})"
                        ) from error
                    time.sleep(min(LOOK, patience))
            return self._client

    def _forget(self, client: Any) -> None:
        with self._lock:
            if self._client is client:
                self._client = None
        _end(client)


def _is_schedulers(error: BaseException | None) -> bool:
    """Whether a scheduler could not read a task; what a submission says is in no such error."""
    return type(error) is RuntimeError and GRAPH in str(error)


def _end(client: Any) -> None:
    if client is not None:
        with contextlib.suppress(Exception):  # there may be nobody at the other end
            client.close(timeout=1)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterGone(MISSING) from error
    for name in ("distributed", "distributed.client", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what is lost is told by us
    return Client(address, timeout=CONNECT)


class ClusterSandbox:
    """Does what `Sandbox` does, on the workers of a cluster.

    `waiting` is the budget of all jobs of one submission: a worker gets it as it is, and gives back
    how much of it is spent.
    """

    def __init__(
        self,
        cluster: Cluster,
        limits: Limits,
        hidden: Sequence[Path] = (),
        waiting: Waiting | None = None,
    ) -> None:
        self._cluster, self.limits, self.waiting = cluster, limits, waiting
        self._terms = terms(limits, hidden)

    def run_cells(
        self,
        files: Mapping[str, bytes],
        cells: Sequence[str],
        cell_seconds: float,
        later_seconds: float,
        all_seconds: float,
        outside: Outside | None = None,
        *,
        limits: Mapping[int, float] = MappingProxyType({}),
    ) -> Ran:
        """What `Sandbox.run_cells` says; raises also `ClusterGone`."""
        tests = outside and replace(outside, sandbox=None)
        return self._counted(
            *self._cluster.do(
                partial(worker.run_cells, waiting=self.waiting),
                self._terms,
                dict(files),
                list(cells),
                (cell_seconds, later_seconds, all_seconds),
                tests,
                dict(limits),
            )
        )

    def ask(
        self,
        files: Mapping[str, bytes],
        module: str,
        check: Check,
        seconds: float,
        answers: Path | None = None,
        secret: str = "",
    ) -> Replies:
        """What `Sandbox.ask` says; raises also `ClusterGone`.

        Games are played here, with the opponents and the deals; only the agent runs there.
        """
        if module not in files or check.ask not in MATCHES:
            return self._counted(
                *self._cluster.do(
                    partial(worker.ask, waiting=self.waiting),
                    self._terms,
                    dict(files),
                    module,
                    check,
                    seconds,
                )
            )
        agent = self._cluster.agent(self._terms, dict(files), module, self.waiting)
        sources = [text_of(data) for name, data in files.items() if name.endswith(".py")]
        try:
            return play_ladder(
                check,
                lambda: ClusterPlayer(agent, self._counted),
                seconds,
                answers,
                sources=sources,
                secret=secret,
            )
        finally:
            with contextlib.suppress(Exception):  # where the worker is gone, so is the sandbox
                agent.close().result()

    def _counted(self, result: Any, waited: float) -> Any:
        """The result of a job on a worker, by the end of which the submission had waited so long."""
        if self.waiting:
            self.waiting.spent = max(self.waiting.spent, waited)
        return result


class ClusterPlayer:
    """Connects the league to a submission's agent on a worker; `counted` is told how long the
    submission has waited there."""

    def __init__(self, agent: Any, counted: Callable[[Any, float], Any]) -> None:
        self._agent, self._counted, self.spent = agent, counted, 0.0

    def begin(self, seed: int, seconds: float) -> None:
        """Load the agent; raises `Late`, `Gone` and `Raised`."""
        self._told(self._agent.begin, seed, seconds)

    def ask(self, observation: Observation, seconds: float) -> Action:
        """The agent's action; raises `Late`, `Gone`, `Raised` and `Illegal`."""
        return action_of(self._told(self._agent.ask, observation_to_plain(observation), seconds))

    def end(self) -> None:
        """End the agent's process."""
        self._told(self._agent.end)

    def _told(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            self.spent, answer, waited = method(*arguments).result()
        except SandboxFault:
            raise
        except Exception as error:  # Dask's own, of any kind, for a lost worker or connection
            raise SandboxFault(f"the worker of an agent was lost ({error!r:.200})") from error
        reply = self._counted(answer, waited)
        if isinstance(reply, Fault):
            raise reply
        return reply


@cache
def cluster(address: str, patience: float = PATIENCE) -> Cluster:
    """This process's connection to a cluster."""
    return Cluster(address, patience=patience)


def terms(limits: Limits, hidden: Sequence[Path] = ()) -> Terms:
    """What a worker has to be to do this process's work."""
    return Terms(kit_digest(), limits, tuple(map(str, hidden)))
