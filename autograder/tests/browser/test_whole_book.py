"""Every page of the book, with all its chapters, in a browser: it fits, and all can use it."""

from itertools import product

import pytest

from autograder.benchmarks._browser.harness import WINDOW
from autograder.tests.support.axe import GRAVE, findings
from autograder.tests.support.fits import misfits

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("whole book")]
EMPTY = "() => [...document.images].filter(one => !one.naturalWidth).map(one => one.src)"


@pytest.fixture(scope="module")
def pages(whole_book):
    """All pages of the book of all notebooks."""
    found = sorted(whole_book.folder.rglob("*.html"))
    assert {path.stem for path in found} > {*whole_book.notebooks, "bibliography", "league"}
    return found


def test_every_page_is_whole_and_fits_its_window(browser, pages):
    """No page scrolls sideways, pages of modules included; no line on top takes much of it. Nothing
    fails to load, and nothing is asked of anybody else."""
    wrong, asked = [], set()
    browser.page.on("console", lambda said: wrong.append(said.text))
    browser.page.on("requestfailed", lambda request: wrong.append(request.url))
    browser.page.on("request", lambda request: asked.add(request.url))
    assert misfits(browser, pages) == {}
    assert wrong == []
    folder = pages[0].parent.as_uri()
    assert [url for url in asked if not url.startswith((folder, "data:"))] == []


def test_every_page_can_be_used_by_everybody(browser, pages):
    """axe finds nothing grave in either theme; all pictures are there, and nobody is asked for
    anything."""
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
