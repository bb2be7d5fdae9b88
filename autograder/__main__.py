"""The program that the installed `autograder` command and `python -m autograder` run."""

import os
import subprocess
import sys

from autograder.processes.interrupts import block_interrupts, end_silently_when_interrupted
from common.command_lines import CALLED_AS, called_directly, program


def main() -> None:
    """Run the command, in a Python that imports nothing from the current folder.

    The folder may contain a submission, and a student's `json.py` would run with the permissions of
    the staff. Child processes inherit the option. Notebooks' kernels do not inherit it, so they
    find the modules next to them.
    """
    end_silently_when_interrupted()
    if not sys.flags.safe_path:  # it was started neither by run.py nor by this function
        os.environ[CALLED_AS] = called_directly()
        again = [sys.executable, "-P", *sys.orig_argv[1:]]
        if os.name == "nt":  # on this system, a process cannot be replaced
            sys.exit(subprocess.call(again))
        block_interrupts()
        os.execv(sys.executable, again)
    from autograder.commands.cli import app
    from autograder.commands.stopping import leave_promptly

    with leave_promptly():
        app(prog_name=program())


if __name__ == "__main__":
    main()
