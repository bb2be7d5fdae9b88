"""Fetches what the live site is made of, each thing once and by a lock with digests.

These are an environment with JupyterLite's builder, the wheels that Python in the browser has, and
Pyodide, which is that Python. They stay in a cache until their lock changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course_folder import held
from autograder.errors import Refused

LOCKS = Path(__file__).parent / "locks"
BROWSER_PYTHON = "3.14"  # Pyodide's
STAMP = "fetched"  # holds what the folder was made from, and is written last
LINES = 3  # of what a failed command said last
NPM_FILES = ("package.json", "package-lock.json")


class SiteError(Refused):
    """The site was not made; the message says why."""


@dataclass(frozen=True)
class Fetched:
    """The folders of what was fetched."""

    environment: Path
    wheels: Path
    npm: Path

    @property
    def python(self) -> Path:
        """The environment's Python."""
        folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.environment / folder / name

    def digests(self) -> set[bytes]:
        """The SHA-256 of every file that was fetched, and of every file in JupyterLite's archive."""
        found = {
            hashlib.sha256(path.read_bytes()).digest()
            for folder in (self.extensions, self.wheels, self.pyodide)
            for path in folder.rglob("*")
            if path.is_file()
        }
        (app,) = self.environment.rglob("jupyterlite-app-*.tgz")
        with tarfile.open(app) as archive:
            found |= {
                hashlib.sha256(archive.extractfile(member).read()).digest()
                for member in archive
                if member.isfile()
            }
        return found

    @property
    def pyodide(self) -> Path:
        """The files of Pyodide."""
        return self.npm / "node_modules" / "pyodide"

    @property
    def extensions(self) -> Path:
        """JupyterLab's extensions in the environment."""
        return self.environment / "share" / "jupyter" / "labextensions"


def fetch(cache: Path, tell: Callable[[str], object] = lambda what: None) -> Fetched:
    """Fetch into `cache` what is not there yet; `tell` is told what is being fetched.

    Raises `SiteError` without npm, venv or a network.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise SiteError(
            "the live site needs npm, which brings Python for the browser: install it "
            "(on Debian and Ubuntu: sudo apt install npm) and run this again"
        )
    fetched = Fetched(cache / "environment", cache / "wheels", cache / "npm")
    locked = ["--require-hashes", "--disable-pip-version-check", "-q", "-r"]

    def environment(folder: Path) -> None:
        run(sys.executable, "-m", "venv", folder)
        run(fetched.python, "-m", "pip", "install", *locked, LOCKS / "build.lock")

    def wheels(folder: Path) -> None:
        run(
            fetched.python,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            f"--python-version={BROWSER_PYTHON}",
            "--implementation=py",
            "--abi=none",
            "--platform=any",
            "--dest",
            folder,
            *locked,
            LOCKS / "browser.lock",
        )

    def pyodide(folder: Path) -> None:
        for name in NPM_FILES:
            shutil.copy(LOCKS / name, folder)
        run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", cwd=folder)

    with held(cache):
        tell("JupyterLite")
        _once(fetched.environment, [LOCKS / "build.lock"], environment)
        tell("what Python in the browser imports")
        _once(fetched.wheels, [LOCKS / "browser.lock"], wheels)
        tell("Python for the browser")
        _once(fetched.npm, [LOCKS / name for name in NPM_FILES], pyodide)
    return fetched


def _once(folder: Path, locks: Sequence[Path], make: Callable[[Path], object]) -> None:
    """Let `make` fill the folder, unless that was done from the same locks in the same place."""
    made_from = f"{sys.version} {folder.resolve()}".encode()
    wanted = hashlib.sha256(b"".join([made_from, *(lock.read_bytes() for lock in locks)]))
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text("ascii") == wanted.hexdigest():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    stamp.write_text(wanted.hexdigest(), "ascii")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command quietly; raises `SiteError` with its last lines if it fails."""
    done = subprocess.run(
        [*map(os.fspath, command)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        errors="replace",
    )
    if done.returncode:
        last = " / ".join(done.stdout.strip().splitlines()[-LINES:])
        raise SiteError(
            f"{' '.join(map(os.fspath, command[:4]))} failed (no network? a full "
            f"disk?), and said: {last or 'nothing'}. Run the same command again to go "
            "on."
        )
