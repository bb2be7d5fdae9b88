"""The program: the installed `autograder` command, and what `python -m autograder` runs."""

import os
import subprocess
import sys

from autograder.interrupts import block_interrupts, end_silently_when_interrupted


def main() -> None:
    """Run the command that was typed, by a Python that imports nothing from the current folder.

    A submission may lie there: a student's `json.py` would run with the rights of the staff, in
    the processes that the command starts, too, which take the option over. Notebooks' kernels do
    not, and find the modules beside them.
    """
    end_silently_when_interrupted()
    if not sys.flags.safe_path:
        again = [sys.executable, "-P", *sys.orig_argv[1:]]
        if os.name == "nt":  # where nothing can take a process' place
            sys.exit(subprocess.call(again))
        block_interrupts()
        os.execv(sys.executable, again)
    from autograder.commands.cli import app
    from autograder.commands.stopping import leave_promptly

    with leave_promptly():
        app(prog_name="autograder")


if __name__ == "__main__":
    main()
