"""A command of the command line in a process of its own, as the buttons run it.

`python -m autograder.desk.child grade study3`: progress is printed as lines of JSON that begin
with a record separator, between those that the command prints. It stops as after Ctrl-C when its
standard input ends: when *Stop* is clicked, and when the notebook's kernel is gone.
"""

import json
import os
import signal
import sys
import traceback
from _thread import interrupt_main
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import Any

from autograder.commands import console
from autograder.errors import in_words
from autograder.interrupts import end_silently_when_interrupted

INTERNAL_ERROR = 70  # exit status, as in sysexits.h
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
    # A JupyterLab that a script runs in the background ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_silently_when_interrupted()
    Thread(target=_stop_at_the_end, daemon=True).start()
    console.tell_progress(_tell)
    try:
        from autograder.commands.cli import app
        from autograder.commands.stopping import leave_promptly

        with leave_promptly():
            app(sys.argv[1:], prog_name="autograder")
    except Exception as error:
        console.complain(
            f"autograder: internal error ({in_words(error)}); finished work is kept; "
            f"please report it with the file {_written_down()}"
        )
        sys.exit(INTERNAL_ERROR)


def _written_down() -> str:
    """The path of a new file with the traceback of the exception that is being handled."""
    with NamedTemporaryFile(
        "w",
        prefix="autograder-error-",
        suffix=".txt",
        delete=False,
        encoding="utf-8",
        errors="backslashreplace",
    ) as file:
        traceback.print_exc(file=file)
    return file.name


if __name__ == "__main__":
    main()
