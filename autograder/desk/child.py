"""A command of the command line in a process of its own, as the buttons run it.

`python -m autograder.desk.child grade study3`: progress is printed as lines of JSON that begin
with a record separator, between those that the command prints. It stops as after Ctrl-C when its
standard input ends: when *Stop* is clicked, and when the notebook's kernel is gone.
"""

import json
import os
import signal
import sys
from _thread import interrupt_main
from threading import Thread
from typing import Any

from autograder.commands import console

MARK = "\x1e"  # RFC 7464's, which no line that a command prints begins with


def _tell(progress: dict[str, Any]) -> None:
    print(f"{MARK}{json.dumps(progress)}", flush=True)


def _stop_at_the_end() -> None:
    """Wait for the end of the standard input; then do what Ctrl-C does in a terminal."""
    while os.read(0, 1):  # no file object, whose lock would stay held when the process ends
        pass
    if os.name == "posix":
        os.killpg(os.getpgid(0), signal.SIGINT)  # the workers, too: the group is ours
    else:
        interrupt_main()


def main() -> None:
    """Run the command that the arguments give."""
    from autograder.commands.cli import app

    Thread(target=_stop_at_the_end, daemon=True).start()
    console.tell_progress(_tell)
    app(sys.argv[1:], prog_name="autograder")


if __name__ == "__main__":
    main()
