"""A grading run on the overview: a button to grade, then the keyboard to mark written answers.

The test takes screenshots in both themes, on a laptop and on a phone.
"""

import json
import shutil

import pytest

from autograder.benchmarks.support.browser.harness import serve
from autograder.course_folder import CourseFolder
from autograder.dashboard.marking import marks
from autograder.release.assignments import add_students, generate_assignment
from autograder.release.notebooks import answer_id
from autograder.reporting.questions import answers
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.pages.axe import GRAVE, axe_core, findings
from course.checks import load_study
from course.lab.start_page import PAGE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
STUDY = load_study("study2")
NOTEBOOK = "02_alpha_beta"
WRITTEN = next(iter(STUDY.written))
CELL = (NOTEBOOK, answer_id(WRITTEN))
SAMPLES = [
    line.partition(": ")[2]
    for line in answers(STUDY)[CELL[1]]["samples"].splitlines()
    if line.startswith("* ")
]
HOSTILE = (
    "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>"
    "<svg onload='window.hacked = 1'></svg><img src='http://x.invalid/1'>"
    "<p style='cursor: url(http://x.invalid/2); background: url(http://x.invalid/3)'>Here</p>"
    "\n\nI could not solve this one."
)
CLASS = [
    ("ada", "Ada", "Lovelace", SAMPLES[0]),
    ("ben", "Ben", "Byron", SAMPLES[1]),
    ("cy", "Cy", "Clone", SAMPLES[2]),
    ("dan", "Dan", "Danger", HOSTILE),
]
COMMENT = "Which nodes must be visited whatever the order?"


def test_grading_and_marking_on_the_overview(browser, tmp_path):
    """Grade, open the questions, give points and a comment by keyboard, and reuse the comment."""
    need_isolation()
    axe_core()
    course = make_class(tmp_path / "course")
    page = browser.page
    page.set_viewport_size({"width": 1366, "height": 768})
    with serve(course.root, tmp_path) as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        browser.command("application:toggle-left-area")
        page.get_by_role("button", name="Update and show the buttons").click()
        page.get_by_label("Assignment").select_option(label=STUDY.title)
        page.get_by_role("button", name="Autograde", exact=True).click()
        page.get_by_text(f"Autograded: {len(CLASS)} of {len(CLASS)} submissions").wait_for()
        page.set_viewport_size({"width": 1366, "height": 960})  # the whole form
        browser.screenshot("instructor-overview")
        page.set_viewport_size({"width": 1366, "height": 768})
        page.get_by_role("button", name="Mark written answers").click()
        cards = page.locator(".marking article")
        cards.nth(len(CLASS) - 1).wait_for()
        who = [
            next(a.student for a in marks.answers(course, STUDY, CELL) if a.id == key)
            for key in cards.evaluate_all("cards => cards.map(({dataset}) => dataset.id)")
        ]
        page.wait_for_function("""() => [...document.querySelectorAll(".marking article .text")]
            .every(text => text.innerText)""")

        cards.first.focus()
        press(page, "5", "saved: 5 points", 0)
        press(page, "2", "saved: 2 points", 0)
        page.keyboard.press("j")
        press(page, "3", "saved: 3 points", 1)
        page.keyboard.press("c")
        page.keyboard.type(COMMENT)
        press(page, "Escape", "saved: 3 points", 1)
        page.keyboard.press("k")
        press(page, "Shift+Digit1", "saved: 2 points", 0)
        page.keyboard.press("u")
        assert cards.nth(2).get_attribute("aria-current") == "true"
        hostile = cards.nth(who.index(CLASS[-1][0]))
        hostile.evaluate("card => { card.style.display = 'none'; }")  # not in the guides
        browser.screenshot("instructor-marking")
        hostile.evaluate("card => { card.style.display = ''; }")
        cards.nth(2).focus()  # the hostile answer loses the focus when it is hidden
        press(page, "7", "7 is not a possible mark for this question", 2)

        found = {a.student: a for a in marks.answers(course, STUDY, CELL)}
        assert [(found[s].points, found[s].waits, found[s].comment) for s in who] == [
            (2, False, COMMENT),
            (3, False, COMMENT),
            (None, True, None),
            (None, True, None),
        ]
        assert not page.evaluate("() => window.hacked")
        assert not any(
            name in page.locator(".marking").inner_text()
            for name in ("Lovelace", "Byron", "ada", "Danger")
        )
        assert [cell["cell_type"] for cell in browser.cells()] == ["markdown", "code"]

        found = {theme: look(browser, theme) for theme in ("light", "dark")}
        assert not any(found.values()), found
        assert browser.elsewhere == []


def press(page, key: str, message: str, number: int) -> None:
    """Press a key, and wait until the page confirms the result."""
    page.keyboard.press(key)
    page.locator(".marking article").nth(number).locator(".status").get_by_text(message).wait_for()


def look(browser, theme: str) -> list:
    """axe's serious findings for the page in a theme; takes pictures on a laptop and on a phone."""
    page = browser.page
    browser.use_theme(theme.title())
    browser.screenshot(f"marking-{theme}")
    found = [f for f in findings(page, ".jp-OutputArea") if f.impact in GRAVE]
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".marking").scroll_into_view_if_needed()
    browser.screenshot(f"marking-{theme}-390")
    assert page.evaluate(
        "() => { const m = document.querySelector('.marking');"
        " return m.scrollWidth <= m.clientWidth }"
    )
    page.set_viewport_size({"width": 1366, "height": 768})
    return found


def make_class(root) -> CourseFolder:
    """A course with the submissions of a class in which every question is answered."""
    course = CourseFolder.create(root)
    generate_assignment(course, STUDY)
    add_students(course, [(student, first, last) for student, first, last, _ in CLASS])
    for student, _, _, text in CLASS:
        work = shutil.copytree(
            course.release(STUDY.assignment), course.submission(STUDY.assignment, student)
        )
        path = work / f"{NOTEBOOK}.ipynb"
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("solution"):
                cell["source"] = text
        path.write_text(json.dumps(notebook), "utf-8")
    return course
