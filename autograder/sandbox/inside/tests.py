"""Runs an instructor's test cells in a process that runs nothing of the submission."""

import contextlib
from collections.abc import Callable
from typing import Any

from .cells import Runner
from .remote import Gone, Names, Paths


def run(request: dict[str, Any], send: Callable[[dict], None], receive: Callable[[], dict]) -> None:
    """Run each test when it is its turn, `{"go": i}`; sends `{"ask": ...}` for what it needs of
    the submission, and at last the test's outputs."""
    runner = Runner(request["characters"])
    own = runner.shell.user_ns
    for line in request["imports"]:
        # Modules and default values of the submission's own are not known here, nor are files.
        with contextlib.suppress(Exception):
            exec(line, own)
    shared = "\n".join(request["imports"])

    def ask(asked: dict[str, Any]) -> dict[str, Any]:
        send({"ask": asked})
        reply = receive()
        if "gone" in reply:
            raise Gone(reply["gone"])
        return reply

    names = Names(ask, request["withheld"])
    while "go" in (turn := receive()):
        source = request["tests"][str(turn["go"])]
        names.paths = Paths(request["calls"].get(str(turn["go"])))
        try:
            names.put(f"{shared}\n{source}", own)
            found = runner.run(source)
        except (Gone, KeyboardInterrupt, Exception) as error:
            found = {
                "execution_count": None,
                "outputs": [
                    {
                        "output_type": "error",
                        "ename": type(error).__name__,
                        "evalue": str(error),
                        "traceback": [f"{type(error).__name__}: {error}"],
                    }
                ],
            }
        send({"end": turn["go"], "calls": sorted(names.paths.met)} | found)
