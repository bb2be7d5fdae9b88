"""axe-core reports nothing serious or critical on the kit's own pages (table: `build/axe.md`)."""

from pathlib import Path

import pytest

from autograder.benchmarks.support.browser.harness import KIT, WINDOW, serve, students_course
from autograder.grading.run.batch import grade
from autograder.release.assignments import add_students
from autograder.reporting.pages.feedback import write_feedback
from autograder.reporting.report import write_report
from autograder.reporting.solutions import write_solutions
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.courses.exchange import (
    STUDY,
    make_student_folder,
    release_to_exchange,
    submit,
)
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.pages.axe import GRAVE, axe_core, findings, table
from autograder.tests.support.pages.fits import SIZES, misfits
from autograder.tests.support.pages.widget_faults import window
from autograder.workspace import answer_path
from course.checks import load_study, studies
from course.lab.start_page import PAGE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
LONG = (
    f"An answer, <b style='color: black'>in black</b>: <https://example.org/{'a' * 90}>, "
    f"`{'b' * 90}`, {'c' * 90}."
)
OURS = ".jp-RenderedHTMLCommon"  # the notebook's content; the rest is JupyterLab's
# Rules about the part of Lab's window that is not ours and that must not get its own scroll box.
BEYOND = """ours => [...document.querySelectorAll(ours)].filter(one => one.checkVisibility())
  .flatMap(root => { const { right } = root.getBoundingClientRect();
    const scrolls = e => e !== root && (getComputedStyle(e).overflowX !== "visible"
      || scrolls(e.parentElement));
    return [...root.querySelectorAll("*")].filter(e => e.checkVisibility()
      && e.getBoundingClientRect().right > right + 1 && !scrolls(e.parentElement))
      .map(e => `${e.tagName} ${e.className} ${e.innerText?.slice(0, 40)}`) }).slice(0, 5)"""


def test_our_pages_can_be_used_by_everybody(browser, tmp_path):
    """axe accepts the report, feedback, solutions, start page and overview, as displayed."""
    need_isolation()
    axe_core()  # skips here, before the slow set-up
    course = make_course(tmp_path / "course", *map(load_study, studies()))
    release_to_exchange(course, STUDY)
    student_folder = make_student_folder(tmp_path / "student", course)
    add_students(course, [("ada", "Ada", "Lovelace")])
    mistake = next(m for m in load_mutants(STUDY.name) if m.name == "diagonals_missed")
    submit(
        course, student_folder, "ada", mistake.apply(answer_path(STUDY).read_text("utf-8")), LONG
    )
    work = course.submission(STUDY.assignment, "ada")
    work.parent.mkdir(parents=True)
    (student_folder / STUDY.assignment).rename(work)
    grade(course, STUDY)
    write_feedback(course, STUDY)
    write_report(course, STUDY)
    write_solutions(STUDY, tmp_path / "solutions.html")

    files = {
        "report": course.root / "reports" / f"{STUDY.assignment}.html",
        "solutions": tmp_path / "solutions.html",
    } | {
        f"feedback, {path.stem}": path
        for path in sorted(course.root.glob(f"feedback/ada/{STUDY.assignment}/*.html"))
    }
    assert len(files) == 5
    found = {}
    for name, path in files.items():
        browser.page.goto(path.as_uri())
        unfold(browser.page)
        found[name] = findings(browser.page)
        browser.screenshot(f"page-{Path(path).stem}")
    assert misfits(browser, list(files.values())) == {}
    browser.page.set_viewport_size(WINDOW)
    found |= {f"{name}, dark and narrow": narrow(browser, path) for name, path in files.items()}
    found |= in_lab(browser, "start page", students_course(tmp_path), tmp_path / "a")
    found |= in_lab(browser, "overview", course.root, tmp_path / "b")
    assert browser.elsewhere == []
    (KIT / "build" / "axe.md").write_text(table(found), "utf-8")
    grave = {name: [f for f in broken if f.impact in GRAVE] for name, broken in found.items()}
    assert not any(grave.values()), grave


def narrow(browser, path: Path):
    """axe's findings for a page in dark mode on a phone; the page must not scroll sideways."""
    page = browser.page
    usual = page.viewport_size
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(path.as_uri())
    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollWidth <= {root}.clientWidth")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == (
        "rgb(22, 25, 29)"
    )
    unfold(page)
    browser.screenshot(f"page-{path.stem}-dark-390")
    found = findings(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(usual)
    return found


def unfold(page) -> None:
    """Open all folded sections."""
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")


def in_lab(browser, name: str, folder: Path, private: Path) -> dict:
    """axe's findings for the page that `run.py lab` opens, by name and theme; the page must fit."""
    found, wide = {}, {}
    with serve(folder, private) as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        browser.page.locator(f"{OURS} table").first.wait_for()
        for theme in ("Light", "Dark"):
            browser.use_theme(theme)
            browser.screenshot(f"page-{name.replace(' ', '-')}-{theme.lower()}")
            found[f"{name}, {theme.lower()}"] = findings(browser.page, OURS)
        for size in SIZES:
            with window(browser, size):
                browser.screenshot(f"page-{name.replace(' ', '-')}-{size}")
                if told := browser.evaluate(BEYOND, OURS):
                    wide[size] = told
    assert wide == {}
    return found
