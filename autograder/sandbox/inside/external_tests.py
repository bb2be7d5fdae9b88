"""Runs an instructor's test cells in a process that runs no code of the submission."""

import contextlib
from collections.abc import Callable
from typing import Any

from .cells import Runner
from .test_proxy.client import CallPaths, ConnectionLost, RemoteNames


def run(request: dict[str, Any], send: Callable[[dict], None], receive: Callable[[], dict]) -> None:
    """Run each test when `{"go": i}` arrives; send `{"ask": ...}` for each request to the
    submission, and finally the outputs of the test."""
    runner = Runner(request["characters"])
    namespace = runner.shell.user_ns
    for line in request["imports"]:
        # Modules and default values of the submission are unknown here, and its files are absent.
        with contextlib.suppress(Exception):
            exec(line, namespace)
    shared = "\n".join(request["imports"])

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        send({"ask": question})
        reply = receive()
        if "lost" in reply:
            raise ConnectionLost(reply["lost"])
        return reply

    names = RemoteNames(ask, request["withheld"])
    while "go" in (start := receive()):
        number = start["go"]
        source = request["tests"][str(number)]
        names.paths = CallPaths(request["calls"].get(str(number)))
        try:
            names.define(f"{shared}\n{source}", namespace)
            result = runner.run(source)
        except (ConnectionLost, KeyboardInterrupt, Exception) as error:
            result = {"execution_count": None, "outputs": [_error_output(error)]}
        send({"end": number, "calls": sorted(names.paths.recorded)} | result)


def _error_output(error: BaseException) -> dict[str, Any]:
    name = type(error).__name__
    return {
        "output_type": "error",
        "ename": name,
        "evalue": str(error),
        "traceback": [f"{name}: {error}"],
    }
