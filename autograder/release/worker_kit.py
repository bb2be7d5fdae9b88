"""Makes the worker kit: what a machine needs to run submissions for a grader on another one.

That is the sandbox and the public packages, without tests and studies. No answers, no positions and
no expected replies are in it: a worker is sent what it asks a submission, and forgets it.
"""

import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from string import Template

from autograder.release.assignments import ReleaseError
from autograder.release.kit import (
    JUNK,
    TEMPLATES,
    Contents,
    Kit,
    all_requirements,
    checkout,
    distributions,
    imports,
    locked,
    make_archive,
    packages,
)
from autograder.release.leaks import shipped

NAME = "adversarial-search-worker"
LOCKS = ("requirements.lock", "requirements-cluster.lock")  # the second has what the first lacks
DASK = ("bokeh", "dask", "distributed")  # `dask worker`, `dask scheduler` and its dashboard
SETTINGS = "dask.yaml"  # of Dask, for schedulers and workers
STAFF = ("__init__.py", "sandbox/", f"release/kit_templates/{SETTINGS}")  # of `autograder/`


def make_worker_kit(path: Path) -> Kit:
    """Make the archive `path`, a .zip or a .tar.gz; raises `ReleaseError`."""
    return make_archive(path, NAME, contents, STAFF)


def contents() -> Contents:
    """Every file of the worker kit, by path; raises `ReleaseError` where Dask is not installed."""
    root = checkout()
    if not find_spec(DASK[-1]):
        raise ReleaseError(
            "the worker kit names what is installed here for workers, and Dask is "
            "not: `python3 run.py setup cluster` installs it"
        )
    paths = [
        root / "LICENSE",
        root / "LICENSE-texts",
        *_sandbox(root),
        *(path for path in packages(root) if "tests" not in path.parts),
    ]
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    names = sorted({*distributions(imports(found)), *DASK})
    found["requirements.lock"] = locked(
        "".join((root / name).read_text("utf-8") for name in LOCKS),
        names,
        all_requirements(project),
    ).encode()
    found["README.md"] = (
        Template((TEMPLATES / "worker.md.in").read_text("utf-8"))
        .substitute(version=project["version"])
        .encode()
    )
    found[SETTINGS] = (TEMPLATES / SETTINGS).read_bytes()
    return dict(sorted(found.items()))


def _sandbox(root: Path) -> Iterator[Path]:
    """The files of `autograder/` that ask submissions."""
    staff = root / "autograder"
    yield staff / "__init__.py"
    yield from (path for path in shipped(staff / "sandbox") if not JUNK.search(path.name))
