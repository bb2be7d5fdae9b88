"""A student's afternoon in JupyterLab: fetch, read, write, check, answer, validate, hand in."""

import json
import shutil

import pytest

from autograder.benchmarks._browser.harness import serve, students_course
from autograder.course_folder import COURSE_ID
from autograder.mutants import load_mutants
from autograder.release.derive import COURSE
from autograder.tests.support.classes import make_course
from autograder.tests.support.exchange import (
    NOTEBOOK,
    STUDY,
    WRITTEN,
    make_desk,
    module_text,
    put_out,
)
from course.check import check
from course.files import INTERNALS
from course.probes import load_study, studies
from course.progress import NOTES
from course.start import FOLLOWED, PAGE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PATH = f"{STUDY.assignment}/{NOTEBOOK}.ipynb"
ANSWER = "Because a lane with two is one move from a win."


def html_of(cell: dict) -> str:
    """The HTML that a cell has put out."""
    return "".join(
        "".join(output["data"].get("text/html", ""))
        for output in cell["outputs"]
        if "data" in output
    )


def check_cell(cells: list[dict], name: str) -> int:
    """The number of the cell that runs a check."""
    return next(
        n
        for n, cell in enumerate(cells)
        if "".join(cell["source"]).startswith(f'check("{STUDY.name}.{name}")')
    )


def test_a_students_afternoon(browser, tmp_path):
    """From an empty folder to a submission in the exchange; nothing is asked of the web."""
    course = make_course(tmp_path / "course", *map(load_study, studies()))
    put_out(course, STUDY)
    desk = make_desk(tmp_path / "desk", course)
    with serve(desk, tmp_path) as server:
        fetch(browser, server, desk)
        write_and_check(browser, server, desk)
        submit(browser, server, desk)
    assert browser.elsewhere == []
    (handed_in,) = (course.exchange() / COURSE_ID / "inbound").iterdir()
    module = desk / STUDY.assignment / STUDY.module
    assert (handed_in / STUDY.module).read_bytes() == module.read_bytes()
    assert ANSWER in (handed_in / f"{NOTEBOOK}.ipynb").read_text("utf-8")


def fetch(browser, server, desk):
    """The start page says that nothing is here yet; the list of assignments brings it."""
    page = browser.page
    browser.open(server, "")
    browser.wait_for_lab()
    browser.wait_for_notebook(server, PAGE)
    page.get_by_text("Not in this folder yet").wait_for()
    list_of_assignments(browser)
    page.locator("#nbgrader-assignment-list").get_by_text("Fetch", exact=True).click()
    page.locator("#nbgrader-assignment-list").get_by_text("Submit", exact=True).wait_for()
    browser.screenshot("student-assignments")
    assert (desk / STUDY.assignment / STUDY.module).is_file()

    # The start page follows: it has links now; the first goes to the notebook.
    page.get_by_role("tab", name=PAGE).click()
    browser.wait_for_notebook(server, PAGE)
    first = page.locator(".jp-OutputArea").get_by_role("link", name="3. The lane heuristic").first
    first.wait_for()
    browser.screenshot("student-start")
    first.click()
    browser.wait_for_notebook(server, PATH)


def write_and_check(browser, server, desk):
    """The checks go from "not written yet" over a named slip to "all right"; Validate follows."""
    module = desk / STUDY.assignment / STUDY.module
    cells = browser.cells()
    number = check_cell(cells, "lane_counts")
    browser.run_cell(next(n for n, cell in enumerate(cells) if cell["cell_type"] == "code"))
    browser.run_cell(number)
    assert "not written yet" in html_of(browser.cells()[number]).lower()

    # A slip is named, with the board on which it shows.
    slip = next(m for m in load_mutants(STUDY.name) if m.name == "diagonals_missed")
    module.write_text(slip.apply(module_text(*WRITTEN)), "utf-8")
    browser.run_all()
    assert slip.sentence in html_of(browser.cells()[number])
    shown = browser.show_cell(number)
    assert shown.locator("img").evaluate("image => image.alt && image.naturalWidth") > 0
    browser.screenshot("student-check")
    assert "failed" in validate(browser, "student-validate-failed")

    # Right, and with the questions answered.
    module.write_text(module_text(*WRITTEN), "utf-8")
    for n, cell in enumerate(cells):
        if cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]:
            browser.write_cell(n, ANSWER)
    browser.run_all()
    cells = browser.cells()
    for name in WRITTEN:
        assert "all right" in html_of(cells[check_cell(cells, name)]).lower()
    browser.command("docmanager:save")
    assert ANSWER in (desk / PATH).read_text("utf-8")
    assert "Success" in validate(browser, "student-validate")


