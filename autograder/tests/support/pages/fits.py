"""Whether a page or a picture fits its window: on a laptop, on a phone, and at 200 % zoom."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.benchmarks.support.browser.harness import Browser

SIZES = {"laptop": (1366, 768), "telephone": (390, 844), "zoomed": (683, 384)}
LOOK = """() => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  const root = document.documentElement, width = root.clientWidth, problems = [];
  const name = e => [e.tagName.toLowerCase(), e.id, e.className].filter(Boolean).join(" ");
  const stays = e => e && e !== document.body && (getComputedStyle(e).overflowX !== "visible"
    || stays(e.parentElement));
  const shown = [...document.querySelectorAll("body *")].filter(e => e.checkVisibility());
  if (root.scrollWidth > width) problems.push(`the page is ${root.scrollWidth} wide`);
  for (const e of shown) {
    const box = e.getBoundingClientRect(), { position } = getComputedStyle(e);
    if (root.scrollWidth > width && box.right > width + 1 && !stays(e.parentElement))
      problems.push(`${name(e)} ends at ${Math.round(box.right)}`);
    if (["sticky", "fixed"].includes(position) && box.width > width / 2
        && box.height > innerHeight / 5 && box.top < innerHeight && !stays(e.parentElement))
      problems.push(`${name(e)} covers ${Math.round(box.height)} of ${innerHeight}`);
  }
  return problems.slice(0, 5) }"""

LEGIBLE = 8.9  # pixels: smaller text is illegible (9, allowing for rounding)
COVERED = 0.4  # of a picture's area: with less content, it is nearly blank
ACROSS = 8  # squares of a picture in each direction, which are empty or not
# Problems with seeing the picture of a `ClickBoard`: `fits` states whether it must be visible
# without scrolling.
FLAWS = """([root, {legible, covered, across, fits}]) => {
  const svg = root.querySelector(".drawing svg"), frame = svg.closest(".picture"), problems = [];
  const whole = svg.getBoundingClientRect(), place = frame.getBoundingClientRect();
  const wider = frame.scrollWidth - frame.clientWidth;
  if (wider > 1 && fits) problems.push(`${Math.round(wider)} pixels are to be scrolled`);
  if (wider > 2 && !frame.matches(".goes-on, .goes-back"))
    problems.push(`no edge says that ${wider} pixels more are to be scrolled`);
  const seen = wider > 1 ? place : whole;  // what is wider is scrolled in its place
  for (let e = frame; e && e !== document.body; e = e.parentElement)
    if (getComputedStyle(e).overflowX !== "visible"
        && seen.right > e.getBoundingClientRect().right + 1) problems.push(`${e.className} cuts it`);
  const words = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
  const size = t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a;
  const small = words.filter(t => size(t) < legible);
  if (small.length)
    problems.push(`${small.length} words like ${small[0].textContent} are ${size(small[0])} high`);
  for (const t of words) {
    const { left, right } = t.getBoundingClientRect();
    if (left < whole.left - 1 || right > whole.right + 1)
      problems.push(`${t.textContent} is beyond the edge`);
  }
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1
    || b.bottom <= a.top + 1;
  const numbers = [...svg.querySelectorAll(".value, .number text")];
  if (numbers.length > 1 && numbers.every(n => n.textContent === numbers[0].textContent))
    problems.push(`every number is ${numbers[0].textContent}`);
  const boxes = numbers.map(n => n.getBoundingClientRect());
  boxes.forEach((box, i) => boxes.slice(0, i).forEach((other, j) => { if (!apart(box, other))
    problems.push(`${numbers[i].textContent} lies on ${numbers[j].textContent}`) }));
  for (const value of svg.querySelectorAll(".value"))
    for (const name of words.filter(t => !t.closest(".value")))
      if (!apart(value.getBoundingClientRect(), name.getBoundingClientRect()))
        problems.push(`the value ${value.textContent} touches ${name.textContent}`);
  const shapes = [...svg.querySelectorAll("text, path, circle, rect, line, polyline, polygon")]
    .map(s => s.getBoundingClientRect())
    .filter(b => b.width < whole.width / 2 || b.height < whole.height / 2);
  let full = 0;
  for (let x = 0; x < across; x++) for (let y = 0; y < across; y++) {
    const left = whole.left + whole.width * x / across, top = whole.top + whole.height * y / across;
    full += shapes.some(b => b.right > left && b.left < left + whole.width / across
      && b.bottom > top && b.top < top + whole.height / across);
  }
  if (full < covered * across ** 2) problems.push(`nothing is on ${across ** 2 - full} fields of it`);
  return problems.slice(0, 5) }"""


def flaws(root: Any, *, fits: bool = True) -> list[str]:
    """The cut off, overlapping, illegible or nearly blank parts of a widget's picture."""
    limits = {"legible": LEGIBLE, "covered": COVERED, "across": ACROSS, "fits": fits}
    return root.evaluate(f"(root, limits) => ({FLAWS})([root, limits])", limits)


def misfits(browser: Browser, pages: Sequence[Path]) -> dict[str, list[str]]:
    """The elements that are wider than the window, or always cover more than a fifth of it, by
    page.
    """
    found = {}
    for size, (width, height) in SIZES.items():
        browser.page.set_viewport_size({"width": width, "height": height})
        for path in pages:
            browser.page.goto(path.as_uri())
            if problems := browser.evaluate(LOOK):
                found[f"{path.name}, {size}"] = problems
    return found
