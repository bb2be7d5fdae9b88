"""What tests need from outside: optional modules, and the reference answers."""

import importlib
import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

ANSWERS = Path(__file__).parents[1] / "answers"


def need_module(name: str, why: str) -> ModuleType:
    """Import module `name`, or skip the test: `why` tells what stays unchecked without it.

    Where the environment variable CI is "true" nothing may stay unchecked, and the test fails.
    A module that is there but broken raises its own error everywhere.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not error.name or not f"{name}.".startswith(f"{error.name}."):
            raise
    reason = f"{name} is not installed: {why}"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI must have it)", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def load_answer(path: str) -> ModuleType:
    """The reference answer at `path` under `autograder/answers/`, as a plain module of its own."""
    file = ANSWERS / path
    spec = importlib.util.spec_from_file_location(f"reference_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
