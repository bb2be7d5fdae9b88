"""Runs submissions on a worker of a cluster, in sandboxes on its machine.

Dask calls these functions on a worker. Its machine needs `autograder/sandbox` and the public
packages, and nothing else from the kit, so it has no answers, no expected replies and no gradebook.
A worker that has another version of the kit, or cannot isolate submissions, raises
`IncompatibleWorker` first.
"""

import contextlib
import platform
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from autograder.sandbox.client import (
    ExternalTests,
    JobResult,
    Sandbox,
    SandboxFault,
    SandboxPlayer,
)
from autograder.sandbox.launch import PACKAGES, CannotIsolate
from autograder.sandbox.limits import SandboxLimits
from common.clock import WaitBudget
from course.checks import Check
from course.checks.replies import Replies
from course.checks.study_paths import study_roots
from sequence.league.cluster import digest_of
from sequence.league.game import Fault

HERE = Path(__file__).parent
LIBRARIES = ("ipython", "matplotlib", "numpy")  # libraries whose version can affect submissions


class IncompatibleWorker(Exception):
    """A worker cannot be used; the arguments are its address and the reason."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)


@dataclass(frozen=True)
class WorkerRequirements:
    """What a worker needs to run submissions: the digest of the kit, the limits of a submission,
    and the folders that must not be visible inside if they exist on the worker.
    """

    kit: str
    limits: SandboxLimits
    hidden: tuple[str, ...] = ()


@cache
def worker_kit_digest() -> str:
    """Return a digest of the code that runs submissions and of the versions of Python and
    libraries.
    """
    versions = [f"python {platform.python_version()}"]
    for name in LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return ", ".join([*versions, digest_of(kit_folders())])


def kit_folders() -> list[Path]:
    """Return the folders with the code that runs submissions."""
    return [
        *(Path(package.__path__[0]) for package in PACKAGES),
        HERE,
        *(home / "course" for home in study_roots()[1:]),
    ]


def verify_worker(requirements: WorkerRequirements) -> None:
    """Raise `IncompatibleWorker` if this worker is unusable, `SandboxFault` if its sandbox fails."""
    with _thread_sandbox(requirements):
        return


def run_check(
    requirements: WorkerRequirements,
    files: Mapping[str, bytes],
    module: str,
    check: Check,
    seconds: float,
    *,
    waiting: WaitBudget | None,
) -> tuple[Replies, float]:
    """Return the replies of `Sandbox.run_check` to a check that is not a match, and how many
    seconds of the waiting time have then been used.
    """
    with _thread_sandbox(requirements, waiting=waiting) as sandbox:
        return sandbox.run_check(files, module, check, seconds), _spent(waiting)


def run_cells(
    requirements: WorkerRequirements,
    files: Mapping[str, bytes],
    cells: Sequence[str],
    seconds: tuple[float, float, float],
    tests: ExternalTests | None,
    limits: Mapping[int, float],
    *,
    waiting: WaitBudget | None,
) -> tuple[JobResult, float]:
    """Return the result of `Sandbox.run_cells`, and how many seconds of the waiting time have then
    been used. External tests run in a second sandbox.
    """
    with _thread_sandbox(requirements, waiting=waiting) as sandbox:
        if tests is None:
            return sandbox.run_cells(files, cells, *seconds, limits=limits), _spent(waiting)
        with _thread_sandbox(requirements, "tests") as second:
            return sandbox.run_cells(
                files, cells, *seconds, replace(tests, sandbox=second), limits=limits
            ), _spent(waiting)


class Agent:
    """A submission's agent on a worker, for one game after another.

    It has its own sandbox, because games of several submissions may alternate on a worker. Every
    method returns `(seconds, reply, waited)`, so that a single message contains everything. If
    there is a fault, the reply is a `Fault`.
    """

    def __init__(
        self,
        requirements: WorkerRequirements,
        files: Mapping[str, bytes],
        module: str,
        waiting: WaitBudget | None,
    ) -> None:
        _refuse_other_kits(requirements)
        self._handle = _start_sandbox(requirements)
        self._handle.sandbox.waiting = waiting
        self._player = SandboxPlayer(self._handle.sandbox, files, module)

    def begin(self, seed: int, seconds: float) -> tuple[float, Fault | None, float]:
        """Load the agent, as `SandboxPlayer.begin` does."""
        return self._run(lambda: self._player.begin(seed, seconds))

    def ask(self, observation: dict[str, Any], seconds: float) -> tuple[float, Any, float]:
        """Return the agent's reply to an observation, both as plain data."""
        return self._run(lambda: self._player.reply(seconds, observation))

    def end(self) -> tuple[float, None, float]:
        """End the agent's process; another game may begin."""
        return self._run(self._player.end)

    def close(self) -> None:
        """End the sandbox."""
        self._handle.sandbox.close()

    def _run(self, function: Callable[[], Any]) -> tuple[float, Any, float]:
        with _os_errors_as_faults():
            try:
                reply = function()
            except Fault as fault:
                reply = fault
            return self._player.spent, reply, _spent(self._handle.sandbox.waiting)


def _spent(waiting: WaitBudget | None) -> float:
    """Return how many seconds of a budget have been used."""
    return waiting.spent if waiting else 0.0


class SandboxHandle:
    """A sandbox that lasts as long as this object and the thread that started it."""

    def __init__(self, limits: SandboxLimits, hidden: Sequence[Path] = ()) -> None:
        self.sandbox = Sandbox(limits, hidden)
        weakref.finalize(self, self.sandbox.close)


_local = threading.local()


@contextlib.contextmanager
def _thread_sandbox(
    requirements: WorkerRequirements, kind: str = "submission", waiting: WaitBudget | None = None
) -> Iterator[Sandbox]:
    """Yield this thread's sandbox for one kind of job; the jobs share the budget `waiting`.

    A sandbox that fails is not used again.
    """
    _refuse_other_kits(requirements)
    handles = vars(_local).setdefault("handles", {})
    for key in [key for key in handles if key[0] != requirements]:
        del handles[key]  # the handle belongs to an earlier grading run
    if (requirements, kind) not in handles:
        handles[requirements, kind] = _start_sandbox(requirements)
    handles[requirements, kind].sandbox.waiting = waiting
    try:
        with _os_errors_as_faults():
            yield handles[requirements, kind].sandbox
    except SandboxFault:
        handles.pop((requirements, kind), None)
        raise


def _refuse_other_kits(requirements: WorkerRequirements) -> None:
    if requirements.kit != worker_kit_digest():
        raise IncompatibleWorker(
            _address(),
            "it has another version of the kit, of Python (it has "
            f"{platform.python_version()}) or of {', '.join(LIBRARIES)}",
        )


def _start_sandbox(requirements: WorkerRequirements) -> SandboxHandle:
    try:
        with _os_errors_as_faults():
            return SandboxHandle(
                requirements.limits, [Path(folder) for folder in requirements.hidden]
            )
    except CannotIsolate as error:
        raise IncompatibleWorker(_address(), str(error)) from None


@contextlib.contextmanager
def _os_errors_as_faults() -> Iterator[None]:
    """Raise an error of this machine as a `SandboxFault` with the name of the machine."""
    try:
        yield
    except OSError as error:
        raise SandboxFault(f"{platform.node()}: {error}") from None


def _address() -> str:
    from distributed import get_worker

    return get_worker().address
