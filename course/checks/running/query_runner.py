"""Loads a student's module and answers the cases of one check, one JSON line each.

Run as `python -P -m course.checks.running.query_runner MODULE.py`; it reads the request from
standard input as `{"ask": ..., "cases": [...]}`. Replies are written to the original standard
output. Output of the student's code is redirected to standard error, so it is never read as a reply.
"""

import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from course.checks import Case
from course.checks.running.queries import describe_error, reply

SEED = 20  # seed of the module `random`


def main() -> None:
    """Answer the request, and exit without running the exit handlers of the student's code."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)

    def send(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=replies, flush=True)

    sys.dont_write_bytecode = True
    path = Path(sys.argv[1])
    send({"ready": True})  # from here on, all errors are the module's
    answer_cases(path, request["ask"], request["cases"], send)
    os._exit(0)


def answer_cases(
    path: Path, ask: str, cases: Sequence[Case], send: Callable[[dict[str, Any]], None]
) -> None:
    """Load the module at `path` and send one line per case, or a single line if it is broken."""
    random.seed(SEED)  # makes modules that draw random numbers without a seed reproducible
    sys.modules["tictactoe.solver"] = None  # type: ignore[assignment]  # blocks imports of the solver, which would answer the questions
    sys.path.append(
        str(path.parent)
    )  # last, so that the student's files do not shadow installed modules
    try:
        module = _load(path)
    except BaseException as error:
        send({"broken": describe_error(error)})
        return
    for number, case in enumerate(cases):
        start = time.perf_counter()
        observation = reply(module, ask, case)
        send(
            {
                "case": number,
                "observation": observation,
                "seconds": round(time.perf_counter() - start, 4),
            }
        )


class _FromSource(SourceFileLoader):
    """Always compiles the source, because Python's cache misses a change within the same second
    that leaves the size unchanged."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _load(path: Path) -> ModuleType:
    loader = _FromSource(path.stem, str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
    assert spec is not None, "there is one wherever there is a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
