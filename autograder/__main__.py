"""`python -m autograder` is the `autograder` command."""

from autograder.cli import app

app(prog_name="autograder")
