"""Notebooks: running times, and the longest time without output.

Each notebook is run from top to bottom with the reference answers, as for the book. The start of the
kernel is included. A cell is silent while it shows no new text, picture or progress. The targets are
for an idle machine.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.benchmarks import Result
from autograder.release.book import Source, sources, write_workspace
from autograder.release.book import run as run_notebook
from autograder.release.book.pages import BookError

WHOLE, SILENT = 30, 3  # seconds
SHOWS = {
    "clear_output",
    "comm_msg",
    "display_data",
    "error",
    "execute_result",
    "stream",
    "update_display_data",
}  # kinds of messages after which a notebook looks different


class Silence(NamedTuple):
    """A period in which a cell shows nothing new; cells are numbered from 1, including text cells."""

    seconds: float = 0.0
    cell: int = 0


class Listener(NotebookClient):
    """Runs a notebook and records its longest silence."""

    longest = Silence()
    _cell, _since = -1, 0.0

    def process_message(
        self, msg: dict, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Process a kernel message as nbclient does; a message that shows something ends a silence."""
        now, kind = time.monotonic(), msg["msg_type"]
        if cell_index != self._cell:
            self._cell, self._since = cell_index, now
        if kind in SHOWS or kind == "status":  # "idle" at the cell's end
            self.longest = max(self.longest, Silence(now - self._since, cell_index + 1))
            self._since = now
        return super().process_message(msg, cell, cell_index)


def run() -> list[Result]:
    """Time every notebook. Raises LookupError if a notebook is missing or one of its cells fails."""
    measured: list[Result] = []
    try:
        with tempfile.TemporaryDirectory(prefix="bench-notebooks-") as temporary:
            write_workspace(Path(temporary))
            for source in sources():
                measured += results(
                    source.name, *timed(source, Path(temporary, source.study.assignment))
                )
    except BookError as error:
        raise LookupError(error) from error
    return measured


def timed(source: Source, folder: Path) -> tuple[float, Silence]:
    """Run a notebook in this folder; return its running time in seconds and its longest silence."""
    listeners: list[Listener] = []

    def listener(*args, **kwargs) -> Listener:
        listeners.append(Listener(*args, **kwargs))
        return listeners[0]

    start = time.monotonic()
    run_notebook(source, folder, client=listener)
    seconds, silence = time.monotonic() - start, listeners[0].longest
    print(
        f"{source.name}: {seconds:.1f} s, at most {silence.seconds:.1f} s silent", file=sys.stderr
    )
    return seconds, silence


def results(name: str, seconds: float, silence: Silence) -> Sequence[Result]:
    """Return the two results of a notebook, with their targets."""
    return (
        Result(name, seconds, "s", f"<= {WHOLE}"),
        Result(
            f"{name}, longest silence (cell {silence.cell})", silence.seconds, "s", f"<= {SILENT}"
        ),
    )
