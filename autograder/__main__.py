"""The program: the installed `autograder` command, and what `python -m autograder` runs."""

import os

from autograder.commands.cli import app


def main() -> None:
    """Run the command that was typed.

    No process that it starts imports from the current folder, where a submission may lie: a
    student's `json.py` there would run with the rights of the staff.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    app(prog_name="autograder")


if __name__ == "__main__":
    main()
