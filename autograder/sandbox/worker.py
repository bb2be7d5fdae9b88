"""What a worker of a cluster does: it asks submissions in sandboxes of its own machine.

Dask runs these functions on a worker, whose machine needs `autograder/sandbox` and the public
packages, and nothing else of ours: no answers, no expected replies, no gradebook. The worker of
another kit, or where nothing can be isolated, raises `Unfit` before it has done anything.
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

from autograder.sandbox.client import Outside, Ran, Sandbox, SandboxFault, SandboxPlayer
from autograder.sandbox.launch import PACKAGES, CannotIsolate
from autograder.sandbox.limits import Limits
from course.probes import Check
from course.probes.homes import homes
from course.probes.replies import Replies
from sequence.league.clock import Waiting
from sequence.league.cluster import digest_of
from sequence.league.game import Fault

HERE = Path(__file__).parent
LIBRARIES = ("ipython", "matplotlib", "numpy")  # what submissions use, and could tell apart


class Unfit(Exception):
    """A worker must not be used: its address, and why."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(address, why)


@dataclass(frozen=True)
class Terms:
    """What a worker has to be, and how it runs submissions: the digest of the kit, the limits, and
    folders that nothing inside may see if the worker has them."""

    kit: str
    limits: Limits
    hidden: tuple[str, ...] = ()


@cache
def kit_digest() -> str:
    """A digest of the code that asks submissions, with the versions that it runs on."""
    versions = [f"python {platform.python_version()}"]
    for name in LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return ", ".join([*versions, digest_of(kit_folders())])


def kit_folders() -> list[Path]:
    """The folders whose code asks submissions."""
    return [
        *(Path(package.__path__[0]) for package in PACKAGES),
        HERE,
        *(home / "course" for home in homes()[1:]),
    ]


def examine(terms: Terms) -> None:
    """Raise `Unfit` unless this worker can be used, `SandboxFault` where its sandbox fails."""
    with _used(terms):
        return


def ask(
    terms: Terms,
    files: Mapping[str, bytes],
    module: str,
    check: Check,
    seconds: float,
    *,
    waiting: Waiting | None,
) -> tuple[Replies, float]:
    """What `Sandbox.ask` replies here, to a check that is no game, and how much of the budget of
    waiting is spent then."""
    with _used(terms, waiting=waiting) as sandbox:
        return sandbox.ask(files, module, check, seconds), _spent(waiting)


def run_cells(
    terms: Terms,
    files: Mapping[str, bytes],
    cells: Sequence[str],
    seconds: tuple[float, float, float],
    outside: Outside | None,
    limits: Mapping[int, float],
    *,
    waiting: Waiting | None,
) -> tuple[Ran, float]:
    """What `Sandbox.run_cells` finds here; tests from outside run in a second sandbox. Also how
    much of the budget of waiting is spent then."""
    with _used(terms, waiting=waiting) as sandbox:
        if outside is None:
            return sandbox.run_cells(files, cells, *seconds, limits=limits), _spent(waiting)
        with _used(terms, "tests") as other:
            return sandbox.run_cells(
                files, cells, *seconds, replace(outside, sandbox=other), limits=limits
            ), _spent(waiting)


class Agent:
    """A submission's agent, for one game after another; stays on a worker while they last.

    It has a sandbox of its own, as games of several submissions may take turns on a worker. Every
    answer is `(seconds, reply, waited)`, or has a fault for the reply, so that one message has all.
    """

    def __init__(
        self, terms: Terms, files: Mapping[str, bytes], module: str, waiting: Waiting | None
    ) -> None:
        _refuse_other_kits(terms)
        self._open = _opened(terms)
        self._open.sandbox.waiting = waiting
        self._player = SandboxPlayer(self._open.sandbox, files, module)

    def begin(self, seed: int, seconds: float) -> tuple[float, Fault | None, float]:
        """Load the agent, as `SandboxPlayer.begin` does."""
        return self._told(lambda: self._player.begin(seed, seconds))

    def ask(self, observation: dict[str, Any], seconds: float) -> tuple[float, Any, float]:
        """The agent's reply to an observation, both as plain data."""
        return self._told(lambda: self._player.reply(seconds, observation))

    def end(self) -> tuple[float, None, float]:
        """End the agent's process; another game may begin."""
        return self._told(self._player.end)

    def close(self) -> None:
        """End the sandbox."""
        self._open.sandbox.close()

    def _told(self, work: Callable[[], Any]) -> tuple[float, Any, float]:
        with _as_faults():
            try:
                reply = work()
            except Fault as fault:
                reply = fault
            return self._player.spent, reply, _spent(self._open.sandbox.waiting)


def _spent(waiting: Waiting | None) -> float:
    """How many seconds of a budget are spent."""
    return waiting.spent if waiting else 0.0


class Open:
    """A sandbox that lasts as long as this object, and as the thread that starts it."""

    def __init__(self, limits: Limits, hidden: Sequence[Path] = ()) -> None:
        self.sandbox = Sandbox(limits, hidden)
        weakref.finalize(self, self.sandbox.close)


_own = threading.local()


@contextlib.contextmanager
def _used(
    terms: Terms, kind: str = "submission", waiting: Waiting | None = None
) -> Iterator[Sandbox]:
    """This thread's own sandbox of a kind; one in which something fails is not used again. The jobs
    in it share the budget `waiting`."""
    _refuse_other_kits(terms)
    found = vars(_own).setdefault("open", {})
    for other in [other for other in found if other[0] != terms]:
        del found[other]  # of an earlier run
    if (terms, kind) not in found:
        found[terms, kind] = _opened(terms)
    found[terms, kind].sandbox.waiting = waiting
    try:
        with _as_faults():
            yield found[terms, kind].sandbox
    except SandboxFault:
        found.pop((terms, kind), None)
        raise


def _refuse_other_kits(terms: Terms) -> None:
    if terms.kit != kit_digest():
        raise Unfit(
            _address(),
            "it has another version of the kit, of Python (it has "
            f"{platform.python_version()}) or of {', '.join(LIBRARIES)}",
        )


def _opened(terms: Terms) -> Open:
    try:
        with _as_faults():
            return Open(terms.limits, [Path(folder) for folder in terms.hidden])
    except CannotIsolate as error:
        raise Unfit(_address(), str(error)) from None


@contextlib.contextmanager
def _as_faults() -> Iterator[None]:
    """What goes wrong with this machine, as a fault of the sandbox that names it."""
    try:
        yield
    except OSError as error:
        raise SandboxFault(f"{platform.node()}: {error}") from None


def _address() -> str:
    from distributed import get_worker

    return get_worker().address
