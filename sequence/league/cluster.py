"""Plays the games of a league on the workers of a Dask cluster, which receive the agents' files.

A worker needs Dask and the same version of the kit as the process that runs the league. It returns
the games that it plays. If a worker is lost, another one repeats its game, with the same result.
"""

import atexit
import hashlib
import os
import pickle
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import sequence
import tictactoe
from common.clock import CLUSTER_POLL_SECONDS
from common.command_lines import advice
from sequence.league.players.specs import LeagueError, Spec

SENT_SUFFIXES = (".py", ".json", ".npy", ".npz")  # of the files that are sent with an agent
CODE_SUFFIXES = (".py", ".toml")
MAX_BYTES = 20_000_000  # total size of one agent's files
CONNECT_TIMEOUT = 10  # seconds to reach the scheduler
WORKER_TIMEOUT = 600.0  # seconds for which a cluster may be without workers


class TaskPayload(NamedTuple):
    """The file of an agent, the files next to it, and the digest of the required kit."""

    files: Mapping[str, bytes]
    digest: str

    @classmethod
    def from_spec(cls, agent: Spec) -> "TaskPayload":
        """The payload of an agent. For an agent in an installed module, it contains only the
        digest.

        Raises `LeagueError` for an agent that is given as a class, and if the files are too large.
        """
        if agent.made_by is not None:
            raise LeagueError(
                f"the class {agent.name} cannot be sent to a cluster: give its "
                "module or its file, like 'my_agent.py:MyAgent'"
            )
        if not agent.is_file:
            return cls({}, game_code_digest())
        neighbours = [
            path
            for path in sorted(Path(agent.where).parent.iterdir())
            if path.suffix in SENT_SUFFIXES and path.is_file()
        ]
        if sum(path.stat().st_size for path in neighbours) > MAX_BYTES:
            raise LeagueError(
                f"there are more than {MAX_BYTES:,} bytes of files next to {agent.where}: "
                "give the agent its own folder"
            )
        return cls({path.name: path.read_bytes() for path in neighbours}, game_code_digest())

    def unpack(self, agent: Spec) -> Spec:
        """The agent, with its files on this machine; raises `LeagueError` if the kit differs."""
        _require_same_kit(self.digest)
        if not self.files:
            return agent
        folder = _unpack_files(tuple(sorted(self.files.items())))
        return replace(agent, where=str(folder / Path(agent.where).name))


@cache
def _unpack_files(files: tuple[tuple[str, bytes], ...]) -> Path:
    """A folder with these files, created once per process and deleted when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"league-{os.getpid()}-"))
    atexit.register(_remove, folder, os.getpid())
    for name, data in files:
        (folder / name).write_bytes(data)
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder, unless this process is only a fork of the one that created it."""
    if os.getpid() == owner:
        shutil.rmtree(folder)


@cache
def game_code_digest() -> str:
    """A digest of the code that plays the games."""
    return digest_of(Path(package.__path__[0]) for package in (tictactoe, sequence))


def digest_of(roots: Iterable[Path]) -> str:
    """A digest of the code below these folders, to compare the kits of two machines."""
    digest = hashlib.sha256()
    for root in roots:
        for path in code_files(root):
            name = f"{root.name}/{path.relative_to(root).as_posix()}"
            digest.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def code_files(root: Path) -> list[Path]:
    """The modules and tables below a folder, without tests and the modules that students write."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in CODE_SUFFIXES
        and not any(
            part == "tests" or (part.startswith("study") and path.parent.name != "_check")
            for part in path.relative_to(root).parent.parts
        )
    )


def call_remotely(digest: str, packed: bytes) -> Any:
    """Call a pickled function with its pickled arguments on a worker, and return the result.

    Raises `LeagueError` if the kit here has another digest.
    """
    _require_same_kit(digest)
    function, arguments = pickle.loads(packed)
    return function(*arguments)


def _require_same_kit(digest: str) -> None:
    if digest != game_code_digest():
        raise LeagueError(
            f"a worker of the cluster, on {platform.node()}, has another version of the kit"
        )


@contextmanager
def executor(address: str) -> Iterator[Executor]:
    """An executor, as in `concurrent.futures`, for the cluster whose scheduler is at `address`.

    If the cluster has had no worker for `WORKER_TIMEOUT` seconds, waiting tasks are cancelled.
    Raises `LeagueError` if the cluster cannot be reached.
    """
    try:
        dask = import_module("distributed")  # an extra that students' kits do not require
    except ImportError:
        raise LeagueError(
            f"a league on a cluster needs Dask: {advice('setup', 'cluster')} installs it"
        ) from None
    try:
        client = dask.Client(address, timeout=CONNECT_TIMEOUT)
    except (
        OSError,
        TypeError,
        ValueError,
    ) as error:  # the last two types: invalid address, TLS
        raise LeagueError(
            f"no scheduler can be reached at {address} ({' '.join(str(error).split()):.200})"
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise LeagueError(f"the cluster at {address} has no worker")
        _require_kit(client.run(resolve_name, f"{__name__}:__name__", on_error="return"))
        with _close_without_workers(client):
            yield client.get_executor(pure=False)


def _require_kit(imported: Mapping[str, Any]) -> None:
    """Raise `LeagueError` if a worker cannot import this module, because a task would crash it."""
    for address, error in imported.items():
        if isinstance(error, ImportError):
            raise LeagueError(
                f"the worker at {address} lacks the kit ({error}): its PYTHONPATH must contain the "
                "folder of the kit"
            )


@contextmanager
def _close_without_workers(client: Any) -> Iterator[None]:
    """Close the connection and cancel waiting tasks if the cluster is without workers for too long."""
    ended = threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while client.status == "running" and not ended.wait(CLUSTER_POLL_SECONDS):
            try:
                if client.scheduler_info()["workers"]:
                    seen = time.monotonic()
            except Exception as error:  # may have any type if the client closes meanwhile
                if client.status == "running" and not isinstance(error, OSError):
                    raise  # an OSError: the scheduler is unreachable, but may come back
            if time.monotonic() - seen >= WORKER_TIMEOUT:
                client.close()

    watcher = threading.Thread(target=watch, name="watches the cluster", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
