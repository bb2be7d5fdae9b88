"""The whole book, made once for all tests that look at it or at the notebooks that were run for it.

Tests that use it share the group "whole book", so that one process makes it.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import Result
from nbformat import NotebookNode
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.release import book


@dataclass
class Book:
    """The folder of a book, the command that made it, and the notebooks with their outputs."""

    folder: Path
    command: Result | None = None
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)


@pytest.fixture(scope="session")
def whole_book(tmp_path_factory):
    """The book of every notebook of every study, made by the command."""
    made = Book(tmp_path_factory.mktemp("whole") / "book")

    def remembered(source, *arguments):
        made.notebooks[source.name] = run(source, *arguments)
        return made.notebooks[source.name]

    run = book.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "run", remembered)
        made.command = CliRunner().invoke(app, ["book", str(made.folder)])
    return made
