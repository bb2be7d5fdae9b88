"""Runs a command of the command line in a separate process, for the buttons of the dashboard.

`python -m autograder.dashboard.background.child grade study3` prints its progress as lines of JSON,
each after a record separator, between the lines that the command prints. When its standard input
ends, it stops as it does after Ctrl-C. This happens when *Stop* is clicked or the notebook's kernel
ends.
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
from autograder.errors import format_error
from autograder.processes.interrupts import end_silently_when_interrupted
from common.command_lines import program

INTERNAL_ERROR = 70  # exit status, as in sysexits.h
MARK = "\x1e"  # the record separator of RFC 7464; no line that a command prints begins with it


def _report(progress: dict[str, Any]) -> None:
    print(f"{MARK}{json.dumps(progress)}", flush=True)


def _stop_at_end_of_input() -> None:
    """Wait for the end of standard input, then interrupt the command as Ctrl-C does."""
    while os.read(0, 1):  # not a file object, whose lock would still be held when the process ends
        pass
    if os.name == "posix":
        os.killpg(os.getpgid(0), signal.SIGINT)  # workers are in the same process group
    else:
        interrupt_main()


def main() -> None:
    """Run the command in the arguments."""
    # If a script runs JupyterLab in the background, JupyterLab ignores Ctrl-C, and so would its
    # children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_silently_when_interrupted()
    Thread(target=_stop_at_end_of_input, daemon=True).start()
    console.report_progress_to(_report)
    try:
        from autograder.commands.cli import app
        from autograder.commands.stopping import leave_promptly

        with leave_promptly():
            app(sys.argv[1:], prog_name=program())
    except Exception as error:
        console.print_error(
            f"autograder: internal error ({format_error(error)}); finished work is kept; "
            f"please report it with the file {_traceback_file()}"
        )
        sys.exit(INTERNAL_ERROR)


def _traceback_file() -> str:
    """Write the traceback of the exception that is being handled to a new file; return the file's
    path.
    """
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
