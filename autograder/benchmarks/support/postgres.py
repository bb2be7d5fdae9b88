"""A temporary PostgreSQL server on a free port of the loopback interface."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.benchmarks.support.cluster import free_port

USER, PASSWORD = "grader", "not-to-be-told"
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
SECONDS = 30  # to start or to stop


class Server:
    """A server that can be stopped and started again, with a database for each `new_url`."""

    def __init__(self, place: Path, programs: Path) -> None:
        self._place, self._programs, self._port = place, programs, free_port()
        self._databases = 0
        # PostgreSQL refuses to run as root; Debian's package creates a user for it.
        names = {user.pw_name for user in pwd.getpwall()}
        user = "postgres" if "postgres" in names else "nobody"
        self._as: dict[str, Any] = {"user": user, "extra_groups": []} if os.geteuid() == 0 else {}
        if self._as:
            shutil.chown(place, user)
        password = place / "password"
        password.write_text(PASSWORD, "ascii")
        self._run(
            "initdb",
            "--no-sync",
            "-U",
            USER,
            f"--pwfile={password}",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--auth=scram-sha-256",
            "-D",
            place / "data",
        )
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start the server, and wait until it responds."""
        options = [
            part
            for setting in (
                *FAST,
                f"port={self._port}",
                f"unix_socket_directories={self._place}",
                "listen_addresses=127.0.0.1",
                "max_connections=30",
            )
            for part in ("-c", setting)
        ]
        with (self._place / "log").open("a") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._place / "data", *options],
                cwd=self._place,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._as,
            )
        end = time.monotonic() + SECONDS
        while not self.answers():
            assert self._process.poll() is None and time.monotonic() < end, self.log()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server immediately; connections are closed and open transactions rolled back."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(SECONDS)
            self._process = None

    def answers(self) -> bool:
        """Whether the server accepts connections."""
        import psycopg  # an extra

        try:
            psycopg.connect(self._conninfo("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def sql(self, statement: str, database: str = "postgres") -> list:
        """Execute a statement as the superuser and return its rows."""
        import psycopg  # an extra

        with psycopg.connect(self._conninfo(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def new_url(self, like: str | None = None) -> str:
        """Create a database and return its address for nbgrader's `db_url`.

        The database is empty, or a copy of the one at the address `like`.
        """
        self._databases += 1
        self.sql(
            f"CREATE DATABASE course{self._databases} "
            f"TEMPLATE {like.rpartition('/')[2] if like else 'template1'}"
        )
        return (
            f"postgresql+psycopg://{USER}:{PASSWORD}@127.0.0.1:{self._port}/course{self._databases}"
        )

    def _conninfo(self, database: str) -> str:
        return f"host=127.0.0.1 port={self._port} user={USER} password={PASSWORD} dbname={database}"

    def _run(self, program: str, *arguments) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self._place,
            text=True,
            capture_output=True,
            check=False,
            **self._as,
        )
        assert done.returncode == 0, done.stderr

    def log(self) -> str:
        """Return the contents of the log."""
        return (self._place / "log").read_text("utf-8")


def programs() -> Path | None:
    """Return the folder of initdb and postgres if they are installed; on Debian it is not on PATH."""
    paths = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])
    )
    path = paths[-1] if paths else shutil.which("initdb")
    return Path(path).resolve().parent if path else None


@contextmanager
def server() -> Iterator[Server]:
    """Yield a running server; raises LookupError if PostgreSQL is not installed."""
    if (folder := programs()) is None or os.name != "posix":
        raise LookupError(
            "PostgreSQL's initdb is not installed: on Debian and Ubuntu, "
            "sudo apt install postgresql"
        )
    # The files are not in a private folder, such as pytest's, because the server may run as another
    # user.
    place = Path(tempfile.mkdtemp(prefix="pg-"))
    running = None
    try:
        running = Server(place, folder)
        running.start()
        yield running
    finally:
        if running is not None:
            running.stop()
        shutil.rmtree(place)
