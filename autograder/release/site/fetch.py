"""Downloads the components of the live site, which are locked with digests.

The components are an environment with JupyterLite's builder, the wheels for Python in the browser,
and Pyodide, which is Python in the browser. They are cached until their lock changes.
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

from autograder.course_folder import folder_lock
from autograder.errors import UserError

LOCKS = Path(__file__).parent / "locks"
BROWSER_PYTHON = "3.14"  # the version of Pyodide's Python
STAMP = "fetched"  # contains a digest of the folder's sources, and is written last
LINES = 3  # lines of a failed command's output that are shown
NPM_FILES = ("package.json", "package-lock.json")


class SiteError(UserError):
    """The site was not built; the message gives the reason."""


@dataclass(frozen=True)
class Fetched:
    """The folders that contain the downloads."""

    environment: Path
    wheels: Path
    npm: Path

    @property
    def python(self) -> Path:
        """The environment's Python."""
        folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.environment / folder / name

    def digests(self) -> set[bytes]:
        """Return the SHA-256 of every downloaded file and of every file in JupyterLite's archive."""
        digests = {
            hashlib.sha256(path.read_bytes()).digest()
            for folder in (self.extensions, self.wheels, self.pyodide)
            for path in folder.rglob("*")
            if path.is_file()
        }
        (app,) = self.environment.rglob("jupyterlite-app-*.tgz")
        with tarfile.open(app) as archive:
            digests |= {
                hashlib.sha256(opened.read()).digest()
                for member in archive
                if member.isfile() and (opened := archive.extractfile(member)) is not None
            }
        return digests

    @property
    def pyodide(self) -> Path:
        """The files of Pyodide."""
        return self.npm / "node_modules" / "pyodide"

    @property
    def extensions(self) -> Path:
        """The folder of JupyterLab's extensions in the environment."""
        return self.environment / "share" / "jupyter" / "labextensions"


def fetch(cache: Path, report: Callable[[str], object] = lambda step: None) -> Fetched:
    """Download missing components into `cache`; `report` is called with each component.

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

    with folder_lock(cache):
        report("JupyterLite")
        _once(fetched.environment, [LOCKS / "build.lock"], environment)
        report("packages for Python in the browser")
        _once(fetched.wheels, [LOCKS / "browser.lock"], wheels)
        report("Python for the browser")
        _once(fetched.npm, [LOCKS / name for name in NPM_FILES], pyodide)
    return fetched


def fetched_before(cache: Path) -> Fetched | None:
    """Return the components in `cache`, without downloading any; None if some are missing."""
    fetched = Fetched(cache / "environment", cache / "wheels", cache / "npm")
    folders = (fetched.environment, fetched.wheels, fetched.npm)
    return fetched if all((folder / STAMP).is_file() for folder in folders) else None


def _once(folder: Path, locks: Sequence[Path], make: Callable[[Path], object]) -> None:
    """Let `make` fill the folder, unless the folder was made from the same locks in the same place."""
    made_from = f"{sys.version} {folder.resolve()}".encode()
    digest = hashlib.sha256(b"".join([made_from, *(lock.read_bytes() for lock in locks)]))
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text("ascii") == digest.hexdigest():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    stamp.write_text(digest.hexdigest(), "ascii")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command quietly; if it fails, raise `SiteError` with the last lines of its output."""
    done = subprocess.run(
        [os.fspath(part) for part in command],
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
            f"{' '.join(os.fspath(part) for part in command[:4])} failed (no network? a full "
            f"disk?). Its output ends with: {last or 'nothing'}. To continue, run the same command "
            "again."
        )
