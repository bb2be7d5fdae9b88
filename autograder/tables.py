"""Tables that stay readable: within the width of a terminal, and a line for each row when piped.

The last column holds the words and takes what room is left; the others keep their width.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 10_000  # characters: where nobody watches, nothing is wrapped


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (),
                console: Console | None = None) -> None:
    """Print rows of plain text under their headings; columns in `right` are aligned to the right.
    """
    console = console or Console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for number, heading in enumerate(headings):
        last = number == len(headings) - 1
        table.add_column(heading, justify="right" if number in right else "left",
                         no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    width = console.width if console.is_terminal else WIDE
    with console.capture() as captured:
        console.print(table, width=width, highlight=False, soft_wrap=False, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    console.file.write("\n".join(lines) + "\n")
