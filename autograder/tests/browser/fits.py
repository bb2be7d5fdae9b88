"""Whether a page fits its window: on a laptop, on a telephone, and on a laptop at 200 % zoom."""

from collections.abc import Sequence
from pathlib import Path

from autograder.tests.browser.harness import Browser

SIZES = {"laptop": (1366, 768), "telephone": (390, 844), "zoomed": (683, 384)}
LOOK = """() => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  const root = document.documentElement, width = root.clientWidth, told = [];
  const name = e => [e.tagName.toLowerCase(), e.id, e.className].filter(Boolean).join(" ");
  const stays = e => e && e !== document.body && (getComputedStyle(e).overflowX !== "visible"
    || stays(e.parentElement));
  const shown = [...document.querySelectorAll("body *")].filter(e => e.checkVisibility());
  if (root.scrollWidth > width) told.push(`the page is ${root.scrollWidth} wide`);
  for (const e of shown) {
    const box = e.getBoundingClientRect(), { position } = getComputedStyle(e);
    if (root.scrollWidth > width && box.right > width + 1 && !stays(e.parentElement))
      told.push(`${name(e)} ends at ${Math.round(box.right)}`);
    if (["sticky", "fixed"].includes(position) && box.width > width / 2
        && box.height > innerHeight / 5 && box.top < innerHeight && !stays(e.parentElement))
      told.push(`${name(e)} covers ${Math.round(box.height)} of ${innerHeight}`);
  }
  return told.slice(0, 5) }"""


def misfits(browser: Browser, pages: Sequence[Path]) -> dict[str, list[str]]:
    """What is wider than the window, or always covers more than a fifth of it, page by page."""
    found = {}
    for size, (width, height) in SIZES.items():
        browser.page.set_viewport_size({"width": width, "height": height})
        for path in pages:
            browser.page.goto(path.as_uri())
            if told := browser.evaluate(LOOK):
                found[f"{path.name}, {size}"] = told
    return found