def submit(browser, server, desk):
    """The list of assignments hands in; the start page shows what is done."""
    page = browser.page
    list_of_assignments(browser)
    page.locator("#nbgrader-assignment-list").get_by_text("Submit", exact=True).click()
    page.locator("#nbgrader-assignment-list #submitted_assignments_list").get_by_text(
        STUDY.assignment
    ).first.wait_for()
    browser.screenshot("student-submitted")
    page.get_by_role("tab", name=PAGE).click()
    browser.wait_for_notebook(server, PAGE)
    page.get_by_role("row", name="3. The lane heuristic").get_by_text("\u2713 done").wait_for()
    assert "5 of 5" in page.locator(f".{FOLLOWED}").inner_text()
    assert json.loads((desk / STUDY.assignment / ".checked.json").read_text("utf-8"))
    browser.screenshot("student-done")


def test_the_start_page_follows_what_is_done(browser, tmp_path):
    """States change in sight, before the page's cell is run and after, with a check and a change of
    the module; what the reader unfolded stays, and links still open tabs."""
    root = students_course(tmp_path)
    work = root / STUDY.assignment
    with serve(root, tmp_path / "private") as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        shown = browser.page.locator(f".{FOLLOWED}")
        shown.get_by_text("Shannon's Type A").click()
        line = shown.get_by_role("row", name="3. The lane heuristic")
        line.get_by_text("not started").wait_for()

        def follows() -> None:
            (work / STUDY.module).write_text(module_text(*WRITTEN), "utf-8")
            shown.get_by_text("heuristic.py, 7 places to fill in").wait_for()
            check("study3.lane_counts", work)
            line.get_by_text("begun").wait_for()
            shutil.copyfile(COURSE / STUDY.assignment / STUDY.module, work / STUDY.module)
            line.get_by_text("checked before the module's last change").wait_for()

        follows()
        (work / NOTES).unlink()
        line.get_by_text("not started").wait_for()
        browser.run_all()
        shown.get_by_text("Shannon's Type A").click()
        follows()
        line.get_by_role("link").click()
        browser.wait_for_notebook(server, PATH)
    assert browser.elsewhere == []


def list_of_assignments(browser):
    """Open nbgrader's list through the menu."""
    browser.page.get_by_role("menuitem", name="Nbgrader").click()
    browser.page.get_by_role("menuitem", name="Assignment List").click()
    browser.page.locator("#nbgrader-assignment-list").get_by_text(STUDY.assignment).first.wait_for()


def validate(browser, name) -> str:
    """Press nbgrader's button; what its dialog says."""
    browser.page.get_by_role("button", name="Validate").locator("visible=true").click()
    dialog = browser.page.locator(".jp-Dialog")
    dialog.wait_for()
    browser.screenshot(name)
    said = dialog.inner_text()
    dialog.get_by_role("button").last.click()
    return said


def test_the_start_page_fits_a_laptops_window(browser, tmp_path):
    """What is next, the total and a line for every study of the whole course, without scrolling;
    the list of files beside it has the studies, and nothing of what makes them run."""
    window = {"width": 1366, "height": 768}
    browser.page.set_viewport_size(window)
    with serve(students_course(tmp_path), tmp_path / "private") as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        shown = browser.page.locator(".jp-OutputArea-output")
        shown.get_by_text("Next: ").first.wait_for()
        bottom = browser.page.locator(".jp-NotebookPanel").first.bounding_box()
        lines = [shown.get_by_text("So far: "), *shown.locator("summary").all()]
        assert len(lines) == 1 + len(studies())
        for line in lines:
            box = line.bounding_box()
            assert box["y"] + box["height"] <= bottom["y"] + bottom["height"]
        listed = browser.page.locator(".jp-DirListing-itemName").all_inner_texts()
        browser.screenshot("start-laptop")
    assert {load_study(name).assignment for name in studies()} <= set(listed)
    assert not INTERNALS & set(listed)
