"""The book in a browser: reading, search and keyboard navigation, opened from its folder."""

from itertools import product

import pytest

from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.tests.support.pages.fits import SIZES

pytestmark = [pytest.mark.slow, pytest.mark.content, pytest.mark.xdist_group("whole book")]
CHAPTERS = ["01_minimax", "03_lane_heuristic"]  # widgets and trees; boards and plots
PAGES = [
    "index.html",
    *(f"{name}.html" for name in CHAPTERS),
    "node-counts.html",
    "student.html",
    "packages.html",
    "packages/tictactoe/boards/play_board.html",
]
WIDTHS = {"wide": 1200, "narrow": 390}


@pytest.fixture(scope="module")
def book(whole_book):
    """The folder of the book with all notebooks."""
    return whole_book.folder


@pytest.mark.parametrize("size", SIZES)
def test_a_link_leads_to_a_heading_that_is_seen(browser, book, size):
    """The bar at the top does not cover the heading that a link leads to."""
    width, height = SIZES[size]
    browser.page.set_viewport_size({"width": width, "height": height})
    browser.page.goto(f"{(book / '03_lane_heuristic.html').as_uri()}#too-many-games")
    assert browser.evaluate("""() => { const { left, top } = document.querySelector(":target")
        .getBoundingClientRect(); return document.elementFromPoint(left + 5, top + 5).id }""") == (
        "too-many-games"
    )


def test_long_contents_show_where_one_is(browser, book):
    """The current page is in view in the contents, and the page itself starts at its top."""
    browser.page.set_viewport_size({"width": 1366, "height": 400})
    browser.page.goto((book / "bibliography.html").as_uri())
    assert browser.evaluate("""() => { const box = document.querySelector("[aria-current]")
        .getBoundingClientRect(); return box.top > 0 && box.bottom < innerHeight }""")
    assert browser.evaluate("() => scrollY") == 0


def test_pictures_stay_readable_on_a_telephone(browser, book):
    """Pictures shrink only while their text remains legible; beyond that they scroll."""
    width, height = SIZES["telephone"]
    browser.page.set_viewport_size({"width": width, "height": height})
    for name in CHAPTERS:
        browser.page.goto((book / f"{name}.html").as_uri())
        shares = browser.page.locator(".output img").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width / one.naturalWidth)"
        )
        assert min(share for share in shares if share) >= 0.69  # none in closed details


