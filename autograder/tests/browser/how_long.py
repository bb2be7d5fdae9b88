"""Seconds from `python3 run.py lab` to the start page and to a first notebook that answers.

`python -m autograder.tests.browser.how_long [TIMES]` prints each run and the medians; setting up is
left out, as it is from every `run.py lab` but the first.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from autograder.tests.browser.harness import browse, serve
from autograder.tests.browser.school import students_course
from course.start import PAGE, start_page

STEPS = ("server answers", "start page can be used", "first notebook can be used")


def once(folder: Path) -> list[float]:
    """The seconds at which each step was done; "can be used": its kernel is idle."""
    root = students_course(folder)
    with browse() as browser, serve(root, folder) as server:
        done = [time.monotonic()]
        browser.open(server, "")
        browser.wait_for_notebook(server, PAGE)
        done.append(time.monotonic())
        first = start_page(root).next
        browser.page.get_by_role("link", name=first.title, exact=True).click()
        browser.wait_for_notebook(server, first.path.relative_to(root).as_posix())
        done.append(time.monotonic())
    return [seconds - server.started for seconds in done]


def main(times: int) -> None:
    """Measure so many times, each with a new server and a new browser."""
    runs = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(once(Path(folder)))
            print("  ".join(f"{step} {s:.1f}" for step, s in zip(STEPS, runs[-1], strict=True)))
    print("medians: " + ", ".join(
        f"{step} {median(column):.1f} s"
        for step, column in zip(STEPS, zip(*runs, strict=True), strict=True)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
