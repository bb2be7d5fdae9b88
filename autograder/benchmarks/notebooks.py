"""Notebooks: the time that each takes, and its longest silence.

From top to bottom, with the reference answers as for the book, one after the other; the kernel's
start is counted. A cell is silent while it shows nothing new, be it text, a picture or how far it
is. The targets are for a quiet machine.
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
from autograder.release.book import Source, lay_out, sources
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
    """A time in which a cell shows nothing; cells are counted from 1, text cells too."""

    seconds: float = 0.0
    cell: int = 0


class Listener(NotebookClient):
    """Runs a notebook and notes its longest silence."""

    longest = Silence()
    _cell, _since = -1, 0.0

    def process_message(
        self, msg: dict, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """What nbclient does with a message of the kernel, which ends a silence if it shows."""
        now, kind = time.monotonic(), msg["msg_type"]
        if cell_index != self._cell:
            self._cell, self._since = cell_index, now
        if kind in SHOWS or kind == "status":  # "idle" at the cell's end
            self.longest = max(self.longest, Silence(now - self._since, cell_index + 1))
            self._since = now
        return super().process_message(msg, cell, cell_index)


def run() -> list[Result]:
    """Time every notebook. Raises LookupError if one is missing or a cell of it fails."""
    found: list[Result] = []
    try:
        with tempfile.TemporaryDirectory(prefix="bench-notebooks-") as temporary:
            lay_out(Path(temporary))
            for source in sources():
                found += results(
                    source.name, *timed(source, Path(temporary, source.study.assignment))
                )
    except BookError as error:
        raise LookupError(error) from error
    return found


def timed(source: Source, folder: Path) -> tuple[float, Silence]:
    """The seconds of a notebook that is run in this folder, and its longest silence."""
    listeners: list[Listener] = []

    def listener(*given, **named) -> Listener:
        listeners.append(Listener(*given, **named))
        return listeners[0]

    start = time.monotonic()
    run_notebook(source, folder, client=listener)
    seconds, silence = time.monotonic() - start, listeners[0].longest
    print(
        f"{source.name}: {seconds:.1f} s, at most {silence.seconds:.1f} s silent", file=sys.stderr
    )
    return seconds, silence


def results(name: str, seconds: float, silence: Silence) -> Sequence[Result]:
    """Both numbers of a notebook, with their targets."""
    return (
        Result(name, seconds, "s", f"<= {WHOLE}"),
        Result(
            f"{name}, longest silence (cell {silence.cell})", silence.seconds, "s", f"<= {SILENT}"
        ),
    )
