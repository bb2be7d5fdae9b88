"""A Dask cluster of processes on this machine, whose workers have only the worker kit."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import psutil

from autograder.release import worker_kit
from common.command_lines import advice

START = 120  # seconds for the scheduler and workers to start on a busy machine
EXTRAS = {"distributed": "cluster", "psycopg": "postgres"}  # module -> extra that installs it


def need(benchmark: str, *modules: str) -> None:
    """Raise LookupError if modules are missing; the message contains the command that installs
    them.
    """
    if missing := [name for name in modules if not find_spec(name)]:
        raise LookupError(
            f"the benchmark {benchmark!r} needs {' and '.join(missing)}: "
            + advice("setup", *(EXTRAS[name] for name in missing))
        )


class LocalCluster:
    """A scheduler on the loopback interface and workers with one thread each; their files are in
    `folder`, and `close` ends them.

    `environment` is added to the environment of all processes. `dashboard` is the address of the
    scheduler's dashboard, if any.
    """

    def __init__(
        self,
        folder: Path,
        workers: int = 2,
        *,
        protocol: str = "tcp",
        environment: Mapping[str, str] | None = None,
        dashboard: str | None = None,
    ) -> None:
        self.folder, self._workers, self._dashboard = folder, workers, dashboard
        self._environment = {**os.environ, **(environment or {})}
        self.address = f"{protocol}://127.0.0.1:{free_port()}"
        archive = worker_kit.make_worker_kit(folder / "worker.zip").path
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        self.kit = folder / worker_kit.NAME
        self.scheduler: subprocess.Popen | None = None
        self.workers: list[subprocess.Popen] = []
        self._numbers = itertools.count()

    def start(self) -> "LocalCluster":
        """Start the scheduler and the workers, and wait until they are connected."""
        self.start_scheduler()
        for _ in range(self._workers):
            self.add_worker()
        self.wait(self._workers)
        return self

    @property
    def processes(self) -> list[subprocess.Popen]:
        """The scheduler, if it has been started, and the workers."""
        return [*([] if self.scheduler is None else [self.scheduler]), *self.workers]

    def start_scheduler(self, **environment: str) -> None:
        """Start the scheduler; later calls start it again at the same address."""
        protocol, _, place = self.address.partition("://")
        pages = ["--dashboard-address", self._dashboard] if self._dashboard else ["--no-dashboard"]
        self.scheduler = self._start(
            "scheduler",
            "scheduler",
            "--protocol",
            protocol,
            "--host",
            "127.0.0.1",
            "--port",
            place.partition(":")[2],
            *pages,
            **environment,
        )

    def add_worker(self, *options: str, **environment: str) -> subprocess.Popen:
        """Start one more worker; if it dies, its nanny restarts it."""
        number = next(self._numbers)
        self.workers.append(
            self._start(
                f"worker{number}",
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--nworkers",
                "1",
                "--no-dashboard",
                "--local-directory",
                str(self.folder / f"scratch{number}"),
                *options,
                **environment,
            )
        )
        return self.workers[-1]

    def kill_worker(self, number: int = 0) -> None:
        """Kill a worker, but not its nanny."""
        for process in psutil.Process(self.workers[number].pid).children():
            if "spawn_main" in " ".join(process.cmdline()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()

    def end_worker(self, number: int) -> None:
        """End a worker and its nanny, as if its machine were switched off."""
        _end(self.workers.pop(number))

    def end_workers(self) -> None:
        """End all workers."""
        while self.workers:
            self.end_worker(-1)

    def restart_scheduler(self, away: float = 0.0) -> None:
        """Kill the scheduler, end its workers and, after `away` seconds, restart all processes."""
        if self.scheduler is not None:
            _end(self.scheduler, signal.SIGKILL)
        time.sleep(away)
        self.end_workers()
        self.start_scheduler()
        for _ in range(self._workers):
            self.add_worker()

    def wait(self, workers: int) -> None:
        """Wait until this many workers are connected."""
        code = (
            "import sys\nfrom distributed import Client\n"
            "with Client(sys.argv[1], timeout=float(sys.argv[3])) as client:\n"
            "    if workers := int(sys.argv[2]):\n"
            "        client.wait_for_workers(workers, timeout=float(sys.argv[3]))\n"
        )
        subprocess.run(
            [sys.executable, "-P", "-c", code, self.address, str(workers), str(START)],
            env=self._environment,
            check=True,
            capture_output=True,
        )

    def close(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.scheduler):
            if process is not None:
                _end(process)

    def _start(self, log: str, *arguments: str, **environment: str) -> subprocess.Popen:
        with (self.folder / f"{log}.log").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "dask", *arguments],
                cwd=self.kit,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={
                    "DASK_CONFIG": str(self.kit / worker_kit.SETTINGS),
                    **self._environment,
                    "PYTHONPATH": str(self.kit),
                    **environment,
                },
            )


@contextlib.contextmanager
def local_cluster(folder: Path, workers: int = 2, **options) -> Iterator[LocalCluster]:
    """Start a cluster that ends with the block."""
    cluster = LocalCluster(folder, workers, **options)
    try:
        yield cluster.start()
    finally:
        cluster.close()


def _end(process: subprocess.Popen, how: signal.Signals = signal.SIGTERM) -> None:
    """End a process and its descendants."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port() -> int:
    """Return an unused port of the loopback interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
