"""The live site in a browser: a student does study 3 in it, with no network, and hands it in."""

import functools
import subprocess
import threading
import time
import zipfile
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from autograder.course_folder import CourseFolder
from autograder.grading.batch import grade
from autograder.release.assignments import release
from autograder.release.notebooks import notebook_texts
from autograder.release.site import write_site
from autograder.release.site.fetch import fetch
from autograder.release.site.wheels import pyodide_server
from autograder.telling.gradebook import marks_of, open_gradebook
from autograder.tests.browser.axe import GRAVE, findings
from autograder.tests.browser.harness import KIT
from autograder.tests.needs import need_isolation, need_program
from autograder.workspace import answer_path
from course.drawn_before import MADE_BEFORE
from course.probes import load_study

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
STUDY = load_study("study3")
NOTEBOOKS = [path.stem for path in notebook_texts(STUDY.folder)]
ENDLESS = "def lane_counts(board, player):\n    while True:\n        pass\n"
POINTS = [sum(check.max_points for check in STUDY.checks.values() if check.extra_credit == extra)
          for extra in (False, True)]
CACHE = KIT / "build" / "site-cache"
PLAY = """from tictactoe.show.play_board import play_against


class First:
    def choose(self, state):
        return state.legal_moves()[0]


play_against(First(), values=lambda state, player: 0.5)"""
TYPES = {".mjs": "text/javascript", ".wasm": "application/wasm"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files as any web server does, and says nothing."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | TYPES

    def log_message(self, *_said):
        """Nothing."""


class Server(ThreadingHTTPServer):
    """A page that is left breaks off what it was loading, which is nothing to tell of."""

    def handle_error(self, *_request):
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a live site of study 3."""
    need_program("npm", "the live site stays unchecked")
    folder = tmp_path_factory.mktemp("site") / "site"
    write_site(folder, [STUDY], CACHE)
    with Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Live:
    """The live course in a window."""

    browser: object

    def wait_for(self, path):
        """Wait until the notebook is the current tab and Python is idle."""
        self.browser.page.wait_for_function(
            """path => { const now = window.jupyterapp?.shell.currentWidget;
                 return now?.context?.path === path
                   && now.sessionContext?.session?.kernel?.status === 'idle' }""", arg=path)

    def open(self, path):
        """Open a notebook, and wait for Python."""
        self.browser.command("docmanager:open", path=path)
        self.wait_for(path)

    def write(self, path, text):
        """Write a file in Lab's editor, and save it."""
        self.browser.command("docmanager:open", path=path)
        self.browser.page.wait_for_function(
            "path => jupyterapp.shell.currentWidget?.context?.path === path", arg=path)
        self.browser.evaluate(
            "text => { const file = jupyterapp.shell.currentWidget.context;"
            " return file.ready.then(() => { file.model.sharedModel.setSource(text);"
            " return file.save() }).then(() => 0) }", text)

    def run(self, source):
        """Add a cell to the end of the current notebook and run it; returns its outputs."""
        last = len(self.browser.cells()) - 1
        self.browser.show_cell(last)
        self.browser.command("notebook:insert-cell-below")
        self.browser.write_cell(last + 1, source)
        self.browser.command("notebook:change-cell-to-code")
        self.browser.run_cell(last + 1)
        return self.browser.cells()[last + 1]["outputs"]


def html_of(outputs):
    """What the outputs show as HTML."""
    return " ".join(output.get("data", {}).get("text/html", "") for output in outputs)


def step_once(explorer):
    """Click on the explorer's button; its line of text tells of another step, and of no error."""
    explorer.wait_for()
    status = explorer.locator(".status")
    before = status.inner_text()
    explorer.locator("[data-move='next']").click()
    explorer.locator(".status", has_not_text=before).wait_for()
    assert status.inner_text().startswith("Step ")


def work_through(browser, name):
    """Run a notebook, step in its explorers, save it; returns what its checks say."""
    Live(browser).open(f"{STUDY.assignment}/{name}.ipynb")
    browser.run_all()
    cells = browser.cells()
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert [output for output in outputs if output["output_type"] == "error"] == []
    for number, cell in enumerate(cells):
        if cell["source"].startswith("explore("):
            step_once(browser.show_cell(number).locator(".click-board"))
        if "picture(axes" in cell["source"]:
            assert '<img alt="' in html_of(cell["outputs"])
            assert MADE_BEFORE in html_of(cell["outputs"])
    browser.screenshot(f"site-{name}")
    browser.command("docmanager:save")
    return [html_of(cell["outputs"]) for cell in cells if cell["source"].startswith("check(")]


def test_pyodide_is_the_one_that_its_kernel_was_made_for(site):
    """The two come from different registries, and are renewed together; the site has them."""
    fetched = fetch(CACHE)
    made_for = subprocess.run(
        [fetched.python, "-c", "from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION\n"
         "print(PYODIDE_VERSION)"], capture_output=True, text=True, check=True).stdout.strip()
    assert pyodide_server(fetched.pyodide).split("/")[-2] == f"v{made_for}"


def test_the_pages_can_be_used_by_everybody(browser, site):
    """axe finds nothing grave with the button to the live course on them, wide or narrow."""
    for width in (1200, 390):
        browser.page.set_viewport_size({"width": width, "height": 820})
        for page in ("index.html", f"{NOTEBOOKS[0]}.html", "node-counts.html"):
            browser.page.goto(f"{site}/{page}")
            assert [f for f in findings(browser.page) if f.impact in GRAVE] == []
            assert browser.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_study_from_top_to_bottom_without_a_network(browser, site, tmp_path):
    """From the book's button to the marks: checks, boards, pictures, storage, hand-in."""
    need_isolation()
    page, live = browser.page, Live(browser)
    page.goto(f"{site}/{NOTEBOOKS[0]}.html")
    page.get_by_role("link", name="Run this notebook").click()
    begun = time.monotonic()
    path = f"{STUDY.assignment}/{NOTEBOOKS[0]}.ipynb"
    live.wait_for(path)
    browser.run_cell(1)
    python = time.monotonic() - begun

    live.write(f"{STUDY.assignment}/{STUDY.module}", ENDLESS)
    live.open(path)
    stopped = live.run('check("study3.lane_counts", seconds=0.2)')
    assert "0.2 s of computing time" in html_of(stopped)
    browser.command("notebook:delete-cell")
    live.run(PLAY)
    board = browser.show_cell(len(browser.cells()) - 1).locator(".click-board")
    board.locator("[data-move='4']").click()
    board.locator(".status", has_text="First plays cell 0").wait_for()
    board.locator("[data-move='values']").click()
    board.locator("svg .value").first.wait_for()
    browser.screenshot("site-play")
    browser.command("notebook:delete-cell")
    live.write(f"{STUDY.assignment}/{STUDY.module}", answer_path(STUDY).read_text("utf-8"))

    said = [words for name in NOTEBOOKS for words in work_through(browser, name)]
    assert all("points - all right" in words or "of extra credit - all right" in words
               for words in said)
    assert len(said) == len(STUDY.checks)

    page.goto(f"{site}/live/lab/index.html?path=start.ipynb")  # what was done is still there
    live.wait_for("start.ipynb")
    browser.run_cell(1)
    shown = html_of(browser.cells()[1]["outputs"])
    assert "13 of 13" in shown
    browser.screenshot("site-start")
    live.run('from course.hand_in import hand_in\n\nhand_in("study3")')
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Download {STUDY.assignment}.zip").click()
    course = CourseFolder.create(tmp_path / "course")
    release(course, STUDY)
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path / "course" / "submitted" / "ada")
    graded, = grade(course, STUDY)
    assert (graded.status, graded.needs_a_look) == ("graded", False)
    with open_gradebook(course) as gradebook:
        marks = marks_of(gradebook, STUDY.assignment)["ada"]
    assert [marks.automatic, marks.extra] == POINTS
    assert browser.elsewhere == []
    print(f"Python after {python:.1f} s")
