"""A student with only the kit in JupyterLab as shipped: a laptop window and no exchange."""

import zipfile

import pytest

from autograder.benchmarks.support.browser.harness import lab_path, serve, students_course
from course.checks import load_study
from course.lab.start_page import PAGE
from course.lab.validate import CELL_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
STUDY = load_study("study1")
PATH = f"{STUDY.assignment}/01_minimax.ipynb"
LOOP = "while True:\n    pass"
VARIABLES = "import os\nsorted(name for name in os.environ if name.startswith('NBGRADER'))"
SAVE = """text => { const context = jupyterapp.shell.currentWidget.context;
  context.model.sharedModel.setSource(text); return context.save().then(() => 0) }"""


def test_a_student_with_the_kit_alone(browser, tmp_path):
    """No dialog or exchange appears on the first screen, and graded cells cannot be deleted.
    Validate stops an endless loop while another tab saves, and it reports unanswered questions. The
    last cell creates the submission archive.
    """
    browser.page.set_viewport_size({"width": 1366, "height": 768})
    root = students_course(tmp_path)
    with serve(root, tmp_path / "private") as server:
        first_screen(browser, server)
        browser.open(server, lab_path(PATH))
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PATH)
        graded_cells_stay(browser)
        a_loop_is_stopped(browser, server, root)
        questions_are_reported(browser)
        the_work_is_packed(browser, root)
    assert browser.elsewhere == []


def first_screen(browser, server):
    """The start page explains how to submit, and nothing covers it."""
    page = browser.page
    browser.open(server, "")
    browser.wait_for_lab()
    browser.wait_for_notebook(server, PAGE)
    page.get_by_role("listitem").filter(has_text="run the last cell of the study's last").wait_for()
    page.wait_for_timeout(3000)  # the question about news appears a second after the window
    assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
    assert page.get_by_role("menuitem", name="Nbgrader").count() == 0
    assert page.get_by_text("Assignment List").count() == 0
    browser.screenshot("kit-start")


def graded_cells_stay(browser):
    """A check and a question cannot be deleted."""
    cells = browser.cells()
    graded = [n for n, cell in enumerate(cells) if "nbgrader" in cell["metadata"]]
    for number in graded:
        browser.show_cell(number)
        browser.command("notebook:delete-cell")
    left = [cell for cell in browser.cells() if "nbgrader" in cell["metadata"]]
    assert len(left) == len(graded) > 3


def a_loop_is_stopped(browser, server, root):
    """The server responds throughout, and the message gives the cell and the limit."""
    number = next(n for n, cell in enumerate(browser.cells()) if cell["cell_type"] == "code")
    before = "".join(browser.cells()[number]["source"])
    browser.write_cell(number, LOOP)
    other = browser.page.context.new_page()
    other.goto(f"{server.url}/lab/workspaces/other/tree/bibliography.md?reset")
    other.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady")
    with browser.page.expect_request("**/assignments/validate*"):
        button(browser).click()
    other.evaluate(SAVE, "saved meanwhile")
    assert (root / "bibliography.md").read_text("utf-8") == "saved meanwhile"
    assert browser.page.locator(".jp-Dialog").count() == 0  # validation is still running
    other.close()
    said = dialog(browser, "kit-validate-loop")
    assert LOOP in said
    assert f"after {CELL_SECONDS} seconds of computing time" in said
    browser.write_cell(number, before)


def questions_are_reported(browser):
    """An unanswered question does not count as success; kernels started later do not see Validate."""
    button(browser).click()
    assert "You did not provide a response." in dialog(browser, "kit-validate-questions")
    number = next(n for n, cell in enumerate(browser.cells()) if cell["cell_type"] == "code")
    before = "".join(browser.cells()[number]["source"])
    browser.write_cell(number, VARIABLES)
    browser.run_cell(number)
    (output,) = browser.cells()[number]["outputs"]
    assert "".join(output["data"]["text/plain"]) == "[]"
    browser.write_cell(number, before)


def the_work_is_packed(browser, root):
    """The link downloads the archive next to the study; missing parts are listed."""
    browser.command("docmanager:save")
    last = len(browser.cells()) - 1
    browser.run_cell(last)
    shown = browser.show_cell(last)
    with browser.page.expect_download() as download:
        shown.get_by_role("link", name=f"Download {STUDY.assignment}.zip").click()
    browser.screenshot("kit-hand-in")
    packed = root / f"{STUDY.assignment}.zip"
    assert download.value.suggested_filename == packed.name
    assert download.value.path().read_bytes() == packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        assert archive.namelist() == [f"{STUDY.assignment}/{STUDY.module}", PATH]
    assert "question" in shown.inner_text()


def button(browser):
    """nbgrader's button above the notebook."""
    return browser.page.get_by_role("button", name="Validate").locator("visible=true")


def dialog(browser, name: str) -> str:
    """Return the text of the dialog, and close it."""
    shown = browser.page.locator(".jp-Dialog")
    shown.wait_for()
    browser.screenshot(name)
    said = shown.inner_text()
    shown.get_by_role("button").last.click()
    return said
