"""Builds the worker kit, with which a machine runs submissions for a grader on another machine.

It contains the sandbox and the public packages, without tests and studies. It contains no answers,
positions or expected replies, because a worker receives the queries for a submission and does not
store them.
"""

import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from string import Template

from autograder.release.assignments import GenerationError
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
from common.command_lines import advice
from course.checks.study_paths import PUBLIC
from sequence.league.cluster import code_files

NAME = "adversarial-search-worker"
LOCKS = ("requirements.lock", "requirements-cluster.lock")  # the second adds to the first
DASK = ("bokeh", "dask", "distributed")  # `dask worker`, `dask scheduler` and its dashboard
SETTINGS = "dask.yaml"  # settings of Dask, for schedulers and workers
STAFF = ("__init__.py", "sandbox/", f"release/kit_templates/{SETTINGS}")  # of `autograder/`


def make_worker_kit(path: Path) -> Kit:
    """Make the archive `path`, a .zip or a .tar.gz; raises `GenerationError`."""
    return make_archive(path, NAME, contents, STAFF)


def contents() -> Contents:
    """Return every file of the worker kit, by path; raises `GenerationError` if Dask is not
    installed.
    """
    root = checkout()
    if not find_spec(DASK[-1]):
        raise GenerationError(
            "the worker kit lists the versions installed here, but Dask is not "
            f"installed: {advice('setup', 'cluster')} installs it"
        )
    paths = [
        root / "LICENSE",
        root / "LICENSE-texts",
        *_sandbox(root),
        *(path for path in packages(root) if "tests" not in path.parts),
        *(path for path in code_files(root / PUBLIC) if path.parent.name == "_check"),
    ]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    names = sorted({*distributions(imports(files)), *DASK})
    files["requirements.lock"] = locked(
        "".join((root / name).read_text("utf-8") for name in LOCKS),
        names,
        all_requirements(project),
    ).encode()
    files["README.md"] = (
        Template((TEMPLATES / "worker.md.in").read_text("utf-8"))
        .substitute(version=project["version"])
        .encode()
    )
    files[SETTINGS] = (TEMPLATES / SETTINGS).read_bytes()
    return dict(sorted(files.items()))


def _sandbox(root: Path) -> Iterator[Path]:
    """Yield the files of `autograder/` that run submissions."""
    staff = root / "autograder"
    yield staff / "__init__.py"
    yield from (path for path in shipped(staff / "sandbox") if not JUNK.search(path.name))