SHARE = "image => image.getBoundingClientRect().width / image.naturalWidth"
ZOOMED = ".output:has(.zoom:not([hidden]))"  # with a picture that needs more space than it has
THE_TREE = 4  # of the first notebook


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_zoomed_by_touch(book, browser, scheme):
    """Plus enlarges the text, and the picture scrolls; minus shrinks it, and Fit shows the whole
    picture. The page does not become wider, and axe finds nothing serious.
    """
    page = browser.page
    width, height = SIZES["telephone"]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.goto((book / "01_minimax.html").as_uri())
    output = page.locator(ZOOMED).nth(THE_TREE)
    box, image = output.locator(".pane"), output.locator("img")
    smaller, larger, fit = (
        output.get_by_role("button", name=name)
        for name in ("Smaller picture", "Larger picture", "Fit the picture to the page")
    )
    box.scroll_into_view_if_needed()
    before = image.evaluate(SHARE)
    for _ in range(2):
        larger.click()
    assert image.evaluate(SHARE) > 1.5 * before
    assert output.locator(".zoom output").inner_text() == f"{100 * image.evaluate(SHARE):.0f} %"
    assert box.evaluate("box => box.scrollWidth > box.clientWidth && box.scrollLeft > 0")
    assert larger.evaluate("button => button.getBoundingClientRect().left >= 0")
    assert min(larger.bounding_box()["width"], larger.bounding_box()["height"]) >= 40
    assert [f for f in findings(page) if f.impact in GRAVE] == []
    browser.screenshot(f"book-zoomed-{scheme}")
    for _ in range(2):
        smaller.click()
    assert image.evaluate(SHARE) == pytest.approx(before, rel=0.01)
    fit.click()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    browser.screenshot(f"book-fitted-{scheme}")
    assert browser.evaluate(
        "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_a_picture_is_zoomed_by_keyboard(book, browser):
    """Enter on a button, or + and - in the box, zooms and keeps the focus; 0 shows the whole
    picture.
    """
    page = browser.page
    width, height = SIZES["telephone"]
    page.set_viewport_size({"width": width, "height": height})
    page.goto((book / "01_minimax.html").as_uri())
    output = page.locator(ZOOMED).nth(THE_TREE)
    box, image = output.locator(".pane"), output.locator("img")
    before = image.evaluate(SHARE)
    box.focus()  # scrollable, so that it can receive the focus
    page.keyboard.press("+")
    assert image.evaluate(SHARE) == pytest.approx(1.25 * before, rel=0.01)
    page.keyboard.press("-")
    assert image.evaluate(SHARE) == pytest.approx(before, rel=0.01)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert browser.evaluate("() => document.activeElement.title") == "Larger picture"
    page.keyboard.press("Enter")
    assert image.evaluate(SHARE) == pytest.approx(1.25 * before, rel=0.01)
    page.keyboard.press("0")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    assert browser.evaluate("() => document.activeElement.title") == "Larger picture"


def test_a_picture_with_enough_space_has_no_buttons(book, browser):
    """Pictures shown at full size have no buttons, and no picture has any in print."""
    page = browser.page
    page.set_viewport_size({"width": WIDTHS["wide"], "height": 820})
    page.goto((book / "03_lane_heuristic.html").as_uri())
    page.wait_for_function("() => document.querySelector('.zoom')")
    told = page.locator(".pane").evaluate_all("""all => all.map(({ firstChild, clientWidth,
        previousSibling }) => [firstChild.naturalWidth > clientWidth, !previousSibling.hidden])""")
    assert told
    assert all(needed == offered for needed, offered in told)
    page.goto((book / "01_minimax.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator(".zoom").filter(visible=True).count() == 0


def test_the_contents_of_a_module_open_by_keyboard(browser, book):
    """When the contents are folded, the first Tab stop leads to the book and the second unfolds
    them.
    """
    width, height = SIZES["zoomed"]
    browser.page.set_viewport_size({"width": width, "height": height})
    browser.page.goto((book / "packages" / "tictactoe" / "nodes.html").as_uri())
    browser.page.keyboard.press("Tab")
    assert browser.evaluate("() => document.activeElement.innerText") == "The course's packages"
    contents = browser.page.locator("nav .memberlist").first
    assert contents.is_hidden()
    browser.page.keyboard.press("Tab")
    browser.page.keyboard.press("Space")
    assert contents.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser, book, scheme):
    """axe finds nothing serious in a narrow window, or with search results in a wide one;
    `test_whole_book` checks all pages in a wide window.
    """
    grave = {}
    browser.page.emulate_media(color_scheme=scheme)
    for page, (name, width) in product(PAGES, WIDTHS.items()):
        browser.page.set_viewport_size({"width": width, "height": 820})
        browser.page.goto((book / page).as_uri())
        if name == "narrow":
            grave[page, name] = findings(browser.page)
        browser.screenshot(f"book-{page.removesuffix('.html').replace('/', '-')}-{name}-{scheme}")
        if browser.page.locator("#words").count():
            browser.page.fill("#words", "move")
            browser.page.locator("#hits a").first.wait_for()
            grave[page, name, "results"] = findings(browser.page)
    assert not [
        (where, found)
        for where, broken in grave.items()
        for found in broken
        if found.impact in GRAVE
    ]


def test_dark_or_light_is_kept(browser, book):
    """The theme is the system's until the reader chooses one, which then applies to every page and
    picture.
    """
    page = browser.page
    ground = "() => getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    page.goto((book / "03_lane_heuristic.html").as_uri())
    dark = browser.evaluate(ground)
    of_picture = page.locator(".output img").first
    turned = "image => getComputedStyle(image).filter"
    assert "invert" in of_picture.evaluate(turned)
    page.get_by_role("button", name="Dark or light").click()
    assert browser.evaluate(ground) != dark
    assert of_picture.evaluate(turned) == "none"
    page.goto((book / "packages" / "sequence.html").as_uri())
    assert browser.evaluate("() => document.documentElement.dataset.theme") == "light"
    page.emulate_media(media="print", color_scheme="dark")
    assert browser.evaluate(ground) != dark


def test_search_by_keyboard(browser, book):
    """The key / moves to the field, arrows to a result, Enter to the section and Escape back."""
    page = browser.page
    page.goto((book / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("philosoph")
    page.locator("#hits a").first.wait_for()
    assert page.locator("#search-status").inner_text() == "1 section:"
    assert page.locator("#hits mark").first.inner_text().lower() == "philosoph"
    browser.screenshot("book-search")
    page.keyboard.press("Escape")
    assert page.locator("#results").is_hidden()
    assert browser.evaluate("() => document.activeElement.id") == "words"
    page.keyboard.press("ArrowDown")
    page.locator("#hits a").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/bibliography.html#bibliography")
    assert browser.evaluate("() => document.querySelector(':target').textContent") == (
        "Bibliography"
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("zzzz", "Nothing found for zzzz. Try a shorter word."),
        ("(", "Nothing found for (. Try a shorter word."),
        ("philosophicel", "Nothing found for philosophicel, but 1 section with words like it:"),
        ("\\d [", None),
        ("SHANNON philosophical", "1 section:"),
        ("wilson_interval", None),
    ],
)
def test_what_the_search_says(browser, book, words, found):
    """Search ignores case, tolerates typing errors, requires all words and accepts any character."""
    browser.page.goto((book / "index.html").as_uri())
    browser.page.fill("#words", words)
    browser.page.wait_for_function("() => !document.getElementById('results').hidden")
    said = browser.page.locator("#search-status").inner_text()
    assert said == found if found else said.endswith(":")


def test_a_reader_with_a_keyboard_gets_everywhere(browser, book):
    """The first Tab stop skips to the text; scrollable boxes are stops, and Next leads on."""
    page = browser.page
    page.set_viewport_size({"width": WIDTHS["narrow"], "height": 820})
    page.goto((book / "01_minimax.html").as_uri())
    page.keyboard.press("Tab")
    assert browser.evaluate("() => document.activeElement.textContent") == "Skip to the text"
    page.keyboard.press("Enter")
    assert browser.evaluate("() => document.activeElement.id") == "text"
    beyond = browser.evaluate(
        "() => [...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth"
        " + 1 && getComputedStyle(e).overflowX === 'auto' && e.tabIndex < 0).length"
    )
    stops = browser.evaluate("() => document.querySelectorAll('main [tabindex=\"0\"]').length")
    assert (beyond, stops > 0) == (0, True)
    page.locator("footer a[rel=next]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/02_alpha_beta.html")
