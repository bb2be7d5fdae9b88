"""Whether people can read and use the widgets of a notebook, in windows of all sizes."""

import contextlib
from collections.abc import Iterator
from itertools import product

from autograder.benchmarks._browser.harness import Browser
from autograder.benchmarks._browser.widgets import Widget
from autograder.tests.support.axe import GRAVE, findings
from autograder.tests.support.fits import SIZES, flaws

# A picture in a new width is drawn in one frame, and in the next one it is seen.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


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
                told = cut(widget, fits=fits)
                if told:  # it may not have come to rest
                    browser.page.wait_for_timeout(1000)
                    told = cut(widget, fits=fits)
                if told or (told := grave(widget)):
                    found[name, size, theme] = told
                widget.root.evaluate("root => root.scrollIntoView()")
                browser.screenshot(
                    f"{prefix}-{name.replace(' ', '-')}-{size}-{theme.lower()}", rest=0
                )
    browser.use_theme("Light")
    return found


def cut(widget: Widget, *, fits: bool = True) -> list[str]:
    """What keeps people from seeing the whole widget, in the words of `flaws`."""
    right = widget.root.evaluate("root => root.getBoundingClientRect().right")
    ends = widget.root.locator("button, input, output").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    return flaws(widget.root, fits=fits) + (["a button is cut"] if max(ends) > right + 1 else [])


def grave(widget: Widget) -> list:
    """What axe finds that keeps people from using the widget."""
    widget.root.evaluate("root => { root.id = 'looked-at' }")
    found = findings(widget.browser.page, "#looked-at")
    widget.root.evaluate("root => { root.removeAttribute('id') }")
    return [finding for finding in found if finding.impact in GRAVE]
