"""A student's work in JupyterLab: fetch, read, write, check, answer, validate, submit."""

import json
import shutil

import pytest

from autograder.benchmarks.support.browser.harness import serve, students_course
from autograder.course_folder.table import COURSE_ID
from autograder.release.derive import COURSE
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.courses.exchange import (
    NOTEBOOK,
    STUDY,
    WRITTEN,
    make_student_folder,
    module_text,
    release_to_exchange,
)
from course.check import check
from course.checks import load_study, studies
from course.lab.file_manager import INTERNALS
from course.lab.progress import RESULTS_FILE
from course.lab.start_page import PAGE, PAGE_CLASS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PATH = f"{STUDY.assignment}/{NOTEBOOK}.ipynb"
ANSWER = "Because a lane with two is one move from a win."


def html_of(cell: dict) -> str:
    """The HTML output of a cell."""
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


def test_a_student_works_from_fetch_to_submit(browser, tmp_path):
    """An empty folder leads to a submission in the exchange, without any request to another host."""
    course = make_course(tmp_path / "course", *map(load_study, studies()))
    release_to_exchange(course, STUDY)
    student_folder = make_student_folder(tmp_path / "student", course)
    with serve(student_folder, tmp_path) as server:
        fetch(browser, server, student_folder)
        write_and_check(browser, server, student_folder)
        submit(browser, server, student_folder)
    assert browser.elsewhere == []
    (submitted,) = (course.exchange() / COURSE_ID / "inbound").iterdir()
    module = student_folder / STUDY.assignment / STUDY.module
    assert (submitted / STUDY.module).read_bytes() == module.read_bytes()
    assert ANSWER in (submitted / f"{NOTEBOOK}.ipynb").read_text("utf-8")


def fetch(browser, server, student_folder):
    """The start page reports that the folder is empty; the list of assignments fetches the study."""
    page = browser.page
    browser.open(server, "")
    browser.wait_for_lab()
    browser.wait_for_notebook(server, PAGE)
    page.get_by_text("Not yet in this folder").wait_for()
    list_of_assignments(browser)
    page.locator("#nbgrader-assignment-list").get_by_text("Fetch", exact=True).click()
    page.locator("#nbgrader-assignment-list").get_by_text("Submit", exact=True).wait_for()
    browser.screenshot("student-assignments")
    assert (student_folder / STUDY.assignment / STUDY.module).is_file()

    # The start page now has links; the first one opens the notebook.
    page.get_by_role("tab", name=PAGE).click()
    browser.wait_for_notebook(server, PAGE)
    first = page.locator(".jp-OutputArea").get_by_role("link", name="3. The lane heuristic").first
    first.wait_for()
    browser.screenshot("student-start")
    first.click()
    browser.wait_for_notebook(server, PATH)


def write_and_check(browser, server, student_folder):
    """Checks change from "not written yet" to a named mistake to "all correct"; so does Validate."""
    module = student_folder / STUDY.assignment / STUDY.module
    cells = browser.cells()
    number = check_cell(cells, "lane_counts")
    browser.run_cell(next(n for n, cell in enumerate(cells) if cell["cell_type"] == "code"))
    browser.run_cell(number)
    assert "not written yet" in html_of(browser.cells()[number]).lower()

    # The mistake is named, with the board that reveals it.
    mistake = next(m for m in load_mutants(STUDY.name) if m.name == "diagonals_missed")
    module.write_text(mistake.apply(module_text(*WRITTEN)), "utf-8")
    browser.run_all()
    assert mistake.sentence in html_of(browser.cells()[number])
    shown = browser.show_cell(number)
    assert shown.locator("img").evaluate("image => image.alt && image.naturalWidth") > 0
    browser.screenshot("student-check")
    assert "failed" in validate(browser, "student-validate-failed")

    # The code is correct and the questions are answered.
    module.write_text(module_text(*WRITTEN), "utf-8")
    for n, cell in enumerate(cells):
        if cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]:
            browser.write_cell(n, ANSWER)
    browser.run_all()
    cells = browser.cells()
    for name in WRITTEN:
        assert "all correct" in html_of(cells[check_cell(cells, name)]).lower()
    browser.command("docmanager:save")
    assert ANSWER in (student_folder / PATH).read_text("utf-8")
    assert "Success" in validate(browser, "student-validate")


def submit(browser, server, student_folder):
    """The list of assignments submits; the start page shows the submission."""
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
    assert "5 of 5" in page.locator(f".{PAGE_CLASS}").inner_text()
    assert json.loads((student_folder / STUDY.assignment / ".checked.json").read_text("utf-8"))
    browser.screenshot("student-done")


def test_the_start_page_follows_what_is_done(browser, tmp_path):
    """States are updated in view, before and after the page's cell has run, when a check runs and
    when the module changes. Sections that the reader unfolded stay open, and links still open tabs.
    """
    root = students_course(tmp_path)
    work = root / STUDY.assignment
    with serve(root, tmp_path / "private") as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        shown = browser.page.locator(f".{PAGE_CLASS}")
        shown.get_by_text("Shannon's Type A").click()
        line = shown.get_by_role("row", name="3. The lane heuristic")
        line.get_by_text("not started").wait_for()

        def follows() -> None:
            (work / STUDY.module).write_text(module_text(*WRITTEN), "utf-8")
            shown.get_by_text("heuristic.py, 7 functions to write").wait_for()
            check("study3.lane_counts", work)
            line.get_by_text("in progress").wait_for()
            shutil.copyfile(COURSE / STUDY.assignment / STUDY.module, work / STUDY.module)
            line.get_by_text("checked before the module's last change").wait_for()

        follows()
        (work / RESULTS_FILE).unlink()
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
    """Press nbgrader's button; return the text of its dialog."""
    browser.page.get_by_role("button", name="Validate").locator("visible=true").click()
    dialog = browser.page.locator(".jp-Dialog")
    dialog.wait_for()
    browser.screenshot(name)
    said = dialog.inner_text()
    dialog.get_by_role("button").last.click()
    return said


def test_the_start_page_fits_a_laptops_window(browser, tmp_path):
    """The next step, the total and one line per study of the whole course fit without scrolling.
    The file list next to them contains the studies and none of the supporting files.
    """
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
