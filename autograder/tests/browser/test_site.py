"""The live site in a browser: a student works through study 3 offline and submits it."""

import contextlib
import io
import re
import shutil
import subprocess
import zipfile
from itertools import product

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.benchmarks.support.browser.harness import TOKEN, lab_path, serve
from autograder.benchmarks.support.browser.live import CACHE, PLAY, Live, serve_site
from autograder.benchmarks.support.browser.widgets import NOTEBOOK
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.grading.run.batch import grade
from autograder.release.assignments import generate_assignment
from autograder.release.notebooks import KERNEL, notebook_texts
from autograder.release.site.fetch import fetch
from autograder.release.site.wheels import pyodide_server
from autograder.reporting.gradebook import marks_of, open_gradebook
from autograder.tests.support.content import CLASSES
from autograder.tests.support.needs import need_isolation, need_program
from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.tests.support.pages.firefox import in_firefox
from autograder.workspace import answer_path
from autograder.workspace.strip import stub, written_functions
from course.checks import load_study
from course.lab.prerendered import REFERENCE_PICTURE

CONTENT = pytest.mark.content(inputs=(*CLASSES, "autograder/commands", "docs"))
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
STUDY = load_study("study3")
NOTEBOOKS = [path.stem for path in notebook_texts(STUDY.folder)]
FOLDER = "site"
ENDLESS = "def lane_counts(board, player):\n    while True:\n        pass\n"
POINTS = [
    sum(check.max_points for check in STUDY.checks.values() if check.extra_credit == extra)
    for extra in (False, True)
]
MADE = """from heuristic import TypeA, lane_counts
from tictactoe import Board
count, agent, board = lane_counts, TypeA(1), Board("x_o_x_o__")"""
USE = "print(count(board, 'x'), agent.search(board))"
BOARDS = """from alphabeta import AlphaBeta
from sequence import Greedy, play
from sequence.widget import replay
from tictactoe import Board
from tictactoe.explorables.explorer import explore
from tictactoe.boards.play_board import play_against
play_against(AlphaBeta())
explore(AlphaBeta(), Board("x__ox__xo"))
replay(play([Greedy(), Greedy()], seed=2))""".splitlines()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a live site of study 3, made with relative paths, and the command's output."""
    need_program("npm", "the live site stays unchecked")
    here = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        done = CliRunner().invoke(app, ["site", FOLDER, "--study", STUDY.name])
    assert done.exit_code == 0, done.output
    return here / FOLDER, done.stdout


@pytest.fixture(scope="module")
def site(made):
    """The address of a live site of study 3."""
    folder, _ = made
    with serve_site(folder) as address:
        yield address


def html_of(outputs):
    """The HTML of the outputs."""
    return " ".join(output.get("data", {}).get("text/html", "") for output in outputs)


def step_once(explorer):
    """Click the explorer's button; its text reports another step and no error."""
    explorer.wait_for()
    status = explorer.locator(".status")
    before = status.inner_text()
    explorer.locator("[data-move='next']").click()
    explorer.locator(".status", has_not_text=before).wait_for()
    assert status.inner_text().startswith("Step ")


def work_through(browser, name):
    """Run a notebook, step through its explorers and save it; return the output of its checks.

    The notebook has no errors and no empty output.
    """
    Live(browser).open(f"{STUDY.assignment}/{name}.ipynb")
    browser.run_all()
    cells = browser.cells()
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert [output for output in outputs if output.get("data") == {}] == []
    for number, cell in enumerate(cells):
        if cell["source"].startswith("explore("):
            step_once(browser.show_cell(number).locator(".click-board"))
    # A folded cell may define the function that a later cell calls to show the picture.
    plots = [cell for cell in cells if "picture(axes" in cell["source"]]
    pictures = [html for cell in cells if "<img alt=" in (html := html_of(cell.get("outputs", ())))]
    assert len([html for html in pictures if REFERENCE_PICTURE in html]) >= len(plots)
    browser.screenshot(f"site-{name}")
    browser.command("docmanager:save")
    # A comment may precede the call.
    checks = [cell for cell in cells if "\ncheck(" in f"\n{cell['source']}"]
    return [html_of(cell["outputs"]) for cell in checks]


