"""Every page of the complete book in a browser: layout and accessibility."""

from itertools import product

import pytest

from autograder.benchmarks.support.browser.harness import WINDOW
from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.tests.support.pages.fits import misfits

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("whole book")]
EMPTY = "() => [...document.images].filter(one => !one.naturalWidth).map(one => one.src)"


@pytest.fixture(scope="module")
def pages(whole_book):
    """All pages of the book with all notebooks."""
    found = sorted(whole_book.folder.rglob("*.html"))
    assert {path.stem for path in found} > {*whole_book.notebooks, "bibliography", "league"}
    return found


def test_every_page_is_whole_and_fits_its_window(browser, pages):
    """No page scrolls sideways, including module pages, and the bar at the top stays small.
    Everything loads, and no other host is contacted.
    """
    wrong, asked = [], set()
    browser.page.on("console", lambda said: wrong.append(said.text))
    browser.page.on("requestfailed", lambda request: wrong.append(request.url))
    browser.page.on("request", lambda request: asked.add(request.url))
    assert misfits(browser, pages) == {}
    assert wrong == []
    folder = pages[0].parent.as_uri()
    assert [url for url in asked if not url.startswith((folder, "data:"))] == []


def test_every_page_can_be_used_by_everybody(browser, pages):
    """axe finds nothing serious in either theme; all pictures load, and no other host is contacted."""
    browser.page.set_viewport_size(WINDOW)
    grave, empty = {}, {}
    for theme, path in product(("light", "dark"), pages):
        browser.page.emulate_media(color_scheme=theme)
        browser.page.goto(path.as_uri())
        browser.evaluate(
            "() => { for (const e of document.querySelectorAll('details')) e.open = true }"
        )
        if found := [one for one in findings(browser.page) if one.impact in GRAVE]:
            grave[path.name, theme] = found
        if lost := browser.evaluate(EMPTY):
            empty[path.name] = lost
    assert (grave, empty) == ({}, {})
    assert browser.elsewhere == []
