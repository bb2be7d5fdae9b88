"""Whether people can read and use a notebook's widgets, in windows of all sizes."""

import contextlib
from collections.abc import Iterator
from itertools import product

from autograder.benchmarks.support.browser.harness import Browser
from autograder.benchmarks.support.browser.widgets import Widget
from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.tests.support.pages.fits import SIZES, flaws

# A picture with a new width is drawn in one frame and visible in the next.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@contextlib.contextmanager
def window(browser: Browser, size: str) -> Iterator[None]:
    """A window with one of the `SIZES`; if it is narrow, Lab's left area is closed."""
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
    """The problems, found by `flaws` and axe, of the widgets of cells that were run, in windows of
    all sizes and in both themes. On a phone, pictures have to fit.

    Screenshots are named after the prefix, the widget, the size and the theme.
    """
    found = {}
    for size, theme in product(SIZES, ("Light", "Dark")):
        browser.use_theme(theme)
        with window(browser, size):
            for name, number in numbers.items():
                widget = Widget(browser, number, run=False)
                browser.evaluate(PAINTED)
                told = cut(widget, fits=fits)
                if told:  # it may still be moving
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
    """The parts of the widget that cannot be seen, as reported by `flaws`."""
    right = widget.root.evaluate("root => root.getBoundingClientRect().right")
    ends = widget.root.locator("button, input, output").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    return flaws(widget.root, fits=fits) + (["a button is cut"] if max(ends) > right + 1 else [])


def grave(widget: Widget) -> list:
    """axe's serious findings about the widget."""
    widget.root.evaluate("root => { root.id = 'looked-at' }")
    found = findings(widget.browser.page, "#looked-at")
    widget.root.evaluate("root => { root.removeAttribute('id') }")
    return [finding for finding in found if finding.impact in GRAVE]
