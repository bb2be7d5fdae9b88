"""Commands run in this process, and their output."""

import re

from click.testing import Result
from typer.testing import CliRunner

from autograder.commands.cli import app


def autograder(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, arguments, prog_name="autograder")


def is_one_sentence(output: str) -> bool:
    """Whether the text is exactly one line by the autograder."""
    return re.fullmatch(r"autograder: [^\n]+\n", output) is not None
