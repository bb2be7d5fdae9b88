"""An instructor's evening in formgrader, by clicking, from the first release to the feedback."""

import pytest

from autograder.commands.plan import PLANS
from autograder.course_folder import COURSE_ID, CourseFolder
from autograder.grading.batch import grade
from autograder.mutants import load_mutants
from autograder.release.assignments import add_students
from autograder.release.notebooks import answer_id
from autograder.telling.gradebook import marks_of, open_gradebook, students_of
from autograder.telling.report import write_report
from autograder.tests.browser.axe import GRAVE, findings
from autograder.tests.browser.harness import serve
from autograder.tests.browser.school import (
    NOTEBOOK,
    STUDY,
    fetch_feedback,
    hand_in,
    make_course,
    make_desk,
)
from autograder.tests.needs import need_isolation
from autograder.workspace import answer_path
from course.probes import load_study, studies
from course.start import PAGE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
ADA = "ada"
QUESTION = answer_id("why-ten")
COMMENT = "Well said, and the largest count is named."


def test_an_instructors_evening(browser, tmp_path):
    """Generate, release, collect, autograde, mark an answer, feedback, release of feedback."""
    need_isolation()
    course = make_course(tmp_path / "course")
    desk = make_desk(tmp_path / "desk", course)
    add_students(course, [(ADA, "Ada", "Lovelace")])
    slip = next(m for m in load_mutants(STUDY.name) if m.name == "diagonals_missed")
    module = slip.apply(answer_path(STUDY).read_text("utf-8"))
    with serve(course.root, tmp_path) as server:
        form = open_formgrader(browser, server)
        for name in studies():
            row_of(form, load_study(name).assignment).wait_for()

        click(form, STUDY.assignment, "assign", "Successfully created the student version")
        click(form, STUDY.assignment, "release", "Successfully released")
        browser.screenshot("instructor-assignments")
        assert (course.exchange() / COURSE_ID / "outbound" / STUDY.assignment).is_dir()
        hand_in(course, desk, ADA, module, "Because a win is worth more than any count.")
        click(form, STUDY.assignment, "collect", "Successfully collected")
        assert (course.submission(STUDY.assignment, ADA) / STUDY.module).read_text() == module

        row_of(form, STUDY.assignment).locator(".num-submissions a").click()
        click(form, ADA, "autograde", "Successfully autograded")
        browser.screenshot("instructor-submissions")
        clicked = marks(course)
        assert clicked.automatic > 0
        assert clicked.waiting

        mark_by_hand(browser, form)
        browser.wait_until(lambda: marks(course).manual == 2 and marks(course).comments,
                           "score and comment are not in the gradebook")
        assert marks(course).comments == [COMMENT]

        form.get_by_role("link", name="Manual Grading").click()
        form.get_by_role("link", name="Manage Assignments").click()
        click(form, STUDY.assignment, "generate-feedback", "Successfully generated feedback")
        click(form, STUDY.assignment, "release-feedback", "Successfully released feedback")
        pages = fetch_feedback(course, desk, ADA)
        assert sum(COMMENT in page for page in pages) == 1
        assert any(slip.sentence in page for page in pages)

        write_report(course, STUDY)
        page = browser.page
        page.get_by_role("tab", name=PAGE).click()
        browser.wait_for_notebook(server, PAGE)
        browser.run_all()
        browser.screenshot("formgrader-overview")
        page.get_by_role("link", name=f"report of {STUDY.assignment}").click()
        report = page.frame_locator(".jp-HTMLViewer iframe").get_by_role("heading", level=1)
        report.wait_for()
        assert report.inner_text() == STUDY.title
        browser.screenshot("instructor-report")
        assert browser.elsewhere == []

    # Our own command gives the same marks, cell by cell.
    graded, = grade(course, STUDY, [ADA], force=True)
    assert graded.status == "graded"
    again = marks(course)
    assert again.cells == clicked.cells | {(NOTEBOOK, QUESTION): 2}
    assert (again.automatic, again.extra) == (clicked.automatic, clicked.extra)


def test_a_course_is_set_up_without_a_terminal(browser, tmp_path):
    """One click on the new overview brings the wizard, which releases a plan's studies; the
    overview with its buttons can be used by everybody."""
    course = CourseFolder.create(tmp_path / "spring")
    page = browser.page
    with serve(course.root, tmp_path / "private") as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        page.get_by_role("button", name="Bring up to date").click()
        page.get_by_label("First day").fill("2027-01-11")
        page.get_by_label("First day").press("Tab")
        page.get_by_label("Students").fill(f"id\n{ADA}\n")
        page.get_by_label("Students").press("Tab")
        page.get_by_role("button", name="Set the course up").click()
        said = page.get_by_role("log", name="what the command says")
        said.get_by_text("opens the course").wait_for()
        page.locator(".jp-OutputArea").get_by_role("cell", name="study6_evaluator").wait_for()
        browser.screenshot("instructor-wizard")
        found = []
        for theme in ("Light", "Dark"):
            browser.use_theme(theme)
            found += findings(page, ".jp-OutputArea")
    with open_gradebook(course) as gradebook:
        assert [student.id for student in students_of(gradebook)] == [ADA]
    assert {path.name for path in (course.root / "release").iterdir()} == {
        load_study(name).assignment for name in PLANS[6]}
    assert [f for f in found if f.impact in GRAVE] == []
    assert browser.elsewhere == []


def open_formgrader(browser, server):
    """Open formgrader through Lab's menu; returns its frame."""
    browser.open(server, "")
    browser.wait_for_lab()
    browser.wait_for_notebook(server, PAGE)
    browser.command("application:toggle-left-area")  # formgrader is made for wide windows
    browser.page.get_by_role("menuitem", name="Nbgrader").click()
    browser.page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    return browser.page.frame_locator("iframe[src*='formgrader']")


def row_of(form, name):
    """The row of an assignment, or of a student's submission, in formgrader's table."""
    return form.locator("#main-table tr").filter(has_text=name)


def click(form, name: str, button: str, success: str) -> None:
    """Click a button in a row, and close the dialog, which has to tell of the success."""
    row_of(form, name).locator(f".{button} a").click()
    dialog = form.locator(".modal.in")
    dialog.wait_for()
    assert success in dialog.inner_text()
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="detached")


def marks(course):
    """What the gradebook holds of the one submission."""
    with open_gradebook(course) as gradebook:
        return marks_of(gradebook, STUDY.assignment)[ADA]


def mark_by_hand(browser, form) -> None:
    """Go to the written answer through formgrader's gradebook; give two points and a comment."""
    form.get_by_role("link", name="Manual Grading").click()
    form.locator("#main-table").get_by_role("link", name=STUDY.assignment).click()
    form.locator("#main-table").get_by_role("link", name=NOTEBOOK).click()
    form.locator("#main-table").get_by_role("link", name="Submission #1").click()
    # formgrader fetches marks and comments after the page: what is typed before is lost.
    form.locator(f"#{QUESTION}_extra_credit[placeholder='0']").wait_for()
    form.locator(f"#{QUESTION}-comment[placeholder]").wait_for()
    score = form.locator(f"#{QUESTION}")
    score.fill("2")
    score.press("Tab")
    comment = form.locator(f"#{QUESTION}-comment")
    comment.fill(COMMENT)
    comment.press("Tab")
    browser.page.wait_for_timeout(1000)  # formgrader scrolls to the next answer
    comment.evaluate("area => area.scrollIntoView({block: 'center'})")
    browser.screenshot("formgrader-marking")
