"""Makes `python -m autograder` run the `autograder` command."""

from autograder.commands.cli import app

app(prog_name="autograder")
