"""Plays the games of a league on the workers of a Dask cluster: the files of agents go with them.

A worker needs the kit in the version of whoever plays the league, and Dask. What it plays is sent
back; a game of a worker that is lost is played again by another, and is the same game.
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
from sequence.league.players.specs import LeagueError, Spec

KINDS = (".py", ".json", ".npy", ".npz")  # of files that go with an agent
CODE = (".py", ".toml")
MAX_BYTES = 20_000_000  # of one agent's files
CONNECT = 10  # seconds to reach the scheduler
PATIENCE = 600.0  # seconds that a cluster may be without a worker
LOOK = 5.0  # seconds between two looks at the workers


class Luggage(NamedTuple):
    """The file of an agent and what stands beside it, and the digest of the kit that it is for."""

    files: Mapping[str, bytes]
    digest: str

    @classmethod
    def of(cls, agent: Spec) -> "Luggage":
        """What goes with an agent; nothing but the digest if it is in a module.

        Raises `LeagueError` for a class that was given as such, and for too many bytes.
        """
        if agent.made_by is not None:
            raise LeagueError(
                f"the class {agent.name} cannot be sent to a cluster: give its "
                "module or its file, like 'my_agent.py:MyAgent'"
            )
        if not agent.is_file:
            return cls({}, kit_digest())
        beside = [
            path
            for path in sorted(Path(agent.where).parent.iterdir())
            if path.suffix in KINDS and path.is_file()
        ]
        if sum(path.stat().st_size for path in beside) > MAX_BYTES:
            raise LeagueError(
                f"beside {agent.where} stand more than {MAX_BYTES:,} bytes of files: "
                "give the agent a folder of its own"
            )
        return cls({path.name: path.read_bytes() for path in beside}, kit_digest())

    def unpacked(self, agent: Spec) -> Spec:
        """The agent with its files on this machine; raises `LeagueError` if the kit is another."""
        _refuse_other_kits(self.digest)
        if not self.files:
            return agent
        folder = _unpacked(tuple(sorted(self.files.items())))
        return replace(agent, where=str(folder / Path(agent.where).name))


@cache
def _unpacked(files: tuple[tuple[str, bytes], ...]) -> Path:
    """A folder with these files, once for each process, which takes it away as it ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"league-{os.getpid()}-"))
    atexit.register(_remove, folder, os.getpid())
    for name, data in files:
        (folder / name).write_bytes(data)
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder, unless this process is but a fork of the one that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder)


@cache
def kit_digest() -> str:
    """A digest of the code by which games are played."""
    return digest_of(Path(package.__path__[0]) for package in (tictactoe, sequence))


def digest_of(roots: Iterable[Path]) -> str:
    """A digest of the code below these folders, by which two machines know that theirs agrees."""
    digest = hashlib.sha256()
    for root in roots:
        for path in code_files(root):
            name = f"{root.name}/{path.relative_to(root).as_posix()}"
            digest.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def code_files(root: Path) -> list[Path]:
    """The modules and tables below a folder but those in folders of tests, and of a study, which a
    student fills."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in CODE
        and not any(
            part == "tests" or part.startswith("study")
            for part in path.relative_to(root).parent.parts
        )
    )


def called(digest: str, packed: bytes) -> Any:
    """What a function returns, on a worker: it comes pickled, with its arguments.

    Raises `LeagueError` if the kit here is of another digest.
    """
    _refuse_other_kits(digest)
    function, arguments = pickle.loads(packed)
    return function(*arguments)


def _refuse_other_kits(digest: str) -> None:
    if digest != kit_digest():
        raise LeagueError(
            f"a worker of the cluster, on {platform.node()}, has another version of the kit"
        )


@contextmanager
def executor(address: str) -> Iterator[Executor]:
    """An executor, as of `concurrent.futures`, of the cluster with the scheduler at `address`.

    Where the cluster has had no worker for `PATIENCE` seconds, what waits is cancelled. Raises
    `LeagueError` where there is no cluster.
    """
    try:
        dask = import_module("distributed")  # an extra, which students' kits do not ask for
    except ImportError:
        raise LeagueError(
            "a league on a cluster needs Dask: install the extra `cluster` "
            "(python3 run.py setup cluster)"
        ) from None
    try:
        client = dask.Client(address, timeout=CONNECT)
    except (OSError, TypeError, ValueError) as error:  # the last two: an odd address, TLS
        raise LeagueError(
            f"no scheduler can be reached at {address} ({' '.join(str(error).split()):.200})"
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise LeagueError(f"the cluster at {address} has no worker")
        _refuse_without_kit(client.run(resolve_name, f"{__name__}:__name__", on_error="return"))
        with _watched(client):
            yield client.get_executor(pure=False)


def _refuse_without_kit(imported: Mapping[str, Any]) -> None:
    """Raise `LeagueError` if a worker could not import this module: a task would end it."""
    for address, error in imported.items():
        if isinstance(error, ImportError):
            raise LeagueError(
                f"the worker at {address} lacks the kit ({error}): its PYTHONPATH "
                "has to name the folder of the kit"
            )


@contextmanager
def _watched(client: Any) -> Iterator[None]:
    """End the connection, and with it all that waits, once there was no worker for too long."""
    ended = threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while client.status == "running" and not ended.wait(LOOK):
            try:
                if client.scheduler_info()["workers"]:
                    seen = time.monotonic()
            except Exception as error:  # nearly any, of a client that gives up as it is asked
                if client.status == "running" and not isinstance(error, OSError):
                    raise  # that one: the scheduler is away, and may come back
            if time.monotonic() - seen >= PATIENCE:
                client.close()

    watcher = threading.Thread(target=watch, name="watches the cluster", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