def test_pyodide_is_the_one_that_its_kernel_was_made_for(site):
    """Pyodide and its kernel, which come from different registries, have matching versions on the
    site.
    """
    fetched = fetch(CACHE)
    made_for = subprocess.run(
        [
            fetched.python,
            "-c",
            "from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION\n"
            "print(PYODIDE_VERSION)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert pyodide_server(fetched.pyodide).split("/")[-2] == f"v{made_for}"


def test_the_reported_size_is_that_of_the_folder(made):
    """The command reports the total size of the files to be served, in megabytes."""
    folder, said = made
    told = re.search(rf"site: {FOLDER}/index\.html \((\d+) MB\)", said)
    size = sum(len(path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    assert abs(int(told[1]) - size / 1e6) <= 0.5, said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("quiescence", "quiescent"),
        ("quiescent", "quiescence"),
        ("quiesence", "quiescence"),
        ("quiecsent", "quiescent"),
    ],
)
def test_the_search_finds_words_of_the_same_stem(browser, site, typed, meant):
    """A search for quiescence finds quiescent and vice versa, even with a typing error."""
    browser.page.goto(f"{site}/index.html")
    browser.page.fill("#words", typed)
    browser.page.locator("#hits mark", has_text=re.compile(f"^{meant}$", re.I)).first.wait_for()


@CONTENT
def test_the_pages_can_be_used_by_everybody(browser, site):
    """axe finds nothing serious on pages with the button to the live course, at any width or theme."""
    for width, scheme in product((1200, 390), ("light", "dark")):
        browser.page.emulate_media(color_scheme=scheme)
        browser.page.set_viewport_size({"width": width, "height": 820})
        for page in ("index.html", f"{NOTEBOOKS[0]}.html", "node-counts.html"):
            browser.page.goto(f"{site}/{page}")
            assert [f for f in findings(browser.page) if f.impact in GRAVE] == []
            assert browser.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_study_from_top_to_bottom_without_a_network(browser, site, tmp_path):
    """A student gets from the book's button to the marks: checks, boards, pictures, storage,
    submission.
    """
    need_isolation()
    page, live = browser.page, Live(browser)
    page.goto(f"{site}/{NOTEBOOKS[0]}.html")
    page.get_by_role("link", name="Run this notebook").click()
    path = f"{STUDY.assignment}/{NOTEBOOKS[0]}.ipynb"
    live.wait_for(path)
    browser.run_cell(1)

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
    assert all(
        "points - all correct" in words or "of extra credit - all correct" in words
        for words in said
    )
    assert len(said) == len(STUDY.checks)

    page.goto(f"{site}/live/lab/index.html?path=start.ipynb")  # the work is still there
    browser.wait_for_lab()
    live.open("start.ipynb")  # another restored tab may cover it
    browser.run_cell(1)
    shown = html_of(browser.cells()[1]["outputs"])
    assert "13 of 13" in shown
    browser.screenshot("site-start")
    live.run('from course.submission import make_submission\n\nmake_submission("study3")')
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Download {STUDY.assignment}.zip").click()
    course = CourseFolder.create(tmp_path / "course")
    generate_assignment(course, STUDY)
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path / "course" / "submitted" / "ada")
    (graded,) = grade(course, STUDY)
    assert (graded.status, graded.needs_a_look) == ("graded", False)
    with open_gradebook(course) as gradebook:
        marks = marks_of(gradebook, STUDY.assignment)["ada"]
    assert [marks.automatic, marks.extra] == POINTS
    assert browser.elsewhere == []


@CONTENT
def test_an_edit_takes_effect_in_the_next_cell(browser, site):
    """An edit also affects functions and agents that cells made earlier, without a restart; a
    module that cannot be loaded adds one line.
    """
    live, answer = Live(browser), answer_path(STUDY).read_text("utf-8")
    module, path = (
        f"{STUDY.assignment}/{name}" for name in (STUDY.module, f"{NOTEBOOKS[-1]}.ipynb")
    )
    written = [
        stub(answer, STUDY.module, keep=names)
        for names in ([], ["lane_counts"], list(written_functions(answer)))
    ]

    def shown(text):
        live.write(module, text)
        live.open(path)
        outputs = live.run(USE)
        assert [one for one in outputs if one["output_type"] == "error"] == []
        return "".join(one.get("text", "") for one in outputs).strip()

    browser.page.goto(f"{site}/live/lab/index.html?path={path}")
    live.wait_for(path)
    live.write(module, written[0])
    live.open(path)
    browser.run_cell(1)
    live.run(MADE)
    assert shown(written[0]).startswith("Not written yet: lane_counts")
    assert shown(written[1]).startswith("Not written yet: TypeA.search")
    assert shown(written[1].replace("):\n", ")\n", 1)).endswith("expected ':'")
    names: dict = {"__name__": "heuristic"}
    exec(written[2], names)
    exec(MADE.partition("\n")[2], names)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(USE, names)
    assert shown(written[2]) == printed.getvalue().strip()
    assert browser.elsewhere == []


@CONTENT
def test_page_live_course_and_boards_in_firefox(site, tmp_path):
    """Themes, a move on the live course's board, and clicks on each of Lab's boards cause no error."""
    cells = [nbformat.v4.new_code_cell(source) for source in BOARDS]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    root = tmp_path / "course"
    root.mkdir()
    nbformat.write(notebook, root / NOTEBOOK)
    shutil.copy(answer_path(load_study("study2")), root)
    with serve(root, tmp_path / "private") as server:
        told = in_firefox(
            site=f"{site}/{NOTEBOOKS[0]}.html",
            live=f"{STUDY.assignment}/{NOTEBOOKS[0]}.ipynb",
            board=PLAY,
            lab=f"{server.url}/{lab_path(NOTEBOOK)}&token={TOKEN}",
            notebook=NOTEBOOK,
            clicks=[["play_against", "4"], ["explore", "next"], ["replay", "next"]],
        )
    assert told["version"].startswith("firefox")
    assert sorted(told["themes"]) == ["dark", "light"]
    assert told["live"].startswith("First plays cell 0")
    play, tree, replay = told["boards"]
    assert re.match(r"AlphaBeta plays cell \d", play)
    assert tree.startswith("Step ")
    assert replay.startswith("1 of ")
    assert (told["errors"], told["elsewhere"]) == ([], [])
