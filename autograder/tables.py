"""Prints tables, either fitted to the width of a terminal or, in a pipe, with one line per row.

The last column contains text and takes the remaining width; the other columns have a fixed width.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 10_000  # characters; rows are not wrapped


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Iterable[int] = (),
    console: Console | None = None,
) -> None:
    """Print rows of plain text under their headings; the columns in `right` are right-aligned."""
    console = console or Console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for number, heading in enumerate(headings):
        last = number == len(headings) - 1
        table.add_column(
            heading,
            justify="right" if number in right else "left",
            no_wrap=not last,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    width = console.width if console.is_terminal else PIPE_WIDTH
    with console.capture() as captured:
        console.print(table, width=width, highlight=False, soft_wrap=False, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    console.file.write("\n".join(lines) + "\n")
