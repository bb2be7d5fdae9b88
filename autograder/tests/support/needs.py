"""The tests' requirements outside the kit's own packages."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from autograder.sandbox.client import CannotIsolate, Sandbox
from autograder.sandbox.limits import SandboxLimits


def need_module(name: str, why: str) -> ModuleType:
    """Import module `name`, or skip the test; `why` states what remains untested without it.

    If the environment variable CI is "true", the test fails instead. A module that exists but is
    broken always raises its own error.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not error.name or not f"{name}.".startswith(f"{error.name}."):
            raise
        _unchecked(f"{name} is not installed: {why}")


def need_program(name: str, why: str) -> str:
    """The path of program `name`, or skip the test; `why` states what remains untested without it.

    If the environment variable CI is "true", the test fails instead.
    """
    path = shutil.which(name)
    if path is None:
        _unchecked(f"{name} is not installed: {why}")
    return path


def need_python(minor: int) -> str:
    """The path of another Python 3.`minor`, on PATH or pyenv's. Otherwise skip the test, even in
    CI, because the tests need only one Python. A shim without an installed Python does not count.
    """
    name = f"python3.{minor}"
    if (3, minor) == sys.version_info[:2]:
        pytest.skip("this is the Python that runs these tests")
    on_path = (Path(folder, name) for folder in os.get_exec_path())
    for path in (*on_path, *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}")):
        works = [path, "--version"]
        if (
            path.is_file()
            and not subprocess.run(works, check=False, capture_output=True).returncode
        ):
            return str(path)
    pytest.skip(f"{name} is not installed")


def need(there: bool, otherwise: str) -> None:
    """Skip the test if a requirement is missing; fail it if CI is "true"."""
    if not there:
        _unchecked(otherwise)


def need_isolation() -> None:
    """Skip the test if submissions cannot be isolated; fail it if CI is "true"."""
    try:
        Sandbox(SandboxLimits()).close()
    except CannotIsolate as error:
        _unchecked(str(error))


def _unchecked(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI must have it)", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
