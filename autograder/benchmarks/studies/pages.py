"""Pages: the time from a click to the picture and to a first page.

This benchmark measures in JupyterLab the response times of all boards, explorers and explorables
that the browser tests use; then the time from `run.py lab` to a usable page, the time from the live
site's start to a clickable board, and the size of the site. The targets are for an idle machine.
Needs Chromium, and npm for the live site.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from autograder.benchmarks import Result
from autograder.benchmarks.support.browser import examples
from autograder.benchmarks.support.browser.harness import (
    Browser,
    Missing,
    browse,
    serve,
    students_course,
)
from autograder.benchmarks.support.browser.live import CACHE, PLAY, Live, serve_site
from autograder.benchmarks.support.browser.widgets import Widget, open_notebook
from autograder.release.site import write_site
from autograder.workspace import answer_path
from course.checks import load_study, studies
from course.lab.start_page import PAGE, start_page

STUDY = load_study("study3")
STEPS = 12  # clicks or key presses on each widget
REPAINT, FIRST_BOARD = 100, 15  # milliseconds, seconds
MEGABYTE = 1e6
# The widgets on which the tests click. Each kind has imports, and cells (by name) that show the
# widgets.
CLICKED = {
    "board": (examples.BOARD_IMPORTS, examples.BOARDS),
    "widget": (examples.WIDGET_IMPORTS, examples.WIDGETS),
    "explorable": (examples.EXPLORABLE_IMPORTS, examples.EXPLORABLES),
}
# Records, for each click or key, the milliseconds until the first changed picture is painted.
STOPWATCH = """widget => {
  window.times = [];
  let begun = null;
  for (const name of ["click", "keydown", "input"]) {
    widget.addEventListener(name, () => { begun ??= performance.now(); }, true);
  }
  const note = () => {
    if (begun === null) return;
    const started = begun;
    begun = null;
    requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - started)));
  };
  for (const drawing of widget.querySelectorAll(".drawing")) {
    new MutationObserver(note).observe(drawing, {childList: true, subtree: true});
  }
}"""


def run() -> list[Result]:
    """Measure everything. Raises LookupError if a required program is missing."""
    try:
        with tempfile.TemporaryDirectory(prefix="bench-pages-") as temporary:
            folder = Path(temporary)
            return [
                *(result for kind in CLICKED for result in repaints(folder / kind, kind)),
                *first_notebook(folder / "lab"),
                *live_site(folder / "site"),
            ]
    except Missing as error:
        raise LookupError(str(error)) from None


def repaints(folder: Path, kind: str) -> Iterator[Result]:
    """Yield the times from a click or a key press to the new picture, for all clickable widgets of
    a kind.
    """
    imports, cells = CLICKED[kind]
    root, private = folder / "root", folder / "private"
    for made in (root, private):
        made.mkdir(parents=True)
    for name in studies():
        shutil.copy(answer_path(load_study(name)), root)
    with open_notebook(root, private, [imports, *cells.values()]) as (browser, _):
        browser.run_cell(0)
        for number, name in enumerate(cells, 1):
            times = _steps(browser, Widget(browser, number))
            if times:
                print(f"{name}: {', '.join(f'{ms:.0f}' for ms in times)} ms", file=sys.stderr)
                yield Result(
                    f"{kind} {name!r}, from a click to the picture, median of {STEPS}",
                    median(times),
                    "ms",
                    f"<= {REPAINT}",
                )


def _steps(browser: Browser, widget: Widget) -> list[float]:
    """Return the times of `STEPS` clicks or key presses in milliseconds; none if nothing can be
    clicked.
    """

    def are_shown(number: int) -> bool:
        return browser.evaluate("() => times.length") >= number

    widget.root.evaluate(STOPWATCH)
    for number in range(1, STEPS + 1):
        if not _step(widget, *(("next", "ArrowRight") if number % 2 else ("back", "ArrowLeft"))):
            return []
        browser.wait_until(partial(are_shown, number), "a click changed no picture")
    return browser.evaluate("() => times")


def _step(widget: Widget, button: str, key: str) -> bool:
    """Change the picture, if possible, by the button of that name, a move on the board, a new game
    after the end of one, or the key on the slider.
    """
    for part in (
        widget.part(button),
        widget.root.locator("svg [data-move]"),
        widget.part("new game"),
    ):
        if part.count() and part.first.is_enabled():
            part.first.click()
            return True
    slider = widget.root.locator("input[type=range]:enabled")
    if slider.count():
        slider.first.press(key)
    return bool(slider.count())


def first_notebook(folder: Path) -> Iterator[Result]:
    """Yield the times from `python3 run.py lab` to pages whose kernels are idle, without the
    set-up.
    """
    root = students_course(folder)
    with browse() as browser, serve(root, folder) as server:
        browser.open(server, "")
        browser.wait_for_notebook(server, PAGE)
        yield Result("from run.py lab to the start page", time.monotonic() - server.started, "s")
        first = start_page(root).next
        if first is None:
            raise RuntimeError("the start page of a new folder does not name a next notebook")
        browser.page.get_by_role("link", name=first.title, exact=True).first.click()
        browser.wait_for_notebook(server, first.path.relative_to(root).as_posix())
        yield Result(
            "from run.py lab to the first notebook", time.monotonic() - server.started, "s"
        )


def live_site(folder: Path) -> Iterator[Result]:
    """Yield the time from the book's button to a move on a board, in a browser with an empty
    cache.
    """
    folder.mkdir()
    write_site(folder / "site", [STUDY], CACHE)
    path = min(STUDY.folder.glob("*.ipynb"))
    with browse() as browser, serve_site(folder / "site") as address:
        live = Live(browser)
        browser.page.goto(f"{address}/{path.stem}.html")
        browser.page.get_by_role("link", name="Run this notebook").click()
        begun = time.monotonic()
        live.wait_for(f"{STUDY.assignment}/{path.name}")
        live.run(PLAY)
        board = browser.show_cell(len(browser.cells()) - 1).locator(".click-board")
        board.locator("svg [data-move]").first.click()
        board.locator(".status", has_text="plays").wait_for()
        yield Result(
            "live site, from the book's button to a move on a board",
            time.monotonic() - begun,
            "s",
            f"<= {FIRST_BOARD}",
        )
    whole = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield Result("live site of one study, total size", whole / MEGABYTE, "MB")
