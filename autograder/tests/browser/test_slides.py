"""Slides in a browser: opened from their folder, turned by keys, all text on the screen."""

import pytest

from autograder.release.slides import sources_of, write_slides
from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.tests.support.pages.fits import SIZES, misfits
from course.checks import load_study

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("browser")]
PROJECTORS = {"laptop": (1366, 768), "old": (1024, 768), "large": (1920, 1080)}
LEAST = 12  # minimum text size in pixels, on the smallest screen
MISFITS = """() => [...document.querySelectorAll(".content")].filter(box =>
    box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1)
    .map(box => box.parentElement.id)"""
SIZES_OF_TEXT = """() => [...document.querySelectorAll(".text, .code")].map(
    part => parseFloat(getComputedStyle(part).fontSize))"""
NUMBER = """() => [...document.querySelectorAll(".slide")].findIndex(
    slide => Math.abs(slide.getBoundingClientRect().top) < 2)"""


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    """The slides of a study with trees, plots and code."""
    return write_slides(tmp_path_factory.mktemp("slides"), sources_of([load_study("study2")]))[0]


@pytest.mark.parametrize("projector", PROJECTORS)
def test_everything_fits_on_the_screen(browser, deck, projector):
    """No slide is cut off or too small, every picture loads, and nothing comes from the network."""
    wrong = []
    browser.page.on("console", lambda said: wrong.append(said.text))
    width, height = PROJECTORS[projector]
    browser.page.set_viewport_size({"width": width, "height": height})
    browser.page.goto(deck.as_uri())
    assert browser.evaluate("() => [...document.images].filter(i => !i.naturalWidth).length") == 0
    assert browser.evaluate(MISFITS) == []
    assert min(browser.evaluate(SIZES_OF_TEXT)) >= LEAST
    assert (wrong, browser.elsewhere) == ([], [])
    browser.screenshot(f"slides-{projector}")


@pytest.mark.parametrize("size", ["telephone", "zoomed"])
def test_slides_are_read_one_below_the_other_in_a_small_window(browser, deck, size):
    """Text has the same size as on other pages, nothing is cut off, and keys move through the
    slides.
    """
    assert misfits(browser, [deck]) == {}
    width, height = SIZES[size]
    browser.page.set_viewport_size({"width": width, "height": height})
    browser.page.goto(deck.as_uri())
    assert min(browser.evaluate(SIZES_OF_TEXT)) >= 13
    assert browser.evaluate(MISFITS) == []
    browser.page.keyboard.press("ArrowRight")
    assert browser.evaluate(NUMBER) == 1
    browser.screenshot(f"slides-{size}")


def test_slides_can_be_used_by_everybody(browser, deck):
    """axe finds nothing serious on a projector, or in a small window that shows the slides as a
    page.
    """
    for width, height in (PROJECTORS["laptop"], SIZES["telephone"]):
        browser.page.set_viewport_size({"width": width, "height": height})
        browser.page.goto(deck.as_uri())
        assert [found for found in findings(browser.page) if found.impact in GRAVE] == []
    wide = browser.page.locator(".figure[tabindex]").first  # scrolls in its box, also by keyboard
    wide.focus()
    wide.press("ArrowRight")
    browser.page.wait_for_function("box => box.scrollLeft > 0", arg=wide.element_handle())


def test_keys_turn_the_slides(browser, deck):
    """Arrows, Home and End stay within the slides; N shows the notes."""
    page = browser.page
    page.goto(deck.as_uri())
    last = browser.evaluate("() => document.querySelectorAll('.slide').length") - 1
    for key, number in [
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowUp", 1),
        (" ", 2),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        assert browser.evaluate(NUMBER) == number, key
    notes = page.locator(".notes").first
    assert notes.is_hidden()
    page.keyboard.press("n")
    assert notes.is_visible()
