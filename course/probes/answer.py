"""The student's process: loads the module, answers the cases of one check, one JSON line each.

Run as `python -P -m course.probes.answer MODULE.py`; the request comes on standard input as
`{"ask": ..., "cases": [...]}`. Replies go to the descriptor that was standard output; whatever the
student's code prints goes to standard error, so that printing cannot be mistaken for a reply.
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

from course.probes import Case
from course.probes.ask import describe_error, reply

SEED = 20  # of Python's own generator


def main() -> None:
    """Answer the request, and leave without running what the student's code registered for exit."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)

    def send(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=replies, flush=True)

    sys.dont_write_bytecode = True
    path = Path(sys.argv[1])
    send({"ready": True})  # from here on, what goes wrong is the module's doing
    answer_cases(path, request["ask"], request["cases"], send)
    os._exit(0)


def answer_cases(
    path: Path, ask: str, cases: Sequence[Case], send: Callable[[dict[str, Any]], None]
) -> None:
    """Load the module at `path` and send one line for each case, or one that says it is broken."""
    random.seed(SEED)  # a module that draws from it without a seed replies the same every time
    sys.modules["tictactoe.solver"] = None  # type: ignore[assignment]  # Python allows it: the oracle is not there while answers are checked
    sys.path.append(str(path.parent))  # last: side files are found, and shadow nothing installed
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
    """Compiles the file as it is: Python's cache does not see a save in the same second that leaves
    the size unchanged."""

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
