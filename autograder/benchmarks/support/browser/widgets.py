"""Opens a notebook with widgets in JupyterLab, and controls one of them."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat

from autograder.benchmarks.support.browser.harness import Browser, Server, browse, lab_path, serve
from autograder.release.notebooks import KERNEL

NOTEBOOK = "widgets.ipynb"


@contextlib.contextmanager
def open_notebook(
    root: Path, private: Path, sources: Sequence[str]
) -> Iterator[tuple[Browser, Server]]:
    """Yield a browser that shows a new notebook with code cells that have not run yet, and its
    server.
    """
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, root / NOTEBOOK)
    with browse() as browser, serve(root, private) as server:
        browser.open(server, lab_path(NOTEBOOK))
        wait_for_notebook(browser, server)
        yield browser, server


def wait_for_notebook(browser: Browser, server: Server) -> None:
    """Wait until Lab shows the notebook and its kernel is idle."""
    browser.wait_for_lab()
    browser.wait_for_notebook(server, NOTEBOOK)


class Widget:
    """The widget of a cell. The cell is run again, so that the widget is in its initial state."""

    def __init__(self, browser: Browser, number: int, *, run: bool = True) -> None:
        self.browser = browser
        if run:
            browser.run_cell(number)
        self.root = browser.show_cell(number).locator(".click-board")
        self.root.wait_for()

    def status(self) -> str:
        return self.root.locator(".status").inner_text()

    def wait_for(self, words: str) -> None:
        """Wait until the line below the picture contains this text."""
        self.root.locator(".status", has_text=words).wait_for()

    def part(self, move: str):
        """Return the part that sends this move, in the picture or below it."""
        return self.root.locator(f"[data-move='{move}']")

    def moves(self) -> list[str]:
        """Return the moves of all clickable parts of the picture."""
        return self.root.locator("svg [data-move]").evaluate_all(
            "parts => parts.map(part => part.dataset.move)"
        )

    def focused(self) -> str | None:
        """Return the move that Enter would send."""
        return self.browser.evaluate("() => document.activeElement.dataset.move")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.page.keyboard.press(key)
