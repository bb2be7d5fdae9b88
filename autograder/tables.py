"""Prints tables: fitted to the width of a terminal, or with one line per row where piped.

The last column holds text and takes the remaining width; the others keep theirs.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 10_000  # characters: where nobody watches, nothing is wrapped


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Iterable[int] = (),
    console: Console | None = None,
) -> None:
    """Print rows of plain text under their headings, the columns in `right` right-aligned."""
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
    width = console.width if console.is_terminal else WIDE
    with console.capture() as captured:
        console.print(table, width=width, highlight=False, soft_wrap=False, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    console.file.write("\n".join(lines) + "\n")
