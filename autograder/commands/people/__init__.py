"""The commands about students: the roster, extensions, and what became of their marks.

May import the rest of `commands` and the layers below it.
"""

import typer

from autograder.commands.people.extend import extend
from autograder.commands.people.marks import history, regrade
from autograder.commands.people.roster import enrol, roster, students_in
from autograder.commands.people.selection import Selection, submitters, update_groups

__all__ = ["Selection", "add_to", "enrol", "students_in", "submitters", "update_groups"]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command()(extend)
    app.command()(history)
    app.command()(regrade)
    app.command()(roster)
