"""Builds the live course: JupyterLite with Python, the notebooks and the stubs, in one folder."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_server.services.contents.filemanager import FileContentsManager

from autograder.release.kit import Contents
from autograder.release.site.fetch import Fetched, run
from autograder.release.site.wheels import LOCK, install_wheels, kit_wheel
from course.checks import Study
from course.lab.start_page import CALL, start_page, write_page

KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
PYODIDE = "static/pyodide"
FILE_DATE = "1980-01-01T00:00:00Z"  # of every file, for reproducible builds
LISTING = "all.json"  # the listing of a folder, from which JupyterLite reads
SETTINGS = {  # settings of JupyterLab: no news, no dates, frequent autosave
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},
}
WELCOME = """\
# Start here

Everything runs in your browser, and your work is stored there: in this browser, on this computer,
until you clear the data of this site. No one else can see it. Download it from time to time.

To update this page, click on the lines below and press Shift + Enter."""
HOW = """\
## How to work

1. Open the next notebook, read it from the top, and run its cells as you go (Shift + Enter). The
   first cell takes some seconds, while Python starts.
2. When it asks for code, open the module next to it (double-click it in the list on the left) and
   write the code there. Save the module (Ctrl + S); the notebook picks up the change.
3. Run the `check(...)` cells: they show what is correct and where to look.
4. Write your answers to the questions in the notebook.
5. Submit: save everything, then run the last cell of the study's last notebook. It creates one file
   to download; submit it as your course requires."""


def build_live(
    target: Path,
    wanted: Sequence[Study],
    kit: Contents,
    fetched: Fetched,
    plotting_from: str | None = None,
) -> None:
    """Build the live course with these studies of the kit in the folder `target`.

    `plotting_from` is the server from which numpy and matplotlib are loaded, if any.
    """
    with TemporaryDirectory(prefix=".live-", dir=target.parent) as temporary:
        source = Path(temporary)
        pyodide = source / PYODIDE
        pyodide.mkdir(parents=True)
        kernel = fetched.extensions / KERNEL_EXTENSION / "static" / "pypi"
        loaded = install_wheels(
            pyodide,
            fetched.pyodide,
            [*fetched.wheels.glob("*.whl"), *kernel.glob("*.whl")],
            kit_wheel(kit),
            plotting_from,
        )
        _write(source / "overrides.json", SETTINGS)
        digest = sha256((pyodide / LOCK).read_bytes()).hexdigest()
        _write(source / "jupyter-lite.json", _lite(loaded, digest))
        _write(
            source / "jupyter_lite_config.json",
            {
                "LiteBuildConfig": {
                    "apps": ["lab"],
                    "contents": [],
                    "output_dir": str(target.resolve()),
                    "no_sourcemaps": True,
                    "no_unused_shared_packages": True,
                }
            },
        )
        run(fetched.python, "-m", "jupyterlite_core", "build", cwd=source)
    write_files(target, wanted, kit)


def _lite(loaded: Sequence[str], digest: str) -> dict[str, Any]:
    lock = f"./{PYODIDE}/{LOCK}?sha256={digest}"  # prevents the use of another site's cached lock
    kernel = {
        "pyodideUrl": f"./{PYODIDE}/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": list(loaded), "lockFileURL": lock},
    }
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "Adversarial search",
            "defaultKernelName": "python",
            "contentsAllJsonFile": LISTING,
            "exposeAppInBrowser": True,
            "litePluginSettings": {f"{KERNEL_EXTENSION}:kernel": kernel},
        },
    }


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


# ---- Files for students


def write_files(target: Path, wanted: Sequence[Study], kit: Contents) -> None:
    """Write the studies' files, a start page and folder listings into the live course.

    JupyterLite reads the listings instead of querying a server.
    """
    files = target / "files"
    for study in wanted:
        place = files / study.assignment
        place.mkdir(parents=True)
        for name, data in kit.items():
            if name.startswith(f"course/{study.assignment}/"):
                (place / Path(name).name).write_bytes(data)
    for name in ("bibliography.md", "glossary.md", "statistics.md"):
        (files / name).write_bytes(kit[f"course/{name}"])
    write_page(files, WELCOME, CALL, replace(start_page(files), missing=()), HOW)
    manager = FileContentsManager(root_dir=str(files))
    for name, listing in _listings(manager):
        place = target / "api" / "contents" / name
        place.mkdir(parents=True)
        (place / LISTING).write_text(json.dumps(listing), "utf-8")


def _listings(manager: FileContentsManager, name: str = "") -> Iterator[tuple[str, dict]]:
    """Yield the paths and listings of a folder and its subfolders."""
    listing = manager.get(name, content=True, type="directory")
    for entry in (listing, *listing["content"]):
        entry["created"] = entry["last_modified"] = FILE_DATE
    yield name, listing
    for entry in listing["content"]:
        if entry["type"] == "directory":
            yield from _listings(manager, entry["path"])
