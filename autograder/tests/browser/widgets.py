"""A notebook of widgets in JupyterLab, and one of them in its cell, for the browser tests."""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import nbformat

from autograder.release.notebooks import KERNEL
from autograder.tests.browser.axe import GRAVE, findings
from autograder.tests.browser.fits import SIZES, flaws
from autograder.tests.browser.harness import Browser, Server, browse, lab_path, serve

NOTEBOOK = "widgets.ipynb"
# A picture in a new width is drawn in one frame, and in the next one it is seen.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@contextlib.contextmanager
def open_notebook(
    root: Path, private: Path, sources: Sequence[str]
) -> Iterator[tuple[Browser, Server]]:
    """A browser with a new notebook of code cells, which are not run yet, and its server."""
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


@contextlib.contextmanager
def window(browser: Browser, size: str) -> Iterator[None]:
    """The window has one of the `SIZES`; where it is narrow, Lab's left area is closed."""
    before, (width, height) = browser.page.viewport_size, SIZES[size]
    narrow = width < before["width"]
    browser.page.set_viewport_size({"width": width, "height": height})
    if narrow:
        browser.command("application:toggle-left-area")
    try:
        yield
    finally:
        browser.page.set_viewport_size(before)
        if narrow:
            browser.command("application:toggle-left-area")


def faults(
    browser: Browser, numbers: dict[str, int], prefix: str, *, fits: bool = True
) -> dict[tuple[str, str, str], list]:
    """What keeps people from reading the widgets of cells that were run: in windows of all sizes,
    in both themes, in the words of `flaws` and axe. On a telephone, pictures are to fit.

    Screenshots are called after the prefix, the widget, the size and the theme.
    """
    found = {}
    for size, theme in product(SIZES, ("Light", "Dark")):
        browser.use_theme(theme)
        with window(browser, size):
            for name, number in numbers.items():
                widget = Widget(browser, number, run=False)
                browser.evaluate(PAINTED)
                told = widget.cut(fits=fits)
                if told:  # it may not have come to rest
                    browser.page.wait_for_timeout(1000)
                    told = widget.cut(fits=fits)
                if told or (told := widget.grave()):
                    found[name, size, theme] = told
                widget.root.evaluate("root => root.scrollIntoView()")
                browser.screenshot(
                    f"{prefix}-{name.replace(' ', '-')}-{size}-{theme.lower()}", rest=0
                )
    browser.use_theme("Light")
    return found


class Widget:
    """The widget of a cell, which is run anew, so that what other tests did to it is gone."""

    def __init__(self, browser: Browser, number: int, *, run: bool = True) -> None:
        self.browser = browser
        if run:
            browser.run_cell(number)
        self.root = browser.show_cell(number).locator(".click-board")
        self.root.wait_for()

    def cut(self, *, fits: bool = True) -> list[str]:
        """What keeps somebody from seeing it whole, in the words of `flaws`."""
        right = self.root.evaluate("root => root.getBoundingClientRect().right")
        ends = self.root.locator("button, input, output").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().right)"
        )
        return flaws(self.root, fits=fits) + (["a button is cut"] if max(ends) > right + 1 else [])

    def grave(self) -> list:
        """What axe finds that keeps somebody from using it."""
        self.root.evaluate("root => { root.id = 'looked-at' }")
        found = findings(self.browser.page, "#looked-at")
        self.root.evaluate("root => { root.removeAttribute('id') }")
        return [finding for finding in found if finding.impact in GRAVE]

    def status(self) -> str:
        return self.root.locator(".status").inner_text()

    def wait_for(self, words: str) -> None:
        """Wait until the line below the picture has these words."""
        self.root.locator(".status", has_text=words).wait_for()

    def part(self, move: str):
        """What sends this move, in the picture or below it."""
        return self.root.locator(f"[data-move='{move}']")

    def moves(self) -> list[str]:
        """The moves of all that can be clicked in the picture."""
        return self.root.locator("svg [data-move]").evaluate_all(
            "parts => parts.map(part => part.dataset.move)"
        )

    def focused(self) -> str | None:
        """The move that Enter would send."""
        return self.browser.evaluate("() => document.activeElement.dataset.move")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.page.keyboard.press(key)
